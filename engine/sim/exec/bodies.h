/* bodies: what decoders hand to the functions that execute an instruction, and those functions. */
#pragma once

#include "engine/ptx/ptx_table.h"
#include "engine/sim/decoded.h"
#include "engine/sim/exec/lanes/scalar.h"
#include "engine/sim/exec/tensor/dot.h"

/* ---- bodies, by file ---- */
struct exec_atom;
/* alu.c */
exec_fn exec_product_skip; /* counted, and nothing else */
exec_fn exec_nop, exec_scalar, exec_pred_and, exec_pred_or, exec_pred_xor, exec_pred_not, exec_pred_mov,
    exec_lop3_bool, exec_compare_pair, exec_carry, exec_mov_frame, exec_pack, exec_unpack, exec_mov_wide,
    exec_mov_vector, exec_clock, exec_sreg_pred, exec_isspacep, exec_alloca, exec_stacksave,
    exec_stackrestore, exec_policy_make;
/* tensor/flight.c: commits, waits and proxy fences, where copies are watched */
exec_fn exec_async_group;
/* ctl.c */
exec_fn exec_bra, exec_brx, exec_call, exec_call_indirect, exec_ret, exec_exit, exec_trap, exec_builtin,
    exec_unreachable;
/* barrier.c */
exec_fn exec_bar_sync, exec_bar_arrive, exec_bar_red, exec_cluster_arrive, exec_cluster_wait;
/* warp.c */
exec_fn exec_shfl, exec_vote, exec_match, exec_activemask, exec_redux, exec_elect, exec_warp_sync,
    exec_movmatrix;
/* mem.c */
exec_fn exec_ld_param, exec_ld_wide, exec_st_wide, exec_prefetch;
/* atom.c */
exec_fn exec_atom, exec_atom_wide;
/* One element at p becomes x->op(it, v); returns what it was. global: as global memory does (.f32
 * flushes). */
/* A float addition, beside it; others are none. old: what was there. */
void exec_atom_sum(struct sim_sums *s, const struct exec_atom *x, const void *at, uint64_t old,
                   uint64_t v, bool global);
uint64_t exec_atom_apply(const struct exec_atom *x, void *p, uint64_t v, uint64_t cmp, bool global);
/* place.c: of a program of which only some instructions do anything */
exec_fn exec_tell, exec_place, exec_rows_place, exec_written;
/* async.c; place: tells where it reads, and copies nothing */
exec_fn exec_cp_async, exec_cp_async_place, exec_mbar;
/* Transaction bytes that an asynchronous operation has brought, to the mbarrier at this address of the
 * cluster. False: a fault. */
bool exec_mbar_tx(struct exec_warp *w, const struct exec_inst *in, uint32_t lane, uint64_t addr,
                  uint32_t bytes);
/* One arrival there, at once. */
bool exec_mbar_arrive(struct exec_warp *w, const struct exec_inst *in, uint32_t lane, uint64_t addr);
/* bulk.c */
exec_fn exec_async, exec_cp_bulk;
/* cluster.c */
exec_fn exec_mapa, exec_ctarank;
/* is offset a of the shared window the CTA's own (or its cluster's)? */
bool exec_in_shared(const struct exec_warp *w, uint64_t a, bool cluster);
/* matrix.c */
exec_fn exec_mma_core;  /* tensor/mma.c */
exec_fn exec_wmma_core; /* tensor/wmma.c */
exec_fn exec_ldmatrix, exec_ldmatrix_place, exec_stmatrix, exec_mma, exec_wmma_load, exec_wmma_store,
    exec_wmma_mma;

struct exec_scalar {
    scalar_fn *fn;
    struct scalar_how how;
    uint8_t wd, ws[4];
    uint32_t src[4];
};
struct exec_lop3 {
    bool bool_and, neg;
};
struct exec_carry {
    uint16_t op;
    uint8_t bytes;
    bool is_signed;
};
struct exec_pack {
    uint32_t part[4];
    uint8_t n;
    uint8_t part_bits;
    uint8_t bytes;
    uint32_t whole;
};
struct exec_moves {
    uint8_t n, bytes;
    uint32_t dst[8], src[8];
};
struct exec_brx {
    uint32_t n;
    uint32_t target[];
};
/* Copies between a caller's variables and a callee's formal parameters: offsets in the two frames. */
struct exec_copy {
    uint32_t from;
    uint32_t to;
    uint32_t bytes;
    uint32_t slot;
    uint8_t slot_bytes;
};
struct exec_call {
    uint32_t func;
    uint32_t nin;
    uint32_t nout;
    struct exec_copy *in, *out;
    uint32_t builtin;
};
struct exec_barrier_how {
    uint32_t id, count;
    bool has_count;
    bool is_pred;
    bool neg;
    uint8_t op;
};
struct exec_shfl {
    uint8_t mode;
};
struct exec_atom {
    uint8_t op;         /* enum atom_op */
    enum ptx_type type; /* of one element; packed types whole */
    uint8_t bytes;
    uint8_t vec;
    uint8_t reg_bytes;
    bool returns;
    uint32_t dst[8];
    uint32_t src[8];
    uint32_t cmp;
};
/* slots first: lane bodies read only those */
struct exec_ldst {
    uint32_t slot[8];
    uint8_t reg_bits;
    uint8_t type;
};
struct exec_policy_how {
    bool range;
    uint8_t kind[2];
};
struct exec_cp_async {
    uint32_t from_slot;
    uint32_t src_size;
    uint32_t ignore;
    int32_t from_imm;
    bool from64, neg;
};
struct exec_ref {
    uint32_t slot;
    int32_t imm;
    bool wide;
    uint8_t space;
}; /* a further address */
struct exec_bulk {
    struct exec_ref from, bar;
    uint32_t size, targets /* of a multicast, or EXEC_NO_ID */;
    bool has_bar, reduces;
    struct exec_atom atom;
};
struct exec_async {
    struct exec_ref bar;
    uint32_t src[4];
    uint8_t n, reg_bytes[4];
    bool reduces;
    struct exec_atom atom;
};
struct exec_mbar {
    uint16_t op;
    uint32_t state;
    uint32_t count;
    uint32_t pred;
    bool waits;
    bool parity;
    bool noinc; /* .noinc */
};
/* registers of one matrix fragment */
struct exec_part {
    uint32_t slot[8];
    uint8_t n;
    uint8_t type; /* enum ptx_type */
    uint8_t bytes;
};
struct exec_mma {
    uint16_t op;
    uint8_t shape[3];
    bool finite;
    bool xor_popc; /* .xor.popc */
    bool column;
    uint32_t stride;
    struct exec_part part[4]; /* d a b c */
    struct dot_model model;
    bool halves; /* 8-bit floats as two products of f16, and the accumulator added to their sum */
    bool sparse; /* mma.sp: */
    uint8_t selector;
    uint32_t meta; /* slot of its metadata */
};
enum atom_op {
    ATOM_ADD,
    ATOM_MIN,
    ATOM_MAX,
    ATOM_INC,
    ATOM_DEC,
    ATOM_AND,
    ATOM_OR,
    ATOM_XOR,
    ATOM_EXCH,
    ATOM_CAS
};

#define BULK_CHUNK   16u /* bytes that a bulk copy moves at a time */
#define MAPA_GENERIC 1   /* exec_inst.imm of mapa and getctarank: the address is generic */
