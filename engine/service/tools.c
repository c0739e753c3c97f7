/* The table of tools. */
#include "engine/base/base.h"
#include "engine/service/service.h"

#include <string.h>

static const struct tool tools[] = {
#define TOOL(name, command, knobs, arguments, fixed, document, kept, title, help) \
    { #name, command, knobs, arguments, fixed, document, kept, title, help },
#include "engine/service/tools.def"
#undef TOOL
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

bool tool_takes(const struct tool *t, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = t->arguments; *p;) {
        size_t k = strcspn(p, " ");
        if (k == n && memcmp(p, name, n) == 0)
            return true;
        p += k + (p[k] == ' ');
    }
    return false;
}
