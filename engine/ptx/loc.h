/* loc: where an instruction stands in the source that was compiled. Part of ptx.h, which includes it. */
#pragma once

#include "engine/base/base.h"

struct ptx_func;
struct ptx_inst;
struct ptx_module;

/* .loc in force. at_: where that was inlined, 0: it was not. Of code from a file that is not the function's
 * own (one that a .loc of the function names without inlined_at), where the own file calls it, through
 * as many calls as there are. */
struct ptx_loc {
    uint32_t file; /* index into ptx_module.files */
    uint32_t line;
    uint32_t col;
    uint32_t at_file;
    uint32_t at_line;
    uint32_t at_col;
    bool foreign; /* of a file that is not the function's own */
};
/* source line; file 0: none */
struct ptx_loc ptx_loc_of(const struct ptx_func *f, const struct ptx_inst *i);
/* The place in the function's own file: the one place of an instruction that people are told. file 0:
 * none, or one of a file that has no name. */
struct ptx_place {
    uint32_t file; /* index into ptx_module.files */
    uint32_t line;
    uint32_t col;
};
struct ptx_place ptx_user_place(const struct ptx_module *m, struct ptx_loc l);
/* The same of an instruction; of one that the compiler made for no line in particular (line 0), that of the
 * last one before it that has a line. */
struct ptx_place ptx_place_near(const struct ptx_module *m, const struct ptx_func *f,
                                const struct ptx_inst *i);
/* Where `from` calls f, all of its calls being of one line; file 0: nowhere, or on several. */
struct ptx_place ptx_place_of_call(const struct ptx_module *m, const struct ptx_func *from,
                                   const struct ptx_func *f);
/* The same of the first instruction that begins at this line of the text. */
struct ptx_place ptx_user_place_at(const struct ptx_module *m, uint32_t line);
/* "app.cu:12", or "math.hpp:40 in app.cu:12" where inlined. False: no .loc, or one of a file that has no
 * name. */
bool ptx_loc_text(const struct ptx_module *m, struct ptx_loc l, struct buf *out);
