/* The table of tools. */
#include "engine/service/service_int.h"
#include "engine/workspace/args.h"

#include <string.h>

static const struct tool tools[] = {
#define TOOL_HELP(tools, argument, help)
#define TOOL(name, command, knobs, arguments, fixed, agent, document, kept, title, help) \
    { #name, command, knobs, arguments, fixed, agent, document, kept, title, help },
#include "engine/service/tools.def"
#undef TOOL
#undef TOOL_HELP
};

size_t tool_count(void)
{
    return ARRAY_LEN(tools);
}

const struct tool *tool_at(size_t i)
{
    return &tools[i];
}

const struct tool *tool_find(const char *name)
{
    for (size_t i = 0; name && i < ARRAY_LEN(tools); i++)
        if (strcmp(tools[i].name, name) == 0)
            return &tools[i];
    return NULL;
}

static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; *p;) {
        size_t k = strcspn(p, " ");
        if (k == n && memcmp(p, word, n) == 0)
            return true;
        p += k + (p[k] == ' ');
    }
    return false;
}

bool tool_takes(const struct tool *t, const char *name)
{
    return has_word(t->arguments, name);
}

const struct arg_row *tool_row(const struct tool *t, const char *name)
{
    for (size_t i = 0; i < arg_count(); i++)
        if (strcmp(arg_at(i)->name, name) == 0 && arg_for(arg_at(i), t->command))
            return arg_at(i);
    return NULL;
}

bool tool_has_ptx(const struct tool *t)
{
    return tool_takes(t, "file") && strcmp(t->command, "report") != 0 &&
           strcmp(t->command, "source") != 0;
}

static const struct {
    const char *tools, *argument, *help;
} helps[] = {
#define TOOL(name, command, knobs, arguments, fixed, agent, document, kept, title, help)
#define TOOL_HELP(tools, argument, help) { tools, argument, help },
#include "engine/service/tools.def"
#undef TOOL_HELP
#undef TOOL
};

const char *tool_help(const struct tool *t, const char *argument)
{
    const struct arg_row *r = tool_row(t, argument);
    for (size_t i = 0; i < ARRAY_LEN(helps); i++)
        if (strcmp(helps[i].argument, argument) == 0 &&
            (strcmp(helps[i].tools, "*") == 0 || has_word(helps[i].tools, t->name)))
            return helps[i].help;
    return r ? r->help : "";
}
