/* gpulocw help: the help of the program, of a command, or of a topic. */
#include "engine/cmd/cmd_int.h"
#include "engine/workspace/args.h"

#include <string.h>

static const struct help_topic *topic_find(const char *name)
{
    const struct help_topic *t;
    for (size_t i = 0; (t = help_topic_at(i)); i++)
        if (strcmp(t->name, name) == 0)
            return t;
    return NULL;
}

int cmd_help(struct args *a)
{
    struct buf b = { 0 };
    const struct command *c = a->nfiles ? command_find(a->file[0]) : NULL;
    const struct help_topic *t = a->nfiles ? topic_find(a->file[0]) : NULL;
    if (a->nfiles && !c && !t) {
        struct diags ds = { 0 };
        return cmd_finish(a, cmd_no_such(a->file[0], &ds), &ds);
    }
    if (t)
        t->put(&b);
    else
        args_help(c, &b);
    cmd_give(a, &b);
    return 0;
}
