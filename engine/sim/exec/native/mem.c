/* Loads and stores as machine code: of single elements of 4 or 8 bytes, lanes in sequence, inside the
 * allocation that the instruction used last (or in shared memory) and aligned. Lanes at one address have
 * code out of the way, vectors of 32-bit elements only that. Everything else goes to the body. What
 * bodies_fast_path.h does, step by step. */
#include "engine/sim/exec/access.h"
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/exec.h"
#include "engine/sim/exec/native/native_int.h"
#include "engine/sim/mem.h"

#define WARP(field) ((struct x86_mem){ RBX, (int32_t)offsetof(struct exec_warp, field) })
#define AT_ALLOC(in, field) \
    ((struct x86_mem){      \
        RBP, (int32_t)((in)->mem_id * sizeof(struct sim_alloc) + offsetof(struct sim_alloc, field)) })
#define AT_LOAD(in, field)                                                            \
    ((struct x86_mem){ R12, (int32_t)((in)->load_id * sizeof(struct sim_load_stats) + \
                                      offsetof(struct sim_load_stats, field)) })
#define PLACE_OF(h) ((enum x86_reg)(R8 + 2 * (h)))
#define AHEAD_OF(h) ((enum x86_reg)(R9 + 2 * (h)))

static struct x86_mem at(enum x86_reg base, size_t disp)
{
    return (struct x86_mem){ base, (int32_t)disp };
}
static bool is_shared(const struct exec_inst *in)
{
    return in->fast_path == QUICK_SHARED;
}
static bool is_pair(const struct exec_inst *in)
{
    return in->bytes == 4;
}
static const uint32_t *slots_of(const struct exec_inst *in)
{
    return in->x;
}

static void to_stub(struct build *b, struct stub *s, enum x86_cond c)
{
    s->jump[s->njumps++] = x86_jump(&b->a, c);
}

static struct stub *new_stub(struct build *b, const struct exec_inst *in, bool same)
{
    if (!base_grow((void **)&b->stub, b->nstubs, &b->cap_stubs, sizeof *b->stub)) {
        b->a.oom = true;
        return NULL;
    }
    b->stub[b->nstubs] = (struct stub){ .in = in, .end = b->end, .same = same };
    return &b->stub[b->nstubs++];
}

/* ---- how the lanes lie ---- */
/* rax: the first lane's base register. Other than every lane at rax plus its entry of the table (NULL:
 * at rax): to the stub. */
static void check_lanes(struct build *b, const struct exec_inst *in, const size_t *table,
                        struct stub *other)
{
    const bool wide = !is_shared(in);
    const struct x86_op broadcast = { 1, 2, wide, 0x7c }, add = { 1, 1, wide, wide ? 0xd4 : 0xfe },
                        compare = { 1, 3, wide, 0x1f };
    const unsigned parts = wide ? 4 : 2;
    x86_vec(&b->a, broadcast, SCRATCH, 0, RAX, 0);
    for (unsigned q = 0; q < parts; q++) {
        if (table)
            x86_vec_mem(&b->a, add, SCRATCH2, SCRATCH, at(X86_HERE, *table + 64 * q), 0);
        /* k1, of the lanes right so far */
        x86_vec_mem_imm(&b->a, compare, 1, table ? SCRATCH2 : SCRATCH, native_slot(in->a, 64 * q),
                        q ? 1 : 0, 0);
    }
    x86_bytes(&b->a, (uint8_t[]){ 0xc5, 0xf8, 0x93, 0xc1 }, 4); /* KMOVW eax, k1 */
    x86_imm_reg(&b->a, 7, false, RAX, wide ? 0xff : 0xffff);
    to_stub(b, other, X86_NE);
}

/* What the accesses that follow in the group go by (memo_keep). */
static void keep_memo(struct build *b, const struct exec_inst *in, enum mem_pattern found)
{
    if (!in->group)
        return;
    x86_store_imm(&b->a, WARP(memo.group), (int32_t)in->group);
    x86_store_imm(&b->a, WARP(memo.mask), -1);
    x86_op_mem(&b->a, X86_LOAD, true, RCX, WARP(frame));
    x86_op_mem(&b->a, X86_STORE, true, RCX, WARP(memo.frame));
    x86_bytes(&b->a, (uint8_t[]){ 0xc6, 0x83 }, 2); /* MOV byte [rbx + at] */
    x86_bytes(&b->a, &(int32_t){ (int32_t)offsetof(struct exec_warp, memo.at) }, 4);
    x86_byte(&b->a, found);
    x86_store_imm(&b->a, WARP(memo.seq), found == MEM_SEQ ? (int32_t)in->group : (int32_t)EXEC_NO_ID);
    if (!in->nahead)
        return;
    x86_op_mem(&b->a, X86_LOAD, true, RCX, WARP(k)); /* nothing was read ahead */
    const size_t k = in->group % ARRAY_LEN(((struct exec_worker *)0)->ahead);
    x86_store_imm(&b->a,
                  at(RCX, offsetof(struct exec_worker, ahead) + k * sizeof(struct exec_ahead) +
                              offsetof(struct exec_ahead, group)),
                  0);
}

static void load_base(struct build *b, const struct exec_inst *in)
{
    x86_op_mem(&b->a, X86_LOAD, !is_shared(in), RAX, native_slot(in->a, 0));
}

/* rax: the base register becomes the host's address of `need` bytes from `imm` beyond it on, aligned to
 * `align`. */
static void find_host(struct build *b, const struct exec_inst *in, int32_t imm, unsigned need,
                      unsigned align, struct stub *other)
{
    struct x86 *a = &b->a;
    x86_imm_reg(a, 0, !is_shared(in), RAX, imm);
    x86_bytes(a, (uint8_t[]){ 0xa8, (uint8_t)(align - 1) }, 2); /* TEST al, align - 1 */
    to_stub(b, other, X86_NE);
    if (is_shared(in)) {
        x86_op_mem(a, X86_LOAD, true, RCX, WARP(x));
        x86_op_mem(a, X86_LOAD, false, RCX, at(RCX, offsetof(struct exec_launch, shared_bytes)));
    } else {
        x86_op_mem(a, X86_SUB_TO, true, RAX, AT_ALLOC(in, addr));
        x86_op_mem(a, X86_LOAD, true, RCX, AT_ALLOC(in, n));
    }
    x86_imm_reg(a, 5, true, RCX, (int32_t)need);
    to_stub(b, other, X86_B);
    x86_op_reg(a, X86_CMP_WITH, true, RAX, RCX);
    to_stub(b, other, X86_A);
    if (is_shared(in)) {
        x86_op_mem(a, X86_LOAD, true, RCX, WARP(cta));
        x86_op_mem(a, X86_ADD_TO, true, RAX, at(RCX, offsetof(struct exec_cta, shared)));
    } else {
        x86_op_mem(a, X86_ADD_TO, true, RAX, AT_ALLOC(in, host));
    }
}

/* By all lanes, see exec_worker_free. */
static void count_access(struct build *b, const struct exec_inst *in)
{
    if (in->load_id == EXEC_NO_ID)
        return;
    x86_imm_mem(&b->a, 0, true, AT_LOAD(in, requests), 1);
}

/* Loops go through memory in steps: what this load will want AHEAD turns from now is asked for. The
 * host's own prefetcher sees little of it, since a kernel's steps are often longer than its pages. rax:
 * where the load is now. */
#define AHEAD 2 /* as a power of two */
static void ask_ahead(struct build *b, const struct exec_inst *in)
{
    const struct x86_mem last =
        at(RBP, (b->p->nmem + 1) * sizeof(struct sim_alloc) + in->mem_id * sizeof(uint64_t));
    if (in->store || is_shared(in))
        return;
    x86_op_reg(&b->a, X86_LOAD, true, RCX, RAX);
    x86_op_mem(&b->a, X86_SUB_TO, true, RCX, last);
    x86_op_mem(&b->a, X86_STORE, true, RAX, last);
    x86_bytes(&b->a, (uint8_t[]){ 0x48, 0xc1, 0xe1, AHEAD }, 4); /* SHL rcx, AHEAD */
    x86_op_reg(&b->a, X86_ADD_TO, true, RCX, RAX);
    x86_ask(&b->a, at(RCX, 0));
    x86_ask(&b->a, at(RCX, 64));
}

/* ---- moving data ---- */
static unsigned pair_of(const struct value *val, uint32_t slot)
{
    unsigned k = 0;
    while (val[k].slot != slot)
        k++;
    return k;
}

/* [first] on, 32 elements. */
static void move_sequence(struct build *b, const struct exec_inst *in, struct x86_mem first,
                          const struct value *val)
{
    const unsigned parts = is_pair(in) ? 2 : 4,
                   pair = is_pair(in) ? 2 * pair_of(val, slots_of(in)[0]) : 0;
    for (unsigned q = 0; q < parts; q++) {
        const unsigned z = is_pair(in) ? pair + q : SCRATCH;
        const struct x86_mem there = { first.base, first.disp + (int32_t)(64 * q) },
                             slot = native_slot(slots_of(in)[0], 64 * q);
        if (!in->store || !is_pair(in))
            x86_vec_mem(&b->a, VMOVE_LOAD, z, 0, in->store ? slot : there, 0);
        if (in->store || !is_pair(in))
            x86_vec_mem(&b->a, VMOVE_STORE, z, 0, in->store ? there : slot, 0);
    }
}

/* One element of each register for all lanes. */
static void move_same(struct build *b, const struct exec_inst *in, const struct value *val)
{
    const struct x86_op broadcast = { 1, 2, !is_pair(in), is_pair(in) ? 0x58 : 0x59 };
    for (unsigned v = 0; v < in->vec; v++) {
        const uint32_t slot = slots_of(in)[v];
        if (is_pair(in)) {
            const unsigned z = 2 * pair_of(val, slot);
            x86_vec_mem(&b->a, broadcast, z, 0, at(RAX, v * in->bytes), 0);
            x86_vec(&b->a, VMOVE, z + 1, 0, z, 0);
            continue;
        }
        x86_vec_mem(&b->a, broadcast, SCRATCH, 0, at(RAX, v * in->bytes), 0);
        for (unsigned q = 0; q < 4; q++)
            x86_vec_mem(&b->a, VMOVE_STORE, SCRATCH, 0, native_slot(slot, 64 * q), 0);
    }
}

/* ---- code out of the way ---- */
/* By the body: it sees the frame as it should be, and leaves its results there. */
static void stub_body(struct build *b, const struct stub *s)
{
    for (unsigned pass = 0; pass < 2; pass++) {
        for (unsigned k = 0; k < PAIRS; k++) {
            const struct value *v = &s->val[k];
            if (v->slot == EXEC_NO_ID || (!pass && (!v->dirty || s->fresh >> k & 1)))
                continue;
            for (unsigned h = 0; h < 2; h++) {
                if (!pass && v->odd)
                    native_canonical(b, 2 * k + h);
                x86_vec_mem(&b->a, pass ? VMOVE_LOAD : VMOVE_STORE, 2 * k + h, 0,
                            native_slot(v->slot, 64 * h), 0);
            }
        }
        if (pass)
            break;
        x86_set(&b->a, RDX, EXEC_FULL);
        native_call(b, s->in, s->end);
        x86_bytes(&b->a, (uint8_t[]){ 0xc6, 0x83 }, 2); /* MOV byte [rbx + called], 1 */
        x86_bytes(&b->a, &(int32_t){ (int32_t)offsetof(struct exec_warp, called) }, 4);
        x86_byte(&b->a, 1);
    }
    if (s->nan) {
        x86_set(&b->a, RAX, 0x7fffffffu);
        x86_vec(&b->a, (struct x86_op){ 1, 2, 0, 0x7c }, NAN_REG, 0, RAX, 0);
    }
}

static void check_known_same(struct build *b, const struct exec_inst *in, struct stub *body)
{
    x86_imm_mem(&b->a, 7, false, WARP(memo.group), (int32_t)in->follows);
    to_stub(b, body, X86_NE);
    x86_imm_mem(&b->a, 7, false, WARP(memo.mask), -1);
    to_stub(b, body, X86_NE);
    x86_op_mem(&b->a, X86_LOAD, true, RCX, WARP(frame));
    x86_op_mem(&b->a, X86_CMP_WITH, true, RCX, WARP(memo.frame));
    to_stub(b, body, X86_NE);
    x86_bytes(&b->a, (uint8_t[]){ 0x80, 0xbb }, 2); /* CMP byte [rbx + at], MEM_SAME */
    x86_bytes(&b->a, &(int32_t){ (int32_t)offsetof(struct exec_warp, memo.at) }, 4);
    x86_byte(&b->a, MEM_SAME);
    to_stub(b, body, X86_NE);
    load_base(b, in);
}

/* Lanes at one address: those of `s` jump here. `body`: its companion. */
static void stub_same(struct build *b, const struct stub *s, struct stub *body)
{
    const struct exec_inst *in = s->in;
    const unsigned bytes = in->bytes * in->vec;
    if (in->follows) {
        check_known_same(b, in, body);
    } else {
        check_lanes(b, in, NULL, body);
        load_base(b, in);
        keep_memo(b, in, MEM_SAME);
    }
    find_host(b, in, in->imm, bytes, bytes, body);
    count_access(b, in);
    move_same(b, in, s->val);
}

static void lose_held(struct build *b, uint32_t which)
{
    for (uint32_t h = 0; h < HELD; h++)
        if (which >> h & 1)
            x86_op_reg(&b->a, X86_CLEAR, true, PLACE_OF(h), PLACE_OF(h));
}

void native_stubs(struct build *b)
{
    for (size_t i = 0; i < b->nstubs && !b->a.oom; i++) {
        struct stub *s = &b->stub[i];
        if (!s->njumps)
            continue; /* a store: lanes at one address are left to the body */
        for (uint32_t k = 0; k < s->njumps; k++)
            x86_land(&b->a, s->jump[k], b->a.n);
        if (s->same)
            stub_same(b, s, s + 1); /* new_access made them in this order */
        else
            stub_body(b, s);
        lose_held(b, s->lost);
        x86_land(&b->a, x86_jump(&b->a, X86_ALWAYS), s->back);
    }
    b->nstubs = 0;
}

/* ---- the access itself ---- */
/* Every element has a register, and one of its own. */
static bool has_slots(const struct exec_inst *in)
{
    for (unsigned v = 0; v < in->vec; v++)
        for (unsigned k = 0; k <= v; k++)
            if (slots_of(in)[v] == (k < v ? slots_of(in)[k] : EXEC_NO_ID))
                return false;
    return true;
}

/* What has code: see the head of the file. */
static bool has_code(const struct exec_inst *in)
{
    const bool vector = in->vec > 1 && !in->store && in->bytes == 4 &&
                        (in->space == PTX_SPACE_GLOBAL || in->space == PTX_SPACE_CONST) &&
                        in->flags & EXEC_F_BASE64 && !(in->flags & EXEC_F_FRAME);
    return (in->fast_path != QUICK_NONE || vector) && has_slots(in);
}

/* The pairs that hold, or are to hold, the data; all that the access needs is in place before its first
 * jump. */
static uint32_t claim_pairs(struct build *b, const struct exec_inst *in)
{
    uint32_t fresh = 0;
    for (unsigned v = 0; v < in->vec && is_pair(in); v++)
        if (in->store)
            native_value(b, slots_of(in)[v]);
        else
            fresh |= 1u << native_result(b, slots_of(in)[v]);
    return fresh;
}

static void take_state(struct build *b, struct stub *s, uint32_t fresh)
{
    for (unsigned k = 0; k < PAIRS; k++)
        s->val[k] = b->val[k];
    s->fresh = fresh;
    s->nan = b->nan;
}

/* ---- loads of one group ---- */
/* What is checked once for all: loads of elements as large, at places that are as well aligned. */
static bool goes_with(const struct exec_inst *first, const struct exec_inst *in)
{
    return in->guard == EXEC_NO_ID && !in->store && in->vec == 1 && in->fast_path == QUICK_GLOBAL &&
           has_slots(in) && in->bytes == first->bytes &&
           ((int64_t)in->imm - first->imm) % in->bytes == 0;
}

/* The group that is held, where what was checked for it holds of this load, too. HELD: none, or not. */
static uint32_t find_held(const struct build *b, const struct exec_inst *in)
{
    uint32_t h = 0;
    while (h < HELD && (!in->group || b->held[h].group != in->group))
        h++;
    if (h == HELD)
        return HELD;
    const struct held *g = &b->held[h];
    const int64_t from = (int64_t)in->imm - g->low;
    const bool inside = from >= 0 && from + (int64_t)(in->bytes * WARP_LANES) <= g->bytes;
    return inside && goes_with(g->first, in) ? h : HELD;
}

/* The first load of a group, where others follow in the run: all of them execute if it does. HELD: none
 * does. */
static uint32_t hold(struct build *b, const struct exec_inst *in)
{
    const struct exec_inst *end = &b->p->code[b->end];
    int64_t low = in->imm, high = in->imm;
    bool more = false;
    if (!in->group || in->follows || !goes_with(in, in))
        return HELD;
    for (const struct exec_inst *k = in + 1; k < end; k++) {
        if (k->follows != in->group || !goes_with(in, k))
            continue;
        low = k->imm < low ? k->imm : low;
        high = k->imm > high ? k->imm : high;
        more = true;
    }
    const int64_t bytes = high - low + (int64_t)(in->bytes * WARP_LANES);
    if (!more || bytes > INT32_MAX)
        return HELD;
    uint32_t h = b->next_held++ % HELD;
    b->held[h] = (struct held){ in->group, (int32_t)low, (int32_t)bytes, in };
    return h;
}

/* rax: where the group is. Asks ahead as ask_ahead does, for all of it. */
static void set_held(struct build *b, const struct exec_inst *in, uint32_t h)
{
    const struct x86_mem last =
        at(RBP, (b->p->nmem + 1) * sizeof(struct sim_alloc) + in->mem_id * sizeof(uint64_t));
    const enum x86_reg place = PLACE_OF(h), ahead = AHEAD_OF(h);
    x86_op_reg(&b->a, X86_LOAD, true, place, RAX);
    x86_op_reg(&b->a, X86_LOAD, true, ahead, RAX);
    x86_op_mem(&b->a, X86_SUB_TO, true, ahead, last);
    x86_op_mem(&b->a, X86_STORE, true, RAX, last);
    /* SHL ahead, AHEAD */
    x86_bytes(&b->a, (uint8_t[]){ 0x49, 0xc1, (uint8_t)(0xe0 | (ahead & 7)), AHEAD }, 4);
    x86_op_reg(&b->a, X86_ADD_TO, true, ahead, RAX);
}

static void move_held(struct build *b, const struct exec_inst *in, uint32_t h)
{
    const size_t from = (size_t)((int64_t)in->imm - b->held[h].low);
    count_access(b, in);
    x86_ask(&b->a, at(AHEAD_OF(h), from));
    x86_ask(&b->a, at(AHEAD_OF(h), from + 64));
    move_sequence(b, in, at(PLACE_OF(h), from), b->val);
}

/* ---- ways into an access ---- */
/* The first of a group, or one on its own: rax is its base register once its lanes are in sequence. */
static void check_first(struct build *b, const struct exec_inst *in, struct stub *same,
                        struct stub *body)
{
    const size_t table = b->iota[(is_shared(in) ? 0 : 2) + (in->bytes == 8)];
    load_base(b, in);
    x86_op_mem(&b->a, X86_LOAD, !is_shared(in), RCX, native_slot(in->a, is_shared(in) ? 4 : 8));
    x86_op_reg(&b->a, X86_SUB_TO, !is_shared(in), RCX, RAX);
    x86_imm_reg(&b->a, 7, !is_shared(in), RCX, (int32_t)in->bytes);
    to_stub(b, same, X86_NE);
    check_lanes(b, in, &table, body);
    load_base(b, in);
    keep_memo(b, in, MEM_SEQ);
}

/* One of a group whose first load found the place of all, or did not. */
static void follow_held(struct build *b, const struct exec_inst *in, uint32_t h, struct stub *same)
{
    x86_op_reg(&b->a, X86_TEST, true, PLACE_OF(h), PLACE_OF(h));
    to_stub(b, same, X86_E);
    move_held(b, in, h);
}

static void access_alone(struct build *b, const struct exec_inst *in, struct stub *same,
                         struct stub *body)
{
    if (in->follows) {
        x86_imm_mem(&b->a, 7, false, WARP(memo.seq), (int32_t)in->follows);
        to_stub(b, same, X86_NE);
        load_base(b, in);
    } else {
        check_first(b, in, same, body);
    }
    find_host(b, in, in->imm, in->bytes * WARP_LANES, in->bytes, body);
    count_access(b, in);
    ask_ahead(b, in);
    move_sequence(b, in, at(RAX, 0), b->val);
}

static uint32_t all_held(const struct build *b)
{
    uint32_t m = 0;
    for (uint32_t h = 0; h < HELD; h++)
        m |= (uint32_t)(b->held[h].group != 0) << h;
    return m;
}

bool native_memory(struct build *b, const struct exec_inst *in)
{
    if (!has_code(in))
        return false;
    native_sync(b, in->a); /* a base register of 32 bits */
    const uint32_t fresh = claim_pairs(b, in);
    if (!new_stub(b, in, true) || !new_stub(b, in, false))
        return true;
    struct stub *body = &b->stub[b->nstubs - 1], *same = in->store ? body : body - 1;
    take_state(b, body - 1, fresh);
    take_state(b, body, fresh);
    const uint32_t known = goes_with(in, in) ? find_held(b, in) : HELD,
                   first = known == HELD ? hold(b, in) : HELD;
    body->lost = all_held(b); /* its calls change the registers */
    (body - 1)->lost = first < HELD ? 1u << first : 0;
    if (in->vec > 1) {
        load_base(b, in);
        to_stub(b, same, X86_ALWAYS);
    } else if (known < HELD) {
        follow_held(b, in, known, same);
    } else if (first < HELD) {
        check_first(b, in, same, body);
        find_host(b, in, b->held[first].low, (unsigned)b->held[first].bytes, in->bytes, body);
        set_held(b, in, first);
        move_held(b, in, first);
    } else {
        access_alone(b, in, same, body);
    }
    (body - 1)->back = body->back = b->a.n;
    return true;
}

/* ---- kernel parameters: the same for all lanes ---- */
bool native_param(struct build *b, const struct exec_inst *in)
{
    const struct exec_ldst *x = in->x;
    if (in->vec == 1 && x->slot[0] == EXEC_NO_ID)
        return true;
    if (!has_slots(in) || in->bytes < 4 || in->bytes > 8 || x->reg_bits != 8 * in->bytes)
        return false;
    claim_pairs(b, in);
    x86_op_mem(&b->a, X86_LOAD, true, RAX, WARP(x));
    x86_op_mem(&b->a, X86_LOAD, true, RAX, at(RAX, offsetof(struct exec_launch, params)));
    x86_imm_reg(&b->a, 0, true, RAX, in->imm);
    move_same(b, in, b->val);
    return true;
}
