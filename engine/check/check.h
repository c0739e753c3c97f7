/* check: findings about a kernel against rules: for people as a compiler prints them, as JSON, and as
 * SARIF 2.1.0 for code-scanning services. */
#pragma once

#include "engine/base/base.h"

struct ana_kernel;
struct inv_seen;
struct launch_spec;
struct result;

enum rule_level { RULE_OFF, RULE_NOTE, RULE_WARNING, RULE_ERROR };
extern const char *const rule_level_names[]; /* by enum rule_level */
enum rule_id {
#define RULE(id, name, level, limit, unit, fault, title, page, help) RULE_##id,
#include "engine/check/rules.def"
#undef RULE
    RULE_COUNT
};
struct rule {
    const char *name;
    enum rule_level level;
    double limit;     /* NaN: none */
    const char *unit; /* of limit */
    const char *
        fault; /* code of the diagnostic of a checked run; empty: the analysis finds it; "-": counters */
    const char *title;
    const char *page; /* of https://docs.nvidia.com/ */
    const char *help;
};
/* What is asked of each rule: the table's, as a rules file changes it. */
struct rules {
    enum rule_level level[RULE_COUNT];
    double limit[RULE_COUNT];
};
const struct rule *rule_at(enum rule_id id);
struct rules rules_default(void);
/* {"format":"gpulocw-rules","version":1,"rules":{NAME:{"level":LEVEL,"limit":NUMBER}}}; what it leaves
 * out stays. ST_INPUT with diagnostics: no such rule, level or key. */
enum status rules_read(const char *path, struct rules *r, struct diags *ds);

struct finding {
    enum rule_id rule;
    enum rule_level level;
    char *kernel, *message; /* owned */
    char *file;             /* the source that was compiled, else the PTX file; owned */
    uint32_t line, column;  /* there */
    char *other_file;       /* of a race: where the partner is; owned, NULL: none */
    uint32_t other_line;    /* there */
    char *array;            /* whose memory it is about; owned, NULL: not known */
    uint32_t count;         /* instructions of that place with this finding; the worst one is told */
    char *ptx_file;         /* owned */
    uint32_t ptx_line;      /* 0: none */
    double value, limit;    /* NaN: none */
    uint64_t fingerprint;   /* stays when lines move: of rule, kernel, text and how many are alike */
    bool old;               /* in the baseline */
};
/* What a kernel was checked with. */
enum check_launch { CHECK_LAUNCH_NONE, CHECK_LAUNCH_GUESSED, CHECK_LAUNCH_GIVEN };
extern const char *const check_launch_names[]; /* by enum check_launch */
struct checked_kernel {
    char *name, *readable; /* owned */
    enum check_launch launch;
    char *shape;          /* of a guess: grid and block, what was tried beside it; owned, NULL: none */
    char *unanalysed;     /* why no access has exact addresses; owned, NULL: some have */
    char *unrun;          /* why no launch ran to its end, or not as it should; owned, NULL: one did */
    struct result *timed; /* one launch, that ran checked before; owned, NULL: none was timed */
    bool fault;           /* the run ended at a fault: what comes behind it was not seen */
    bool front;           /* the guess has a pointer in the middle of its buffer */
    bool one_warp;        /* no CTA of the guess has two warps, though the kernel has barriers */
    bool ran, analysed;
    const char *beside; /* the launch beside the guess that findings are of; NULL: the guess; borrowed */
};
struct findings {
    struct finding *v; /* sorted by file, line, column, rule */
    size_t n, cap;
    struct checked_kernel *kernel; /* in the order of the module */
    size_t nkernels, kernel_cap;
    bool oom;
};
/* The record of a kernel, made where there is none; NULL: out of memory. Valid until the next one. */
struct checked_kernel *findings_kernel(struct findings *f, const struct ana_kernel *k);
/* Was the rule checked for this kernel? *why: NULL, or why not, or not to the end. */
bool findings_checked(const struct checked_kernel *k, const struct rules *r, enum rule_id rule,
                      const char **why);
/* A launch beside the guess was tried, which differs by `what`. */
void findings_tried(struct findings *f, struct checked_kernel *k, const char *what);
/* What the analysis found: with a launch by exact addresses, without one by expected sectors. */
void findings_of_analysis(const struct ana_kernel *k, const struct rules *r, struct findings *f);
/* What the counters of a run tell that was timed; its threads as launched. */
void findings_of_counters(const struct ana_kernel *k, const struct result *run, uint64_t threads,
                          const struct rules *r, struct findings *f);
/* Tensor maps of a launch that was given, whose rows overlap. */
void findings_of_maps(const struct ana_kernel *k, const struct launch_spec *l, const struct rules *r,
                      struct findings *f);
/* What a checked run found: its errors. Diagnostics of other codes count as RULE_failed_run. Errors of a
 * guessed launch are warnings: its sizes and data are not the program's. */
void findings_of_run(const struct ana_kernel *k, const struct diags *run, const struct rules *r,
                     struct findings *f);
/* Sorts them, makes one of those at one place in the source, and numbers them, once all are there. */
void findings_finish(struct findings *f);
/* Marks as old what an earlier `gpulocw check --format json` at `path` holds. */
enum status findings_baseline(struct findings *f, const char *path, struct diags *ds);
/* Findings of level error that are not old. */
size_t findings_new_errors(const struct findings *f);
void findings_free(struct findings *f);

/* ---- writing ---- */
void findings_text(const struct findings *f, const struct rules *r, struct buf *out);
void findings_json(const struct findings *f, const struct rules *r, struct buf *out);
/* JUnit's XML: a suite for each kernel, a case for each rule. */
void findings_junit(const struct findings *f, const struct rules *r, struct buf *out);
/* check --rewrite OLD NEW: what was looked at, and what is broken. */
void invariants_json(const char *old, const char *now, const struct inv_seen *s,
                     const struct diags *found, struct buf *out);
/* The array of findings alone. */
void findings_list_json(struct jw *w, const struct findings *f); /* the member "findings" */
void findings_sarif(const struct findings *f, const struct rules *r, struct buf *out);
