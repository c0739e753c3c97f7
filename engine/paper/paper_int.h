/* Private to paper: tables, and a cell: one application on one platform. */
#pragma once

#include "engine/paper/paper.h"
#include "engine/workspace/args.h"
#include "engine/workspace/workspace.h"

struct result;
struct tune_bench;

/* A figure that a paper's text gives. platform "": any; of: an application, a point, a class, a fact or
 * "G-M". */
struct paper_figure {
    const char *id; /* of the experiment */
    const char *platform;
    const char *of;
    const char *series;
    double value;
    const char *text; /* where the value is a word */
    const char *where;
};
size_t paper_figure_count(void);
const struct paper_figure *paper_figure_at(size_t i);
/* value NaN and text NULL: not in the text */
struct paper_value paper_beside(const char *id, const char *platform, const char *of,
                                const char *series);

struct paper_cell {
    const struct paper_experiment *e;
    const struct paper_request *q;
    const struct paper_app *app; /* NULL: the runner needs none */
    const char *platform;
    struct args *args;
    struct workspace w;
    struct tune_bench *bench;
    unsigned agents,
        agents_most; /* active ones elected by the last series that tries them; resident ones */
    struct paper_cell
        *then; /* the application's second kernel, where the bars add its time; may be NULL */
    struct result *then_own; /* its original, for options that it cannot take; NULL: not run yet */
    bool demote;             /* its loads ask for the read-only cache: made plain for L1's curves */
    struct diags ds;
    enum status st;
    struct paper_row *row;
    size_t nrows, rows_cap;
    struct paper_fact *fact;
    size_t nfacts, facts_cap;
    void (*tick)(struct paper_cell *c, double done);
    void *tick_ctx;
};
/* A zeroed row (values NaN) with application, platform and group; NULL: out of memory, c->st says so. */
struct paper_row *cell_row(struct paper_cell *c);
void cell_fact(struct paper_cell *c, const char *name, double ours);
void cell_fact_text(struct paper_cell *c, const char *name, const char *ours);
/* A GPU, "cuda:0"; else a preset or the file of one. */
bool cell_on_gpu(const struct paper_cell *c);
/* Its device as -d has it. */
void cell_device(const struct paper_cell *c, struct buf *out);
/* Module, launch, device, data; with facts, analysed (quick or not). */
enum status cell_open(struct paper_cell *c, bool quick_facts);
enum status cell_bench(struct paper_cell *c);
enum status cell_try(struct paper_cell *c, const char *options, struct result *out);
void cell_close(struct paper_cell *c);
uint32_t cell_warps(const struct paper_cell *c);
double cell_counter(const struct result *r, const char *name); /* NaN: not counted */
double cell_ns(const struct result *r);                        /* NaN: no time, or outputs differ */
/* Of a launch: a GPU's counter has it, else modelled; NaN: neither. */
double cell_energy(const struct paper_cell *c, const struct result *r);
bool cell_cancelled(struct paper_cell *c);
/* Waves of the launch whose original came to `r`, into the row. */
void cell_waves(const struct paper_cell *c, const struct result *r, struct paper_row *row);

/* A word, or a number as text and pictures have it; NaN: n/a. */
void paper_put_value(struct buf *out, double v, const char *text);
/* How many series from `first` on share a unit, so that their bars compare. */
size_t paper_unit_of(const struct paper_result *r, size_t first);

bool paper_memo_get(struct paper_memo *m, const char *key, struct result *out);
void paper_memo_put(struct paper_memo *m, const char *key, const struct result *r);

/* Runners: fill rows and facts of the cell. */
void paper_run_curve(struct paper_cell *c);
void paper_run_bars(struct paper_cell *c);
void paper_run_configs(struct paper_cell *c);
void paper_run_reuse(struct paper_cell *c);
void paper_run_classes(struct paper_cell *c);
void paper_run_coalesce(struct paper_cell *c);
void paper_run_graph(struct paper_cell *c);
void paper_run_costs(struct paper_cell *c);
void paper_run_hit_rate(struct paper_cell *c);
void paper_run_latency(struct paper_cell *c);
void paper_run_valley(struct paper_cell *c);
void paper_run_shares(struct paper_cell *c);
void paper_run_distances(struct paper_cell *c);
void paper_run_lines(struct paper_cell *c);
void paper_run_softcache(struct paper_cell *c);
void paper_run_votes(struct paper_cell *c);
