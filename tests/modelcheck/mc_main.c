/* modelcheck -j PROCESSES -n KERNELS -s SEED -o FOLDER -m STATES: generated kernels times every pass,
 * judged by the model checker. modelcheck --show SEED [OPTION-LINE]: one kernel, and with options its
 * rewrite and verdict. */
#include "engine/ptx/ptx.h"
#include "engine/rec/knobs.h"
#include "engine/rec/options.h"

#include "tests/modelcheck/mc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STATES_ORIGINAL = 1500, STATES_REWRITTEN = 4000, LINES = 64 };
static uint32_t judged_states = STATES_REWRITTEN;
struct row {
    uint64_t tried, accepted, legal, wrong, unchecked, racy, refused, forced, refused_legal,
        refused_illegal;
};
struct totals {
    struct row row[LINES];
    uint64_t kernels, unusable[8], states;
};
struct campaign {
    uint64_t seed, n;
    unsigned jobs;
    const char *folder;
    const char *reasons; /* file of refusals that were forced; NULL: none */
    bool force, racy_too;
    uint32_t threads; /* of a launch, at most; 0: any number */
    struct totals *t;
};

static const char *const unusable[] = { "does not parse",          "not modelled",     "too many states",
                                        "may never end by itself", "faults by itself", "other" };

static unsigned why_unusable(const char *why)
{
    return strstr(why, "states")     ? 2
           : strstr(why, "end")      ? 3
           : strstr(why, "fault")    ? 4
           : strstr(why, "modelled") ? 1
                                     : 5;
}

static const char *pass_of(const char *line)
{
    return strstr(line, " --cluster") || strncmp(line, "--cluster", 9) == 0
               ? (strncmp(line, "--cluster", 9) == 0
                      ? (strstr(line, "agent") ? "cluster agent" : "cluster redirect")
                      : "together")
           : strncmp(line, "--bypass ro", 11) == 0                              ? "bypass ro"
           : strncmp(line, "--bypass", 8) == 0                                  ? "bypass"
           : strncmp(line, "--readonly", 10) == 0                               ? "readonly"
           : strncmp(line, "--swizzle", 9) == 0                                 ? "swizzle"
           : strncmp(line, "--smem-pad", 10) == 0                               ? "smem pad"
           : strncmp(line, "--prefetch", 10) == 0                               ? "prefetch"
           : strncmp(line, "--softcache", 11) == 0                              ? "softcache"
           : strncmp(line, "--coarsen", 9) == 0                                 ? "schedule coarsen"
           : strncmp(line, "--block", 7) == 0 || strcmp(line, "--swap-xy") == 0 ? "schedule shape"
           : strncmp(line, "--swap", 6) == 0                                    ? "together"
                                                                                : "throttle";
}

struct workspace {
    struct mc_kernel k;
    struct ptx_module *m;
    struct mc_program *p;
    struct mc_origin o;
    bool usable;
};

static void workspace_close(struct workspace *s)
{
    mc_origin_free(&s->o);
    mc_unload(s->p);
    ptx_free(s->m);
    mc_kernel_free(&s->k);
}

static bool workspace_open(uint64_t seed, struct workspace *s, char why[128])
{
    struct diags ds = { 0 };
    memset(s, 0, sizeof *s);
    mc_generate(seed, &s->k);
    if (ptx_parse("kern.ptx", (struct str){ s->k.text.s, s->k.text.n }, &s->m, &ds) != ST_OK || !s->m) {
        struct buf b = { 0 };
        diags_print(&ds, &b);
        fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, b.s ? b.s : "");
        buf_free(&b);
        memcpy(why, "does not parse", 15);
        diags_free(&ds);
        return false;
    }
    diags_free(&ds);
    s->usable = mc_load(s->m, str_of("kern"), &s->k.launch, NULL, &s->p, why) == ST_OK &&
                mc_origin_make(s->p, STATES_ORIGINAL, &s->o, why) == ST_OK;
    return s->usable;
}

static enum mc_verdict judge(struct workspace *s, const struct pass_output *out, char why[160],
                             struct buf *trace)
{
    struct mc_launch l = s->k.launch;
    struct mc_program *p = NULL;
    char what[128] = "";
    l.grid = out->grid;
    l.block = out->block;
    l.shared = out->shared;
    if (mc_load(out->module, str_of("kern"), &l, out->knobs ? out->knob : NULL, &p, what) != ST_OK) {
        memcpy(why, what, sizeof what);
        return MC_UNCHECKED;
    }
    enum mc_verdict v = mc_judge(s->p, &s->o, p, judged_states, why, trace);
    mc_unload(p);
    return v;
}

static void write_case(const struct campaign *c, uint64_t seed, size_t line, struct workspace *s,
                       const struct pass_output *out, const char *why)
{
    struct buf name = { 0 }, trace = { 0 };
    char again[160];
    judge(s, out, again, &trace);
    buf_printf(&name, "%s/%s_%llu_%zu.txt", c->folder, pass_of(mc_options[line]),
               (unsigned long long)seed, line);
    for (char *p = name.s; p && *p; p++)
        if (*p == ' ')
            *p = '_';
    FILE *f = name.s ? fopen(name.s, "w") : NULL;
    const struct mc_launch *l = &s->k.launch;
    if (f) {
        fprintf(f,
                "seed %llu, options %s\nwhy: %s\nfeatures: %s\nracy original: %s\ngrid %ux%u block "
                "%ux%u shared %u, n %u, k %u\n",
                (unsigned long long)seed, mc_options[line], why, s->k.what, s->o.all.racy ? "yes" : "no",
                l->grid.x, l->grid.y, l->block.x, l->block.y, l->shared, l->param[4].value,
                l->param[5].value);
        for (unsigned p = 0; p < 4; p++)
            fprintf(f, "par_%u: %s\n", p,
                    l->param[p].kind == MC_SAME ? "the same as par_0" : s->k.hex[p]);
        fprintf(f,
                "\n-- interleaving --\n%s\n-- kernel --\n%s\n-- rewritten (grid %ux%u block %ux%u "
                "shared %u) --\n%.*s\n",
                trace.s ? trace.s : "", s->k.text.s, out->grid.x, out->grid.y, out->block.x,
                out->block.y, out->shared, (int)out->n, out->text);
        fclose(f);
    }
    buf_free(&name);
    buf_free(&trace);
}

/* Verdict, seed, options and reason of a refusal, a line each. */
static void note_reason(const struct campaign *c, uint64_t seed, size_t line, enum mc_verdict v,
                        const struct diags *why)
{
    FILE *f = c->reasons ? fopen(c->reasons, "a") : NULL;
    if (!f)
        return;
    fprintf(f, "%s\t%llu\t%s\t%s\n", v == MC_LEGAL ? "legal" : "illegal", (unsigned long long)seed,
            mc_options[line], why->n && why->v[0].msg ? why->v[0].msg : "");
    fclose(f);
}

/* Refused because there is nothing to rewrite, or because the device cannot do what is asked: no rewrite
 * is missing, whatever forcing would give. */
static bool nothing_to_do(const struct diags *why)
{
    static const char *const says[] = { "the kernel has no global load", "--minctas " };
    const char *text = why->n && why->v[0].msg ? why->v[0].msg : "";
    for (size_t k = 0; k < ARRAY_LEN(says); k++)
        if (strncmp(text, says[k], strlen(says[k])) == 0)
            return true;
    return false;
}

static void try_refused(const struct campaign *c, uint64_t seed, size_t line, struct workspace *s,
                        const struct pass_input *in, const struct diags *reason)
{
    struct row *r = &c->t->row[line];
    struct pass_output out;
    struct diags ds = { 0 };
    char why[160];
    if (!nothing_to_do(reason) && mc_force(in, &out, &ds) == ST_OK) {
        enum mc_verdict v = out.changed ? judge(s, &out, why, NULL) : MC_UNCHECKED;
        r->forced += v != MC_UNCHECKED;
        r->refused_legal += v == MC_LEGAL;
        r->refused_illegal += v == MC_ILLEGAL;
        if (v != MC_UNCHECKED)
            note_reason(c, seed, line, v, reason);
        pass_output_free(&out);
    }
    diags_free(&ds);
}

static void one_line(const struct campaign *c, uint64_t seed, struct workspace *s, size_t line)
{
    struct options o = options_default();
    struct diags ds = { 0 };
    struct row *r = &c->t->row[line];
    struct pass_output out;
    char why[160] = "";
    if (options_parse_line(&o, str_of(mc_options[line]), &ds) != ST_OK)
        abort();
    struct pass_input in = {
        .module = s->m, .kernel = STR("kern"), .options = &o, .dev = &mc_device, .launch = &s->k.spec
    };
    r->tried++;
    if (pass_apply(&in, &out, &ds) == ST_OK) {
        enum mc_verdict v = judge(s, &out, why, NULL);
        r->accepted++;
        r->racy += s->o.all.racy && v == MC_LEGAL;
        r->legal += v == MC_LEGAL;
        r->unchecked += v == MC_UNCHECKED;
        r->wrong += v == MC_ILLEGAL;
        if (v == MC_ILLEGAL && c->folder)
            write_case(c, seed, line, s, &out, why);
        pass_output_free(&out);
    } else {
        r->refused++;
        if (c->force)
            try_refused(c, seed, line, s, &in, &ds);
    }
    diags_free(&ds);
}

static void one_kernel(const struct campaign *c, uint64_t seed)
{
    struct workspace s;
    char why[128] = "";
    c->t->kernels++;
    if (!workspace_open(seed, &s, why))
        c->t->unusable[s.m ? why_unusable(why) : 0]++;
    c->t->states += s.o.all.states;
    for (size_t k = 0; s.usable && k < mc_noptions; k++)
        one_line(c, seed, &s, k);
    workspace_close(&s);
}

static void add(struct totals *to, const struct totals *from)
{
    uint64_t *a = (uint64_t *)to;
    const uint64_t *b = (const uint64_t *)from;
    for (size_t k = 0; k < sizeof *to / sizeof *a; k++)
        a[k] += b[k];
}

static void print_row(const char *name, const struct row *r)
{
    printf("%-24.24s %8llu %8llu %8llu %6llu %9llu %8llu %8llu %8llu", name,
           (unsigned long long)r->tried, (unsigned long long)r->accepted, (unsigned long long)r->legal,
           (unsigned long long)r->wrong, (unsigned long long)r->unchecked,
           (unsigned long long)r->refused, (unsigned long long)r->forced,
           (unsigned long long)r->refused_legal);
    printf(r->forced ? " %5.1f %%\n" : "     -\n",
           r->forced ? 100.0 * (double)r->refused_legal / (double)r->forced : 0.0);
}

static uint64_t print_totals(const struct totals *t, bool lines, double seconds)
{
    static const char *const order[] = { "bypass",        "bypass ro",      "readonly",
                                         "swizzle",       "smem pad",       "cluster redirect",
                                         "cluster agent", "prefetch",       "softcache",
                                         "throttle",      "schedule shape", "schedule coarsen",
                                         "together" };
    struct row all = { 0 };
    uint64_t bad = 0;
    printf("%-24s %8s %8s %8s %6s %9s %8s %8s %8s %s\n", "pass", "tried", "accepted", "legal", "FALSE",
           "unchecked", "refused", "forced", "legal", "share");
    for (size_t p = 0; p < ARRAY_LEN(order); p++) {
        struct row sum = { 0 };
        for (size_t k = 0; k < mc_noptions; k++)
            if (strcmp(pass_of(mc_options[k]), order[p]) == 0) {
                uint64_t *a = (uint64_t *)&sum;
                for (size_t n = 0; n < sizeof sum / 8; n++)
                    a[n] += ((const uint64_t *)&t->row[k])[n],
                        ((uint64_t *)&all)[n] += ((const uint64_t *)&t->row[k])[n];
                if (lines)
                    print_row(mc_options[k], &t->row[k]);
            }
        print_row(order[p], &sum);
    }
    print_row("all", &all);
    for (size_t k = 0; k < ARRAY_LEN(unusable); k++)
        bad += t->unusable[k];
    printf("%llu kernels, %llu of them judged, seconds %.1f; left out:", (unsigned long long)t->kernels,
           (unsigned long long)(t->kernels - bad), seconds);
    for (size_t k = 0; k < ARRAY_LEN(unusable); k++)
        printf(" %llu %s%s", (unsigned long long)t->unusable[k], unusable[k],
               k + 1 < ARRAY_LEN(unusable) ? "," : "");
    printf("; racy originals (ends alone compared): %llu accepted rewrites\n",
           (unsigned long long)all.racy);
    return all.wrong;
}

static int show(int argc, char **argv)
{
    struct workspace s;
    char why[160] = "";
    bool ok = workspace_open(strtoull(argv[2], NULL, 0), &s, why);
    const struct mc_launch *l = &s.k.launch;
    printf("// features: %s\n// grid %ux%u block %ux%u shared %u\n%s// %s %s: %u finals, %u states, %u "
           "runs, racy %d, cycle %d\n",
           s.k.what, l->grid.x, l->grid.y, l->block.x, l->block.y, l->shared, s.k.text.s,
           ok ? "usable" : "unusable:", why, s.o.all.nfinal, s.o.all.states, s.o.all.runs, s.o.all.racy,
           s.o.all.cycle);
    struct options o = options_default();
    struct diags ds = { 0 };
    struct pass_output out;
    struct buf text = { 0 };
    for (int k = 3; ok && k < argc; k++) {
        if (options_parse_line(&o, str_of(argv[k]), &ds) != ST_OK)
            return 2;
        struct pass_input in = {
            .module = s.m, .kernel = STR("kern"), .options = &o, .dev = &mc_device, .launch = &s.k.spec
        };
        if (pass_apply(&in, &out, &ds) == ST_OK) {
            enum mc_verdict v = judge(&s, &out, why, &text);
            printf("%.*s// %s %s\n%s", (int)out.n, out.text,
                   v == MC_LEGAL     ? "legal"
                   : v == MC_ILLEGAL ? "ILLEGAL"
                                     : "unchecked",
                   why, text.s ? text.s : "");
            pass_output_free(&out);
        }
        diags_print(&ds, &text);
        printf("%s", text.s ? text.s : "");
    }
    workspace_close(&s);
    return 0;
}

/* Kernels with more threads have more states than can be explored. */
static bool fits(const struct campaign *c, uint64_t seed)
{
    struct mc_kernel k;
    if (!c->threads)
        return true;
    mc_generate(seed, &k);
    bool yes = dim3u_count(k.launch.grid) * dim3u_count(k.launch.block) <= c->threads;
    mc_kernel_free(&k);
    return yes;
}

static void work(const struct campaign *c, unsigned me)
{
    uint64_t seed = c->seed + me;
    for (uint64_t k = me; k < c->n; k += c->jobs, seed += c->jobs) {
        while (!fits(c, seed))
            seed += c->jobs;
        one_kernel(c, seed);
        if (me == 0 && k && k / c->jobs % 1000 == 0)
            fprintf(stderr, "%llu of %llu kernels\n", (unsigned long long)k, (unsigned long long)c->n);
    }
}

int main(int argc, char **argv)
{
    struct campaign c = { .seed = 1, .n = 1000, .jobs = 1, .force = true };
    bool lines = false;
    if (argc > 2 && strcmp(argv[1], "--show") == 0)
        return show(argc, argv);
    for (int o; (o = getopt(argc, argv, "j:n:s:o:m:t:r:lf")) != -1;)
        switch (o) {
        case 'j': c.jobs = (unsigned)atoi(optarg); break;
        case 'n': c.n = strtoull(optarg, NULL, 0); break;
        case 's': c.seed = strtoull(optarg, NULL, 0); break;
        case 'o':
            c.folder = optarg;
            mkdir(optarg, 0777);
            break;
        case 'm': judged_states = (uint32_t)atoi(optarg); break;
        case 't': c.threads = (uint32_t)atoi(optarg); break;
        case 'r': c.reasons = optarg; break;
        case 'l': lines = true; break;
        case 'f': c.force = false; break;
        default:
            fprintf(stderr, "modelcheck [-j processes] [-n kernels] [-s first seed] [-o folder for what "
                            "is wrong] [-m states of a rewritten kernel, at most] [-t threads of a "
                            "launch, at most] [-r file: a line for each refusal that was forced] [-l: a "
                            "row per configuration] [-f: refused ones are not forced]\n");
            return 2;
        }
    c.jobs = c.jobs ? c.jobs : 1;
    struct totals *shared = mmap(NULL, c.jobs * sizeof *shared, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0),
                  sum = { 0 };
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    if (shared == MAP_FAILED)
        return 4;
    unsigned failed = 0;
    for (unsigned k = 0; k < c.jobs && c.jobs > 1; k++)
        if (fork() == 0) {
            c.t = &shared[k];
            work(&c, k);
            _exit(0);
        }
    c.t = shared;
    if (c.jobs == 1)
        work(&c, 0);
    for (int st; c.jobs > 1 && wait(&st) > 0;)
        failed += !WIFEXITED(st) || WEXITSTATUS(st) != 0;
    for (unsigned k = 0; k < c.jobs; k++)
        add(&sum, &shared[k]);
    clock_gettime(CLOCK_MONOTONIC, &to);
    uint64_t wrong = print_totals(
        &sum, lines, (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec));
    if (failed)
        printf("%u processes ended badly\n", failed);
    return wrong || failed ? 1 : 0;
}
