/* words: PTX text looked at word by word; comments are blanks. */
#pragma once

#include "engine/base/base.h"

struct ptx_func;
struct ptx_inst;
struct ptx_module;

/* Where white space and comments that begin at t.s[k] end. */
size_t words_skip_blank(struct str t, size_t k);
/* Where the name that begins at t.s[k] ends: letters, digits, _ and $. */
size_t words_skip_name(struct str t, size_t k);
/* The opcode with its modifiers, "ld.global.f32", as a part of the instruction's own text: what stands
 * before it is its guard. */
struct str words_opcode(const struct ptx_module *m, const struct ptx_inst *i);
/* The guard as inserted code repeats it, "@!%p1 "; nothing where there is none. */
void words_guard(const struct ptx_func *f, const struct ptx_inst *i, struct buf *out);
/* The next directive of this name in `head`, from *at on: its arguments, "64, 1, 1" of ".maxntid 64, 1,
 * 1", as a part of head; *at moves behind them. false: there is none. */
bool words_directive(struct str head, const char *name, size_t *at, struct str *args);
