/* gen: random PTX programs and data for differential tests. A program is one kernel of one CTA that
 * reads and writes one buffer (its only parameter) and says nothing that the ISA leaves open, but for
 * the payload of a NaN.
 *
 *   buffer: GEN_BLOCK records of GEN_OUT_BYTES results, then GEN_BLOCK records of GEN_IN_BYTES inputs */
#ifndef GPULOCW_TESTS_GEN_H
#define GPULOCW_TESTS_GEN_H

#include "engine/base/base.h"

struct gen;

#define GEN_BLOCK     64u
#define GEN_OUT_BYTES 512u
#define GEN_IN_BYTES  256u
#define GEN_BYTES     (GEN_BLOCK * (GEN_OUT_BYTES + GEN_IN_BYTES))
#define GEN_HEAD      ".version 8.3\n.target sm_90\n.address_size 64\n"

/* wide: of all rows, and with atomics on floats. locks: critical sections under a lock, taken by
 * spinning (wants the forward progress of Volta and later). */
struct gen {
    struct buf b;
    uint64_t seed, n;
    /* used: source registers of the instruction being written, by number */
    unsigned labels, used;
    bool diverged, wide, locks, alone;
    /* a bit per statement: left out of the text, which is otherwise that of the seed; NULL: none. A
     * statement of any level stands by itself, so what is left is a program again */
    const uint8_t *skip;
    unsigned statements; /* of the program written last */
    size_t body, end;    /* where in b its statements begin and end */
};

/* Rows of one operation each; programs that are not wide use the first gen_known() (the numbers of
 * programs in docs/correctness.md hang on it). */
size_t gen_rows(void);
size_t gen_known(void);
const char *gen_row(size_t i);

/* Appends the kernel `name` to g->b (after GEN_HEAD). row: only this operation, many times; NULL:
 * anything. */
void gen_program(struct gen *g, uint64_t seed, const char *row, const char *name);
/* Inputs; results zero. */
void gen_data(struct gen *g, uint64_t seed, uint8_t data[GEN_BYTES]);
/* Equal but for payloads of NaNs of f64, which the ISA leaves open; else *where is the first byte that
 * differs. */
bool gen_same(const uint8_t *a, const uint8_t *b, uint64_t *where);

#endif
