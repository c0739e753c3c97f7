/* Private to apply, the part of the injected library that puts tuned kernels into launches.
 *
 * A target is a kernel that is to be replaced, as the plan says. A bound function is a handle that the
 * program launches, with the targets that its image has. A.lock guards both; no driver function is
 * called while it is held. */
#pragma once

#include "engine/dev/inject/inject.h"
#include "engine/dev/inject/record.h"

enum {
    MOST_TARGETS = 64,
    MOST_SYMBOLS = 64,
    MOST_BOUND = 1 << 12,
    MOST_SAMPLES = 1 << 13,
    MOST_ARMS = 1 << 20
};
enum arm { ARM_ORIGINAL, ARM_AGAIN, ARM_TUNED, NARMS };

struct symbol {
    char *name;
    size_t bytes; /* to zero before each launch; mirrored: 0 */
    bool back;    /* mirrored: the kernel may write it */
};
struct samples { /* of a long run an even choice: each keeps the same chance */
    uint64_t n;
    uint32_t *ns;
};
struct target {
    char *name, *text;
    char *code;  /* the same as machine code; NULL: the driver compiles the text */
    char *whole; /* the original's text: images may be swapped; NULL: they may not */
    bool any;    /* any launch shape, and the launch stays as it is */
    /* the original's launch */
    unsigned grid[3];  /* CTAs */
    unsigned block[3]; /* threads */
    unsigned shared;   /* dynamic, bytes */
    /* the tuned one's */
    unsigned tgrid[3];  /* CTAs */
    unsigned tblock[3]; /* threads */
    unsigned tshared;   /* dynamic, bytes */
    int carveout;       /* percent; -1: as the original's */
    bool unsafe;        /* writes through pointers that it loads: cannot be verified */
    struct symbol zero[8], mirror[MOST_SYMBOLS];
    unsigned nzero, nmirror;
    /* what became of it */
    uint64_t launches;
    uint64_t applied;           /* launches that ran the tuned kernel */
    uint64_t captured;          /* into graphs, with the tuned kernel */
    uint64_t captured_original; /* into graphs, as they were */
    uint64_t skipped[LIVE_APPLY_NWHY];
    unsigned verified, differed;
    uint64_t load_ns, enter_ns;
    unsigned turn;
    enum arm last;
    /* steady: behind a launch of the same kind, the original and the tuned kernel */
    struct samples arm[NARMS];
    struct samples replayed; /* the tuned kernel, by graphs */
    struct samples steady[2];
};
struct tuned {  /* a target's kernel in one context */
    int state;  /* 0: not loaded; 1: ready; -1: failed, why says how */
    bool unfit; /* whether it starts with the program's launches was not looked at yet */
    int why;
    void *f;
    unsigned shared;             /* most dynamic shared memory it was given */
    uint64_t from[MOST_SYMBOLS]; /* device address of each mirrored variable in the program's module */
    uint64_t to[MOST_SYMBOLS];   /* and in the tuned one */
    uint64_t zero[8];            /* device addresses of what is zeroed */
    size_t bytes[MOST_SYMBOLS];
};
struct bound {
    void *f, *context;
    int image;
    uint64_t mask; /* targets that its image has */
    int named;     /* the first target of that name; -1: none, the usual case */
    int maxreg;    /* register limit that its code was compiled with; 0: none */
    struct tuned **tuned;
    struct tuned *original; /* of a swapped image: the original beside it */
};
struct apply_driver {
#define APPLY_FN(field, name, ...) int (*field)(__VA_ARGS__);
#include "engine/dev/inject/apply_driver.def"
#undef APPLY_FN
};
struct apply_state {
    pthread_mutex_t lock;
    struct apply_driver d;
    struct target target[MOST_TARGETS];
    int ntargets;
    int mode; /* LIVE_APPLY_AB, LIVE_APPLY_ALL, LIVE_APPLY_NONE */
    unsigned verify;
    const char *socket; /* of the command that answers which targets an image has */
    struct bound bound[MOST_BOUND];
    unsigned nbound, asked;
    bool stopped;         /* an output differed: nothing more is swapped */
    uint64_t first, last; /* of all kernels on the GPU, ns */
    struct {
        uint32_t correlation;
        int16_t target;
        int8_t arm;
        bool steady;
    } call[MOST_ARMS];
};
extern struct apply_state A;

/* The plan of GPULOCW_LIVE_APPLY. False: there is none, or it cannot be read. */
bool apply_plan(void);
/* The function as it is launched: bound at its first launch. NULL: no room, or no current context. */
struct bound *apply_bound(const struct launch *l);
/* launch_part.image: loads the tuned kernels of an image beside it. What has no context yet, and what is machine code
 * alone, is loaded at its first launch. */
void apply_image(int image, void *owner, bool library);
/* The target's kernel, loaded by now where it was not before. NULL: it cannot be used; *why. */
struct tuned *apply_tuned(struct bound *b, int target, const struct launch *l, int *why);
/* Of a swapped image: the original, for launches that the tuned kernel is not for. NULL: *why. */
struct tuned *apply_original(struct bound *b, int target, const struct launch *l, int *why);
/* Which targets the image has (bits), of which it is the whole text; name: of a kernel of it. */
uint64_t apply_ask(const struct image *m, const char *name, int *maxreg, uint64_t *whole);
/* Loads of images (apply_swap.c). */
void apply_load(const struct call *c);
void apply_library_load(const struct call *c);
/* Is the stream being captured into a graph? */
bool apply_capturing(const struct launch *l);
void *apply_stream(const struct launch *l);
/* The launch by ourselves, of function f with this target's launch (NULL: the program's own). */
int apply_launch(const struct launch *l, void *f, const struct target *t);
void apply_mirror(const struct target *t, const struct tuned *u, const struct launch *l, bool back);

/* Runs the tuned kernel on a copy of what it can reach; the program's launch then runs the original. At
 * the launch's end the outputs are compared. -1: it goes on; else LIVE_APPLY_ why not. */
int apply_verify(struct target *t, const struct tuned *u, const struct launch *l);
/* 1: equal, 0: they differ, -1: the original differs from itself, or it could not be said. */
int apply_verified(const struct launch *l);
/* Instead of that: the program's own launch failed. */
void apply_verify_drop(void);
