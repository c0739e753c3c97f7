/* copies: code that stands twice, or that a predicate decides about instruction by instruction: is what
 * it does then the same? */
#pragma once

#include "engine/base/base.h"

struct pass_funcs;
struct ptx_func;
struct ptx_inst;
struct ptx_symbol;

/* A predicate that was decided on before instruction `from` still has that value at each of the
 * instructions from..to-1, text order: none but the last of them writes it. Code that repeats the
 * predicate as the guard of each of them asks this first, and keeps a copy where it is false. */
bool copies_guard_stays(const struct ptx_func *f, uint32_t guard, uint32_t from, uint32_t to);
/* A variable of f that threads share and that each copy of f's statements would have anew: one of an
 * inner scope; `whole`: any of f. NULL: none. */
const struct ptx_symbol *copies_shared_variable(const struct ptx_func *f, bool whole);
/* The first instruction of f or its callees that a whole warpgroup, four warps, executes together; NULL:
 * none. Its warps stay in one copy. */
enum { COPIES_GROUP_WARPS = 4 };
const struct ptx_inst *copies_warpgroup(const struct ptx_func *f, const struct pass_funcs *callees);
/* A variable of an inner scope, parameters of calls left out: code outside of it does not see it, and a
 * thread that goes from one copy to another finds another one there. NULL: none. */
const struct ptx_symbol *copies_inner_variable(const struct ptx_func *f);
/* Does this statement stand in an inner scope? Code outside of it cannot branch to its labels. */
bool copies_inner(const struct ptx_func *f, uint32_t stmt);
