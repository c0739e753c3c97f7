/* Generated programs on two devices: `gpu_diff [--rows|--reduce] [--pretend WORDS] [--jobs N] [FIRST
 * [COUNT [DEVICE]]]`, default the programs of seeds 1 to 2000 on cuda:0 and on the simulated device; all
 * bytes must come out the same. --rows: every row of tests/ref/gen_rows.c by itself instead, FIRST and
 * COUNT counting rows; --reduce: where programs part, the statements that part them are printed.
 * --pretend: a device that is wrong wherever a program holds these words, to see that this is found;
 * with ! before them it ends the process, with ~ it is wrong only when it optimises. Needs no library
 * beyond libc.
 *
 * The driver's compiler decides too: where a program ends otherwise, or its compilation ends the
 * process, it is compiled again without optimisation (level 0). If the GPU then gives what the simulated
 * device does, it contradicts itself: the difference is the optimiser's, is named and counted, and no
 * error. Each batch runs in one of N child processes. */
#include "tests/gpu/diff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEFAULT_JOBS = 16, MAX_JOBS = 64, FAILED = 3 };
struct totals {
    unsigned long done, differ, failed, optimised, ended;
};
/* What a child tells the parent: it may be ended at any time. plain: without optimisation. */
struct child {
    pid_t pid;
    unsigned long first, count, batch_end;
    bool plain;
    volatile struct totals t;
};
struct run {
    bool rows, reduce;
    const char *pretend, *spec;
    unsigned jobs;
    unsigned long next, end;
    struct totals t;
    struct child *c;
};

static const char *what(const struct run *r)
{
    return r->rows ? "row" : "seed";
}

/* Whether the device agrees once its compiler does not optimise. */
static bool same_unoptimised(struct diff *d, unsigned k)
{
    bool same = false;
    uint64_t at;
    diff_level("0");
    bool ok = diff_run(d, k, &same, &at);
    diff_level(NULL);
    return ok && same;
}

/* True: it parted the devices. */
static bool one(struct diff *d, const struct run *r, struct child *c, unsigned long which, unsigned k)
{
    bool same = false;
    uint64_t at = 0;
    struct buf out = { 0 };
    c->t.done++;
    if (!diff_run(d, k, &same, &at)) {
        if (c->count > 1)
            _exit(FAILED); /* a device that failed once is of no more use: each by itself */
        c->t.failed++;
        diags_print(&d->ds, &out);
        printf("failed: %s %lu %s\n%s", what(r), which, r->rows ? gen_row(which) : "",
               out.s ? out.s : "");
    } else if (!same) {
        diff_describe(d, at, &out);
        bool optimiser = !c->plain && !r->rows && same_unoptimised(d, k);
        *(optimiser ? &c->t.optimised : &c->t.differ) += 1;
        printf("%s: %s %lu%s%s: %s\n", optimiser ? "same at level 0" : "differs", what(r), which,
               r->rows ? ", " : "", r->rows ? gen_row(which) : "", out.s);
    } else if (c->plain) {
        c->t.ended++;
        printf("ended the process, same at level 0: %s %lu\n", what(r), which);
    }
    buf_free(&out);
    fflush(stdout);
    return !same;
}

/* One range of seeds, at most DIFF_BATCH to a module. */
static void serve(const struct run *r, struct child *c)
{
    struct diff *d = calloc(1, sizeof *d);
    unsigned long parted[DIFF_BATCH], n = 0;
    struct buf out = { 0 };
    if (c->plain)
        diff_level("0");
    if (!d || (d->rows = r->rows, d->pretend = r->pretend, !diff_open(d, r->spec))) {
        if (d)
            diags_print(&d->ds, &out);
        printf("%s", out.s ? out.s : "out of memory\n");
        fflush(stdout);
        _exit(1);
    }
    if (!diff_bind(d, c->first, (unsigned)c->count, c->first))
        _exit(1);
    for (unsigned k = 0; k < c->count; k++)
        if (one(d, r, c, c->first + k, k))
            parted[n++] = c->first + k;
    diff_unbind(d);
    for (unsigned long k = 0; r->reduce && k < n; k++)
        diff_reduce(d, parted[k], c->first, &out);
    printf("%s", out.s ? out.s : "");
    fflush(stdout);
    _exit(0); /* the device goes with the process */
}

static bool start(struct child *c, const struct run *r, unsigned long first, unsigned long count,
                  bool plain)
{
    c->first = first;
    c->count = count;
    c->plain = plain;
    c->t = (struct totals){ 0 };
    fflush(stdout);
    pid_t pid = fork();
    if (!pid)
        serve(r, c);
    c->pid = pid; /* the parent's only: the record is shared */
    return pid > 0;
}

static bool start_batch(struct run *r, struct child *c)
{
    unsigned long n = r->end - r->next < DIFF_BATCH ? r->end - r->next : DIFF_BATCH;
    c->batch_end = r->next + n;
    if (!n || !start(c, r, r->next, n, false))
        return false;
    r->next += n;
    return true;
}

/* Child c is gone. A batch whose process was ended is done again seed by seed, the one to blame once
 * more at level 0. True: the child works on. */
static bool finish(struct run *r, struct child *c, int status)
{
    bool ended = WIFSIGNALED(status);
    if ((ended || WEXITSTATUS(status) == FAILED) && c->count > 1)
        return start(c, r, c->first, 1, false); /* nothing of the batch counts */
    if (ended && !c->plain)
        return start(c, r, c->first, 1, true);
    if (ended)
        printf("ended at level 0 too: %s %lu: signal %d\n", what(r), c->first, WTERMSIG(status));
    r->t.done += c->t.done;
    r->t.differ += c->t.differ;
    r->t.optimised += c->t.optimised;
    r->t.ended += c->t.ended;
    r->t.failed += c->t.failed + (ended || WEXITSTATUS(status) != 0);
    return (c->first + c->count < c->batch_end && start(c, r, c->first + 1, 1, false)) ||
           start_batch(r, c);
}

static void work(struct run *r)
{
    unsigned alive = 0;
    int status;
    for (unsigned k = 0; k < r->jobs; k++)
        alive += start_batch(r, &r->c[k]);
    while (alive) {
        pid_t p = wait(&status);
        unsigned k = 0;
        while (k < r->jobs && r->c[k].pid != p)
            k++;
        if (p < 0)
            return;
        alive -= k < r->jobs && !finish(r, &r->c[k], status);
    }
}

static bool arguments(struct run *r, int argc, char **argv)
{
    int k = 1;
    for (; k < argc && !strncmp(argv[k], "--", 2); k++) {
        if (!strcmp(argv[k], "--rows"))
            r->rows = true;
        else if (!strcmp(argv[k], "--reduce"))
            r->reduce = true;
        else if (!strcmp(argv[k], "--pretend") && k + 1 < argc)
            r->pretend = argv[++k];
        else if (!strcmp(argv[k], "--jobs") && k + 1 < argc)
            r->jobs = (unsigned)strtoul(argv[++k], NULL, 10);
        else
            return false;
    }
    unsigned long first = k < argc ? strtoul(argv[k], NULL, 10) : !r->rows,
                  count = k + 1 < argc ? strtoul(argv[k + 1], NULL, 10)
                          : r->rows    ? gen_rows()
                                       : 2000;
    r->spec = k + 2 < argc ? argv[k + 2] : "cuda:0";
    if (r->rows && (first >= gen_rows() || count > gen_rows() - first))
        count = first < gen_rows() ? gen_rows() - first : 0;
    r->next = first;
    r->end = first + count;
    r->jobs = r->jobs < 1 ? 1 : r->jobs > MAX_JOBS ? MAX_JOBS : r->jobs;
    return true;
}

int main(int argc, char **argv)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    struct run r = { .jobs = cpus < 1 ? 1 : cpus > DEFAULT_JOBS ? DEFAULT_JOBS : (unsigned)cpus };
    if (!arguments(&r, argc, argv)) {
        fprintf(
            stderr,
            "usage: gpu_diff [--rows|--reduce] [--pretend WORDS] [--jobs N] [FIRST [COUNT [DEVICE]]]\n");
        return 2;
    }
    unsigned long first = r.next;
    r.c = mmap(NULL, MAX_JOBS * sizeof *r.c, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (r.c == MAP_FAILED)
        return 2;
    work(&r);
    printf("%lu %s from %lu on %s and the simulated device: %lu differ unexplained, %lu failed; the "
           "compiler's optimiser: %lu differ from their own level 0, %lu end the process\n",
           r.t.done, r.rows ? "rows" : "programs", first, r.spec, r.t.differ, r.t.failed, r.t.optimised,
           r.t.ended);
    return r.t.done && !r.t.differ && !r.t.failed ? 0 : 1;
}
