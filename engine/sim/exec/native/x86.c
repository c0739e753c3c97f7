/* The assembler of native.c. */
#include "engine/sim/exec/native/x86.h"

#include <string.h>

void x86_bytes(struct x86 *a, const void *v, size_t n)
{
    if (a->n + n > a->cap) {
        size_t cap = (a->cap ? a->cap * 2 : 65536) + n;
        uint8_t *now = a->oom ? NULL : base_realloc(a->v, cap);
        if (!now) {
            a->oom = true;
            return;
        }
        a->v = now;
        a->cap = cap;
    }
    memcpy(a->v + a->n, v, n);
    a->n += n;
}

void x86_byte(struct x86 *a, unsigned b)
{
    x86_bytes(a, &(uint8_t){ (uint8_t)b }, 1);
}
static void put32(struct x86 *a, int32_t v)
{
    x86_bytes(a, &v, 4);
}

/* ModRM and displacement; `after`: bytes of the instruction that follow them. */
static void put_mem(struct x86 *a, unsigned reg, struct x86_mem m, unsigned after)
{
    if (m.base == X86_HERE) {
        x86_byte(a, (reg & 7) << 3 | 5);
        put32(a, (int32_t)((int64_t)m.disp - (int64_t)(a->n + 4 + after)));
        return;
    }
    x86_byte(a, 0x80 | (reg & 7) << 3 | (m.base & 7));
    if ((m.base & 7) == RSP) /* R12 too: those need the byte of an index */
        x86_byte(a, 0x24);
    put32(a, m.disp);
}

/* ---- vectors ---- */
/* The four bytes of EVEX, and the opcode. x, b: upper bits of the second source. */
static void put_evex(struct x86 *a, struct x86_op o, unsigned to, unsigned first, unsigned x, unsigned b,
                     unsigned k)
{
    x86_byte(a, 0x62);
    x86_byte(a, (~to >> 3 & 1) << 7 | (~x & 1) << 6 | (~b & 1) << 5 | (~to >> 4 & 1) << 4 | o.map);
    x86_byte(a, (unsigned)o.w << 7 | (~first & 15) << 3 | 4 | o.pp);
    x86_byte(a, 2u << 5 | (~first >> 4 & 1) << 3 | k);
    x86_byte(a, o.op);
}

void x86_vec(struct x86 *a, struct x86_op o, unsigned to, unsigned first, unsigned second, unsigned k)
{
    put_evex(a, o, to, first, second >> 4, second >> 3, k);
    x86_byte(a, 0xc0 | (to & 7) << 3 | (second & 7));
}

void x86_vec_imm(struct x86 *a, struct x86_op o, unsigned to, unsigned first, unsigned second,
                 unsigned k, unsigned imm)
{
    x86_vec(a, o, to, first, second, k);
    x86_byte(a, imm);
}

static void vec_mem(struct x86 *a, struct x86_op o, unsigned to, unsigned first, struct x86_mem m,
                    unsigned k, unsigned after)
{
    put_evex(a, o, to, first, 0, m.base == X86_HERE ? 0 : m.base >> 3, k);
    put_mem(a, to, m, after);
}

void x86_vec_mem(struct x86 *a, struct x86_op o, unsigned to, unsigned first, struct x86_mem second,
                 unsigned k)
{
    vec_mem(a, o, to, first, second, k, 0);
}

void x86_vec_mem_imm(struct x86 *a, struct x86_op o, unsigned to, unsigned first, struct x86_mem second,
                     unsigned k, unsigned imm)
{
    vec_mem(a, o, to, first, second, k, 1);
    x86_byte(a, imm);
}

/* ---- general registers ---- */
static void put_rex(struct x86 *a, bool w, unsigned reg, unsigned base)
{
    unsigned b = base == X86_HERE ? 0 : base >> 3;
    if (w || reg >> 3 || b)
        x86_byte(a, 0x40 | (unsigned)w << 3 | reg >> 3 << 2 | b);
}

void x86_op_mem(struct x86 *a, unsigned op, bool w, unsigned reg, struct x86_mem m)
{
    put_rex(a, w, reg, m.base);
    x86_byte(a, op);
    put_mem(a, reg, m, 0);
}

void x86_op_reg(struct x86 *a, unsigned op, bool w, unsigned reg, unsigned rm)
{
    put_rex(a, w, reg, rm);
    x86_byte(a, op);
    x86_byte(a, 0xc0 | (reg & 7) << 3 | (rm & 7));
}

void x86_imm_reg(struct x86 *a, unsigned ext, bool w, unsigned rm, int32_t imm)
{
    put_rex(a, w, 0, rm);
    x86_byte(a, 0x81);
    x86_byte(a, 0xc0 | ext << 3 | (rm & 7));
    put32(a, imm);
}

void x86_imm_mem(struct x86 *a, unsigned ext, bool w, struct x86_mem m, int32_t imm)
{
    put_rex(a, w, 0, m.base);
    x86_byte(a, 0x81);
    put_mem(a, ext, m, 4);
    put32(a, imm);
}

void x86_store_imm(struct x86 *a, struct x86_mem m, int32_t imm)
{
    put_rex(a, false, 0, m.base);
    x86_byte(a, 0xc7);
    put_mem(a, 0, m, 4);
    put32(a, imm);
}

void x86_set(struct x86 *a, unsigned reg, uint64_t v)
{
    put_rex(a, v >> 32 != 0, 0, reg);
    x86_byte(a, 0xb8 | (reg & 7));
    x86_bytes(a, &v, v >> 32 ? 8 : 4);
}

void x86_ask(struct x86 *a, struct x86_mem m)
{
    put_rex(a, false, 0, m.base);
    x86_bytes(a, (uint8_t[]){ 0x0f, 0x18 }, 2);
    put_mem(a, 1, m, 0);
}

void x86_call(struct x86 *a, uint64_t to)
{
    x86_set(a, RAX, to);
    x86_byte(a, 0xff);
    x86_byte(a, 0xd0);
}

size_t x86_jump(struct x86 *a, enum x86_cond c)
{
    if (c == X86_ALWAYS) {
        x86_byte(a, 0xe9);
    } else {
        x86_byte(a, 0x0f);
        x86_byte(a, 0x80u | (unsigned)c);
    }
    put32(a, 0);
    return a->n;
}

void x86_land(struct x86 *a, size_t jump, size_t at)
{
    int32_t by = (int32_t)((int64_t)at - (int64_t)jump);
    if (!a->oom)
        memcpy(a->v + jump - 4, &by, 4);
}
