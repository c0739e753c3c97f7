/* Operands that are constants, and lie where ptxas takes them. */
#include "engine/base/base.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_int.h"
#include "engine/ptx/ptx_table.h"

/* low to high, and a multiple of `step`; at: the operand, counted as it is written, from 0 */
static const struct range {
    uint16_t op;
    uint8_t at, step;
    int64_t low, high;
    const char *what;
} ranges[] = {
#define NUMBER(op, at)                                  \
    {                                                   \
        PTX_OP_##op, at, 1, 0, 15, "a barrier's number" \
    }
#define COUNT(op)                                                         \
    {                                                                     \
        PTX_OP_##op, 1, 32, 0, 4096, "a number of threads in whole warps" \
    }
    NUMBER(BAR_SYNC, 0),
    COUNT(BAR_SYNC),
    NUMBER(BAR_ARRIVE, 0),
    COUNT(BAR_ARRIVE),
    NUMBER(BAR_RED, 1),
    NUMBER(BAR_CTA_SYNC, 0),
    COUNT(BAR_CTA_SYNC),
    NUMBER(BAR_CTA_ARRIVE, 0),
    COUNT(BAR_CTA_ARRIVE),
    NUMBER(BAR_CTA_RED, 1),
    NUMBER(BARRIER_SYNC, 0),
    COUNT(BARRIER_SYNC),
    NUMBER(BARRIER_ARRIVE, 0),
    COUNT(BARRIER_ARRIVE),
    NUMBER(BARRIER_RED, 1),
    NUMBER(BARRIER_CTA_SYNC, 0),
    COUNT(BARRIER_CTA_SYNC),
    NUMBER(BARRIER_CTA_ARRIVE, 0),
    COUNT(BARRIER_CTA_ARRIVE),
    NUMBER(BARRIER_CTA_RED, 1),
#undef NUMBER
#undef COUNT
    { PTX_OP_BFE, 2, 1, 0, 255, "a position" },
    { PTX_OP_BFE, 3, 1, 0, 255, "a length" },
    { PTX_OP_BFI, 3, 1, 0, 255, "a position" },
    { PTX_OP_BFI, 4, 1, 0, 255, "a length" },
};

void ptx_check_ranges(struct ptx_parser *p, const struct ptx_form *f, const struct ptx_operand *o,
                      unsigned n, struct span at)
{
    for (size_t i = 0; i < ARRAY_LEN(ranges); i++) {
        const struct range *r = &ranges[i];
        if (r->op != f->op || r->at >= n || o[r->at].kind != OPND_IMM || o[r->at].is_float)
            continue;
        int64_t v = o[r->at].imm;
        if (v < r->low || v > r->high || v % r->step)
            ptx_error(p, "ptx-operand", at, "%lld is not %s of '%s': %lld to %lld%s", (long long)v,
                      r->what, ptx_op_info(f->op)->name, (long long)r->low, (long long)r->high,
                      r->step > 1 ? ", a multiple of 32" : "");
    }
}
