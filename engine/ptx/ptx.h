/* ptx: op table, lexer, parser, IR, checks, structure, edits.
 *
 * A parsed module is IMMUTABLE. Everything in it points into one arena and into
 * its own copy of the text; threads may share it freely. A rewrite is a list of
 * text edits anchored at statements (ptx_edit); applying it gives new text that
 * is parsed again. So the original text is sacred: what no edit touches is
 * byte-identical, and print -> parse -> print is a fixpoint by construction.
 *
 *   text --ptx_parse--> module --ptx_cfg_build--> cfg (blocks, dominators, loops)
 *                          \--ptx_edit_*--> ptx_edit_apply --> text' --> ptx_parse
 *
 * Sections cited are those of the PTX ISA manual, version 9.0. */
#ifndef GPULOCW_PTX_H
#define GPULOCW_PTX_H

#include "engine/base/base.h"

/* ---- tables (ops.def, mods.def, sregs.def are the only places to add to) ---- */
enum ptx_op {                       /* PTX_OP_ADD, PTX_OP_MUL_LO, PTX_OP_LD, ... */
    PTX_OP_OPAQUE,                  /* well-formed, not in the table: kept verbatim, never guessed */
#define OP(id, name, exec, ...) PTX_OP_##id,
#include "engine/ptx/ops.def"
#undef OP
    PTX_OP_COUNT
};
/* Every dot-word after an opcode: .global .ca .rn .u32 .L1::no_allocate ...
 * PTX_MOD_GLOBAL, PTX_MOD_CA, PTX_MOD_RN, PTX_MOD_U32, PTX_MOD_L1_NO_ALLOCATE */
enum ptx_mod {
    PTX_MOD_NONE,
#define MOD(id, text, category) PTX_MOD_##id,
#include "engine/ptx/mods.def"
#undef MOD
    PTX_MOD_COUNT
};
enum ptx_mod_category {
    MODCAT_TYPE, MODCAT_SPACE, MODCAT_CACHE, MODCAT_L1, MODCAT_L2, MODCAT_ROUND, MODCAT_CMP,
    MODCAT_BOOL, MODCAT_SEM, MODCAT_SCOPE, MODCAT_VEC, MODCAT_SHAPE, MODCAT_ATOM, MODCAT_FLAG
};
/* Fundamental and packed types (section 5.2). PTX_T_U32 ... */
#define PTX_TYPE_LIST(X) /* name, text, bits, kind: b bits, u unsigned, s signed, f float, p predicate, x packed/other */ \
    X(B8,"b8",8,'b') X(B16,"b16",16,'b') X(B32,"b32",32,'b') X(B64,"b64",64,'b') X(B128,"b128",128,'b')     \
    X(U8,"u8",8,'u') X(U16,"u16",16,'u') X(U32,"u32",32,'u') X(U64,"u64",64,'u')                            \
    X(S8,"s8",8,'s') X(S16,"s16",16,'s') X(S32,"s32",32,'s') X(S64,"s64",64,'s')                            \
    X(F16,"f16",16,'f') X(F16X2,"f16x2",32,'x') X(BF16,"bf16",16,'f') X(BF16X2,"bf16x2",32,'x')             \
    X(TF32,"tf32",32,'x') X(F32,"f32",32,'f') X(F32X2,"f32x2",64,'x') X(F64,"f64",64,'f') X(PRED,"pred",1,'p') \
    X(U16X2,"u16x2",32,'x') X(S16X2,"s16x2",32,'x')                                                         \
    X(E4M3,"e4m3",8,'x') X(E5M2,"e5m2",8,'x') X(E4M3X2,"e4m3x2",16,'x') X(E5M2X2,"e5m2x2",16,'x')           \
    X(E2M3,"e2m3",8,'x') X(E3M2,"e3m2",8,'x') X(E2M1,"e2m1",8,'x')                                          \
    X(E2M3X2,"e2m3x2",16,'x') X(E3M2X2,"e3m2x2",16,'x') X(E2M1X2,"e2m1x2",8,'x')                            \
    X(E4M3X4,"e4m3x4",32,'x') X(E5M2X4,"e5m2x4",32,'x') X(E2M3X4,"e2m3x4",32,'x') X(E3M2X4,"e3m2x4",32,'x') \
    X(E2M1X4,"e2m1x4",16,'x') X(UE8M0,"ue8m0",8,'x') X(UE8M0X2,"ue8m0x2",16,'x') X(UE4M3,"ue4m3",8,'x')     \
    X(U4,"u4",4,'u') X(S4,"s4",4,'s') X(U2,"u2",2,'u') X(S2,"s2",2,'s') X(B1,"b1",1,'b')                    \
    X(B4X16,"b4x16",64,'x') X(B4X16_P64,"b4x16_p64",64,'x') X(B6X16_P32,"b6x16_p32",96,'x')                 \
    X(B6P2X16,"b6p2x16",128,'x') X(TEXREF,"texref",64,'x') X(SAMPLERREF,"samplerref",64,'x') X(SURFREF,"surfref",64,'x')
enum ptx_type {
    PTX_T_NONE,
#define X(n, text, bits, kind) PTX_T_##n,
    PTX_TYPE_LIST(X)
#undef X
    PTX_T_COUNT
};
unsigned ptx_type_bits(enum ptx_type t);
char ptx_type_kind(enum ptx_type t);
const char *ptx_type_name(enum ptx_type t);

enum ptx_space { /* section 5.1; GENERIC: ld/st/atom with no space named */
    PTX_SPACE_GENERIC, PTX_SPACE_REG, PTX_SPACE_SREG, PTX_SPACE_CONST, PTX_SPACE_GLOBAL, PTX_SPACE_LOCAL,
    PTX_SPACE_PARAM, PTX_SPACE_SHARED, PTX_SPACE_SHARED_CLUSTER, PTX_SPACE_TEX
};
/* What an operation does to memory and control (op table column .effect). */
enum ptx_effect {
    EFFECT_NONE, EFFECT_LOAD, EFFECT_STORE, EFFECT_ATOMIC, EFFECT_PREFETCH, EFFECT_FENCE, EFFECT_BARRIER,
    EFFECT_BRANCH, EFFECT_CALL, EFFECT_EXIT, EFFECT_WARP /* shuffle, vote, match, redux ... */,
    EFFECT_ASYNC_COPY, EFFECT_TEXTURE, EFFECT_SURFACE, EFFECT_TENSOR, EFFECT_OTHER
};
/* How the destination follows from the sources for address analysis. UNKNOWN is
 * zero on purpose: a row without a rule says "anything", never "unchanged". */
enum ptx_addr_rule {
    ADDR_UNKNOWN, ADDR_COPY, ADDR_ADD, ADDR_SUB, ADDR_MUL_LO, ADDR_MUL_WIDE, ADDR_MAD_LO, ADDR_MAD_WIDE,
    ADDR_SHL, ADDR_SHR, ADDR_AND, ADDR_OR, ADDR_XOR, ADDR_NOT, ADDR_NEG, ADDR_CVT, ADDR_CVTA, ADDR_SELP,
    ADDR_MIN, ADDR_MAX, ADDR_DIV, ADDR_REM, ADDR_BFE, ADDR_BFI, ADDR_LOP3, ADDR_SHF, ADDR_PRMT, ADDR_ABS,
    ADDR_LOAD /* a loaded value */, ADDR_PRED /* writes predicates: setp and friends */
};
/* Where an operation stands for throughput and latency (SM timing, cost). */
enum ptx_class {
    CLASS_ALU, CLASS_IMUL, CLASS_FP32, CLASS_FP16, CLASS_FP64, CLASS_SFU, CLASS_CVT, CLASS_MOVE, CLASS_LSU,
    CLASS_CONTROL, CLASS_BARRIER, CLASS_TENSOR, CLASS_TEX, CLASS_NOP
};
struct ptx_op_info {
    const char *name;            /* canonical spelling without types: "mul.lo", "ld", "bar.sync" */
    const char *sig;             /* operand signature; the little language is described in ops.def */
    const char *types;           /* allowed type sets; described in ops.def */
    const char *mods;            /* allowed modifiers; described in ops.def */
    enum ptx_effect effect;
    enum ptx_addr_rule addr;
    enum ptx_class cls;
    uint16_t version, sm;        /* least .version (10*major+minor) and .target for the base form; 0: any */
    char suffix;                 /* 'a': only on architecture-specific targets such as sm_90a */
    const char *section;         /* PTX ISA section */
};
const struct ptx_op_info *ptx_op_info(enum ptx_op op);
const char *ptx_mod_text(enum ptx_mod m);             /* with the dot: ".ca" */
enum ptx_mod_category ptx_mod_category(enum ptx_mod m);

enum ptx_sreg {                                        /* PTX_SREG_TID (with comp), PTX_SREG_LANEID, ... */
    PTX_SREG_NONE,
#define SREG(id, name, bits, vector) PTX_SREG_##id,
#include "engine/ptx/sregs.def"
#undef SREG
    PTX_SREG_COUNT
};
const char *ptx_sreg_name(enum ptx_sreg s);            /* "%tid" */
unsigned ptx_sreg_bits(enum ptx_sreg s);
bool ptx_sreg_is_vector(enum ptx_sreg s);              /* has .x .y .z .w */

/* ---- IR ---- */
enum ptx_operand_kind {
    OPND_NONE, OPND_REG,         /* reg, neg (for !p); comp: -1 or 0..3 for .x .y .z .w on a vector register */
    OPND_IMM,                    /* imm: 64-bit pattern; is_float tells 0f/0d/decimal-float immediates */
    OPND_SYM,                    /* sym: variable or function as a value; offset added */
    OPND_ADDR,                   /* [reg+offset], [sym+offset], [imm]; base tells which */
    OPND_LABEL,                  /* label index (bra, brx targets list, call prototypes) */
    OPND_VEC,                    /* { elem, ... }: elems may be REG, IMM, SINK, SYM */
    OPND_SREG,                   /* sreg and comp */
    OPND_SINK,                   /* _ */
    OPND_MULTI                   /* [a, {b,c}], [a, b] and other bracketed lists: elems in order */
};
enum ptx_base { BASE_NONE, BASE_REG, BASE_SYM, BASE_IMM };
#define PTX_NO_INDEX UINT32_MAX
struct ptx_operand {
    uint8_t kind, base;          /* ptx_operand_kind, ptx_base */
    int8_t comp;                 /* -1: none; video selectors (9.7.18): 4..7 .b0-.b3, 8, 9 .h0 .h1, 10 several lanes */
    bool neg, is_float;          /* !p ; float immediate (imm holds f32 bits for 0f, else f64 bits: fbits) */
    uint8_t fbits;               /* 32 or 64 when is_float */
    uint16_t nelem;
    uint32_t index;              /* REG/ADDR-BASE_REG: reg index; SYM/ADDR-BASE_SYM: see sym; LABEL: label index; SREG: enum */
    uint32_t off, len;           /* text span of this operand */
    uint8_t access;              /* PTX_READ | PTX_WRITE; of an address: of the memory, its base is always read */
    int64_t imm;                 /* IMM value, or byte offset of SYM and ADDR */
    union { struct ptx_operand *elem; const struct ptx_symbol *sym; };
};
struct ptx_inst {
    uint16_t op;                 /* enum ptx_op */
    uint8_t nmods, nopnds;
    uint8_t type[4]; uint8_t ntypes; /* enum ptx_type in written order: cvt.f32.s32 -> F32, S32 */
    uint8_t space, vec;          /* enum ptx_space; vec 1, 2, 4, 8 */
    bool guarded, guard_neg;     /* @p, @!p */
    uint32_t guard;              /* reg index when guarded */
    uint16_t *mods;              /* enum ptx_mod in written order, types and space included */
    struct ptx_operand *opnds;   /* destination(s) first, as written; setp p|q is two REG operands */
    uint32_t index;              /* position in func->insts */
    uint32_t stmt;               /* position in func->stmts */
    struct span at;              /* opcode to ';' inclusive, guard included */
};
bool ptx_has_mod(const struct ptx_inst *i, enum ptx_mod m);
/* First modifier of a category, PTX_MOD_NONE when there is none (.cmp of setp, .rn ...). */
enum ptx_mod ptx_mod_of(const struct ptx_inst *i, enum ptx_mod_category c);
/* How operand k is used: read, written, both (op signature; guards and address bases are reads). */
enum ptx_access { PTX_READ = 1, PTX_WRITE = 2 };
unsigned ptx_operand_access(const struct ptx_inst *i, unsigned k);
/* Calls fn for every register the instruction reads or writes: guard, operands, vector elements, address bases. */
void ptx_inst_regs(const struct ptx_inst *i, void (*fn)(void *ctx, uint32_t reg, unsigned access), void *ctx);

enum ptx_linkage { LINK_NONE, LINK_EXTERN, LINK_VISIBLE, LINK_WEAK, LINK_COMMON };
struct ptx_reloc { uint64_t at; const struct ptx_symbol *sym; int64_t addend; bool generic; uint8_t bytes; };
enum ptx_symbol_kind { SYM_VAR, SYM_FUNC, SYM_ALIAS };
struct ptx_symbol {              /* a named thing with an address: variable, parameter, function */
    enum ptx_symbol_kind kind;
    struct str name;
    enum ptx_linkage linkage;
    uint8_t space, type, vec;    /* variables */
    uint32_t align;              /* bytes */
    bool array, unsized;         /* x[4]; extern x[] */
    uint64_t bytes;              /* total size; 0 when unsized */
    uint64_t offset;             /* parameters: byte offset in the parameter block */
    uint8_t *init; uint64_t ninit; /* initial bytes (rest zero) or NULL */
    struct ptx_reloc *reloc; uint32_t nreloc;
    /* .param .u64 .ptr .global .align 4 p: what the hint promises */
    bool is_ptr; uint8_t ptr_space; uint32_t ptr_align;
    struct ptx_func *func;       /* SYM_FUNC: itself; variables: owner, NULL for module scope */
    uint32_t stmt;               /* body declarations: statement index; else PTX_NO_INDEX */
    struct span at;              /* the declaration, to ';' where it has one */
};
struct ptx_reg { struct str name; uint8_t type, vec; uint32_t scope; };
struct ptx_label { struct str name; uint32_t stmt; uint32_t inst; /* index of the next instruction; == ninsts at the end */
                   uint32_t *targets; uint32_t ntargets; /* .branchtargets / .calltargets: label or function list */ };
enum ptx_stmt_kind {
    STMT_INST, STMT_LABEL, STMT_REG, STMT_VAR, STMT_OPEN, STMT_CLOSE, STMT_LOC, STMT_PRAGMA, STMT_TARGETS,
    STMT_PROTOTYPE, STMT_OTHER
};
struct ptx_stmt { uint8_t kind; uint32_t index; /* inst, label or symbol index by kind */ struct span at; };
struct ptx_loc { uint32_t file, line, col; };          /* .loc in force */
struct ptx_func {
    struct str name;
    bool entry, has_body, noreturn;
    enum ptx_linkage linkage;
    struct ptx_module *module;
    struct ptx_symbol **params, **rets; uint32_t nparams, nrets; uint64_t param_bytes;
    struct ptx_reg *regs; uint32_t nregs;              /* registers that are used (ranges are not expanded) */
    struct ptx_symbol **vars; uint32_t nvars;          /* .shared .local .const .param declared in the body */
    struct ptx_label *labels; uint32_t nlabels;
    struct ptx_stmt *stmts; uint32_t nstmts;           /* in text order */
    struct ptx_inst *insts; uint32_t ninsts;           /* in text order */
    struct ptx_loc *locs; uint32_t *loc_stmt, nlocs;   /* STMT_LOC: index into locs */
    struct dim_directive { uint32_t x, y, z; } maxntid, reqntid, reqnctapercluster; /* x == 0: not given */
    uint32_t minnctapersm, maxnreg, maxclusterrank; bool explicitcluster;
    struct span at, head, body;                        /* whole; up to before '{'; '{'..'}' inclusive */
};
struct ptx_module {
    struct arena *arena;
    const char *path;                                  /* as given; for messages */
    struct str text;                                   /* own copy, NUL-terminated */
    uint32_t version;                                  /* 10*major + minor, e.g. 83; PTX 10.0 would be 100 */
    uint32_t target; char target_suffix;               /* 90, 'a' or 0; target_text as written */
    struct str target_text;
    uint32_t address_size;                             /* 32 or 64 */
    struct ptx_symbol **globals; uint32_t nglobals;    /* module-scope variables */
    struct ptx_func **funcs; uint32_t nfuncs;          /* entries and device functions, in order; prototypes too */
    struct str *files; uint32_t nfiles;                /* .file index -> name (index 0 unused) */
    struct span header;                                /* .version .. .address_size */
    uint32_t nopaque;                                  /* instructions kept as PTX_OP_OPAQUE */
};
/* Parses and checks. ST_OK: *out is a complete module (warnings and notes may be in ds).
 * ST_INPUT: diagnostics say where; *out is what could be read (may be NULL), for display only.
 * The text is copied. *out is freed with ptx_free. */
enum status ptx_parse(const char *path, struct str text, struct ptx_module **out, struct diags *ds);
enum status ptx_parse_file(const char *path, struct ptx_module **out, struct diags *ds);
void ptx_free(struct ptx_module *m);
/* Links several parsed modules by name: unresolved .extern is a note; a name defined twice an error. */
enum status ptx_link_check(struct ptx_module *const *m, size_t n, struct diags *ds);
const struct ptx_func *ptx_find_func(const struct ptx_module *m, struct str name);
const struct ptx_symbol *ptx_find_global(const struct ptx_module *m, struct str name);
struct str ptx_text(const struct ptx_module *m, struct span at);
struct str ptx_line_text(const struct ptx_module *m, uint32_t line);     /* without the line end */
uint32_t ptx_line_count(const struct ptx_module *m);
struct ptx_loc ptx_loc_of(const struct ptx_func *f, const struct ptx_inst *i); /* source line; file 0: none */
/* The module's text: byte for byte what was parsed, put together statement by statement. */
void ptx_print(const struct ptx_module *m, struct buf *out);

/* ---- structure (section-independent): blocks, dominators, loops, def-use ---- */
struct ptx_block { uint32_t first, n; uint32_t *succ, nsucc, *pred, npred; uint32_t idom, ipdom; /* block index; PTX_NO_INDEX: none/exit */
                   uint32_t loop; /* innermost, PTX_NO_INDEX: none */ bool reachable; };
struct ptx_loop { uint32_t header, parent, depth; uint32_t *blocks, nblocks; bool irreducible; }; /* blocks: those of inner loops included, in no order */
struct ptx_reg_refs { uint32_t *defs, ndefs, *uses, nuses; };            /* instruction indices, ascending */
struct ptx_cfg {
    struct arena *arena; const struct ptx_func *func;
    struct ptx_block *blocks; uint32_t nblocks;        /* block 0 is the entry */
    uint32_t *block_of;                                /* instruction index -> block */
    uint32_t *rpo; uint32_t nrpo;                      /* reachable blocks in reverse post-order */
    uint32_t *dom_first, *dom_size;                    /* by block: its interval in the dominator tree's pre-order */
    struct ptx_loop *loops; uint32_t nloops;           /* outer before inner */
    struct ptx_reg_refs *regs;                         /* func->nregs */
};
/* NULL on out of memory. Free with ptx_cfg_free. Iterative: no recursion on input depth. */
struct ptx_cfg *ptx_cfg_build(const struct ptx_func *f);
void ptx_cfg_free(struct ptx_cfg *c);
bool ptx_dominates(const struct ptx_cfg *c, uint32_t a, uint32_t b);

/* ---- edits: how a pass changes a module ---- */
struct ptx_edit;                                       /* a list of changes to one module's text */
struct ptx_edit *ptx_edit_new(const struct ptx_module *m);
void ptx_edit_free(struct ptx_edit *e);
/* Whole lines put before or after a statement, with its indentation; text may hold several lines.
 * Same anchor: in the order of the calls. `tag` names the pass (static string). */
void ptx_edit_before(struct ptx_edit *e, const struct ptx_func *f, uint32_t stmt, const char *tag, const char *fmt, ...) BASE_PRINTF(5, 6);
void ptx_edit_after(struct ptx_edit *e, const struct ptx_func *f, uint32_t stmt, const char *tag, const char *fmt, ...) BASE_PRINTF(5, 6);
/* The statement's own text replaced (its indentation and trailing comment stay). Empty text: removed. */
void ptx_edit_replace(struct ptx_edit *e, const struct ptx_func *f, uint32_t stmt, const char *tag, const char *fmt, ...) BASE_PRINTF(5, 6);
/* Any span of the module text replaced (length 0: inserted); for headers and directives. */
void ptx_edit_span(struct ptx_edit *e, uint32_t off, uint32_t len, const char *tag, const char *fmt, ...) BASE_PRINTF(5, 6);
/* A module-scope declaration, placed after the header and before the first use. */
void ptx_edit_global(struct ptx_edit *e, const char *tag, const char *fmt, ...) BASE_PRINTF(3, 4);
/* Lines at the start of a body, after its last leading declaration. Declarations (.reg, .shared) go to the front of it. */
void ptx_edit_entry(struct ptx_edit *e, const struct ptx_func *f, const char *tag, const char *fmt, ...) BASE_PRINTF(4, 5);
void ptx_edit_declare(struct ptx_edit *e, const struct ptx_func *f, const char *tag, const char *fmt, ...) BASE_PRINTF(4, 5);
/* Lines just before the closing brace of a body. */
void ptx_edit_end(struct ptx_edit *e, const struct ptx_func *f, const char *tag, const char *fmt, ...) BASE_PRINTF(4, 5);
/* Origin of each line of the new text: which original line it is (0: inserted) and which pass changed it (NULL: untouched). */
struct ptx_line_origin { uint32_t line; const char *tag; };
struct ptx_edit_result { char *text; size_t n; struct ptx_line_origin *lines; uint32_t nlines; };
/* ST_REFUSED with a diagnostic when two edits overlap. Owned; ptx_edit_result_free. */
enum status ptx_edit_apply(const struct ptx_edit *e, struct ptx_edit_result *out, struct diags *ds);
void ptx_edit_result_free(struct ptx_edit_result *r);
/* A name no symbol, register or label of the module has: prefix, or prefix followed by a number
 * (and '_' before it where a register range makes the plain ones). */
void ptx_fresh_name(const struct ptx_module *m, const char *prefix, char *out, size_t n);
/* Instruction text with changes: modifiers dropped or added, another guard, registers and labels renamed. */
struct ptx_rebuild {
    const uint16_t *drop; uint32_t ndrop;              /* enum ptx_mod to leave out */
    const char *add; enum ptx_mod_category add_before; /* e.g. ".cg" put in its place: before the first mod of this category */
    const char *extra;                                 /* operand text appended after the last (", %rd9"), or NULL */
    const char *guard;                                 /* "@%p1 "; "" for none; NULL: as written */
    struct str (*rename)(void *ctx, struct str name);  /* for every register, label and variable name; NULL: as written */
    void *ctx;
};
void ptx_inst_rebuild(const struct ptx_module *m, const struct ptx_inst *i, const struct ptx_rebuild *how, struct buf *out);

#endif
