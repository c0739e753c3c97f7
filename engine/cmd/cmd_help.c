/* gpulocw help: the help of the program, of a command, or of the environment variables. */
#include "engine/base/base.h"
#include "engine/cmd/cmd_int.h"
#include "engine/workspace/args.h"

#include <string.h>

int cmd_help(struct args *a)
{
    struct buf b = { 0 };
    const struct command *c = a->nfiles ? command_find(a->file[0]) : NULL;
    if (a->nfiles && strcmp(a->file[0], "environment") == 0) {
        args_help_environment(&b);
        cmd_put(a, &b);
        buf_free(&b);
        return 0;
    }
    if (a->nfiles && !c) {
        struct diags ds = { 0 };
        return cmd_finish(a, cmd_no_such(a->file[0], &ds), &ds);
    }
    args_help(c, &b);
    cmd_put(a, &b);
    buf_free(&b);
    return 0;
}
