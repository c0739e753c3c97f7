/* wmma (9.7.14.4) of narrow floats and bytes, as tensor cores sum them: tiles of 16 rows, the whole depth
 * at once. Fragments are opaque by the ISA; exec/matrix.c says which element lies where. */
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/slots.h"
#include "engine/sim/exec/tensor/operand.h"

#include <string.h>

#define MOST_COLS  32u
#define MOST_WORDS 256u /* of a matrix of factors: 32 x 16 halves */

/* A matrix row by row, of which each lane has `words` registers. */
static void gather(struct exec_warp *w, const struct exec_part *p, unsigned words, uint32_t *to)
{
    for (unsigned r = 0; r < words; r++) {
        const uint32_t *from = slot_at(w, p->slot[r]);
        for (unsigned lane = 0; lane < WARP_LANES; lane++)
            to[lane * words + r] = from[lane];
    }
}

struct factor {
    struct mat_read r;
    unsigned bytes;        /* of an element */
    unsigned mn, k;        /* rows of A or columns of B; depth */
    const uint8_t *matrix; /* row by row; B of bytes: column by column */
};

/* Rows of A from `first` on (those that it has not are zero), or all of B. */
static void load(const struct factor *f, unsigned first)
{
    static const uint8_t zeros[16];
    const uint8_t *run[8];
    bool across = !f->r.of_b || f->bytes == 1;
    unsigned most = f->r.of_b ? f->mn : DOT_ROWS, per = 16 / f->bytes,
             row = (across ? f->k : f->mn) * f->bytes;
    for (unsigned mn = 0; mn < most; mn += 8)
        for (unsigned k = 0; k < f->k; k += across ? per : 8) {
            for (unsigned i = 0; i < 8; i++) {
                unsigned y = across ? first + mn + i : k + i, x = (across ? k : mn) * f->bytes;
                run[i] = y < (across ? f->mn : f->k) ? f->matrix + y * row + x : zeros;
            }
            mat_put_runs(&f->r, mn, k, across, run);
        }
}

/* The same of B in words. */
static void load_words(const struct factor *f)
{
    for (unsigned k = 0; k < f->k; k++)
        for (unsigned mn = 0; mn < f->mn; mn++) {
            uint32_t v;
            memcpy(&v, f->matrix + (k * f->mn + mn) * sizeof v, sizeof v);
            mat_put(&f->r, mn, k, v);
        }
}

static void turn_bytes(uint8_t *m, unsigned rows, unsigned cols)
{
    uint8_t old[4 * MOST_WORDS];
    memcpy(old, m, rows * cols);
    for (unsigned r = 0; r < rows; r++)
        for (unsigned c = 0; c < cols; c++)
            m[c * rows + r] = old[r * cols + c];
}

static struct factor factor(struct exec_warp *w, const struct exec_mma *x, bool of_b, uint32_t *room)
{
    const struct exec_part *p = &x->part[of_b ? 2 : 1];
    struct factor f = { .r = { .w = w, .to = w->k->tensor.factors, .type = p->type, .of_b = of_b },
                        .bytes = mat_bits(p->type) / 8,
                        .mn = x->shape[of_b ? 1 : 0],
                        .k = x->shape[2],
                        .matrix = (const uint8_t *)room };
    gather(w, p, f.mn * f.k * f.bytes / 4 / WARP_LANES, room);
    if (of_b && f.bytes == 1)
        turn_bytes((uint8_t *)room, f.k, f.mn);
    return f;
}

/* Accumulators of 32 bits, row by row. */
static void take_sums(struct exec_warp *w, const struct exec_part *p, unsigned n, uint32_t *to)
{
    unsigned words = n / WARP_LANES;
    if (p->type != PTX_T_F16) {
        gather(w, p, words, to);
        return;
    }
    for (unsigned r = 0; r < words / 2; r++) {
        float half[2][WARP_LANES];
        w->x->p->dots->widen(slot_at(w, p->slot[r]), half[0], half[1]);
        for (unsigned lane = 0; lane < WARP_LANES; lane++)
            for (unsigned h = 0; h < 2; h++)
                memcpy(&to[lane * words + 2 * r + h], &half[h][lane], sizeof *to);
    }
}

static void put_sums(struct exec_warp *w, const struct exec_mma *x, unsigned n, const uint32_t *from)
{
    const struct exec_part *p = &x->part[0];
    unsigned words = n / WARP_LANES, per = p->type == PTX_T_F16 ? 2 : 1;
    for (unsigned r = 0; r < words / per; r++) {
        uint32_t v[2][WARP_LANES], *to;
        if (p->slot[r] == EXEC_NO_ID)
            continue;
        to = slot_at(w, p->slot[r]);
        for (unsigned lane = 0; lane < WARP_LANES; lane++)
            for (unsigned h = 0; h < per; h++)
                v[h][lane] = from[lane * words + per * r + h];
        if (per == 2)
            w->x->p->dots->narrow((const float *)v[0], (const float *)v[1], x->finite, to);
        else
            memcpy(to, v[0], sizeof v[0]);
    }
}

/* Where dot.h has an accumulator: register and lane. */
static uint32_t *sum_at(uint32_t v[MOST_COLS / 2][WARP_LANES], unsigned row, unsigned col)
{
    return &v[col / 8 * 4 + row / 8 * 2 + col % 2][row % 8 * 4 + col % 8 / 2];
}

void exec_wmma_core(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_mma *x = in->x;
    unsigned rows = x->shape[0], cols = x->shape[1], n = rows * cols;
    uint32_t v[MOST_COLS / 2][WARP_LANES], c[DOT_ROWS * 2 * MOST_COLS], room[2][MOST_WORDS];
    void *reg[MOST_COLS / 2];
    if (!exec_mma_ready(w, in, mask))
        return;
    struct factor a = factor(w, x, false, room[0]), b = factor(w, x, true, room[1]);
    struct dot_tile t = mat_tile(w->k->tensor.factors, cols, x->shape[2], reg, x->finite);
    for (unsigned i = 0; i < cols / 2; i++)
        reg[i] = v[i];
    take_sums(w, &x->part[3], n, c);
    if (b.bytes == 4)
        load_words(&b);
    else
        load(&b, 0);
    for (unsigned first = 0; first < rows; first += DOT_ROWS) {
        load(&a, first);
        for (unsigned i = 0; i < DOT_ROWS * cols; i++)
            *sum_at(v, i / cols, i % cols) = first * cols + i < n ? c[first * cols + i] : 0;
        mat_multiply(w->x->p->dots, &x->model, &t, x->part[0].type);
        for (unsigned i = 0; i < DOT_ROWS * cols && first * cols + i < n; i++)
            c[first * cols + i] = *sum_at(v, i / cols, i % cols);
    }
    put_sums(w, x, n, c);
}
