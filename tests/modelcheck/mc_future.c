/* What a CTA may still do, learnt by exploring, and states that differ in nothing that matters.
 *
 * A key stands for "a CTA with these contents (registers, places, shared memory), while the words that
 * atomics claim from hold these values". To each key belong the words of global memory that each lane
 * may still read and write: what any explored execution did from such a state on. An access that no
 * other CTA's future meets is nobody's business.
 *
 * A CTA whose code reads its number no more is like any other with the same contents, so states that
 * only exchange such CTAs are one. */
#include "tests/modelcheck/mc_int.h"

#include <stdlib.h>
#include <string.h>

enum { KEYS_MOST = 60000 };

bool mc_future_make(struct mc_future *f, const struct mc_program *p)
{
    memset(f, 0, sizeof *f);
    f->words = p->shared_at / 4;
    f->row = (f->words + 63) / 64;
    f->lanes = p->block;
    f->control = calloc(f->words + 1, 1);
    f->far = calloc(f->words + 1, 1);
    f->mask = 255;
    f->table = calloc(256, sizeof *f->table);
    return f->control && f->far && f->table;
}

void mc_future_free(struct mc_future *f)
{
    free(f->control);
    free(f->far);
    free(f->table);
    free(f->hash);
    free(f->set);
    free(f->edge);
    free(f->edges);
    memset(f, 0, sizeof *f);
}

/* Other words are claimed from than was thought: the keys mean something else now. */
static void forget_keys(struct mc_future *f)
{
    memset(f->table, 0, ((size_t)f->mask + 1) * sizeof *f->table);
    f->nkeys = f->nedges = 0;
    if (f->edges)
        memset(f->edges, 0, ((size_t)f->emask + 1) * sizeof *f->edges);
}

static uint64_t *row_of(const struct mc_future *f, uint32_t key, unsigned lane, bool write)
{
    return f->set + (((size_t)key * f->lanes + lane) * 2 + write) * f->row;
}

static bool grow_keys(struct mc_future *f)
{
    size_t row = (size_t)f->lanes * 2 * f->row;
    if (f->nkeys == f->capkeys) {
        uint32_t cap = f->capkeys ? 2 * f->capkeys : 64;
        uint64_t *h = realloc(f->hash, cap * sizeof *h);
        f->hash = h ? h : f->hash;
        uint64_t *s = h ? realloc(f->set, cap * row * sizeof *s + 8) : NULL;
        f->set = s ? s : f->set;
        if (!h || !s)
            return false;
        f->capkeys = cap;
    }
    if (2 * f->nkeys > f->mask) {
        uint32_t mask = 2 * f->mask + 1, *t = calloc((size_t)mask + 1, sizeof *t);
        if (!t)
            return false;
        free(f->table);
        f->table = t;
        f->mask = mask;
        for (uint32_t k = 0; k < f->nkeys; k++) {
            uint32_t at = (uint32_t)f->hash[k] & mask;
            while (t[at])
                at = (at + 1) & mask;
            t[at] = k + 1;
        }
    }
    memset(f->set + f->nkeys * row, 0, row * sizeof *f->set);
    return true;
}

uint32_t mc_future_key(struct mc_future *f, uint64_t control, uint64_t local)
{
    uint64_t h = (control ^ (local + 0x9e3779b97f4a7c15ull)) * 0xff51afd7ed558ccdull;
    h ^= h >> 29;
    uint32_t at = (uint32_t)h & f->mask;
    for (; f->table[at]; at = (at + 1) & f->mask)
        if (f->hash[f->table[at] - 1] == h)
            return f->table[at] - 1;
    if (f->nkeys == KEYS_MOST || !grow_keys(f)) {
        f->full = true;
        return 0;
    }
    for (at = (uint32_t)h & f->mask; f->table[at];)
        at = (at + 1) & f->mask;
    f->hash[f->nkeys] = h;
    f->table[at] = ++f->nkeys;
    return f->nkeys - 1;
}

/* What is possible after `to` is possible after `from`. */
void mc_future_edge(struct mc_future *f, uint32_t from, uint32_t to)
{
    if (from == to || f->full)
        return;
    if (!f->edges || 2 * f->nedges > f->emask) {
        uint32_t mask = f->edges ? 2 * f->emask + 1 : 255, *t = calloc((size_t)mask + 1, sizeof *t);
        struct mc_pair *e = realloc(f->edge, ((size_t)mask + 1) * sizeof *e);
        f->edge = e ? e : f->edge;
        if (!t || !e) {
            free(t);
            f->full = true;
            return;
        }
        free(f->edges);
        f->edges = t;
        f->emask = mask;
        for (uint32_t k = 0; k < f->nedges; k++) {
            uint32_t at = (e[k].from * 2654435761u ^ e[k].to * 40503u) & mask;
            while (t[at])
                at = (at + 1) & mask;
            t[at] = k + 1;
        }
    }
    uint32_t at = (from * 2654435761u ^ to * 40503u) & f->emask;
    for (; f->edges[at]; at = (at + 1) & f->emask)
        if (f->edge[f->edges[at] - 1].from == from && f->edge[f->edges[at] - 1].to == to)
            return;
    f->edge[f->nedges] = (struct mc_pair){ from, to };
    f->edges[at] = ++f->nedges;
}

/* Carries what was seen back to all that lead there. */
void mc_future_spread(struct mc_future *f)
{
    size_t n = (size_t)f->lanes * 2 * f->row;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t k = f->nedges; k-- > 0;) {
            uint64_t *to = f->set + f->edge[k].from * n;
            const uint64_t *of = f->set + f->edge[k].to * n;
            for (size_t w = 0; w < n; w++)
                if (of[w] & ~to[w]) {
                    f->changed |= ((of[w] & ~to[w]) & f->farset[w % f->row]) != 0;
                    to[w] |= of[w];
                    more = true;
                }
        }
    }
}

/* Lane `lane` of a CTA with this key does it, now or later. */
void mc_future_add(struct mc_future *f, uint32_t key, unsigned lane, uint32_t word, bool read,
                   bool write)
{
    uint64_t bit = 1ull << (word % 64);
    for (int w = 0; w < 2; w++)
        if (w ? write : read) {
            uint64_t *row = row_of(f, key, lane, w);
            f->changed |= !(row[word / 64] & bit) && f->far[word];
            row[word / 64] |= bit;
        }
}

bool mc_future_meets(const struct mc_future *f, uint32_t key, unsigned lane, uint32_t word, bool write)
{
    uint64_t bit = 1ull << (word % 64);
    return (row_of(f, key, lane, true)[word / 64] & bit) ||
           (write && (row_of(f, key, lane, false)[word / 64] & bit));
}

/* Two CTAs use this word and one writes it; or it is one that is claimed from. */
void mc_future_far(struct mc_future *f, uint32_t word)
{
    if (f->far[word])
        return;
    f->far[word] = 1;
    f->farset[word / 64] |= 1ull << (word % 64);
    f->changed = true;
}

void mc_future_control(struct mc_future *f, uint32_t word)
{
    f->renew |= !f->control[word];
    f->control[word] = 1;
}

bool mc_future_renew(struct mc_future *f)
{
    bool was = f->renew;
    if (was)
        forget_keys(f);
    f->renew = f->changed = false;
    return was;
}

/* ---- contents ---- */
/* Words that nobody ever reads hold nothing. */
static uint64_t hash_read(const struct mc_run *x, const uint8_t *s, uint32_t at, uint32_t bytes,
                          uint64_t h)
{
    const uint32_t *m = (const uint32_t *)(MEM(x, s) + at);
    for (uint32_t w = 0; w < bytes / 4; w++)
        if (m[w] && x->seen->word[at / 4 + w].rd)
            h = (h ^ (m[w] + ((uint64_t)w << 32))) * 0xff51afd7ed558ccdull, h ^= h >> 31;
    return h;
}

static uint64_t local_hash(const struct mc_run *x, const uint8_t *s, uint32_t cta)
{
    const struct mc_program *p = x->p;
    struct mc_cta c = CTA(x, s)[cta];
    bool number = !c.started, sm = false;
    uint32_t first = cta * p->block;
    if (c.started && !c.live)
        return 1;
    for (uint32_t t = first; t < first + p->block; t++) {
        const struct mc_thread *th = &THREAD(x, s)[t];
        const uint64_t *live = p->live + (size_t)th->pc * p->words;
        if (th->status == T_DONE)
            continue;
        number |= live[p->nregs / 64] >> (p->nregs % 64) & 1;
        sm |= live[(p->nregs + 1) / 64] >> ((p->nregs + 1) % 64) & 1;
    }
    if (!sm)
        c.sm = c.sm_set = 0;
    uint64_t h = mc_hash(&c, sizeof c, number ? cta + 1 : 0);
    h = mc_hash(THREAD(x, s) + first, p->block * sizeof(struct mc_thread), h);
    h = mc_hash(REGS(x, s, first), (size_t)p->block * p->nregs * 8, h);
    h = mc_hash(PRIV(x, s, first), (size_t)p->block * p->priv, h);
    return hash_read(x, s, p->shared_at + cta * p->shared_all, p->shared_all, h);
}

uint64_t mc_control(const struct mc_run *x, const uint8_t *s)
{
    uint64_t h = 0;
    for (uint32_t w = 0; w < x->fut->words; w++)
        if (x->fut->control[w])
            h = mc_hash(MEM(x, s) + 4 * (size_t)w, 4, h + w);
    return h;
}

void mc_contents(const struct mc_run *x, const uint8_t *s, struct mc_contents *c)
{
    const struct mc_program *p = x->p;
    uint64_t sorted[MC_CTAS];
    c->control = mc_control(x, s);
    for (uint32_t k = 0; k < p->nctas; k++) {
        uint64_t h = c->local[k] = local_hash(x, s, k);
        uint32_t at = k;
        for (; at > 0 && sorted[at - 1] > h; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = h;
    }
    uint64_t mem = mc_hash(MEM(x, s), p->buffers, 3);
    mem = hash_read(x, s, p->buffers, p->shared_at - p->buffers, mem);
    c->order = mc_hash(c->local, p->nctas * sizeof *c->local, mem);
    c->state = mc_hash(sorted, p->nctas * sizeof *sorted, mem);
}

void mc_keys(struct mc_run *x, const struct mc_contents *c, uint32_t *key)
{
    for (uint32_t k = 0; k < x->p->nctas; k++)
        key[k] = mc_future_key(x->fut, c->control, c->local[k]);
}
