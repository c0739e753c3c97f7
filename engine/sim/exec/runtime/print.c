/* vprintf and __assertfail: what device code calls and the driver provides. */
#include "engine/sim/exec/runtime/builtin.h"

#include "engine/ptx/link.h"
#include "engine/sim/exec/exec.h"
#include "engine/sim/exec/faults.h"
#include "engine/sim/mem.h"
#include "engine/sim/windows.h"

#include <stdio.h>
#include <string.h>

/* One lane's text takes about as long as so many instructions of a warp: for a launch that has a limit of them. */
enum { PRINT_INSTS = 30 };

#define STRING_MAX 4096u

/* cudaGetLastError and the like, by both of their names (__cudaCDP2GetLastError). */
static enum builtin device_runtime(struct str name)
{
    static const char *const quiet[] = { "GetLastError", "PeekAtLastError", "DeviceSynchronize" };
    for (size_t i = 0; i < ARRAY_LEN(quiet); i++) {
        size_t n = strlen(quiet[i]);
        if (name.n > n && !memcmp(name.s + name.n - n, quiet[i], n))
            return BUILTIN_NO_ERROR;
    }
    return BUILTIN_LAUNCH;
}

uint32_t exec_builtin_find(struct str name)
{
    static const struct {
        const char *name;
        enum builtin b;
    } t[] = { { "vprintf", BUILTIN_VPRINTF },
              { "__assertfail", BUILTIN_ASSERT },
              { "malloc", BUILTIN_MALLOC },
              { "free", BUILTIN_FREE } };
    for (size_t i = 0; i < ARRAY_LEN(t); i++)
        if (str_is(name, t[i].name))
            return t[i].b;
    return ptx_link_device_runtime(name) ? device_runtime(name) : BUILTIN_NONE;
}

/* n bytes at a generic address of a lane; false when they are not all there. */
static bool read_bytes(struct exec_warp *w, uint32_t lane, uint64_t addr, void *out, uint32_t n)
{
    const struct sim_alloc *a;
    if (addr - LOCAL_WINDOW < WINDOW_BYTES) {
        uint64_t off = addr - LOCAL_WINDOW;
        if (off + n > w->x->local_bytes)
            return false;
        memcpy(out, w->local + (size_t)lane * w->x->local_bytes + off, n);
        return true;
    }
    if (addr - SHARED_WINDOW < WINDOW_BYTES) {
        if (addr - SHARED_WINDOW + n > w->x->shared_bytes)
            return false;
        memcpy(out, w->cta->shared + (addr - SHARED_WINDOW), n);
        return true;
    }
    a = sim_mem_find(w->x->p->mem, addr);
    if (!a || n > a->n - (addr - a->addr))
        return false;
    memcpy(out, a->host + (addr - a->addr), n);
    return true;
}

bool exec_read_string(struct exec_warp *w, uint64_t addr, struct buf *out)
{
    char c;
    for (uint32_t i = 0; i < STRING_MAX; i++) {
        if (!read_bytes(w, 0, addr + i, &c, 1))
            return false;
        if (!c)
            return true;
        buf_put(out, &c, 1);
    }
    return true;
}

/* One conversion: flags, width, precision copied; the length modifier decides the argument's size. */
struct conversion {
    char spec[32];
    size_t n;
    char kind;
    bool wide;
    unsigned stars;
};
static const char *conversion_read(const char *s, struct conversion *c)
{
    *c = (struct conversion){ .spec = "%", .n = 1 };
    for (s++; *s && c->n < sizeof c->spec - 5; s++) {
        if (strchr("-+ #0123456789.", *s))
            c->spec[c->n++] = *s;
        else if (*s == '*')
            c->spec[c->n++] = *s, c->stars++;
        else if (*s == 'l' || *s == 'z' || *s == 'j' || *s == 't')
            c->wide = true;
        else if (*s != 'h' && *s != 'L')
            break;
    }
    c->kind = *s;
    return *s ? s + 1 : s;
}

static void print_number(const struct conversion *c, uint64_t v, const int star[2], struct buf *out)
{
    char spec[40], text[400];
    double x;
    bool is_float = strchr("fFeEgGaA", c->kind) != NULL;
    memcpy(&x, &v, 8);
    snprintf(spec, sizeof spec, "%.*s%s%c", (int)c->n, c->spec,
             is_float || c->kind == 'c' || c->kind == 'p' ? "" : "ll", c->kind);
    long long i = strchr("di", c->kind) && !c->wide ? (long long)(int32_t)v : (long long)v;
    if (strchr("uoxX", c->kind) && !c->wide)
        i = (long long)(uint32_t)v;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (is_float)
        c->stars == 2 ? snprintf(text, sizeof text, spec, star[0], star[1], x)
        : c->stars    ? snprintf(text, sizeof text, spec, star[0], x)
                      : snprintf(text, sizeof text, spec, x);
    else if (c->kind == 'c')
        c->stars ? snprintf(text, sizeof text, spec, star[0], (int)v)
                 : snprintf(text, sizeof text, spec, (int)v);
    else if (c->kind == 'p')
        snprintf(text, sizeof text, "0x%llx", (unsigned long long)v);
    else
        c->stars == 2 ? snprintf(text, sizeof text, spec, star[0], star[1], i)
        : c->stars    ? snprintf(text, sizeof text, spec, star[0], i)
                      : snprintf(text, sizeof text, spec, i);
#pragma GCC diagnostic pop
    buf_puts(out, text);
}

static bool print_string(struct exec_warp *w, const struct conversion *c, uint64_t addr,
                         const int star[2], struct buf *out)
{
    struct buf s = { 0 };
    char spec[40];
    bool ok = exec_read_string(w, addr, &s);
    snprintf(spec, sizeof spec, "%.*ss", (int)c->n, c->spec);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const char *text = s.s ? s.s : "";
    if (c->stars == 2)
        buf_printf(out, spec, star[0], star[1], text);
    else if (c->stars)
        buf_printf(out, spec, star[0], text);
    else
        buf_printf(out, spec, text);
#pragma GCC diagnostic pop
    buf_free(&s);
    return ok;
}

/* Arguments lie as in a C structure: each aligned to its own size. */
static bool next_arg(struct exec_warp *w, uint32_t lane, uint64_t base, uint64_t *off, unsigned bytes,
                     uint64_t *v)
{
    *off = (*off + bytes - 1) / bytes * bytes;
    *v = 0;
    bool ok = read_bytes(w, lane, base + *off, v, bytes);
    *off += bytes;
    return ok;
}

static bool print_format(struct exec_warp *w, uint32_t lane, const char *s, uint64_t args,
                         struct buf *out)
{
    uint64_t off = 0, v;
    while (*s) {
        struct conversion c;
        int star[2] = { 0, 0 };
        const char *next = strchr(s, '%');
        buf_put(out, s, next ? (size_t)(next - s) : strlen(s));
        if (!next)
            return true;
        if (next[1] == '%') {
            buf_puts(out, "%");
            s = next + 2;
            continue;
        }
        s = conversion_read(next, &c);
        for (unsigned k = 0; k < c.stars && k < 2; k++) {
            if (!next_arg(w, lane, args, &off, 4, &v))
                return false;
            star[k] = (int32_t)v;
        }
        if (!c.kind || !strchr("diouxXcfFeEgGaAps", c.kind))
            continue;
        bool eight = c.wide || strchr("fFeEgGaAps", c.kind);
        if (!next_arg(w, lane, args, &off, eight ? 8 : 4, &v))
            return false;
        if (c.kind != 's')
            print_number(&c, v, star, out);
        else if (!print_string(w, &c, v, star, out))
            return false;
    }
    return true;
}

bool exec_print_lane(struct exec_warp *w, const struct exec_inst *in, uint32_t lane, uint64_t fmt,
                     uint64_t args, struct buf *out)
{
    struct buf f = { 0 };
    atomic_fetch_add(&w->cta->x->spent, PRINT_INSTS);
    bool ok = exec_read_string(w, fmt, &f) && print_format(w, lane, f.s ? f.s : "", args, out);
    buf_free(&f);
    if (!ok)
        exec_fault(w, in, lane, FAULT_ARG,
                   "printf: the format, an argument or a string is not in memory");
    return ok;
}
