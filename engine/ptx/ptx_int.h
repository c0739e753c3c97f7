/* ptx_int: what the files of this room share. The parser works on the text itself:
 * no token array, no recursion on input, every loop moves the cursor forward.
 *
 *   lex.c   white space, words, resynchronising     const.c  numbers, constant expressions
 *   form.c  opcode text -> struct ptx_form (once)    names.c  scopes, registers, ranges, symbols
 *   operand.c, inst.c  instructions and their checks label.c  labels of a body
 *   decl.c, init.c  variables and initialisers       func.c   heads and directives
 *   body.c  statements                               module.c directives, ptx_parse */
#pragma once

#include "engine/ptx/form.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/scope.h"

#define PTX_MAX_WORDS     24u /* dot-words of one opcode */
#define PTX_VERSION_KNOWN 90u /* words we do not know are errors up to here, opaque above */

#define PTX_VEC(T)     \
    struct {           \
        T *v;          \
        size_t n, cap; \
    }
/* Address of a new last element, or NULL with p->oom set. */
#define PTX_PUSH(p, vec)                                                                      \
    (base_grow((void **)&(vec).v, (vec).n, &(vec).cap, sizeof *(vec).v) ? &(vec).v[(vec).n++] \
                                                                        : ((p)->oom = true, NULL))

/* A view as "%.*s" arguments, cut where a message would become unreadable. */
#define SV(v) (int)((v).n > 80 ? 80 : (v).n), (v).s

struct ptx_parser {
    struct ptx_module *m;
    struct arena *a;
    struct diags *ds;
    const char *base; /* the text */
    const char *c;    /* the cursor in it */
    const char *end;
    const char *line_start;
    uint32_t line;
    size_t errors; /* of this module */
    bool oom;
    /* by .address_size; else by what addresses are in (ptxas does so too) */
    bool address_given, narrow_address /* of 32 bits somewhere */;
    uint64_t gaps; /* bytes that short initialiser rows left out */

    /* keyword maps, from the tables */
    struct strmap ops;
    struct strmap mods;
    struct strmap sregs;
    PTX_VEC(struct ptx_form *) forms; /* open addressing, cap is a power of two, n counted apart */
    size_t nforms;

    PTX_VEC(struct ptx_name) names;
    uint32_t *bucket, nbucket; /* head of each chain, +1 */
    PTX_VEC(struct ptx_range) ranges;
    bool digit_names; /* some register declared by itself ends in a digit */
    bool shaken;      /* a declaration of this function could not be read: names may be missing */
    bool module_regs; /* registers are declared outside of functions */
    /* .pragma "nounroll" was read: for all functions, */
    bool nounroll_all;
    bool nounroll_func; /* this one, */
    bool nounroll_next; /* the next instruction */

    PTX_VEC(struct ptx_symbol *) globals;
    PTX_VEC(struct ptx_func *) funcs;
    PTX_VEC(struct str) files;
    PTX_VEC(void *) owned; /* large vectors handed to the module */

    /* the function being read */
    struct ptx_func *f;
    PTX_VEC(struct ptx_inst) insts;
    PTX_VEC(struct ptx_stmt) stmts;
    PTX_VEC(struct ptx_label) labels;
    PTX_VEC(struct ptx_label_place) places; /* beside labels */
    PTX_VEC(struct ptx_reg) regs;
    PTX_VEC(struct ptx_symbol *) vars;
    PTX_VEC(struct ptx_loc) locs;
    PTX_VEC(uint32_t) loc_stmt; /* beside locs */
    PTX_VEC(struct ptx_scope) scopes;
    PTX_VEC(struct ptx_label_ref) refs;
    uint32_t scope; /* current, index into scopes */

    PTX_VEC(struct ptx_operand) opnd; /* scratch: operands of the instruction */
    PTX_VEC(struct ptx_operand) elem; /* scratch: elements of one list */
    struct ptx_operand *slab;         /* operands are cut from slabs */
    size_t slab_left;
    const struct ptx_form *form; /* of the instruction being read */
};

/* The module as ptx_free sees it. */
struct ptx_module_owner {
    struct ptx_module m;
    void **owned;
    size_t nowned;
};

/* ---- lex.c ---- */
static inline struct span ptx_here(const struct ptx_parser *p)
{
    return (struct span){ (uint32_t)(p->c - p->base), 0, p->line, (uint32_t)(p->c - p->line_start) + 1 };
}
static inline struct span ptx_upto(const struct ptx_parser *p, struct span from)
{
    from.len = (uint32_t)(p->c - p->base) - from.off;
    return from;
}
extern const uint8_t ptx_char_class[256];
enum { CH_SPACE = 1, CH_START = 2, CH_DIGIT = 4, CH_HEX = 8 };
static inline bool ptx_is(char c, unsigned cls)
{
    return ptx_char_class[(unsigned char)c] & cls;
}
void ptx_skip(struct ptx_parser *p);                    /* white space and comments */
static inline void ptx_skip_blank(struct ptx_parser *p) /* the common case of one blank, inline */
{
    while (*p->c == ' ' || *p->c == '\t')
        p->c++;
    if (ptx_is(*p->c, CH_SPACE) || *p->c == '/')
        ptx_skip(p);
}
static inline bool ptx_at(struct ptx_parser *p, char c)
{
    ptx_skip_blank(p);
    return *p->c == c && p->c < p->end;
}
static inline bool ptx_take(struct ptx_parser *p, char c)
{
    if (!ptx_at(p, c))
        return false;
    p->c++;
    return true;
}
bool ptx_expect(struct ptx_parser *p, char c, const char *where); /* ptx-syntax when it is not there */
struct str ptx_ident(struct ptx_parser *p);   /* identifier at the cursor; n == 0: none */
struct str ptx_dotword(struct ptx_parser *p); /* ".word::word", without the dot; n == 0: none */
bool ptx_string(struct ptx_parser *p, struct str *out); /* "..." without the quotes */
/* past ';', or before '}', '{' or a directive */
void ptx_resync(struct ptx_parser *p);
bool ptx_skip_block(struct ptx_parser *p); /* '{' ... matching '}' */
struct diag *ptx_error(struct ptx_parser *p, const char *code, struct span at, const char *fmt, ...)
    BASE_PRINTF(4, 5);
/* Warnings for what ptxas 13 refuses and the parser takes (ptxas.c); the module is whole. */
void ptx_tell_ptxas(struct ptx_parser *p);
struct diag *ptx_report(struct ptx_parser *p, enum diag_level level, const char *code, struct span at,
                        const char *fmt, ...) BASE_PRINTF(5, 6);
const char *ptx_quote(struct ptx_parser *p); /* the token at the cursor, for messages */
static inline bool ptx_quiet(const struct ptx_parser *p)
{
    return p->errors > DIAG_MAX_ERRORS;
}

/* ---- const.c ---- */
struct ptx_const {
    bool is_float, is_unsigned;
    uint8_t fbits;
    int64_t i;
    double d;
};
bool ptx_const_expr(struct ptx_parser *p, struct ptx_const *out); /* diagnoses */
bool ptx_const_uint(struct ptx_parser *p, uint64_t *out);         /* a non-negative integer constant */
bool ptx_number(struct ptx_parser *p, struct ptx_const *out);     /* one literal */
/* as stored in a variable of type t */
uint64_t ptx_const_bits(const struct ptx_const *v, enum ptx_type t);

/* ---- table.c, form.c ---- */
void ptx_words_init(struct ptx_parser *p);
/* rule.c: do the words of the opcode go together (rules.def)? With `at`, says what does not. */
bool ptx_rules_hold(struct ptx_parser *p, const struct ptx_form *f, const struct span *at);
/* The form of an opcode, resolved at its first use; NULL on oom. A bad one is reported at every use. */
const struct ptx_form *ptx_form_get(struct ptx_parser *p, struct str text, uint32_t hash,
                                    struct span at);
void ptx_form_report(struct ptx_parser *p, const struct ptx_form *f, struct span at);
enum ptx_type ptx_type_find(struct str name);
/* The nearest of n spellings, NULL when none is near; at() may give NULL for one to leave out. */
const char *ptx_nearest(struct str name, const char *(*at)(void *ctx, size_t i), void *ctx, size_t n);

/* ---- names.c ---- */
void ptx_names_reset(struct ptx_parser *p, uint32_t names, uint32_t ranges);
void ptx_scope_open(struct ptx_parser *p);
void ptx_scope_close(struct ptx_parser *p);
/* Registers of the module are each function's own: forgets which numbers they had in the last one. */
void ptx_regs_forget(struct ptx_parser *p);
struct ptx_name *ptx_name_find(struct ptx_parser *p, struct str name, enum ptx_name_kind kind);
/* Declares in the current scope; ptx-redefined when the scope has it. NULL then or on oom. */
struct ptx_name *ptx_name_add(struct ptx_parser *p, struct str name, enum ptx_name_kind kind,
                              struct span at);
void ptx_reg_declare(struct ptx_parser *p, struct str name, unsigned type, unsigned vec, struct span at);
void ptx_range_declare(struct ptx_parser *p, struct str prefix, uint64_t n, unsigned type, unsigned vec,
                       struct span at);
/* func reg index, made at first use */
uint32_t ptx_reg_find(struct ptx_parser *p, struct str name);
struct ptx_symbol *ptx_symbol_find(struct ptx_parser *p, struct str name);
struct ptx_symbol *ptx_symbol_declare(struct ptx_parser *p, struct ptx_symbol *s, struct span at);
void ptx_undefined(struct ptx_parser *p, struct str name, struct span at, const char *what);

/* ---- operand.c, inst.c, label.c ---- */
/* copy in the module */
struct ptx_operand *ptx_operands_keep(struct ptx_parser *p, const struct ptx_operand *v, size_t n);
bool ptx_operand_read(struct ptx_parser *p, struct ptx_operand *o, const struct ptx_slot *hint);
void ptx_inst_read(struct ptx_parser *p);
void ptx_label_define(struct ptx_parser *p, struct str name, struct span at);
void ptx_labels_resolve(struct ptx_parser *p);
/* rule.c: the constants among the operands */
void ptx_check_ranges(struct ptx_parser *p, const struct ptx_form *f, const struct ptx_operand *o,
                      unsigned n, struct span at);
void ptx_check_call(struct ptx_parser *p, struct ptx_operand *o, unsigned n, struct span at);

/* ---- decl.c, init.c, func.c, body.c ---- */
struct ptx_decl { /* the part of a declaration before its names */
    enum ptx_linkage linkage;
    uint8_t space; /* enum ptx_space */
    uint8_t type;  /* enum ptx_type */
    uint8_t vec;   /* elements of a vector: 1, 2, 4 or 8 */
    uint32_t align;
    bool is_ptr, has_type;
    uint8_t ptr_space;
    uint32_t ptr_align;
    struct span at;
};
bool ptx_is_space(struct str dir, uint8_t *space);
bool ptx_decl_specifiers(struct ptx_parser *p, struct ptx_decl *d); /* cursor after the space word */
struct ptx_symbol *ptx_decl_name(struct ptx_parser *p, const struct ptx_decl *d); /* name[..][..] */
void ptx_decl_variables(struct ptx_parser *p, struct ptx_decl *d); /* name = init, name ... ; */
void ptx_decl_registers(struct ptx_parser *p, struct span at);
void ptx_init_read(struct ptx_parser *p, struct ptx_symbol *s, const uint64_t *dims, unsigned ndims);
#define PTX_MAX_DIMS 8u
void ptx_func_read(struct ptx_parser *p, enum ptx_linkage linkage, bool entry, struct span at);
void ptx_body_read(struct ptx_parser *p);
bool ptx_params_read(struct ptx_parser *p, struct ptx_symbol ***list, uint32_t *n);
/* Makes them known in the open scope. */
void ptx_params_declare(struct ptx_parser *p, struct ptx_symbol **list, uint32_t n);
bool ptx_pragma_read(struct ptx_parser *p); /* true: it names nounroll */
bool ptx_loc_read(struct ptx_parser *p, struct ptx_loc *loc);
/* Once all of a function are read: at_ from the inlined_at of each to the function's own file. */
void ptx_locs_follow(struct ptx_loc *v, uint32_t n);
void ptx_file_read(struct ptx_parser *p);
/* scratch -> module */
void *ptx_vec_keep(struct ptx_parser *p, void **v, size_t *n, size_t *cap, size_t size);
#define PTX_KEEP(p, vec) ptx_vec_keep((p), (void **)&(vec).v, &(vec).n, &(vec).cap, sizeof *(vec).v)
void ptx_check_reachable(struct ptx_parser *p);
