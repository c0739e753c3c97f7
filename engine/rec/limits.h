/* limits: what binds a launch: where the issue slots of its SMs went. */
#pragma once

#include "engine/base/base.h"

struct result;

/* X(id, name, what it means). Each slot of each scheduler of each SM goes to one of them. */
#define LIMIT_LIST(X)                                                                                 \
    X(GRID, "grid-too-small", "the grid has too few CTAs or threads: SMs or schedulers have no warp") \
    X(IMBALANCE, "imbalance", "other warps, CTAs or SMs work longer")                                 \
    X(OCCUPANCY, "occupancy", "waits for data that more resident warps would hide")                   \
    X(DRAM, "dram-bandwidth", "waits in the queues of device memory")                                 \
    X(L2, "l2-bandwidth", "waits in the queues of L2 and on the way there")                           \
    X(L1, "l1-rate", "waits for the load/store unit, L1's data or its miss trackers")                 \
    X(COALESCING_LOAD, "coalescing-load", "lanes of a load lie in more lines or sectors than needed") \
    X(COALESCING_STORE, "coalescing-store", "lanes of a store lie in more sectors than needed")       \
    X(BANKS, "bank-conflicts", "lanes want different words of one bank of shared memory")             \
    X(ATOMICS, "atomics", "atomics take turns")                                                       \
    X(CONSTANT, "constant-replays", "lanes read different words of constant memory")                  \
    X(LOCAL, "local-memory", "variables of a thread that lie in memory instead of registers")         \
    X(LATENCY, "latency", "results that are under way, no queue is full: too few loads in flight")    \
    X(ISSUE, "issue", "instructions are issued, or a unit of arithmetic is taken")                    \
    X(TENSOR, "tensor", "tensor cores are taken")                                                     \
    X(BARRIERS, "barriers", "warps wait for others at a barrier")                                     \
    X(LAUNCH, "launch", "starting the launch and its CTAs")                                           \
    X(UNKNOWN, "unknown", "nothing that is modelled says why")
#define LIMIT_ITEM(id, name, help) LIMIT_##id,
enum limit_cause { LIMIT_LIST(LIMIT_ITEM) LIMIT_COUNT };
#undef LIMIT_ITEM
const char *limit_name(enum limit_cause c);
const char *limit_help(enum limit_cause c);
bool limit_named(const char *name, enum limit_cause *out); /* false: none of that name */

/* A line that a cause is on. Sessions hold thousands of these. */
#define LIMIT_PLACES 4u  /* of a cause, at most */
#define LIMIT_POOL   20u /* of all */
#define LIMIT_FILES  2u
struct limit_place {
    uint32_t line; /* of the user's source; where the text names none, of the original PTX text */
    uint32_t ptx;  /* a line of the original text that is there */
    float share;   /* of the launch, 0..1; 0: there is no place here */
    uint8_t file;  /* 1 + index into files; 0: the PTX text */
    uint8_t cause; /* enum limit_cause */
};
/* How full the launch has the device. */
struct limit_facts {
    double ctas;                  /* of the grid */
    float sms, used;              /* SMs; of them those that a CTA comes to */
    float warps_most, warps_room; /* of an SM: on the device; by registers, shared memory, CTA */
    float warps_held;             /* on the average while it waited for latency */
    uint32_t cta_threads;
    uint32_t held_by; /* enum dev_limit: what keeps more CTAs away */
};
/* What to write in the source against a cause, of this kernel (engine/tune/cure.h). */
#define LIMIT_EDITS 3u
struct limit_edit {
    uint8_t cause; /* enum limit_cause */
    char text[231];
};
struct limits {
    bool valid;                           /* false: n/a */
    float share[LIMIT_COUNT];             /* of the launch, 0..1; all together 1 */
    struct limit_place place[LIMIT_POOL]; /* the greatest share first */
    struct limit_facts facts;
    struct limit_edit edit[LIMIT_EDITS]; /* empty texts: there are no more */
    char files[LIMIT_FILES][80];         /* the last bytes of longer names */
};

/* What one instruction took and asked for, counted by the simulated device. */
struct limit_row {
    uint32_t line;   /* of the text; 0: of none, it has no place */
    uint32_t source; /* of `file`; 0: the text does not say */
    struct str file;
    uint64_t cycles[LIMIT_COUNT]; /* of schedulers */
    uint64_t read, used;          /* bytes that loads brought from L2; bytes that lanes loaded */
    uint64_t stored, kept;        /* bytes of sectors that stores took to L2; bytes that lanes stored */
    uint64_t atomics;             /* bytes of sectors that atomics took to L2 */
    uint64_t local;               /* bytes of local memory brought from L2 */
};
/* idle: cycles of schedulers that no row has, of SMs without a CTA. end: share of the cycles that come after the last slot of a row, and what they
 * are: SMs run empty, stores or atomics are still taken by L2. overhead: share of the time that is the
 * launch's own. */
struct limit_launch {
    struct limit_facts facts;
    bool waves;  /* the grid fills the device more than once */
    double idle; /* cycle */
    double end;  /* 0..1 */
    enum limit_cause end_cause;
    double overhead; /* 0..1 */
};
/* Fills r->limits. rows: [n], changed. */
void limits_attribute(struct result *r, const struct limit_launch *l, struct limit_row *rows, size_t n);
/* Place k of a cause, the greatest share first; NULL: there are no more. */
const struct limit_place *limits_place(const struct limits *l, enum limit_cause c, unsigned k);
/* Keeps the place, unless it is among the smallest; call limits_sort when all are there. */
void limits_add_place(struct limits *l, struct limit_place p);
void limits_sort(struct limits *l);
/* The places by line, each with the share of all its causes, the greatest first; returns how many. */
size_t limits_lines(const struct limits *l, struct limit_place out[LIMIT_POOL]);
/* 1 + the index of a file in l->files; 0: there is no room for another one. */
uint8_t limits_file(struct limits *l, struct str name);
/* One sentence: what r says of cause c, in figures. */
void limit_why(const struct result *r, enum limit_cause c, struct buf *out);
/* What may be done about cause c: options of a configuration, or an edit of the source; the other is NULL.
 * What l has of this kernel stands for what is said of any kernel. *i: 0 at first; false: there is no
 * more. */
struct limit_try {
    const char *options, *edit;
};
bool limit_next_try(const struct limits *l, enum limit_cause c, unsigned *i, struct limit_try *out);
/* Cause i of those that r has, the heaviest first; LIMIT_COUNT: there is none. What takes less than
 * LIMIT_LEAST is none. */
#define LIMIT_LEAST 0.01f
enum limit_cause limits_nth(const struct limits *l, size_t i);
/* Cause i of all, whatever it takes, the heaviest first; i below LIMIT_COUNT. */
enum limit_cause limits_order(const struct limits *l, size_t i);
/* The first of them that can be named; unknown: r's limits are n/a, or nothing else has a share. */
enum limit_cause limits_first(const struct limits *l);
