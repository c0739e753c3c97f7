/* Where code came from: .file, .loc; .pragma, of which only nounroll is known. */
#include "engine/ptx/ptx_int.h"

#include <stdlib.h>

/* ---- directives inside a body ---- */
static bool read_place(struct ptx_parser *p, struct ptx_loc *loc)
{
    uint32_t v[3] = { 0 };
    for (int i = 0; i < 3; i++) {
        ptx_skip_blank(p);
        if (!ptx_is(*p->c, CH_DIGIT)) {
            struct span at = ptx_here(p);
            at.len = 1;
            ptx_error(p, "ptx-directive", at, "a file, a line and a column are expected here");
            return false;
        }
        struct ptx_const n;
        if (!ptx_number(p, &n))
            return false;
        v[i] = (uint32_t)n.i;
    }
    *loc = (struct ptx_loc){ .file = v[0], .line = v[1], .col = v[2] };
    return true;
}

/* function_name label {+ n} */
static bool read_function_name(struct ptx_parser *p)
{
    uint64_t offset;
    ptx_skip_blank(p);
    if ((*p->c == '.' ? ptx_dotword(p) : ptx_ident(p)).n)
        return !ptx_take(p, '+') || ptx_const_uint(p, &offset);
    struct span at = ptx_here(p);
    at.len = 1;
    ptx_error(p, "ptx-directive", at, "function_name takes a label of .debug_str");
    return false;
}

/* .loc file line column {, function_name label {+ n}, inlined_at file line column} */
bool ptx_loc_read(struct ptx_parser *p, struct ptx_loc *loc)
{
    struct ptx_loc inlined;
    if (!read_place(p, loc))
        return false;
    while (ptx_take(p, ',')) {
        ptx_skip_blank(p);
        struct span at = ptx_here(p);
        struct str w = ptx_ident(p);
        if (str_is(w, "inlined_at")) {
            bool read = read_place(p, &inlined);
            loc->at_file = read ? inlined.file : 0;
            loc->at_line = read ? inlined.line : 0;
            loc->at_col = read ? inlined.col : 0;
            return read;
        }
        if (!str_is(w, "function_name")) {
            at.len = (uint32_t)(w.n ? w.n : 1);
            ptx_error(p, "ptx-directive", at,
                      ".loc can only be followed by function_name or inlined_at");
            return false;
        }
        if (!read_function_name(p))
            return false;
    }
    return true;
}

/* ---- inlined_at, through several calls ---- */
enum { CALLS_MOST = 32 }; /* inlined into each other */

static int by_place(const void *a, const void *b)
{
    const struct ptx_loc *x = a, *y = b;
    int k = (x->file > y->file) - (x->file < y->file);
    k = k ? k : (x->line > y->line) - (x->line < y->line);
    return k ? k : (x->col > y->col) - (x->col < y->col);
}

/* Does the function have lines of its own in this file? */
static bool is_own(const struct ptx_loc *own, uint32_t n, uint32_t file)
{
    for (uint32_t k = 0; k < n; k++)
        if (own[k].file == file)
            return true;
    return false;
}

/* One place of each of the function's own files, in front; how many. */
static uint32_t own_files(const struct ptx_loc *v, uint32_t n, struct ptx_loc *own)
{
    uint32_t found = 0;
    for (uint32_t k = 0; k < n; k++)
        if (!v[k].at_file && !is_own(own, found, v[k].file))
            own[found++] = v[k];
    return found;
}

static struct ptx_loc followed(struct ptx_loc l, const struct ptx_loc *own, uint32_t nown,
                               const struct ptx_loc *inlined, uint32_t ninlined)
{
    struct ptx_loc at = l;
    if (!l.at_file || is_own(own, nown, l.file))
        return l;
    for (unsigned calls = 0; at.at_file && !is_own(own, nown, at.file) && calls < CALLS_MOST; calls++) {
        struct ptx_loc to = { .file = at.at_file, .line = at.at_line, .col = at.at_col };
        const struct ptx_loc *next =
            ninlined ? bsearch(&to, inlined, ninlined, sizeof to, by_place) : NULL;
        at = next ? *next : to;
    }
    l.at_file = at.file;
    l.at_line = at.line;
    l.at_col = at.col;
    l.foreign = true;
    return l;
}

void ptx_locs_follow(struct ptx_loc *v, uint32_t n)
{
    struct ptx_loc *own = n ? base_alloc(2 * (size_t)n * sizeof *own) : NULL;
    uint32_t ninlined = 0;
    if (!own) /* without memory each keeps the place that it names */
        return;
    struct ptx_loc *inlined = own + n;
    uint32_t nown = own_files(v, n, own);
    for (uint32_t k = 0; k < n; k++)
        if (v[k].at_file)
            inlined[ninlined++] = v[k];
    qsort(inlined, ninlined, sizeof *inlined, by_place);
    for (uint32_t k = 0; k < n; k++)
        v[k] = followed(v[k], own, nown, inlined, ninlined);
    base_free(own);
}

/* ---- debugging directives (11.5) ---- */
void ptx_file_read(struct ptx_parser *p)
{
    uint64_t n, ignored;
    struct str name;
    ptx_skip_blank(p);
    struct span at = ptx_here(p);
    if (!ptx_const_uint(p, &n) || !ptx_string(p, &name)) {
        ptx_resync(p);
        return;
    }
    while (ptx_take(p, ','))
        if (!ptx_const_uint(p, &ignored))
            return;
    if (n > 65535) {
        ptx_error(p, "ptx-limit", ptx_upto(p, at), ".file numbers end at 65535");
        return;
    }
    while (p->files.n <= n) {
        struct str *s = PTX_PUSH(p, p->files);
        if (!s)
            return;
        *s = (struct str){ NULL, 0 };
    }
    p->files.v[n] = name;
}

bool ptx_pragma_read(struct ptx_parser *p)
{
    struct str s;
    bool nounroll = false;
    do {
        if (!ptx_string(p, &s)) {
            ptx_resync(p);
            return nounroll;
        }
        nounroll |= str_is(s, "nounroll");
    } while (ptx_take(p, ','));
    ptx_expect(p, ';', "after .pragma");
    return nounroll;
}
