/* Kernels that pass one of two buffers' pointers through a random chain of operations, each of which
 * gives back at run time the value that it was given. So the buffer that is stored to is known from how
 * the kernel was made. */
#ifndef GPULOCW_TESTS_ALIAS_GEN_H
#define GPULOCW_TESTS_ALIAS_GEN_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct chain {
    uint64_t seed;
    char text[16384];
    size_t n;
    unsigned regs, ops;
};

static inline uint32_t chain_rand(struct chain *c)
{
    c->seed = c->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(c->seed >> 33);
}

/* $v the value, $o the other pointer, $r a fresh value, $l $h halves of the value, $x $y $z scratch of
 * 64 bits, $p $q scratch of 32 bits, $b a predicate that is true, $k a number of 1 to 31. */
static const char *const chain_ops[] = {
    "mov.u64 $r, $v;\n",
    "add.u64 $x, $v, $k;\nsub.u64 $r, $x, $k;\n",
    "sub.u64 $x, $v, $o;\nadd.u64 $r, $x, $o;\n",
    "sub.u64 $x, $v, $o;\nmul.lo.u64 $y, $x, %one;\nadd.u64 $r, $o, $y;\n",
    "sub.u64 $x, $v, $o;\nmad.lo.u64 $r, $x, %one, $o;\n",
    "sub.u64 $x, $v, $o;\nshr.s64 $y, $x, 2;\nshl.b64 $z, $y, 2;\nadd.u64 $r, $o, $z;\n",
    "xor.b64 $x, $v, $o;\nxor.b64 $r, $x, $o;\n",
    "xor.b64 $x, $v, $o;\nneg.s64 $y, %one;\nand.b64 $z, $x, $y;\nxor.b64 $r, $o, $z;\n",
    "not.b64 $x, $v;\nnot.b64 $r, $x;\n",
    "neg.s64 $x, $v;\nneg.s64 $r, $x;\n",
    "mul.lo.u64 $x, $v, 3;\nmul.lo.u64 $r, $x, -6148914691236517205;\n",
    "mul.lo.u64 $x, $v, 4;\ndiv.u64 $r, $x, 4;\n",
    "rem.u64 $x, $v, 4096;\nsub.u64 $y, $v, $x;\nor.b64 $r, $y, $x;\n",
    "shr.u64 $x, $v, $k;\nshl.b64 $y, $x, $k;\nsub.u64 $z, $v, $y;\nadd.u64 $r, $y, $z;\n",
    "mov.b64 {$l, $h}, $v;\nmov.b64 $r, {$l, $h};\n",
    "cvt.u32.u64 $l, $v;\nshr.u64 $x, $v, 32;\ncvt.u64.u32 $y, $l;\nshl.b64 $z, $x, 32;\nor.b64 $r, $y, "
    "$z;\n",
    "mov.b64 {$l, $h}, $v;\nmul.wide.u32 $x, $h, 65536;\nshl.b64 $y, $x, 16;\ncvt.u64.u32 $z, "
    "$l;\nadd.u64 $r, $y, $z;\n",
    "mov.b64 {$l, $h}, $v;\ncvt.u64.u32 $x, $h;\nshl.b64 $y, $x, 32;\nmad.wide.u32 $r, $l, 1, $y;\n",
    "mov.b64 {$l, $h}, $v;\nprmt.b32 $p, $l, $h, 0x0123;\nprmt.b32 $q, $p, $h, 0x0123;\nmov.b64 $r, "
    "{$q, $h};\n",
    "mov.b64 {$l, $h}, $v;\nprmt.b32 $p, $l, $h, 0x7610;\nprmt.b32 $q, $l, $h, 0x5432;\nprmt.b32 $l, "
    "$p, $q, 0x5410;\nmov.b64 $r, {$l, $h};\n",
    "mov.b64 {$l, $h}, $v;\nbrev.b32 $p, $l;\nbrev.b32 $q, $p;\nmov.b64 $r, {$q, $h};\n",
    "brev.b64 $x, $v;\nbrev.b64 $r, $x;\n",
    "bfe.u64 $x, $v, 0, 16;\nshr.u64 $y, $v, 16;\nshl.b64 $y, $y, 16;\nbfi.b64 $r, $x, $y, 0, 16;\n",
    "mov.b64 {$l, $h}, $v;\nlop3.b32 $p, $l, $h, $h, 0xf0;\nmov.b64 $r, {$p, $h};\n",
    "mov.b64 {$l, $h}, $v;\nshf.l.wrap.b32 $p, $l, $l, $k;\nshf.r.wrap.b32 $q, $p, $p, $k;\nmov.b64 $r, "
    "{$q, $h};\n",
    "mov.b64 {$l, $h}, $v;\nadd.cc.u32 $p, $l, $k;\naddc.u32 $q, $h, 0;\nsub.cc.u32 $p, $p, "
    "$k;\nsubc.u32 $q, $q, 0;\nmov.b64 $r, {$p, $q};\n",
    "mov.b64 {$l, $h}, $v;\nshfl.sync.idx.b32 $p, $l, 0, 31, 1;\nshfl.sync.idx.b32 $q, $h, 0, 31, "
    "1;\nmov.b64 $r, {$p, $q};\n",
    "mov.b64 {$l, $h}, $v;\nmad.lo.u32 $p, $l, 1, 0;\nmul.lo.u32 $q, $h, 1;\nmov.b64 $r, {$p, $q};\n",
    "mov.b64 {$l, $h}, $v;\nmul.hi.u32 $q, $h, 65536;\nshl.b32 $q, $q, 16;\nand.b32 $p, $h, "
    "65535;\nor.b32 $q, $q, $p;\nmov.b64 $r, {$l, $q};\n",
    "mov.b64 {$l, $h}, $v;\nmin.u32 $p, $l, -1;\nmax.u32 $q, $h, 0;\nmov.b64 $r, {$p, $q};\n",
    "mov.b64 {$l, $h}, $v;\ndp4a.u32.u32 $p, $l, 0, $l;\nsad.u32 $q, $h, 0, 0;\nmov.b64 $r, {$p, $q};\n",
    "selp.b64 $r, $v, $o, $b;\n",
    "selp.b64 $x, 1, 0, $b;\nsub.u64 $y, $v, $o;\nmul.lo.u64 $z, $x, $y;\nadd.u64 $r, $o, $z;\n",
    "mov.u64 $r, $o;\n@$b mov.u64 $r, $v;\n",
    "slct.u64.s32 $r, $v, $o, %zero;\n",
    "min.u64 $x, $v, $o;\nmax.u64 $y, $v, $o;\nadd.u64 $z, $x, $y;\nsub.u64 $r, $z, $o;\n",
    "st.local.u64 [spill], $v;\nld.local.u64 $r, [spill];\n",
    "st.local.u64 [spill], $v;\nld.local.u32 $l, [spill];\nld.local.u32 $h, [spill+4];\nmov.b64 $r, "
    "{$l, $h};\n",
    "st.shared.u64 [room], $v;\nld.shared.u64 $x, [room];\nsub.u64 $y, $x, $o;\nadd.u64 $r, $o, $y;\n",
    "st.shared.u64 [room], $v;\nld.shared.v2.u32 {$l, $h}, [room];\nmov.b64 $r, {$l, $h};\n",
    "mov.u64 $x, spill;\ncvta.local.u64 $y, $x;\nst.u64 [$y], $v;\nld.u64 $r, [$y];\n",
    "mov.u64 $x, keep;\ncvta.global.u64 $y, $x;\nst.u64 [$y], $v;\nld.global.u64 $r, [keep];\n",
    "st.global.u64 [keep], $v;\nld.global.u32 $l, [keep];\nshr.u64 $x, $v, 32;\ncvt.u32.u64 $h, "
    "$x;\nmov.b64 $r, {$l, $h};\n",
    "atom.global.exch.b64 $x, [keep], $v;\natom.global.exch.b64 $r, [keep], $x;\n",
    "st.global.u64 [keep], $o;\natom.global.exch.b64 $x, [keep], $v;\nsub.u64 $y, $v, $x;\nadd.u64 $r, "
    "$x, $y;\n",
    "and.b64 $x, $v, 1048575;\nsub.u64 $y, $v, $x;\nadd.u64 $r, $x, $y;\n",
    "{\n.param .b64 q0;\nst.param.b64 [q0], $v;\n.param .b64 q1;\ncall (q1), same, (q0);\nld.param.b64 "
    "$r, [q1];\n}\n",
    "{\n.param .b64 q0;\nst.param.b64 [q0], $v;\n.param .b64 q2;\nst.param.b64 [q2], $o;\n.param .b64 "
    "q1;\ncall (q1), other, (q2, q0);\nld.param.b64 $r, [q1];\n}\n",
    "mov.b64 {$l, $h}, $v;\nand.b32 $p, $l, 256;\nsetp.ne.u32 $c, $p, 0;\nselp.b32 $q, 256, 0, "
    "$c;\nsub.u32 $p, $l, $p;\nadd.u32 $p, $p, $q;\nmov.b64 $r, {$p, $h};\n",
    "cvt.rz.f64.u64 $f, $v;\ncvt.rzi.u64.f64 $r, $f;\n",
    "mov.b64 $f, $v;\nmov.b64 $r, $f;\n",
    "popc.b64 $p, $v;\ncvt.u64.u32 $x, $p;\nadd.u64 $y, $v, $x;\nsub.u64 $r, $y, $x;\n",
    "cvta.to.global.u64 $x, $v;\ncvta.global.u64 $r, $x;\n",
    "cvta.to.shared.u64 $x, $v;\ncvta.shared.u64 $r, $x;\n",
    "mov.b64 {$l, $h}, $v;\nvadd.u32.u32.u32 $p, $l, 0;\nmov.b64 $r, {$p, $h};\n",
};

static inline void chain_put(struct chain *c, const char *s)
{
    c->n += (size_t)snprintf(c->text + c->n, sizeof c->text - c->n, "%s", s);
}

/* One operation: from register `v` to the register that is returned; o: the other pointer. */
static inline unsigned chain_op(struct chain *c, const char *op, unsigned v, unsigned o)
{
    unsigned base = c->regs, k = 1 + chain_rand(c) % 31;
    c->regs += 8;
    c->ops++;
    for (; *op; op++) {
        char w[32] = { *op, 0 };
        if (*op == '$') {
            static const char wide[] = "rxyz", half[] = "lhpq";
            const char *at;
            op++;
            if ((at = strchr(wide, *op)))
                snprintf(w, sizeof w, "%%rd%u", base + (unsigned)(at - wide));
            else if ((at = strchr(half, *op)))
                snprintf(w, sizeof w, "%%r%u", base + (unsigned)(at - half));
            else if (*op == 'v' || *op == 'o')
                snprintf(w, sizeof w, "%%rd%u", *op == 'v' ? v : o);
            else if (*op == 'k')
                snprintf(w, sizeof w, "%u", k);
            else
                snprintf(w, sizeof w, "%s", *op == 'b' ? "%true" : *op == 'c' ? "%pc" : "%fd");
        }
        chain_put(c, w);
    }
    return base;
}

/* `only`: this operation alone, or -1. Returns which of the two buffers is stored to: 0 or 1. */
static inline int chain_make(struct chain *c, uint64_t seed, int only)
{
    *c = (struct chain){ .seed = seed, .regs = 8 };
    int target = (int)(chain_rand(c) & 1);
    unsigned ops = only >= 0 ? 1 : 1 + chain_rand(c) % 6, v = 1u + (unsigned)target,
             o = 2u - (unsigned)target;
    chain_put(c, ".version 8.0\n.target sm_80\n.address_size 64\n.global .align 8 .b8 keep[8];\n"
                 ".func (.param .b64 rv) same(.param .b64 p0)\n{\n.reg .b64 %x;\nld.param.b64 %x, "
                 "[p0];\nst.param.b64 [rv], %x;\nret;\n}\n"
                 ".func (.param .b64 rv) other(.param .b64 p0, .param .b64 p1)\n{\n.reg .b64 "
                 "%x<5>;\nld.param.b64 %x0, [p0];\nld.param.b64 %x1, [p1];\n"
                 "sub.u64 %x2, %x1, %x0;\nadd.u64 %x3, %x0, %x2;\nst.param.b64 [rv], %x3;\nret;\n}\n"
                 ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 n)\n{\n.reg .pred %true, "
                 "%pc;\n.reg .b32 %r<99>, %zero;\n.reg .b64 %rd<99>, %one;\n.reg .f64 %fd;\n"
                 ".local .align 8 .b8 spill[8];\n.shared .align 8 .b8 room[8];\n"
                 "ld.param.u64 %rd3, [a];\nld.param.u64 %rd4, [b];\ncvta.to.global.u64 %rd1, "
                 "%rd3;\ncvta.to.global.u64 %rd2, %rd4;\nld.param.u64 %one, [n];\n"
                 "mov.u32 %zero, %tid.y;\nsetp.eq.u32 %true, %zero, 0;\n");
    for (unsigned k = 0; k < ops; k++)
        v = chain_op(c,
                     chain_ops[only >= 0 ? (unsigned)only
                                         : chain_rand(c) % (sizeof chain_ops / sizeof *chain_ops)],
                     v, o);
    char end[96];
    snprintf(end, sizeof end, "st.global.u32 [%%rd%u], 77;\nret;\n}\n", v);
    chain_put(c, end);
    return target;
}

#endif
