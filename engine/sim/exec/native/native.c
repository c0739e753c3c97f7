/* Runs of instructions as machine code: arithmetic, the end of a run, the program as a whole. */
#include "engine/sim/exec/native/native.h"

#include "engine/ptx/ptx.h"
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/lanes/lanes.h"
#include "engine/sim/exec/native/native_int.h"
#include "engine/sim/exec/sreg.h"

#include <string.h>
#include <sys/mman.h>

/* instructions of a program beyond which it is not worth the memory */
#define MOST_CODE 16384u

static const struct {
    uint16_t lane;
    struct native_op how;
} ops[] = {
#define NATIVE(lane, form, pp, map, w, op, more) { LANE_##lane, { form, more, { pp, map, w, op } } },
#include "engine/sim/exec/native/native_ops.def"
};

static struct x86_mem in_warp(size_t off)
{
    return (struct x86_mem){ RBX, (int32_t)off };
}
#define WARP(field) in_warp(offsetof(struct exec_warp, field))

/* The same for arithmetic, lane by lane: in the pair that holds the slot's last value, where one does.
 */
static unsigned result_over(struct build *b, uint32_t slot)
{
    unsigned k = native_find(b, slot);
    if (k == PAIRS)
        return native_result(b, slot);
    b->val[k].age = ++b->clock;
    b->val[k].dirty = true;
    b->val[k].odd = false;
    b->pinned |= 1u << k;
    return k;
}

/* Slots are shared: what one holds is some run's own or not by the register that was written last. */
static void note_results(struct build *b, const struct exec_inst *in)
{
    for (uint32_t k = 0; b->own && k < in->ndst; k++) {
        uint32_t slot = in->func->reg_slot[in->regs[k]];
        if ((slot & 3u) == BANK_FRAME)
            b->holds_own[slot / 128] = b->own[in->regs[k]];
    }
}

/* ---- arithmetic ---- */
/* A source; `more`: of an operation on floats. */
static unsigned source(struct build *b, const struct native_op *o, uint32_t slot)
{
    return o->more ? native_float(b, slot) : native_value(b, slot);
}

/* d = first op second, the second in memory where it is a constant. */
static void two(struct build *b, const struct native_op *o, unsigned d, unsigned first, uint32_t second)
{
    bool constant = (second & 3u) == BANK_CONST && native_find(b, second) == PAIRS;
    unsigned s = constant ? 0 : native_find(b, second);
    for (unsigned h = 0; h < 2; h++)
        if (constant)
            x86_vec_mem(&b->a, o->op, 2 * d + h, first + h, native_slot(second, 64 * h), 0);
        else
            x86_vec(&b->a, o->op, 2 * d + h, first + h, 2 * s + h, 0);
}

static void finish(struct build *b, const struct native_op *o, unsigned d)
{
    b->val[d].odd = o->more;
}

static void pair_form(struct build *b, const struct native_op *o, const struct exec_inst *in)
{
    unsigned a = source(b, o, in->a);
    if ((in->b & 3u) != BANK_CONST)
        source(b, o, in->b);
    if (o->more)
        native_want_nan(b);
    unsigned d = result_over(b, in->dst);
    two(b, o, d, 2 * a, in->b);
    finish(b, o, d);
}

/* d = x * y + z in one step, by the instruction that leaves its result where one of them is. */
static void fma_half(struct build *b, struct x86_op o, unsigned d, unsigned x, unsigned y, unsigned z)
{
    /* VFMADD213PS, d = d * y + z, has its VFMADD231PS, d += x * y, 0x10 further; so have those with
     * signs */
    const struct x86_op add_to = { o.pp, o.map, o.w, (uint8_t)(o.op + 0x10) };
    if (d == z) {
        x86_vec(&b->a, add_to, d, x, y, 0);
        return;
    }
    if (d != x && d != y)
        x86_vec(&b->a, VMOVE, d, 0, x, 0);
    x86_vec(&b->a, o, d, d == y ? x : y, z, 0);
}

/* d = a * b + c, in one step (FMA) or as integers. */
static void three_form(struct build *b, const struct native_op *o, const struct exec_inst *in)
{
    const struct x86_op add = { 1, 1, 0, 0xfe };
    unsigned x = source(b, o, in->a), y = source(b, o, in->b), z = source(b, o, in->c);
    if (o->more)
        native_want_nan(b);
    unsigned d = result_over(b, in->dst);
    for (unsigned h = 0; h < 2; h++) {
        if (o->form == FORM_FMA) {
            fma_half(b, o->op, 2 * d + h, 2 * x + h, 2 * y + h, 2 * z + h);
        } else {
            x86_vec(&b->a, o->op, SCRATCH, 2 * x + h, 2 * y + h, 0);
            x86_vec(&b->a, add, 2 * d + h, SCRATCH, 2 * z + h, 0);
        }
    }
    finish(b, o, d);
}

static void one_form(struct build *b, const struct native_op *o, const struct exec_inst *in)
{
    unsigned x = o->form == FORM_MOVE ? native_float(b, in->a) : source(b, o, in->a);
    const bool odd = o->form == FORM_MOVE && b->val[x].odd;
    if (o->more)
        native_want_nan(b);
    unsigned d = result_over(b, in->dst);
    if (o->form == FORM_RECIPROCAL) {
        x86_set(&b->a, RAX, 0x3f800000u);
        x86_vec(&b->a, (struct x86_op){ 1, 2, 0, 0x7c }, SCRATCH, 0, RAX, 0);
    }
    for (unsigned h = 0; h < 2; h++)
        x86_vec(&b->a, o->op, 2 * d + h, o->form == FORM_RECIPROCAL ? SCRATCH : 0, 2 * x + h, 0);
    finish(b, o, d);
    b->val[d].odd |= odd;
}

static void kmov(struct build *b, unsigned pp, unsigned op, unsigned to, unsigned from)
{
    x86_bytes(&b->a,
              (uint8_t[]){ 0xc5, (uint8_t)(0xf8 | pp), (uint8_t)op, (uint8_t)(0xc0 | to << 3 | from) },
              4);
}

static void select_form(struct build *b, const struct native_op *o, const struct exec_inst *in)
{
    unsigned x = native_value(b, in->a), y = native_value(b, in->b), d = result_over(b, in->dst);
    native_pred(b, in->c, in->flags & EXEC_F_NEG_C);
    kmov(b, 0, 0x92, 2, RAX);                           /* KMOVW k2, eax */
    x86_bytes(&b->a, (uint8_t[]){ 0xc1, 0xe8, 16 }, 3); /* SHR eax, 16 */
    kmov(b, 0, 0x92, 3, RAX);
    for (unsigned h = 0; h < 2; h++)
        x86_vec(&b->a, o->op, 2 * d + h, 2 * y + h, 2 * x + h, 2 + h);
}

/* ---- 64 bits ---- */
static void wide_load(struct build *b, unsigned z, uint32_t slot, unsigned q)
{
    x86_vec_mem(&b->a, VMOVE_LOAD, z, 0, native_slot(slot, 64 * q), 0);
}
static void wide_store(struct build *b, unsigned z, uint32_t slot, unsigned q)
{
    x86_vec_mem(&b->a, VMOVE_STORE, z, 0, native_slot(slot, 64 * q), 0);
}
static void extend(struct build *b, unsigned z, uint32_t slot, unsigned q, bool by_sign)
{
    x86_vec_mem(&b->a, (struct x86_op){ 1, 2, 0, by_sign ? 0x25 : 0x35 }, z, 0,
                native_slot(slot, 32 * q), 0);
}

static void wide_form(struct build *b, const struct native_op *o, const struct exec_inst *in)
{
    bool product = o->form == FORM_MUL_WIDE || o->form == FORM_MAD_WIDE;
    if (product || o->form == FORM_EXTEND) {
        native_sync(b, in->a);
        if (product)
            native_sync(b, in->b);
    }
    for (unsigned q = 0; q < 4; q++) {
        if (product) {
            extend(b, SCRATCH, in->a, q, o->more);
            extend(b, SCRATCH2, in->b, q, o->more);
            x86_vec(&b->a, o->op, SCRATCH, SCRATCH, SCRATCH2, 0);
            if (o->form == FORM_MAD_WIDE)
                x86_vec_mem(&b->a, (struct x86_op){ 1, 1, 1, 0xd4 }, SCRATCH, SCRATCH,
                            native_slot(in->c, 64 * q), 0);
        } else if (o->form == FORM_EXTEND) {
            extend(b, SCRATCH, in->a, q, o->more);
        } else {
            wide_load(b, SCRATCH, in->a, q);
            if (o->form == FORM_WIDE)
                x86_vec_mem(&b->a, o->op, SCRATCH, SCRATCH, native_slot(in->b, 64 * q), 0);
        }
        wide_store(b, SCRATCH, in->dst, q);
    }
}

static void shift_form(struct build *b, const struct native_op *o, const struct exec_inst *in,
                       uint32_t by)
{
    for (unsigned q = 0; q < 4; q++) {
        wide_load(b, SCRATCH, in->a, q);
        /* the extension stands where the register would */
        x86_vec_imm(&b->a, o->op, o->more, SCRATCH, SCRATCH, 0, by);
        wide_store(b, SCRATCH, in->dst, q);
    }
}

static void narrow_form(struct build *b, const struct native_op *o, const struct exec_inst *in)
{
    native_forget(b, in->dst);
    for (unsigned q = 0; q < 4; q++) {
        wide_load(b, SCRATCH, in->a, q);
        x86_vec_mem(&b->a, o->op, SCRATCH, 0, native_slot(in->dst, 32 * q), 0);
    }
}

/* ---- comparisons: the predicate is a word of the frame ---- */
static void unpack(struct build *b, unsigned pp, unsigned to, unsigned high, unsigned low)
{
    x86_bytes(&b->a,
              (uint8_t[]){ 0xc5, (uint8_t)(0x80 | (~high & 15) << 3 | 4 | pp), 0x4b,
                           (uint8_t)(0xc0 | to << 3 | low) },
              4);
}

static void compare_form(struct build *b, const struct native_op *o, const struct exec_inst *in)
{
    if (o->form == FORM_COMPARE) {
        /* to VCMPPS one NaN is as good as another */
        const bool floats = o->op.op == 0xc2;
        unsigned x = floats ? native_float(b, in->a) : native_value(b, in->a),
                 y = floats ? native_float(b, in->b) : native_value(b, in->b);
        for (unsigned h = 0; h < 2; h++)
            x86_vec_imm(&b->a, o->op, 1 + h, 2 * x + h, 2 * y + h, 0, o->more);
        unpack(b, 0, 1, 2, 1);
    } else {
        for (unsigned q = 0; q < 4; q++) {
            wide_load(b, SCRATCH, in->a, q);
            x86_vec_mem_imm(&b->a, o->op, 1 + q, SCRATCH, native_slot(in->b, 64 * q), 0, o->more);
        }
        unpack(b, 1, 1, 2, 1); /* KUNPCKBW */
        unpack(b, 1, 3, 4, 3);
        unpack(b, 0, 1, 3, 1);
    }
    kmov(b, 3, 0x93, RAX, 1); /* KMOVD eax, k1 */
    x86_op_mem(&b->a, X86_STORE, false, RAX, native_slot(in->dst, 0));
}

/* ---- instructions ---- */
/* Shift counts of 64-bit values that are one number for all lanes; 64: none. */
static uint32_t shift_count(const struct build *b, const struct exec_inst *in)
{
    uint32_t n = 64;
    if ((in->b & 3u) == BANK_CONST)
        memcpy(&n, b->p->constants + (in->b & ~3u), sizeof n);
    return n < 64 ? n : 64;
}

static struct native_op op_of(const struct build *b, const struct exec_inst *in)
{
    if (in->fn == exec_nop)
        return (struct native_op){ .form = FORM_NOTHING };
    if (in->fn == exec_ld_param)
        return (struct native_op){ .form = FORM_PARAM };
    for (size_t i = 0; i < ARRAY_LEN(ops); i++)
        if (in->fn == b->lanes[ops[i].lane])
            return ops[i].how;
    return (struct native_op){ .form = FORM_NONE };
}

/* Something of BANK_CTA, which no register holds. */
static bool reads_cta(const struct ptx_operand *o, uint32_t n)
{
    bool any = false;
    for (uint32_t k = 0; k < n; k++)
        any |= (o[k].kind == OPND_SREG && exec_sreg_bank(o[k].index) == BANK_CTA) ||
               ((o[k].kind == OPND_VEC || o[k].kind == OPND_MULTI) && reads_cta(o[k].elem, o[k].nelem));
    return any;
}

/* False: no code for it. */
static bool translate(struct build *b, const struct exec_inst *in)
{
    const struct native_op o = op_of(b, in);
    b->pinned = 0;
    note_results(b, in);
    if (in->guard != EXEC_NO_ID || (in->ptx && reads_cta(in->ptx->opnds, in->ptx->nopnds)) ||
        (o.form != FORM_MEMORY && o.form != FORM_PARAM && o.form != FORM_NOTHING &&
         in->dst == EXEC_NO_ID))
        return false;
    switch ((enum native_form)o.form) {
    case FORM_PAIR: pair_form(b, &o, in); return true;
    case FORM_MAD:
    case FORM_FMA: three_form(b, &o, in); return true;
    case FORM_MOVE:
    case FORM_ONE:
    case FORM_RECIPROCAL: one_form(b, &o, in); return true;
    case FORM_SELECT: select_form(b, &o, in); return true;
    case FORM_WIDE:
    case FORM_WIDE_MOVE:
    case FORM_EXTEND:
    case FORM_MUL_WIDE:
    case FORM_MAD_WIDE: wide_form(b, &o, in); return true;
    case FORM_WIDE_SHIFT:
        if (shift_count(b, in) == 64)
            return false;
        shift_form(b, &o, in, shift_count(b, in));
        return true;
    case FORM_NARROW: narrow_form(b, &o, in); return true;
    case FORM_COMPARE:
    case FORM_COMPARE_WIDE:
        if (in->x)
            return false;
        compare_form(b, &o, in);
        return true;
    case FORM_MEMORY: return native_memory(b, in);
    case FORM_PARAM: return native_param(b, in);
    case FORM_NOTHING: return true;
    case FORM_NONE:
    case FORM_COUNT: break;
    }
    return false;
}

static void by_body(struct build *b, const struct exec_inst *in)
{
    size_t skip = 0;
    native_store_all(b, false);
    native_forget_all(b);
    if (in->guard != EXEC_NO_ID) {
        native_pred(b, in->guard, in->guard_neg);
        x86_op_reg(&b->a, X86_LOAD, false, RDX, RAX);
        x86_imm_reg(&b->a, 7, false, RAX, 0);
        skip = x86_jump(&b->a, X86_E);
    } else {
        x86_set(&b->a, RDX, EXEC_FULL);
    }
    native_call(b, in, b->end);
    if (skip)
        x86_land(&b->a, skip, b->a.n);
}

/* ---- from run to run ---- */

static void end_run(struct build *b)
{
    const struct exec_inst *in = &b->p->code[b->end];
    native_store_all(b, true);
    native_forget_all(b);
    if (in->fn != exec_bra || in->spin) {
        native_go_on(b, b->end, false);
        return;
    }
    x86_imm_mem(&b->a, 7, true, WARP(left), 0);
    native_jump(b, X86_LE, b->end, true);
    if (in->guard != EXEC_NO_ID) {
        native_pred(b, in->guard, in->guard_neg);
        x86_imm_reg(&b->a, 7, false, RAX, -1);
        size_t taken = x86_jump(&b->a, X86_E);
        x86_imm_reg(&b->a, 7, false, RAX, 0);
        /* lanes part: the run loop's business */
        native_jump(b, X86_NE, b->end, true);
        native_go_on(b, b->end + 1, true);
        x86_land(&b->a, taken, b->a.n);
    }
    native_go_on(b, in->target, true);
}

static bool is_head(const struct sim_program *p, uint32_t i)
{
    return p->code[i].run && (!i || p->code[i - 1].run <= 1);
}

static void translate_body(struct build *b, uint32_t first)
{
    x86_imm_mem(&b->a, 5, true, WARP(left), b->p->code[first].run);
    for (uint32_t i = first; i < b->end; i++)
        if (!translate(b, &b->p->code[i]))
            by_body(b, &b->p->code[i]);
}

static void translate_run(struct build *b, uint32_t first)
{
    b->end = first + b->p->code[first].run;
    b->at[first] = b->a.n;
    native_forget_all(b);
    b->nstubs = b->nreads = 0;
    translate_body(b, first);
    struct native_loop l;
    if (native_loop_begin(b, first, &l)) {
        translate_body(b, first);
        native_loop_end(b, &l);
    } else {
        end_run(b);
    }
    native_stubs(b);
}

/* ---- values of one run only ---- */
struct owners {
    const struct sim_program *p;
    uint32_t *home;
    bool *own;
    uint32_t head;
};

/* begins: its value begins here */
static void note_reg(struct owners *o, uint32_t reg, bool begins)
{
    const struct ptx_reg *r = &o->p->funcs[0].ptx->regs[reg];
    if (r->type == PTX_T_PRED || r->vec > 1 || ptx_type_bits(r->type) > 32)
        return;
    if (o->home[reg] == EXEC_NO_ID) {
        o->home[reg] = o->head;
        o->own[reg] = begins;
    } else if (o->home[reg] != o->head) {
        o->own[reg] = false;
    }
}

/* Registers that one run writes before it reads them, and nothing else touches. NULL: none known. */
static bool *find_own(const struct sim_program *p)
{
    const struct exec_func *f = &p->funcs[0];
    struct owners o = { .p = p, .head = EXEC_NO_ID };
    o.home = base_alloc((f->nregs + 1) * sizeof *o.home);
    o.own = p->nfuncs == 1 ? base_alloc(f->nregs + 1) : NULL;
    for (uint32_t i = 0; o.home && i < f->nregs; i++)
        o.home[i] = EXEC_NO_ID;
    for (uint32_t i = f->first; o.home && o.own && i < f->first + f->n; i++) {
        const struct exec_inst *in = &p->code[i];
        if (is_head(p, i) || !in->run)
            o.head = i;
        if (!in->ptx)
            continue;
        for (struct ptx_regs r = ptx_regs_of(in->ptx, PTX_READ); ptx_next_reg(&r);)
            note_reg(&o, r.reg, false);
        for (struct ptx_regs r = ptx_regs_of(in->ptx, PTX_WRITE); ptx_next_reg(&r);)
            note_reg(&o, r.reg, in->guard == EXEC_NO_ID);
    }
    base_free(o.home);
    return o.own;
}

/* ---- the whole ---- */
static void put_tables(struct build *b)
{
    for (unsigned t = 0; t < 4; t++) {
        while (b->a.n % 64)
            x86_byte(&b->a, 0xcc);
        b->iota[t] = b->a.n;
        for (uint64_t i = 0; i < WARP_LANES; i++) {
            uint64_t v = i * (t & 1 ? 8 : 4);
            x86_bytes(&b->a, &v, t < 2 ? 4 : 8);
        }
    }
}

/* (warp, where to go on): what the registers are for is in native_int.h. */
static void put_entry(struct build *b)
{
    /* PUSH rbx, rbp, r12 to r15, rax */
    x86_bytes(&b->a, (uint8_t[]){ 0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57, 0x50 },
              11);
    x86_op_reg(&b->a, X86_LOAD, true, RBX, RDI);
    x86_op_mem(&b->a, X86_LOAD, true, R13, WARP(bank[BANK_FRAME]));
    x86_op_mem(&b->a, X86_LOAD, true, R14, WARP(bank[BANK_CONST]));
    x86_op_mem(&b->a, X86_LOAD, true, R15, WARP(bank[BANK_SREG]));
    x86_op_mem(&b->a, X86_LOAD, true, RAX, WARP(k));
    x86_op_mem(&b->a, X86_LOAD, true, RBP, (struct x86_mem){ RAX, offsetof(struct exec_worker, cache) });
    x86_op_mem(&b->a, X86_LOAD, true, R12, (struct x86_mem){ RAX, offsetof(struct exec_worker, loads) });
    x86_bytes(&b->a, (uint8_t[]){ 0xff, 0xe6 }, 2); /* JMP rsi */
    b->leave = b->a.n;
    x86_op_mem(&b->a, X86_STORE, false, RAX, WARP(pc));
    x86_bytes(&b->a,
              (uint8_t[]){ 0xc5, 0xf8, 0x77, 0x58, 0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d,
                           0x5b, 0xc3 },
              15);
}

static void land_all(struct build *b)
{
    for (size_t i = 0; i < b->nfix; i++) {
        struct fix *f = &b->fix[i];
        if (!f->leaves && b->at[f->pc]) {
            x86_land(&b->a, f->jump, b->at[f->pc]);
            continue;
        }
        x86_land(&b->a, f->jump, b->a.n);
        x86_set(&b->a, RAX, f->pc);
        x86_land(&b->a, x86_jump(&b->a, X86_ALWAYS), b->leave);
    }
}

/* Executable memory with the code, and the table of entries behind the record. */
static struct native *place(const struct build *b)
{
    uint32_t n = b->p->ncode;
    struct native *out = base_alloc(sizeof *out + n * sizeof *out->entry);
    if (!out)
        return NULL;
    const uint8_t **entry = (void *)(out + 1);
    out->bytes = (b->a.n + 4095) / 4096 * 4096;
    void *at = mmap(NULL, out->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        base_free(out);
        return NULL;
    }
    out->code = at;
    memcpy(at, b->a.v, b->a.n);
    for (uint32_t i = 0; i < n; i++)
        entry[i] = b->at[i] ? out->code + b->at[i] : NULL;
    out->entry = entry;
    if (mprotect(at, out->bytes, PROT_READ | PROT_EXEC) == 0)
        return out;
    native_free(out);
    return NULL;
}

/* The bodies of other hosts are not there to be compared with. */
static bool host_has_code(exec_fn *const *lanes)
{
#if defined(__x86_64__)
    return lanes == exec_lanes_avx512;
#else
    (void)lanes;
    return false;
#endif
}

struct native *native_make(const struct sim_program *p, exec_fn *const *lanes)
{
    if (!host_has_code(lanes) || p->ncode > MOST_CODE)
        return NULL;
    struct build b = { .p = p,
                       .lanes = lanes,
                       .own = find_own(p),
                       .holds_own = base_alloc(p->funcs[0].frame_bytes / 128 + 1),
                       .at = base_alloc((p->ncode + 1) * sizeof *b.at) };
    put_tables(&b);
    size_t start = b.a.n;
    put_entry(&b);
    for (uint32_t i = 0; b.at && b.holds_own && i < p->ncode; i++)
        if (is_head(p, i))
            translate_run(&b, i);
    if (b.at)
        land_all(&b);
    struct native *n = b.at && b.holds_own && !b.a.oom ? place(&b) : NULL;
    if (n)
        n->start = n->code + start;
    BASE_FREE(b.a.v, b.own, b.holds_own, b.at, b.stub, b.fix);
    return n;
}

void native_free(struct native *n)
{
    if (!n)
        return;
    munmap(n->code, n->bytes);
    base_free(n);
}

bool native_run(const struct native *n, struct exec_warp *w, uint64_t budget)
{
    void (*enter)(struct exec_warp *, const uint8_t *);
    memcpy(&enter, &n->start, sizeof enter);
    w->left = (int64_t)budget;
    enter(w, n->entry[w->pc]);
    uint64_t did = budget - (uint64_t)w->left;
    w->ninst += did;
    w->nthread += did * WARP_LANES;
    return !w->stop;
}
