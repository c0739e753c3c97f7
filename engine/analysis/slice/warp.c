/* Exchange between the lanes of a warp (section 9.7.13, 9.7.9.6). Lanes that are
 * not active take no part. */
#include "engine/analysis/slice/mem.h"
#include "engine/analysis/slice/slice.h"
#include "engine/base/base.h"
#include "engine/ptx/ptx_table.h"

#include <string.h>

enum word { W_NONE, W_UP, W_DOWN, W_BFLY, W_IDX, W_ALL, W_ANY, W_UNI, W_BALLOT };

static void shuffle(const struct slice_op *o, uint32_t mask, const uint64_t *a, const uint64_t *b,
                    const uint64_t *c, uint64_t *d, uint64_t *d2)
{
    for (unsigned l = 0; l < 32; l++) {
        unsigned bv = (unsigned)b[l] & 31, cv = (unsigned)c[l] & 31, seg = (unsigned)(c[l] >> 8) & 31;
        unsigned most = (l & seg) | (cv & ~seg & 31), least = l & seg;
        int j;
        bool ok;
        switch (o->mode2) {
        case W_UP:
            j = (int)l - (int)bv;
            ok = j >= (int)most;
            break;
        case W_DOWN:
            j = (int)(l + bv);
            ok = j <= (int)most;
            break;
        case W_BFLY:
            j = (int)(l ^ bv);
            ok = j <= (int)most;
            break;
        default:
            j = (int)(least | (bv & ~seg & 31));
            ok = j <= (int)most;
            break;
        }
        if (!ok)
            j = (int)l;
        d[l] = mask >> j & 1 ? a[j] : a[l];
        d2[l] = ok;
    }
}
static uint32_t votes(const struct slice_op *o, uint32_t mask, const uint64_t *a)
{
    uint32_t v = 0;
    for (unsigned l = 0; l < 32; l++)
        if ((mask >> l & 1) && (a[l] & 1) != (uint64_t)o->flag)
            v |= UINT32_C(1) << l;
    return v;
}
static uint64_t vote(const struct slice_op *o, uint32_t mask, const uint64_t *a)
{
    uint32_t v = votes(o, mask, a);
    switch (o->mode2) {
    case W_ALL: return v == mask;
    case W_ANY: return v != 0;
    case W_UNI: return v == mask || v == 0;
    default: return v;
    }
}
static void match(const struct slice_op *o, uint32_t mask, const uint64_t *a, uint64_t *d, uint64_t *d2)
{
    uint32_t first = (uint32_t)__builtin_ctz(mask), all = 0;
    for (unsigned l = 0; l < 32; l++) {
        uint32_t same = 0;
        for (unsigned k = 0; k < 32; k++)
            if ((mask >> k & 1) && a[k] == a[l])
                same |= UINT32_C(1) << k;
        d[l] = same;
        if (l == first)
            all = same == mask ? mask : 0;
    }
    for (unsigned l = 0; l < 32; l++) {
        if (o->mode2 == W_ALL)
            d[l] = all;
        d2[l] = all != 0;
    }
}
static uint64_t reduce(const struct slice_op *o, uint32_t mask, const uint64_t *a)
{
    uint64_t r = 0;
    bool first = true;
    for (unsigned l = 0; l < 32; l++) {
        if (!(mask >> l & 1))
            continue;
        uint64_t v = a[l];
        bool less = o->sign ? (int32_t)v < (int32_t)r : v < r;
        if (first)
            r = v;
        else
            r = o->mode == PTX_MOD_ADD   ? (uint32_t)(r + v)
                : o->mode == PTX_MOD_MIN ? (less ? v : r)
                : o->mode == PTX_MOD_MAX ? (less ? r : v)
                : o->mode == PTX_MOD_AND ? r & v
                : o->mode == PTX_MOD_OR  ? r | v
                                         : r ^ v;
        first = false;
    }
    return r;
}
void slice_exchange(const struct slice_op *o, uint32_t mask, const uint64_t *rows, uint64_t *d,
                    uint64_t *d2)
{
    const uint64_t *a = rows + (size_t)o->a * 32, *b = rows + (size_t)o->b * 32,
                   *c = rows + (size_t)o->c * 32;
    uint64_t same = 0;
    switch (o->code) {
    case SL_SHUFFLE: shuffle(o, mask, a, b, c, d, d2); return;
    case SL_MATCH: match(o, mask, a, d, d2); return;
    case SL_VOTE: same = vote(o, mask, a); break;
    case SL_REDUX: same = reduce(o, mask, a); break;
    case SL_ELECT:
        for (unsigned l = 0; l < 32; l++) {
            d[l] = (uint64_t)__builtin_ctz(mask);
            d2[l] = l == (unsigned)__builtin_ctz(mask);
        }
        return;
    default: same = mask; break; /* activemask */
    }
    for (unsigned l = 0; l < 32; l++)
        d[l] = same;
}
