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
#pragma once

#include "engine/ptx/label.h"
#include "engine/ptx/loc.h"
#include "engine/ptx/ptx_table.h"

/* ---- IR ---- */
enum ptx_operand_kind {
    /* reg, neg (for !p); comp: -1 or 0..3 for .x .y .z .w on a vector register */
    OPND_NONE,
    OPND_REG,
    OPND_IMM,   /* imm: 64-bit pattern; is_float tells 0f/0d/decimal-float immediates */
    OPND_SYM,   /* sym: variable or function as a value; offset added */
    OPND_ADDR,  /* [reg+offset], [sym+offset], [imm]; base tells which */
    OPND_LABEL, /* label index (bra, brx targets list, call prototypes) */
    OPND_VEC,   /* { elem, ... }: elems may be REG, IMM, SINK, SYM */
    OPND_SREG,  /* sreg and comp */
    OPND_SINK,  /* _ */
    OPND_MULTI  /* [a, {b,c}], [a, b] and other bracketed lists: elems in order */
};
enum ptx_base { BASE_NONE, BASE_REG, BASE_SYM, BASE_IMM };
#define PTX_NO_INDEX UINT32_MAX
struct ptx_operand {
    uint8_t kind, base; /* ptx_operand_kind, ptx_base */
    int8_t comp;        /* -1: none; video selectors (9.7.18): 4..7 .b0-.b3, 8, 9 .h0 .h1, 10 several
                         * lanes, imm has their digits, 4 bits each, that of the lowest lane lowest */
    /* !p ; float immediate (imm holds f32 bits for 0f, else f64 bits: fbits) */
    bool neg, is_float;
    uint8_t fbits; /* 32 or 64 when is_float */
    uint16_t nelem;
    /* REG/ADDR-BASE_REG: reg index; SYM/ADDR-BASE_SYM: see sym; LABEL: label index; SREG: enum */
    uint32_t index;
    uint32_t off, len; /* text span of this operand */
    /* PTX_READ | PTX_WRITE; of an address: of the memory, its base is always read */
    uint8_t access;
    int64_t imm; /* IMM value, or byte offset of SYM and ADDR */
    union {
        struct ptx_operand *elem;
        const struct ptx_symbol *sym;
    };
};
struct ptx_inst {
    uint16_t op; /* enum ptx_op */
    uint8_t nmods, nopnds;
    uint8_t type[4];
    uint8_t ntypes; /* enum ptx_type in written order: cvt.f32.s32 -> F32, S32 */
    /* enum ptx_space, the first written (cp.async.shared.global: SHARED); vec 1, 2, 4, 8 */
    uint8_t space, vec;
    bool guarded, guard_neg;   /* @p, @!p */
    bool nounroll;             /* .pragma "nounroll" stands before it, or for all of its function */
    uint32_t guard;            /* reg index when guarded */
    uint16_t *mods;            /* enum ptx_mod in written order, types and space included */
    struct ptx_operand *opnds; /* destination(s) first, as written; setp p|q is two REG operands */
    uint32_t index;            /* position in func->insts */
    uint32_t stmt;             /* position in func->stmts */
    struct span at;            /* opcode to ';' inclusive, guard included */
};
/* Not in ops.def: kept as it is written, and nothing is known of what it does. */
bool ptx_is_opaque(const struct ptx_inst *i);
/* ld of global memory */
bool ptx_is_global_load(const struct ptx_inst *i);
bool ptx_has_mod(const struct ptx_inst *i, enum ptx_mod m);
/* First modifier of a category, PTX_MOD_NONE when there is none (.cmp of setp, .rn ...). */
enum ptx_mod ptx_mod_of(const struct ptx_inst *i, enum ptx_mod_category c);
/* How operand k is used: read, written, both (op signature; guards and address bases are reads). */
enum ptx_access { PTX_READ = 1, PTX_WRITE = 2 };
unsigned ptx_operand_access(const struct ptx_inst *i, unsigned k);
/* The registers that an instruction reads or writes, as `want` says: guard, operands, vector elements,
 * address bases. for (struct ptx_regs r = ptx_regs_of(i, PTX_READ); ptx_next_reg(&r);) */
struct ptx_regs {
    const struct ptx_inst *i;
    uint32_t reg;
    unsigned access, want;
    unsigned at[3]; /* in the operands, in a list of these, in a list of that */
    bool guard;     /* it comes next */
};
struct ptx_regs ptx_regs_of(const struct ptx_inst *i, unsigned want);
bool ptx_next_reg(struct ptx_regs *r);
unsigned ptx_reg_access(const struct ptx_inst *i, uint32_t reg); /* 0: it is none of its registers */

enum ptx_linkage { LINK_NONE, LINK_EXTERN, LINK_VISIBLE, LINK_WEAK, LINK_COMMON };
struct ptx_reloc {
    uint64_t at;
    const struct ptx_symbol *sym;
    int64_t addend;
    bool generic;
    uint8_t bytes;
};
enum ptx_symbol_kind { SYM_VAR, SYM_FUNC, SYM_ALIAS };
struct ptx_symbol { /* a named thing with an address: variable, parameter, function */
    enum ptx_symbol_kind kind;
    struct str name;
    enum ptx_linkage linkage;
    /* variables */
    uint8_t space;       /* enum ptx_space */
    uint8_t type;        /* enum ptx_type */
    uint8_t vec;         /* elements of a vector: 1, 2, 4 or 8 */
    uint32_t align;      /* bytes */
    bool array, unsized; /* x[4]; extern x[] */
    uint64_t bytes;      /* total size; 0 when unsized */
    uint64_t offset;     /* parameters: byte offset in the parameter block */
    uint8_t *init;
    uint64_t ninit; /* initial bytes (rest zero) or NULL */
    struct ptx_reloc *reloc;
    uint32_t nreloc;
    /* .param .u64 .ptr .global .align 4 p: what the hint promises */
    bool is_ptr;
    uint8_t ptr_space;
    uint32_t ptr_align;
    const struct ptx_sampling *sampling; /* reference.h; NULL: the declaration says nothing */
    struct ptx_func *func;               /* SYM_FUNC: itself; variables: owner, NULL for module scope */
    uint32_t stmt;                       /* body declarations: statement index; else PTX_NO_INDEX */
    struct span at;                      /* the declaration, to ';' where it has one */
};
struct ptx_reg {
    struct str name;
    uint8_t type, vec;
    uint32_t scope;
};
/* index of the next instruction; == ninsts at the end */
struct ptx_label {
    struct str name;
    uint32_t stmt;
    uint32_t inst;
    uint32_t *targets;
    uint32_t ntargets; /* .branchtargets / .calltargets: label or function list */
};
enum ptx_stmt_kind {
    STMT_INST,
    STMT_LABEL,
    STMT_REG,
    STMT_VAR,
    STMT_OPEN,
    STMT_CLOSE,
    STMT_LOC,
    STMT_PRAGMA,
    STMT_TARGETS,
    STMT_PROTOTYPE,
    STMT_OTHER
};
struct ptx_stmt {
    uint8_t kind;
    uint32_t index; /* inst, label or symbol index by kind */
    struct span at;
};
struct ptx_facts;
struct ptx_func {
    struct str name;
    bool entry; /* a kernel */
    bool has_body;
    bool noreturn;
    enum ptx_linkage linkage;
    struct ptx_module *module;
    uint32_t index; /* position in module->funcs */
    /* the function of that name with a body: itself, or what a prototype stands for; NULL: not here */
    const struct ptx_func *def;
    struct ptx_symbol **params, **rets;
    uint32_t nparams, nrets;
    uint64_t param_bytes;
    /* registers that are used (ranges are not expanded) */
    struct ptx_reg *regs;
    uint32_t nregs;
    /* .shared .local .const .param declared in the body */
    struct ptx_symbol **vars;
    uint32_t nvars;
    struct ptx_label *labels;
    uint32_t nlabels;
    struct ptx_stmt *stmts;
    uint32_t nstmts; /* in text order */
    struct ptx_inst *insts;
    uint32_t ninsts; /* in text order */
    struct ptx_loc *locs;
    uint32_t *loc_stmt, nlocs; /* STMT_LOC: index into locs */
    /* x == 0: not given */
    struct dim_directive {
        uint32_t x;
        uint32_t y;
        uint32_t z;
    } maxntid, reqntid, reqnctapercluster;
    /* 0: not given */
    uint32_t minnctapersm;   /* CTAs */
    uint32_t maxnreg;        /* registers of a thread */
    uint32_t maxclusterrank; /* CTAs of a cluster */
    uint32_t abi_preserve;   /* registers */
    bool explicitcluster, blocksareclusters;
    struct ptx_facts *facts; /* what is known of it: facts/facts.h */
    struct span at;          /* whole */
    struct span head;        /* up to before '{' */
    struct span body;        /* '{' to '}' inclusive */
};
struct ptx_module {
    struct arena *arena;
    const char *path; /* as given; for messages */
    struct str text;  /* own copy, NUL-terminated */
    /* 10*major + minor, e.g. 83; PTX 10.0 would be 100 */
    uint32_t version;
    uint32_t target;
    char target_suffix; /* 90, 'a' or 0; target_text as written */
    struct str target_text;
    uint32_t address_size; /* 32 or 64 */
    struct ptx_symbol **globals;
    uint32_t nglobals; /* module-scope variables */
    /* entries and device functions, in order; prototypes too */
    struct ptx_func **funcs;
    uint32_t nfuncs;
    struct str *files;
    uint32_t nfiles;    /* .file index -> name (index 0 unused) */
    struct span header; /* .version .. .address_size */
    uint32_t nopaque;   /* instructions kept as PTX_OP_OPAQUE */
    /* .alias, or debug sections, which name labels of functions */
    bool tied;
};
/* Parses and checks. ST_OK: *out is a complete module (warnings and notes may be in ds).
 * ST_INPUT: diagnostics say where; *out is what could be read (may be NULL), for display only.
 * The text is copied. *out is freed with ptx_free. */
enum status ptx_parse(const char *path, struct str text, struct ptx_module **out, struct diags *ds);
enum status ptx_parse_file(const char *path, struct ptx_module **out, struct diags *ds);
void ptx_free(struct ptx_module *m);
const struct ptx_func *ptx_find_func(const struct ptx_module *m, struct str name);
/* The function of that name; else the only kernel that is called so ("scale", "scale<float>",
 * "app::scale"), else the only one with the text in its name. NULL: none, or several: their names, 'a',
 * 'b', in *several, which is empty otherwise. */
const struct ptx_func *ptx_find_entry(const struct ptx_module *m, struct str text, struct buf *several);
const struct ptx_symbol *ptx_find_global(const struct ptx_module *m, struct str name);
struct str ptx_text(const struct ptx_module *m, struct span at);
struct str ptx_line_text(const struct ptx_module *m, uint32_t line); /* without the line end */
uint32_t ptx_line_count(const struct ptx_module *m);
/* The module's text: byte for byte what was parsed, put together statement by statement. */
void ptx_print(const struct ptx_module *m, struct buf *out);
