/* Inside the checker: the decoded program, its states. */
#ifndef GPULOCW_TESTS_MC_INT_H
#define GPULOCW_TESTS_MC_INT_H

#include "tests/modelcheck/mc.h"

struct mc_access;
struct mc_contents;
struct mc_cta;
struct mc_future;
struct mc_inst;
struct mc_launch;
struct mc_layout;
struct mc_pair;
struct mc_program;
struct mc_region;
struct mc_run;
struct mc_seen;
struct mc_thread;
struct mc_uni;
struct mc_val;
struct mc_word;

enum mc_op {
    MC_NOP,
    MC_MOV,
    MC_PACK,
    MC_UNPACK,
    MC_ADD,
    MC_SUB,
    MC_MUL,
    MC_MULHI,
    MC_MULWIDE,
    MC_MAD,
    MC_MADHI,
    MC_MADWIDE,
    MC_DIV,
    MC_REM,
    MC_MIN,
    MC_MAX,
    MC_ABS,
    MC_NEG,
    MC_AND,
    MC_OR,
    MC_XOR,
    MC_NOT,
    MC_SHL,
    MC_SHR,
    MC_CNOT,
    MC_POPC,
    MC_CLZ,
    MC_BFE,
    MC_BFI,
    MC_PRMT,
    MC_LOP3,
    MC_SHFL_L,
    MC_SHFL_R,
    MC_SETP,
    MC_SELP,
    MC_CVT,
    MC_CVTA,
    MC_CVTATO,
    MC_ISSPACE,
    MC_LD,
    MC_ST,
    MC_ATOM,
    MC_BRA,
    MC_JUMP /* of an inlined call or return */,
    MC_EXIT,
    MC_TRAP,
    MC_BAR,
    MC_SHFL,
    MC_VOTE,
    MC_WARPSYNC,
    MC_FMA,
    MC_UNKNOWN
};
enum mc_cmp { CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE };
enum mc_atom { AT_ADD, AT_MIN, AT_MAX, AT_EXCH, AT_CAS, AT_AND, AT_OR, AT_XOR, AT_INC, AT_DEC };
enum mc_src { SRC_NONE, SRC_REG, SRC_IMM, SRC_SREG };

/* reg: register, or special register */
struct mc_val {
    uint8_t kind, comp, neg, pad;
    uint32_t reg;
    uint64_t imm;
};
struct mc_inst {
    uint8_t op, sub, bits, sign, flt;
    uint8_t bits2, sign2, flt2;   /* source type of cvt */
    uint8_t space, vec, nc, weak; /* enum ptx_space */
    uint8_t guarded, guard_neg, uni, comb;
    uint32_t guard, target, unislot;
    uint8_t nd, ns;
    uint8_t pad[2];
    uint32_t d[4];
    /* memory: s[0] base (register or none), address offset in s[0].imm */
    struct mc_val s[MC_OPERANDS];
};

/* Flat memory: buffers, module variables, shared memory of each CTA. */
struct mc_region {
    uint64_t base;
    uint32_t at, bytes;
    bool readonly;
};
enum { MC_REGIONS = 24, MC_FLAT = 8192 };
#define MC_GLOBAL_BASE 0x10000000ull
#define MC_SHARED_BASE 0x700000000000ull
#define MC_LOCAL_BASE  0x710000000000ull

struct mc_program {
    struct mc_inst *inst;
    uint32_t *line;
    uint32_t n;
    uint64_t *live;
    /* live registers before each instruction; bit nregs: the CTA's number may still be read, bit
     * nregs + 1: %smid may */
    uint32_t words;
    /* registers, private bytes (locals, call parameters), guarded .uni */
    uint32_t nregs, priv, nuni;
    struct mc_launch launch;
    uint32_t nctas, block, nthreads;
    struct mc_region region[MC_REGIONS];
    uint32_t nregions;
    uint32_t shared_static, shared_all; /* bytes of a CTA */
    /* where shared memories begin; bytes in all; bytes of the buffers, which come first */
    uint32_t shared_at, flat, buffers;
    uint8_t *init; /* [flat] */
    uint8_t param[256];
    char text[64];
};

enum mc_status { T_RUN, T_MEM, T_BAR, T_WARP, T_DONE, T_UNSTARTED, T_SPIN, T_FAULT };

/* ---- a state: one block of bytes, hashed up to `hashed` ---- */
struct mc_cta {
    uint8_t started, phase, sm, sm_set;
    uint32_t live;
};
struct mc_thread {
    uint32_t pc;
    uint8_t status;
    uint8_t pad[3];
};
/* of one .uni and thread: executions, bit k: taken the k-th time */
struct mc_uni {
    uint32_t count, way;
};
struct mc_layout {
    uint32_t cta, thread, regs, priv, mem, hashed, uni, bytes;
};

/* What all explored executions together did, by words of flat memory; threads are bits. */
enum { MC_PHASES = 16 };
struct mc_word {
    uint32_t rd, wr, rdp[MC_PHASES], wrp[MC_PHASES];
    /* lanes of one CTA meet here between two barriers */
    bool visible, next;
};
struct mc_seen {
    struct mc_word *word;
    /* something that the reduction relied on did not hold: explore again */
    bool changed;
    /* a word outside the buffers was read for the first time; a state was met again */
    bool reads, met;
};
/* What CTAs may still do (mc_future.c). key x lane x {reads, writes} x words of global memory. */
struct mc_pair {
    uint32_t from, to;
};
struct mc_future {
    uint32_t words, row, lanes;
    uint8_t *control, *far; /* by word: atomics claim from it; CTAs may meet here */
    uint64_t farset[MC_FLAT / 256 + 1];
    uint64_t *hash, *set;
    uint32_t *table, mask, nkeys, capkeys;
    struct mc_pair *edge;
    uint32_t *edges, emask, nedges;
    bool changed, renew, full;
};
/* Hashes: words that are claimed from, each CTA, the state with CTAs in order and in any order. */
struct mc_contents {
    uint64_t control, local[MC_CTAS], order, state;
};
struct mc_run {
    const struct mc_program *p;
    struct mc_layout at;
    struct mc_seen *seen;
    struct mc_future *fut;
    uint32_t key[MC_CTAS]; /* of each CTA in the state that is left */
    uint32_t resident;
    bool brute, sym /* CTAs were exchanged */, racy, parted, fault;
    const char *unknown;
};
#define CTA(x, s)     ((struct mc_cta *)((s) + (x)->at.cta))
#define THREAD(x, s)  ((struct mc_thread *)((s) + (x)->at.thread))
#define REGS(x, s, t) ((uint64_t *)((s) + (x)->at.regs) + (size_t)(t) * (x)->p->nregs)
#define PRIV(x, s, t) ((s) + (x)->at.priv + (size_t)(t) * (x)->p->priv)
#define MEM(x, s)     ((s) + (x)->at.mem)
#define UNI(x, s, slot, t) \
    ((struct mc_uni *)((s) + (x)->at.uni) + (size_t)(slot) * (x)->p->nthreads + (t))

/* The memory operation a thread stands at. */
struct mc_access {
    uint32_t at, bytes;
    bool ok, memory, write, read, weak, nc, atomic, result /* somebody gets what was there */;
};
void mc_access(const struct mc_run *x, const uint8_t *s, unsigned t, struct mc_access *a);
/* Ways the thread's next operation can go. */
unsigned mc_choices(const struct mc_run *x, const uint8_t *s, unsigned t);
/* Executes one instruction of t, which stands at T_RUN or T_MEM. */
void mc_step(struct mc_run *x, uint8_t *s, unsigned t, unsigned choice);
/* Runs every thread until its next visible operation; starts CTAs, opens barriers. */
void mc_settle(struct mc_run *x, uint8_t *s);
/* Before any CTA starts; mc_settle starts them. */
void mc_begin(struct mc_run *x, uint8_t *s);
uint64_t mc_hash(const void *p, size_t n, uint64_t seed);

bool mc_future_make(struct mc_future *f, const struct mc_program *p);
void mc_future_free(struct mc_future *f);
uint32_t mc_future_key(struct mc_future *f, uint64_t control, uint64_t local);
void mc_future_edge(struct mc_future *f, uint32_t from, uint32_t to);
void mc_future_add(struct mc_future *f, uint32_t key, unsigned lane, uint32_t word, bool read,
                   bool write);
bool mc_future_meets(const struct mc_future *f, uint32_t key, unsigned lane, uint32_t word, bool write);
void mc_future_far(struct mc_future *f, uint32_t word);
void mc_future_control(struct mc_future *f, uint32_t word);
void mc_future_spread(struct mc_future *f);
bool mc_future_renew(struct mc_future *f);
void mc_contents(const struct mc_run *x, const uint8_t *s, struct mc_contents *c);
uint64_t mc_control(const struct mc_run *x, const uint8_t *s);
void mc_keys(struct mc_run *x, const struct mc_contents *c, uint32_t *key);
void mc_layout_make(struct mc_run *x);

#endif
