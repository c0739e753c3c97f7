/* parse: what disassemblers print. nvdisasm begins a kernel's code with ".text.NAME:" and a
 * new section with "//---- NAME ----"; cuobjdump begins it with "Function : NAME". An instruction is
 * "/ *0010* / NAME operands ;", with its encoding as a second comment in cuobjdump's text. Lines of the
 * source are told by '//## File "x.cu", line 12', an inlined one by the place it was inlined at as the
 * last of several such lines. */
#include "engine/workspace/machine/machine.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool begins(struct str s, const char *head)
{
    size_t n = strlen(head);
    return s.n >= n && !memcmp(s.s, head, n);
}

static struct str after(struct str s, size_t n)
{
    return (struct str){ s.s + n, s.n - n };
}

/* Is this the line that a kernel's code begins with, and of which? */
static bool heads(struct str s, struct str *name)
{
    if (begins(s, ".text.") && s.s[s.n - 1] == ':')
        *name = (struct str){ s.s + 6, s.n - 7 };
    else if (begins(s, "Function : "))
        *name = str_trim(after(s, 11));
    else
        return false;
    return true;
}

/* Line number of '//## File "x.cu", line 12 ...'; 0: the file is the PTX itself. */
static uint32_t source_line(struct str s)
{
    static const char mark[] = "\", line ";
    if (begins(s, "//## File \".nv_debug_ptx_txt"))
        return 0;
    const char *at = memmem(s.s, s.n, mark, sizeof mark - 1);
    return at ? (uint32_t)strtoul(at + sizeof mark - 1, NULL, 10) : 0;
}

/* Offset and the text behind it; false: no instruction. */
static bool instruction(struct str s, struct machine_line *out)
{
    char *end;
    if (!begins(s, "/*") || s.n < 6 || !isxdigit((unsigned char)s.s[2]))
        return false;
    unsigned long offset = strtoul(s.s + 2, &end, 16);
    if (end + 2 > s.s + s.n || end[0] != '*' || end[1] != '/')
        return false;
    s = str_trim(after(s, (size_t)(end + 2 - s.s)));
    const char *encoding = memmem(s.s, s.n, "/* 0x", 5);
    if (encoding)
        s = str_trim((struct str){ s.s, (size_t)(encoding - s.s) });
    if (s.n && s.s[s.n - 1] == ';')
        s = str_trim((struct str){ s.s, s.n - 1 });
    *out = (struct machine_line){ .inst = true, .text = s, .offset = (uint32_t)offset };
    return s.n > 0;
}

/* The instruction's name, behind a predicate. */
static struct str operation(struct str s)
{
    if (s.n && *s.s == '@') {
        size_t n = 0;
        while (n < s.n && s.s[n] != ' ')
            n++;
        s = str_trim(after(s, n));
    }
    size_t n = 0;
    while (n < s.n && s.s[n] != ' ' && s.s[n] != '.')
        n++;
    return (struct str){ s.s, n };
}

static bool among(struct str s, const char *const *names)
{
    for (; *names; names++)
        if (str_is(s, *names))
            return true;
    return false;
}

/* Generic accesses (LD, ST, ATOM, RED) may go to global memory, so they count as such. */
static void count(struct machine_code *c, struct machine_line *l)
{
    static const char *const loads[] = { "LDG", "LD", "LDGSTS", "ATOMG", "ATOM", "TEX", NULL },
                             *const stores[] = { "STG", "ST", "RED", "REDG", NULL },
                             *const shared[] = { "LDS", "STS", "LDSM", "STSM", "ATOMS", NULL },
                             *const local[] = { "LDL", "STL", NULL };
    struct str op = operation(l->text);
    if (among(op, loads))
        c->loads++, l->memory = true;
    else if (among(op, stores))
        c->stores++, l->memory = true;
    else if (among(op, shared))
        c->shared_accesses++;
    else if (among(op, local))
        c->local_accesses++;
}

static bool add(struct machine_code *c, size_t *cap, const struct machine_line *l)
{
    if (!base_grow((void **)&c->v, c->n, cap, sizeof *c->v))
        return false;
    c->v[c->n++] = *l;
    return true;
}

bool machine_parse(struct machine_code *c, char *text, const char *kernel)
{
    struct str rest = str_of(text), line, name;
    bool within = false, found = false;
    uint32_t cuda = 0;
    size_t cap = 0;
    c->text = text;
    while (str_line(&rest, &line)) {
        struct machine_line l;
        struct str s = str_trim(line);
        if (heads(s, &name)) {
            within = str_is(name, kernel);
            found = found || within;
            cuda = 0;
        } else if (begins(s, "//----") || begins(s, "Fatbin ") || begins(s, "....")) {
            within = false;
        } else if (within && begins(s, "//## File")) {
            cuda = source_line(s) ? source_line(s) : cuda;
        } else if (within && instruction(s, &l)) {
            l.cuda = cuda;
            count(c, &l);
            if (!add(c, &cap, &l))
                return false;
        } else if (within && s.n > 1 && *s.s == '.' && s.s[s.n - 1] == ':') {
            l = (struct machine_line){ .cuda = 0, .text = s };
            if (!add(c, &cap, &l))
                return false;
        }
    }
    return found;
}
