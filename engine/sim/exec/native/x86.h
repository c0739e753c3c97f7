/* native_x86: an assembler for what native.c needs of x86-64 with AVX-512 (Intel SDM volume 2, 2.7:
 * EVEX; 2.3: VEX). Memory operands always have a displacement of 32 bits, vectors always 512 bits. Code
 * is written into a buffer that may move: jumps and data within it are relative. */
#pragma once

#include "engine/base/base.h"

struct x86 {
    uint8_t *v;
    size_t n, cap;
    bool oom;
};

enum x86_reg {
    RAX,
    RCX,
    RDX,
    RBX,
    RSP,
    RBP,
    RSI,
    RDI,
    R8,
    R9,
    R10,
    R11,
    R12,
    R13,
    R14,
    R15,
    X86_HERE /* disp: place in the buffer */
};
enum x86_cond { X86_B = 2, X86_E = 4, X86_NE = 5, X86_A = 7, X86_LE = 14, X86_ALWAYS = 16 };
struct x86_mem {
    enum x86_reg base;
    int32_t disp;
};

/* A vector instruction: prefix (0 none, 1 66, 2 F3, 3 F2), opcode map (1 0F, 2 0F38, 3 0F3A), W, opcode.
 */
struct x86_op {
    uint8_t pp;
    uint8_t map;
    uint8_t w;
    uint8_t op;
};

void x86_byte(struct x86 *a, unsigned b);
void x86_bytes(struct x86 *a, const void *v, size_t n);
/* to, from: vector registers 0 to 31 (or masks k0 to k7 as `to`); k: mask register whose lanes are
 * written, 0: all. */
void x86_vec(struct x86 *a, struct x86_op o, unsigned to, unsigned first, unsigned second, unsigned k);
void x86_vec_mem(struct x86 *a, struct x86_op o, unsigned to, unsigned first, struct x86_mem second,
                 unsigned k);
/* The same with an immediate byte after it. */
void x86_vec_imm(struct x86 *a, struct x86_op o, unsigned to, unsigned first, unsigned second,
                 unsigned k, unsigned imm);
void x86_vec_mem_imm(struct x86 *a, struct x86_op o, unsigned to, unsigned first, struct x86_mem second,
                     unsigned k, unsigned imm);

/* General registers: the opcode's usual form with a register and memory. w: 64 bits. */
void x86_op_mem(struct x86 *a, unsigned op, bool w, unsigned reg, struct x86_mem m);
void x86_op_reg(struct x86 *a, unsigned op, bool w, unsigned reg, unsigned rm);
/* Group 1 (add 0, sub 5, xor 6, cmp 7) with an immediate of 32 bits. */
void x86_imm_reg(struct x86 *a, unsigned ext, bool w, unsigned rm, int32_t imm);
void x86_imm_mem(struct x86 *a, unsigned ext, bool w, struct x86_mem m, int32_t imm);
void x86_store_imm(struct x86 *a, struct x86_mem m, int32_t imm); /* 32 bits */
void x86_set(struct x86 *a, unsigned reg, uint64_t v);
void x86_ask(struct x86 *a, struct x86_mem m); /* PREFETCHT0 */
void x86_call(struct x86 *a, uint64_t to);     /* through RAX */
/* A jump whose target is set later: returns where. */
size_t x86_jump(struct x86 *a, enum x86_cond c);
void x86_land(struct x86 *a, size_t jump, size_t at);

/* opcodes of x86_op_mem and x86_op_reg */
enum {
    X86_ADD_TO = 0x03,
    X86_SUB_TO = 0x2b,
    X86_CMP_WITH = 0x3b,
    X86_LOAD = 0x8b,
    X86_STORE = 0x89,
    X86_TEST = 0x85,
    X86_CLEAR = 0x33
};
