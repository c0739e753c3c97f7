/* A bench's kernel rewritten: what the options make of it, once it is known that they may. */
#include "engine/ptx/ptx.h"
#include "engine/rec/result_read.h"
#include "engine/tune/tune_int.h"

enum status tune_rewrite(struct tune_bench *b, const struct options *o, struct pass_output *code,
                         struct diags *ds)
{
    struct pass_input in = tune_input(&b->subject, o);
    in.regs = result_regs(b->original) ? result_regs(b->original) : in.regs;
    enum status st = pass_apply(&in, code, ds);
    ptx_free(code->module); /* a device reads the text by itself */
    code->module = NULL;
    if (st == ST_OK && code->tiles)
        st = tune_tiles_check(b, o, ds);
    if (st != ST_OK)
        pass_output_free(code);
    return st;
}

uint32_t tune_compiled_regs(struct tune_bench *b, const struct options *o)
{
    struct pass_output code;
    struct tune_shape *shape = NULL;
    struct diags ds = { 0 };
    uint32_t regs = 0;
    if (tune_rewrite(b, o, &code, &ds) == ST_OK && tune_shape_get(b, &code, &shape, &ds) == ST_OK)
        regs = dev_code_resources(shape->loaded).regs;
    diags_free(&ds);
    return regs;
}
