/* pass, inside: what the runner gives a pass and what passes share.
 * A pass is one file and one row of pass_list.def. Its check sees the ORIGINAL module only; all checks
 * run before the first rewrite, so that a refusal never depends on what an earlier pass made of the
 * text. Its run sees the module as the passes before it left it and adds text edits to ctx->edit.
 *
 * Names that passes insert begin with "gl<n>_", n unique in the module. */
#pragma once

#include "engine/pass/flow.h"
#include "engine/pass/pass.h"
#include "engine/pass/waits.h"

struct alias;
struct alias_roots;
struct ana_access;
struct inv_origin;
struct ptx_edit;
struct ptx_edit_result;
struct ptx_operand;

struct pass_row;
struct pass_ctx {
    const struct pass_input *in;
    const struct options *opt;
    enum pass_survey survey;
    const uint64_t *soft_profile;
    const struct pass_row *row;
    const struct ptx_module *m; /* check: the original; run: as it is now */
    const struct ptx_func *f;   /* the kernel in m */
    /* of m against the original; NULL: m is the original */
    const struct ptx_line_origin *lines;
    uint32_t nlines;
    const struct inv_origin *insts; /* NULL: as lines */
    uint32_t ninsts;
    struct ptx_edit *edit;   /* run only */
    struct pass_output *out; /* launch, knobs, resets, costs */
    struct diags *ds;
    struct ana_kernel *own_facts;
    bool facts_tried;    /* pass_facts */
    struct alias *alias; /* pass_alias: of m and f */
    const struct ptx_module *alias_of;
    char tag[16];                       /* "gl0_": prefix of names this pass may insert */
    uint32_t need_version, need_target; /* what inserted instructions ask of the header */
    struct pass_wait wait;              /* of the original, where wait_known */
    bool wait_known;
    const char *progress, *progress_of; /* why it ends all the same, and the option; NULL: not asked */
    const struct pass_row *owing;       /* to show on the text that is launched: its CTAs are resident */
    const char *owing_option;
    bool checking; /* notes are said once, by run */
    /* an allocation failed: what helpers answered may be wrong */
    bool oom;
    bool failed; /* a refusal was reported by a helper deeper down */
};
struct pass_row {
    struct {
        const char *name, *help;
    } info;
    /* NULL-terminated names of options.def rows it obeys */
    const char *const *knobs;
    bool (*asked)(const struct options *o);
    enum status (*check)(struct pass_ctx *c);
    enum status (*run)(struct pass_ctx *c);
    bool (*idle)(const struct pass_ctx *c); /* for this launch it leaves all as it is; NULL: never */
    /* what it does that no original has: enum inv_declared; NULL: nothing */
    unsigned (*declares)(const struct options *o);
};
#define PASS(id) extern const struct pass_row pass_row_##id;
#include "engine/pass/pass_list.def"
#undef PASS

/* ---- reporting: `at` is a span of c->m; it is shown against the original's lines ---- */
/* Always ST_REFUSED; sets c->failed. */
enum status pass_refuse(struct pass_ctx *c, struct span at, const char *hint, const char *fmt, ...)
    BASE_PRINTF(4, 5);
/* Said once, by run; a warning is about the user's choice, a note about what was done. */
void pass_say(struct pass_ctx *c, enum diag_level level, struct span at, const char *fmt, ...)
    BASE_PRINTF(4, 5);
#define pass_warn(c, ...) pass_say(c, DIAG_WARNING, __VA_ARGS__)
#define pass_note(c, ...) pass_say(c, DIAG_NOTE, __VA_ARGS__)
/* Line of the original that line `line` of c->m came from; 0: inserted. */
uint32_t pass_line(const struct pass_ctx *c, uint32_t line);
/* Facts about the original (the caller's, or a quick analysis made once); NULL when there are none. */
const struct ana_kernel *pass_facts(struct pass_ctx *c);
/* The facts' access at this instruction of c->m, or NULL. */
const struct ana_access *pass_access(struct pass_ctx *c, const struct ptx_inst *i);

/* ---- instructions ---- */
/* What an instruction is and computes: engine/ptx/meaning.h. */
/* name of a direct call's function; empty: not a direct call */
struct str inst_callee(const struct ptx_inst *i);
/* The address operand of a load, store, atomic or prefetch; NULL: none. */
const struct ptx_operand *inst_address(const struct ptx_inst *i);
/* Bytes one thread moves: type times vector. */
unsigned inst_bytes(const struct ptx_inst *i);

/* ---- marks (marks.c) ---- */
/* marks of `was` -> marks of `now`, which `e` made of it, and those that e's texts declare. A mark goes
 * with its line, to the instruction of the same operation on it, and to every copy of the line. False:
 * out of memory. */
bool pass_marks_carry(const struct ptx_module *was, const struct ptx_module *now,
                      const struct ptx_edit_result *e, struct text_marks *marks);

/* ---- text ---- */
/* Copies text; `name` may write another name for an identifier (returns true when it did). */
typedef bool pass_namer(void *ctx, struct str name, struct buf *out);
void pass_rename(struct str text, pass_namer *name, void *ctx, struct buf *out);
/* a namer: functions in `clones` get `clone_suffix` */
bool pass_clone_name(void *pass_copy, struct str name, struct buf *out);
/* Instruction text with operands replaced: sub returns the new text of an operand (or of a
 * vector's element), NULL to keep it. */
void pass_inst_text(const struct ptx_module *m, const struct ptx_inst *i,
                    const char *(*sub)(void *ctx, const struct ptx_operand *o), void *ctx,
                    struct buf *out);
/* The instruction's own text, told to be a copy of it: new code stands before or behind it. */
void pass_own_text(const struct ptx_module *m, const struct ptx_inst *i, struct buf *out);
/* Replaces the statement of an instruction by such a text when anything was replaced. */
void pass_inst_edit(struct pass_ctx *c, const struct ptx_inst *i,
                    const char *(*sub)(void *ctx, const struct ptx_operand *o), void *ctx);
/* A function body copied: labels get a suffix, calls of `clones` get `clone_suffix`. */
struct pass_copy {
    const struct ptx_module *m;
    const struct ptx_func *f;
    const char *suffix; /* for labels; NULL: as written */
    const struct strmap *clones;
    const char *clone_suffix;
    const char *indent; /* before each statement; NULL: the edit indents */
    bool decls;         /* also declarations of the outermost scope */
    /* writes its own text and returns true; NULL: none */
    bool (*inst)(void *ctx, const struct ptx_inst *i, struct buf *out);
    void *ctx;
};
void pass_copy_stmts(const struct pass_copy *p, uint32_t from, uint32_t to, struct buf *out);
/* Functions that the kernel may call, bodies only, callers before callees; with a call through a pointer
 * all of the module. `unknown`: one that is called is in another module, or there are too many; `at`: a
 * call that says so. */
enum { PASS_FUNCS_MOST = 128 };
struct pass_funcs {
    const struct ptx_func *v[PASS_FUNCS_MOST];
    uint32_t n;
    bool indirect, unknown;
    struct span at;
};
void pass_callees(const struct pass_ctx *c, struct pass_funcs *out);
/* Adds a copy of function f named f<suffix>, with a prototype at the top of the module. `entry` (may be
 * NULL): text put after its leading declarations. */
void pass_clone_func(struct pass_ctx *c, const struct ptx_func *f, struct pass_copy *how,
                     const char *entry);
/* ret and exit of the kernel become branches to $<tag><label>. */
void pass_returns_to(struct pass_ctx *c, const char *label);
/* Special registers that are replaced, in the kernel and in what it calls: sub gives the new text of an
 * operand, NULL to keep it; reads: does this function have such an operand? */
struct pass_virtual {
    const char *(*sub)(void *ctx, const struct ptx_operand *o);
    void *ctx;
    bool (*reads)(const struct ptx_func *f);
};
/* Copies of the called functions, if any of them reads one; entry: code at their start. clones: their
 * names. */
void pass_virtual_callees(struct pass_ctx *c, const struct pass_virtual *v, const char *entry,
                          struct strmap *clones);
void pass_virtual_kernel(struct pass_ctx *c, const struct pass_virtual *v, const struct strmap *clones);
/* First statement of a body that is not a leading declaration. */
uint32_t pass_first_stmt(const struct ptx_func *f);
/* Does control fall off the end of the body? */
bool pass_falls_off(const struct ptx_func *f);

/* ---- knobs, launch ---- */
/* Declares PASS_KNOB_SYMBOL once per rewrite. */
void pass_need_knobs(struct pass_ctx *c);
/* A module variable that the engine zeroes before every launch. */
void pass_put_reset(struct pass_output *o, const char *symbol, uint64_t bytes);
void pass_need_isa(struct pass_ctx *c, uint32_t version, uint32_t target);
/* of the launch as it is now, or what .reqntid asks for; x 0: not known */
struct dim3u pass_block(const struct pass_ctx *c);
uint32_t pass_warps(const struct pass_ctx *c); /* per CTA of such a block; 0: not known */
uint32_t pass_regs(
    const struct pass_ctx *c); /* of a thread: the original's, or its limit; 0: not known */
/* compute capability rewrites may count on: 10*major+minor */
uint32_t pass_target(const struct pass_ctx *c);
/* compute capability that the code is for: the device's, else the module's */
uint32_t pass_cc(const struct pass_ctx *c);
/* Loads have a read-only cache from this compute capability on (CUDA programming guide). ST_REFUSED
 * before; what: the option that wants it. */
#define PASS_READ_ONLY_TARGET 35
enum status pass_needs_read_only(struct pass_ctx *c, const char *what);
/* buf_printf of inserted code: # stands for the tag, in names of registers and labels. */
void pass_code(struct buf *out, const char *tag, const char *fmt, ...) BASE_PRINTF(3, 4);
/* Code that leaves the thread's index in its CTA in dst, short where the launch's block is known; <tag>x
 * y z nx ny are overwritten. */
void pass_linear_tid(const struct pass_ctx *c, const char *dst, struct buf *out);
/* The same for any block; t: the tag. */
void pass_linear_tid_any(const char *t, const char *dst, struct buf *out);

/* What may overlap what, of c->m as it is now (engine/analysis/alias.h); NULL: out of memory, told in
 * c->oom. */
const struct alias *pass_alias(struct pass_ctx *c);
void pass_alias_free(struct pass_ctx *c);
/* Where an address of the kernel or of a function that it calls may point. */
void pass_address_roots(struct pass_ctx *c, const struct ptx_func *f, const struct ptx_operand *address,
                        struct alias_roots *out);
/* The one parameter an access belongs to, or -1. */
int pass_access_param(struct pass_ctx *c, const struct ptx_inst *i);
/* Two pointer parameters cannot overlap: the launch's buffers differ, or the user said so. */
bool pass_params_distinct(const struct pass_ctx *c, int a, int b);
/* No thread writes what this load reads. `why`: static text. */
bool pass_nobody_writes(struct pass_ctx *c, const struct ptx_func *f, const struct ptx_inst *load);
bool pass_proven_read_only(struct pass_ctx *c, const struct ptx_inst *load, const char **why);
/* What the launch as it is now asks of the device with the kernel f of m; registers not known. */
struct dev_cta pass_cta(const struct pass_ctx *c, const struct ptx_module *m, const struct ptx_func *f);
/* After the last pass, of the text that is launched: ST_REFUSED where CTAs that wait for each other may
 * not all be resident after it. */
enum status pass_check_resident(struct pass_ctx *c, const struct ptx_module *m,
                                const struct ptx_func *f);
