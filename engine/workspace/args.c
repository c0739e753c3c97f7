/* The rows of args.def: args.h. */
#include "engine/workspace/args.h"

#include <string.h>

#define COUNT_FLAG(f) 0
#define COUNT_TEXT(f) 0
#define COUNT_INT(f)  0
#define COUNT_NUM(f)  0
#define COUNT_LIST(f) offsetof(struct args, f##_n)
static const struct arg_row rows[] = {
#define ARG(field, name, letter, kind, value, cmds, help) \
    { name, letter, ARGK_##kind, value, cmds, help, offsetof(struct args, field), COUNT_##kind(field) },
#include "engine/workspace/args.def"
#undef ARG
};

size_t arg_count(void)
{
    return ARRAY_LEN(rows);
}
const struct arg_row *arg_at(size_t i)
{
    return &rows[i];
}

bool arg_for(const struct arg_row *r, const char *word)
{
    size_t n = strlen(word);
    if (strcmp(r->commands, "*") == 0)
        return true;
    for (const char *p = r->commands; *p;) {
        size_t k = strcspn(p, " ");
        if (k == n && memcmp(p, word, n) == 0)
            return true;
        p += k + (p[k] == ' ');
    }
    return false;
}
