/* Exploring all interleavings.
 *
 * Which operations of two threads can meet is learnt by exploring. Two lanes of a CTA meet at a word
 * when in any execution seen so far both used it, one wrote it, and no barrier stood between. Another
 * CTA is met where its future (mc_future.c) uses the word. Operations that meet nobody are run at once,
 * with the thread's arithmetic. At another, a persistent set of threads is tried: whoever may use the
 * same words, and whoever those wait for. What was learnt on the way may show that a set was too small;
 * then all is explored once more with what is known now, until nothing new is seen. A state met again on
 * the stack is left by every thread (cycle proviso). */
#include "tests/modelcheck/mc_int.h"

#include <stdlib.h>
#include <string.h>

enum { FRAMES_MOST = 6000, RUNS_MOST = 400, STATES_RUNS = 40 };
struct action {
    uint8_t thread, choice;
};
struct frame {
    uint32_t node;
    bool full;
    uint8_t n, next;
    struct mc_contents is;
    struct action act[2 * MC_THREADS];
};
struct node {
    uint64_t hash, order; /* of the state, CTAs in any order, and in theirs */
    bool on_stack, final, reaches;
};
struct edge {
    uint32_t from, to;
};
struct search {
    struct mc_run x;
    struct mc_seen seen;
    struct mc_future future;
    const struct mc_limits *lim;
    struct mc_result *out;
    struct node *node;
    uint32_t nnodes, capnodes;
    uint32_t *table;
    uint32_t mask, captable;
    struct edge *edge;
    uint32_t nedges, capedges;
    struct frame *frame;
    uint8_t *state;
    uint32_t depth;
    uint64_t target;
    struct buf *trace;
    bool found;
    bool full, oom;
};

/* ---- nodes ---- */
static void spread(struct search *s, uint32_t mask)
{
    s->mask = mask;
    memset(s->table, 0, ((size_t)mask + 1) * sizeof *s->table);
    for (uint32_t n = 0; n < s->nnodes; n++) {
        uint32_t k = (uint32_t)s->node[n].hash & mask;
        while (s->table[k])
            k = (k + 1) & mask;
        s->table[k] = n + 1;
    }
}

static uint32_t find_node(struct search *s, uint64_t h, bool *fresh)
{
    uint32_t k = (uint32_t)h & s->mask;
    for (; s->table[k]; k = (k + 1) & s->mask)
        if (s->node[s->table[k] - 1].hash == h) {
            *fresh = false;
            return s->table[k] - 1;
        }
    *fresh = true;
    if (s->nnodes == s->lim->states || s->nnodes == s->capnodes) {
        s->full = true;
        return 0;
    }
    s->node[s->nnodes] = (struct node){ .hash = h };
    s->table[k] = ++s->nnodes;
    if (2 * s->nnodes > s->mask && 2 * s->mask + 1 < s->captable)
        spread(s, 2 * s->mask + 1);
    return s->nnodes - 1;
}

static void add_edge(struct search *s, uint32_t from, uint32_t to)
{
    if (s->nedges == s->capedges) {
        uint32_t cap = s->capedges ? 2 * s->capedges : 1024;
        struct edge *v = realloc(s->edge, cap * sizeof *v);
        if (!v) {
            s->oom = true;
            return;
        }
        s->edge = v;
        s->capedges = cap;
    }
    s->edge[s->nedges++] = (struct edge){ from, to };
}

static void add_final(struct search *s, uint64_t h)
{
    struct mc_result *r = s->out;
    for (uint32_t k = 0; k < r->nfinal; k++)
        if (r->final[k] == h)
            return;
    if (r->nfinal == MC_FINALS)
        s->full = true;
    else
        r->final[r->nfinal++] = h;
}

/* ---- who moves ---- */
static uint32_t who_meets(const struct mc_run *x, uint32_t cta, const struct mc_access *a, uint32_t g)
{
    uint32_t block = x->p->block, mates = (uint32_t)(((1ull << block) - 1) << (cta * block));
    uint32_t set = (a->write ? x->seen->word[g].rd | x->seen->word[g].wr : x->seen->word[g].wr) & mates;
    if (g >= x->fut->words || !x->fut->far[g])
        return set;
    for (uint32_t t = 0; t < x->p->nthreads; t++)
        if (t / block != cta && mc_future_meets(x->fut, x->key[t / block], t % block, g, a->write))
            set |= 1u << t;
    return set;
}

static void whom(const struct search *s, const uint8_t *st, unsigned t, uint32_t *set)
{
    const struct mc_run *x = &s->x;
    const struct mc_thread *th = THREAD(x, st);
    struct mc_access a;
    uint32_t cta = t / x->p->block;
    switch (th[t].status) {
    case T_MEM:
        mc_access(x, st, t, &a);
        for (uint32_t g = a.at / 4; a.memory && g <= (a.at + a.bytes - 1) / 4; g++)
            *set |= who_meets(x, cta, &a, g);
        return;
    case T_BAR:
    case T_WARP:
        for (uint32_t k = cta * x->p->block; k < (cta + 1) * x->p->block; k++)
            *set |= 1u << k;
        return;
    case T_UNSTARTED:
        for (uint32_t k = 0; k < x->p->nthreads; k++)
            *set |= 1u << k;
        return;
    default: return;
    }
}

static uint32_t moves(const struct search *s, const uint8_t *st)
{
    uint32_t set = 0;
    for (unsigned t = 0; t < s->x.p->nthreads; t++)
        set |= (uint32_t)(THREAD(&s->x, st)[t].status == T_MEM) << t;
    return set;
}

static uint32_t closure(const struct search *s, const uint8_t *st, unsigned t)
{
    uint32_t set = 1u << t, done = 0;
    while (set & ~done) {
        unsigned u = (unsigned)__builtin_ctz(set & ~done);
        done |= 1u << u;
        whom(s, st, u, &set);
    }
    return set;
}

static uint32_t persistent(const struct search *s, const uint8_t *st)
{
    uint32_t enabled = moves(s, st), best = enabled, tried = 0;
    if (s->lim->brute)
        return enabled;
    for (unsigned t = 0; t < s->x.p->nthreads; t++) {
        if (!(enabled >> t & 1) || (tried >> t & 1))
            continue;
        uint32_t c = closure(s, st, t) & enabled;
        tried |= 1u << t;
        if (__builtin_popcount(c) < __builtin_popcount(best))
            best = c;
    }
    return best;
}

static void put_actions(struct search *s, struct frame *f, const uint8_t *st, uint32_t set)
{
    for (unsigned t = 0; t < s->x.p->nthreads; t++) {
        unsigned n = set >> t & 1 ? mc_choices(&s->x, st, t) : 0;
        for (unsigned k = 0; k < n && f->n < ARRAY_LEN(f->act); k++)
            f->act[f->n++] = (struct action){ (uint8_t)t, (uint8_t)k };
    }
}

static void see_races(struct search *s, const uint8_t *st)
{
    struct mc_run *x = &s->x;
    struct mc_access a[MC_THREADS];
    uint32_t set = x->racy ? 0 : moves(s, st);
    for (unsigned t = 0; t < x->p->nthreads; t++)
        if (set >> t & 1)
            mc_access(x, st, t, &a[t]);
    for (unsigned t = 0; t < x->p->nthreads; t++)
        for (unsigned u = t + 1; (set >> t & 1) && u < x->p->nthreads; u++)
            if ((set >> u & 1) && a[t].memory && a[u].memory && (a[t].write || a[u].write) &&
                (a[t].weak || a[u].weak) && a[t].at < a[u].at + a[u].bytes &&
                a[u].at < a[t].at + a[t].bytes)
                x->racy = true;
}

/* ---- depth first ---- */
static uint8_t *state_at(struct search *s, uint32_t k)
{
    return s->state + (size_t)k * s->x.at.bytes;
}

static void tell(struct search *s)
{
    static const char *const names[] = { "ld", "st", "atom" };
    s->found = true;
    for (uint32_t k = 1; k < s->depth; k++) {
        const struct frame *f = &s->frame[k - 1];
        struct action a = f->act[f->next - 1];
        const uint8_t *st = state_at(s, k - 1);
        struct mc_access m;
        mc_access(&s->x, st, a.thread, &m);
        const struct mc_inst *o = &s->x.p->inst[THREAD(&s->x, st)[a.thread].pc];
        const char *what = m.memory ? names[o->op == MC_LD ? 0 : o->op == MC_ST ? 1 : 2] : "choose";
        uint32_t was = 0, is = 0;
        memcpy(&was, MEM(&s->x, st) + (m.memory ? m.at & ~3u : 0), 4);
        memcpy(&is, MEM(&s->x, state_at(s, k)) + (m.memory ? m.at & ~3u : 0), 4);
        buf_printf(s->trace, "  CTA %u thread %u line %u: %s", a.thread / s->x.p->block,
                   a.thread % s->x.p->block, s->x.p->line[THREAD(&s->x, st)[a.thread].pc], what);
        if (m.memory)
            buf_printf(s->trace, " memory+%u (%u -> %u)", m.at, was, is);
        buf_printf(s->trace, a.choice ? ", choice %u\n" : "\n", a.choice);
    }
    static const char *const status[] = { "runs", "at memory",   "at a barrier", "at a warp operation",
                                          "done", "not started", "spins",        "fault" };
    const uint8_t *last = state_at(s, s->depth - 1);
    for (unsigned t = 0; t < s->x.p->nthreads; t++)
        if (THREAD(&s->x, last)[t].status != T_DONE)
            buf_printf(s->trace, "  CTA %u thread %u: %s, line %u\n", t / s->x.p->block,
                       t % s->x.p->block, status[THREAD(&s->x, last)[t].status],
                       s->x.p->line[THREAD(&s->x, last)[t].pc]);
}

/* Everything is done, or a fault ended the launch. */
static bool is_end(const struct search *s, const uint8_t *st)
{
    bool all = true;
    for (unsigned t = 0; t < s->x.p->nthreads; t++) {
        if (THREAD(&s->x, st)[t].status == T_FAULT)
            return true;
        all &= THREAD(&s->x, st)[t].status == T_DONE;
    }
    return all;
}

/* The state that was come to: its hashes, and its CTAs' keys behind those of the state that was left. */
static void arrive(struct search *s, const uint8_t *st, struct mc_contents *is)
{
    struct mc_run *x = &s->x;
    uint32_t key[MC_CTAS];
    if (x->brute) {
        is->state = is->order = mc_hash(st, x->at.hashed, 0);
        return;
    }
    mc_contents(x, st, is);
    mc_keys(x, is, key);
    for (uint32_t k = 0; k < x->p->nctas; k++)
        mc_future_edge(x->fut, x->key[k], key[k]);
    memcpy(x->key, key, sizeof key);
}

/* One step of a thread: the others' keys change with what is claimed. */
static void leave(struct search *s, const struct mc_contents *is, uint8_t *to, struct action a)
{
    struct mc_run *x = &s->x;
    if (!x->brute)
        mc_keys(x, is, x->key);
    mc_step(x, to, a.thread, a.choice);
    struct mc_contents then = *is;
    then.control = x->brute ? 0 : mc_control(x, to);
    for (uint32_t k = 0; !x->brute && then.control != is->control && k < x->p->nctas; k++)
        if (k != a.thread / x->p->block) {
            uint32_t key = mc_future_key(x->fut, then.control, is->local[k]);
            mc_future_edge(x->fut, x->key[k], key);
            x->key[k] = key;
        }
    mc_settle(x, to);
}

/* Looks at the state on top; pushes it as a frame when it is new. */
static bool enter(struct search *s, uint32_t from)
{
    uint8_t *st = state_at(s, s->depth);
    struct mc_contents is;
    bool fresh;
    arrive(s, st, &is);
    uint32_t n = find_node(s, is.state, &fresh);
    if (s->full || s->future.full) {
        s->full = true;
        return false;
    }
    if (fresh)
        s->node[n].order = is.order;
    else if (s->node[n].order != is.order && !s->x.sym)
        s->x.sym = s->seen.changed = true;
    if (from != UINT32_MAX)
        add_edge(s, from, n);
    if (!fresh) {
        s->seen.met = true;
        if (s->node[n].on_stack) {
            s->out->cycle = true;
            struct frame *f = &s->frame[s->depth - 1];
            if (!f->full && !s->lim->brute) {
                uint32_t had = 0;
                for (uint8_t k = 0; k < f->n; k++)
                    had |= 1u << f->act[k].thread;
                f->full = true;
                put_actions(s, f, state_at(s, s->depth - 1), moves(s, state_at(s, s->depth - 1)) & ~had);
            }
        }
        return false;
    }
    struct frame *f = &s->frame[s->depth++];
    memset(f, 0, offsetof(struct frame, act));
    f->node = n;
    f->is = is;
    s->node[n].on_stack = true;
    s->node[n].final = s->node[n].reaches = is_end(s, st);
    uint64_t h = s->node[n].final ? mc_hash(MEM(&s->x, st), s->x.p->buffers, 7) : 0;
    if (s->node[n].final)
        add_final(s, h);
    else
        put_actions(s, f, st, persistent(s, st));
    see_races(s, st);
    for (unsigned t = 0; t < s->x.p->nthreads; t++)
        s->out->cycle |= THREAD(&s->x, st)[t].status == T_SPIN;
    if (s->trace && !s->found && (s->node[n].final ? h == s->target : s->node[n].hash == s->target))
        tell(s);
    return true;
}

static void dfs(struct search *s)
{
    s->depth = 0;
    mc_begin(&s->x, state_at(s, 0));
    if (!s->x.brute) {
        struct mc_contents is;
        mc_contents(&s->x, state_at(s, 0), &is);
        mc_keys(&s->x, &is, s->x.key);
    }
    mc_settle(&s->x, state_at(s, 0));
    enter(s, UINT32_MAX);
    while (s->depth && !s->full && !s->x.unknown && !s->found) {
        struct frame *f = &s->frame[s->depth - 1];
        if (f->next == f->n) {
            s->node[f->node].on_stack = false;
            s->depth--;
            continue;
        }
        if (s->depth == FRAMES_MOST) {
            s->full = true;
            break;
        }
        struct action a = f->act[f->next++];
        uint8_t *to = state_at(s, s->depth);
        memcpy(to, state_at(s, s->depth - 1), s->x.at.bytes);
        leave(s, &f->is, to, a);
        enter(s, f->node);
    }
}

/* ---- afterwards ---- */
static void find_stuck(struct search *s)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t k = s->nedges; k-- > 0;)
            if (s->node[s->edge[k].to].reaches && !s->node[s->edge[k].from].reaches)
                s->node[s->edge[k].from].reaches = more = true;
    }
    for (uint32_t k = 0; k < s->nnodes && !s->out->stuck; k++)
        if (!s->node[k].reaches) {
            s->out->stuck = true;
            s->out->stuck_state = s->node[k].hash;
        }
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void reset(struct search *s)
{
    s->nnodes = s->nedges = 0;
    spread(s, 63);
    s->out->nfinal = 0;
    s->out->cycle = s->out->stuck = false;
    s->x.racy = s->x.parted = s->x.fault = false;
    for (uint32_t g = 0; g <= s->x.p->flat / 4; g++)
        s->x.seen->word[g].visible = s->x.seen->word[g].next;
    s->x.seen->changed = s->x.seen->reads = s->x.seen->met = false;
    mc_future_renew(&s->future);
}

/* Kept from one exploration to the next: most touch little of it. */
static void *scratch(int which, size_t n)
{
    static struct {
        void *p;
        size_t n;
    } held[4];
    if (held[which].n < n) {
        free(held[which].p);
        held[which].p = malloc(n);
        held[which].n = held[which].p ? n : 0;
    }
    return held[which].p;
}

static bool alloc(struct search *s, const struct mc_program *p)
{
    uint32_t size = 64;
    while (size < 2 * s->lim->states)
        size *= 2;
    s->captable = size;
    s->capnodes = s->lim->states;
    s->node = scratch(0, s->capnodes * sizeof *s->node);
    s->table = scratch(1, (size_t)size * sizeof *s->table);
    s->frame = scratch(2, (FRAMES_MOST + 1) * sizeof *s->frame);
    s->x.p = p;
    mc_layout_make(&s->x);
    s->state = scratch(3, (size_t)(FRAMES_MOST + 1) * s->x.at.bytes);
    s->x.seen = &s->seen;
    s->x.fut = &s->future;
    s->seen.word = calloc(p->flat / 4 + 2, sizeof *s->seen.word);
    s->out->final = malloc(MC_FINALS * sizeof *s->out->final);
    return mc_future_make(&s->future, p) && s->node && s->table && s->frame && s->state &&
           s->seen.word && s->out->final;
}

static enum status search(const struct mc_program *p, const struct mc_limits *lim, struct mc_result *out,
                          uint64_t target, struct buf *trace)
{
    struct mc_limits own = *lim;
    struct search s = { .lim = &own, .out = out };
    own.states = own.states ? own.states : 20000;
    memset(out, 0, sizeof *out);
    bool ok = alloc(&s, p);
    s.x.brute = own.brute;
    s.x.resident = own.resident ? own.resident : p->nctas;
    bool again = ok;
    for (; again && !s.oom && !s.full && !s.x.unknown && out->runs < RUNS_MOST &&
           out->states < STATES_RUNS * own.states;
         out->runs++) {
        reset(&s);
        dfs(&s);
        out->states += s.nnodes;
        mc_future_spread(&s.future);
        again = (s.seen.changed || (s.seen.reads && s.seen.met) || s.future.changed || s.future.renew) &&
                !own.brute;
    }
    if (ok && trace && !s.full && !s.x.unknown) { /* the set is settled: once more, stopping there */
        reset(&s);
        s.target = target;
        s.trace = trace;
        dfs(&s);
    }
    out->limit = s.full || again;
    out->racy = s.x.racy;
    out->parted = s.x.parted;
    out->fault = s.x.fault;
    if (s.x.unknown)
        memcpy(out->unknown, s.x.unknown, strlen(s.x.unknown) + 1);
    else if (ok && !s.full && !s.oom)
        find_stuck(&s);
    if (ok)
        qsort(out->final, out->nfinal, sizeof *out->final, by_value);
    free(s.edge);
    free(s.seen.word);
    mc_future_free(&s.future);
    return ok && !s.oom ? ST_OK : ST_NOMEM;
}

enum status mc_explore(const struct mc_program *p, const struct mc_limits *limits, struct mc_result *out)
{
    return search(p, limits, out, 0, NULL);
}

void mc_result_free(struct mc_result *r)
{
    free(r->final);
    memset(r, 0, sizeof *r);
}

void mc_trace(const struct mc_program *p, const struct mc_limits *limits, uint64_t target,
              struct buf *out)
{
    struct mc_result r;
    search(p, limits, &r, target, out);
    mc_result_free(&r);
}
