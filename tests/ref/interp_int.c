/* Integer operations, bit by bit where the ISA says it bit by bit. */
#include "tests/ref/interp.h"

#include <string.h>

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

static unsigned bits_of(const struct interp_op *o)
{
    return ptx_type_bits(o->i->type[0]);
}
static bool is_signed(const struct interp_op *o, unsigned k)
{
    return ptx_type_kind(o->i->type[k]) == 's';
}

static wide value(uint64_t v, unsigned bits, bool sign)
{
    wide x = 0;
    for (unsigned k = 0; k < bits; k++)
        x += (wide)(v >> k & 1) << k;
    if (sign && v >> (bits - 1) & 1)
        x -= (wide)1 << bits;
    return x;
}
static uint64_t cut(wide x, unsigned bits)
{
    uwide u = (uwide)x;
    return bits == 64 ? (uint64_t)u : (uint64_t)(u & (((uwide)1 << bits) - 1));
}
static wide src(const struct interp_op *o, unsigned k)
{
    return value(o->s[k], bits_of(o), is_signed(o, 0));
}
static wide times(wide a, wide b)
{
    return (wide)((uwide)a * (uwide)b);
}
static wide floor_shift(wide x, unsigned n)
{
    return x >> n;
}
static bool bit(uint64_t v, unsigned k)
{
    return k < 64 && (v >> k & 1);
}

static wide clamp(wide x, unsigned bits, bool sign)
{
    wide most = sign ? ((wide)1 << (bits - 1)) - 1 : ((wide)1 << bits) - 1, least = sign ? -most - 1 : 0;
    return x > most ? most : x < least ? least : x;
}

static bool arithmetic(struct interp_op *o)
{
    unsigned n = bits_of(o);
    wide a = src(o, 0), b = src(o, 1), c = src(o, 2), r;
    bool sat = ptx_has_mod(o->i, PTX_MOD_SAT);
    switch (o->i->op) {
    case PTX_OP_ADD: r = a + b; break;
    case PTX_OP_SUB: r = a - b; break;
    case PTX_OP_MUL_LO: r = times(a, b); break;
    case PTX_OP_MUL_HI:
        r = n < 64            ? floor_shift(times(a, b), n)
            : is_signed(o, 0) ? times(a, b) >> 64
                              : (wide)((uwide)a * (uwide)b >> 64);
        break;
    case PTX_OP_MAD_LO: r = (wide)((uwide)times(a, b) + (uwide)c); break;
    case PTX_OP_MAD_HI:
        r = (n < 64            ? floor_shift(times(a, b), n)
             : is_signed(o, 0) ? times(a, b) >> 64
                               : (wide)((uwide)a * (uwide)b >> 64)) +
            c;
        break;
    case PTX_OP_SAD: r = c + (a < b ? b - a : a - b); break;
    case PTX_OP_ABS: r = a < 0 ? -a : a; break;
    case PTX_OP_NEG: r = -a; break;
    case PTX_OP_MIN: r = a < b ? a : b; break;
    case PTX_OP_MAX: r = a > b ? a : b; break;
    case PTX_OP_DIV: r = b ? a / b : -1; break;
    case PTX_OP_REM: r = b ? a % b : -1; break;
    default: return false;
    }
    if (ptx_has_mod(o->i, PTX_MOD_RELU) && r < 0)
        r = 0;
    o->d = cut(sat ? clamp(r, 32, true) : r, n);
    return true;
}

/* add, min, max of two halves by themselves. */
static bool pairs(struct interp_op *o)
{
    if (o->i->type[0] != PTX_T_U16X2 && o->i->type[0] != PTX_T_S16X2)
        return false;
    struct ptx_inst single = *o->i;
    single.type[0] = o->i->type[0] == PTX_T_S16X2 ? PTX_T_S16 : PTX_T_U16;
    uint64_t d = 0;
    for (unsigned k = 0; k < 32; k += 16) {
        struct interp_op one = { .i = &single, .s = { o->s[0] >> k & 0xffff, o->s[1] >> k & 0xffff } };
        if (!arithmetic(&one))
            return false;
        d |= one.d << k;
    }
    o->d = d;
    return true;
}

static bool wide_ops(struct interp_op *o)
{
    unsigned n = bits_of(o);
    wide a = src(o, 0), b = src(o, 1);
    if (o->i->op == PTX_OP_MUL_WIDE)
        o->d = cut(a * b, 2 * n);
    else if (o->i->op == PTX_OP_MAD_WIDE)
        o->d = cut(a * b + value(o->s[2], 2 * n, is_signed(o, 0)), 2 * n);
    else
        return false;
    return true;
}

static bool twenty_four(struct interp_op *o)
{
    bool sign = is_signed(o, 0), hi = o->i->op == PTX_OP_MUL24_HI || o->i->op == PTX_OP_MAD24_HI;
    bool mad = o->i->op == PTX_OP_MAD24_LO || o->i->op == PTX_OP_MAD24_HI;
    if (!hi && !mad && o->i->op != PTX_OP_MUL24_LO)
        return false;
    wide p = value(o->s[0], 24, sign) * value(o->s[1], 24, sign);
    uint64_t part = cut(hi ? floor_shift(p, 16) : p, 32);
    wide sum = value(part, 32, sign) + value(o->s[2], 32, sign);
    o->d = !mad ? part : cut(ptx_has_mod(o->i, PTX_MOD_SAT) ? clamp(sum, 32, true) : sum, 32);
    return true;
}

static bool logic(struct interp_op *o)
{
    unsigned n = bits_of(o);
    uint64_t a = o->s[0], b = o->s[1], r = 0;
    for (unsigned k = 0; k < n; k++) {
        bool x = bit(a, k), y = bit(b, k), z;
        switch (o->i->op) {
        case PTX_OP_AND: z = x && y; break;
        case PTX_OP_OR: z = x || y; break;
        case PTX_OP_XOR: z = x != y; break;
        case PTX_OP_NOT: z = !x; break;
        case PTX_OP_LOP3:
            z = o->s[3] >> ((unsigned)x * 4 + (unsigned)y * 2 + (unsigned)bit(o->s[2], k)) & 1;
            break;
        default: return false;
        }
        r |= (uint64_t)z << k;
    }
    o->d = r;
    return true;
}

static bool shifts(struct interp_op *o)
{
    unsigned n = bits_of(o);
    uint64_t amount = o->s[1] & 0xffffffffu, r = 0;
    if (o->i->op == PTX_OP_SHL || o->i->op == PTX_OP_SHR) {
        bool sign = is_signed(o, 0) && bit(o->s[0], n - 1);
        for (unsigned k = 0; k < n; k++) {
            bool z = o->i->op == PTX_OP_SHL ? k >= amount && bit(o->s[0], k - (unsigned)amount)
                     : amount + k < n       ? bit(o->s[0], k + (unsigned)amount)
                                            : sign;
            r |= (uint64_t)z << k;
        }
        o->d = r;
        return true;
    }
    if (o->i->op != PTX_OP_SHF_L && o->i->op != PTX_OP_SHF_R)
        return false;
    unsigned m = (unsigned)(ptx_has_mod(o->i, PTX_MOD_WRAP) ? o->s[2] & 31
                            : (o->s[2] & 0xffffffffu) > 32  ? 32
                                                            : o->s[2]);
    for (unsigned k = 0; k < 32; k++) {
        unsigned from = o->i->op == PTX_OP_SHF_L ? 32 + k - m : k + m;
        bool z = from < 32 ? bit(o->s[0], from) : bit(o->s[1], from - 32);
        r |= (uint64_t)z << k;
    }
    o->d = r;
    return true;
}

static bool fields(struct interp_op *o)
{
    unsigned n = bits_of(o), msb = n - 1;
    uint64_t r = 0;
    if (o->i->op == PTX_OP_BFE) {
        unsigned pos = o->s[1] & 255, len = o->s[2] & 255;
        unsigned last = pos + len - 1 < msb ? pos + len - 1 : msb;
        bool sbit = !is_signed(o, 0) || len == 0 ? false : bit(o->s[0], last);
        for (unsigned k = 0; k <= msb; k++)
            r |= (uint64_t)(k < len && pos + k <= msb ? bit(o->s[0], pos + k) : sbit) << k;
    } else if (o->i->op == PTX_OP_BFI) {
        unsigned pos = o->s[2] & 255, len = o->s[3] & 255;
        r = o->s[1];
        for (unsigned k = 0; k < len && pos + k <= msb; k++)
            r = (r & ~(1ull << (pos + k))) | (uint64_t)bit(o->s[0], k) << (pos + k);
    } else if (o->i->op == PTX_OP_BMSK) {
        uint64_t a = o->s[0] & 0xffffffffu, b = o->s[1] & 0xffffffffu;
        if (ptx_has_mod(o->i, PTX_MOD_WRAP))
            a &= 31, b &= 31;
        for (uint64_t k = 0; k < 32; k++)
            r |= (uint64_t)(k >= a && k - a < b) << k;
    } else if (o->i->op == PTX_OP_SZEXT) {
        uint64_t w = o->s[1] & 0xffffffffu;
        if (ptx_has_mod(o->i, PTX_MOD_WRAP))
            w &= 31;
        for (unsigned k = 0; k < 32; k++)
            r |= (uint64_t)(k < w ? bit(o->s[0], k)
                                  : is_signed(o, 0) && w && bit(o->s[0], (unsigned)w - 1))
                 << k;
        if (w > 31)
            r = o->s[0] & 0xffffffffu;
    } else {
        return false;
    }
    o->d = r;
    return true;
}

static bool counting(struct interp_op *o)
{
    unsigned n = bits_of(o), k = 0;
    uint64_t a = o->s[0];
    o->d = 0;
    switch (o->i->op) {
    case PTX_OP_POPC:
        for (k = 0; k < n; k++)
            o->d += bit(a, k);
        return true;
    case PTX_OP_CLZ:
        while (k < n && !bit(a, n - 1 - k))
            k++;
        o->d = k;
        return true;
    case PTX_OP_BREV:
        for (k = 0; k < n; k++)
            o->d |= (uint64_t)bit(a, k) << (n - 1 - k);
        return true;
    case PTX_OP_BFIND: {
        bool look = !(is_signed(o, 0) && bit(a, n - 1));
        int at = -1;
        for (k = 0; k < n; k++)
            if (bit(a, k) == look)
                at = (int)k;
        o->d = at < 0                                ? 0xffffffffu
               : ptx_has_mod(o->i, PTX_MOD_SHIFTAMT) ? n - 1 - (unsigned)at
                                                     : (unsigned)at;
        return true;
    }
    case PTX_OP_CNOT: o->d = a == 0; return true;
    default: return false;
    }
}

/* The selectors of prmt's modes (9.7.9.7): the bytes of the result, the highest first, for 0 to 3. */
static uint64_t prmt_selectors(const struct ptx_inst *i, uint64_t c)
{
    static const struct {
        enum ptx_mod mode;
        uint16_t of[4];
    } modes[] = { { PTX_MOD_F4E, { 0x3210, 0x4321, 0x5432, 0x6543 } },
                  { PTX_MOD_B4E, { 0x5670, 0x6701, 0x7012, 0x0123 } },
                  { PTX_MOD_RC8, { 0x0000, 0x1111, 0x2222, 0x3333 } },
                  { PTX_MOD_ECL, { 0x3210, 0x3211, 0x3222, 0x3333 } },
                  { PTX_MOD_ECR, { 0x0000, 0x1110, 0x2210, 0x3210 } },
                  { PTX_MOD_RC16, { 0x1010, 0x3232, 0x1010, 0x3232 } } };
    for (unsigned k = 0; k < 6; k++)
        if (ptx_has_mod(i, modes[k].mode))
            return modes[k].of[c & 3];
    return c;
}

static bool bytes(struct interp_op *o)
{
    uint8_t in[8];
    memcpy(in, &o->s[0], 4);
    memcpy(in + 4, &o->s[1], 4);
    if (o->i->op == PTX_OP_PRMT) {
        uint64_t selectors = prmt_selectors(o->i, o->s[2]);
        o->d = 0;
        for (unsigned k = 0; k < 4; k++) {
            unsigned sel = selectors >> 4 * k & 15;
            uint8_t v = in[sel & 7];
            if (sel & 8)
                v = v & 0x80 ? 0xff : 0;
            o->d |= (uint64_t)v << 8 * k;
        }
        return true;
    }
    wide sum = (wide)(int64_t)o->s[2];
    if (o->i->op == PTX_OP_DP4A)
        for (unsigned k = 0; k < 4; k++)
            sum += value(o->s[0] >> 8 * k & 255, 8, is_signed(o, 0)) *
                   value(o->s[1] >> 8 * k & 255, 8, is_signed(o, 1));
    else if (o->i->op == PTX_OP_DP2A_LO || o->i->op == PTX_OP_DP2A_HI)
        for (unsigned k = 0; k < 2; k++)
            sum += value(o->s[0] >> 16 * k & 0xffff, 16, is_signed(o, 0)) *
                   value(o->s[1] >> (8 * k + (o->i->op == PTX_OP_DP2A_HI ? 16 : 0)) & 255, 8,
                         is_signed(o, 1));
    else
        return false;
    o->d = cut(sum, 32);
    return true;
}

static bool carries(struct interp_op *o)
{
    unsigned n = bits_of(o);
    uwide m = ((uwide)1 << n) - 1, a = (uwide)value(o->s[0], n, false),
          b = (uwide)value(o->s[1], n, false), c = (uwide)value(o->s[2], n, false), r;
    wide prod = times(src(o, 0), src(o, 1));
    uwide lo = (uwide)prod & m;
    uwide hi = n == 64 && !is_signed(o, 0) ? (a * b) >> 64 : ((uwide)(prod >> n)) & m;
    bool in = o->carry, borrow = false;
    switch (o->i->op) {
    case PTX_OP_ADD_CC: r = a + b; break;
    case PTX_OP_ADDC:
    case PTX_OP_ADDC_CC: r = a + b + in; break;
    case PTX_OP_SUB_CC:
        r = a - b;
        borrow = a < b;
        break;
    case PTX_OP_SUBC:
    case PTX_OP_SUBC_CC:
        r = a - b - !in;
        borrow = a < b + !in;
        break; /* the flag is "nothing borrowed" */
    case PTX_OP_MAD_LO_CC: r = lo + c; break;
    case PTX_OP_MAD_HI_CC: r = hi + c; break;
    case PTX_OP_MADC_LO:
    case PTX_OP_MADC_LO_CC: r = lo + c + in; break;
    case PTX_OP_MADC_HI:
    case PTX_OP_MADC_HI_CC: r = hi + c + in; break;
    default: return false;
    }
    bool sub = o->i->op == PTX_OP_SUB_CC || o->i->op == PTX_OP_SUBC || o->i->op == PTX_OP_SUBC_CC;
    bool keeps = o->i->op == PTX_OP_ADDC || o->i->op == PTX_OP_SUBC || o->i->op == PTX_OP_MADC_LO ||
                 o->i->op == PTX_OP_MADC_HI;
    if (!keeps)
        o->carry = sub ? !borrow : (r >> n & 1);
    o->d = (uint64_t)(r & m);
    return true;
}

/* 9.7.9.22: b in the lowest bits, a above it, the rest from c. */
static bool packs(struct interp_op *o)
{
    if (o->i->op != PTX_OP_CVT_PACK)
        return false;
    unsigned n = bits_of(o), from = ptx_type_bits(o->i->type[1]);
    uint64_t a = cut(clamp(value(o->s[0], from, is_signed(o, 1)), n, is_signed(o, 0)), n),
             b = cut(clamp(value(o->s[1], from, is_signed(o, 1)), n, is_signed(o, 0)), n);
    o->d = (uint32_t)(b | a << n | (o->n > 2 ? o->s[2] << 2 * n : 0));
    return true;
}

bool interp_integer(struct interp_op *o)
{
    return interp_video(o) || packs(o) || pairs(o) || arithmetic(o) || wide_ops(o) || twenty_four(o) ||
           logic(o) || shifts(o) || fields(o) || counting(o) || bytes(o) || carries(o);
}
