/* apply, every launch tuned: an image that is the original's text and nothing else is swapped for the
 * tuned text before the driver loads it. Its variables, its graphs and what the program asks about it
 * are those of one module then, and nothing is mirrored. */
#include "engine/dev/inject/apply.h"
#include "engine/dev/inject/made.h"

#include <stdlib.h>
#include <string.h>

/* Parameters by the names of generated_cuda_meta.h. */
struct module_load {
    void **module;
    const void *image;
    unsigned n; /* options; not there for cuModuleLoadData */
    int *option;
    void **value;
};
struct library_load {
    void **library;
    const void *code;
    int *option;
    void **value;
    unsigned n; /* options */
    int *library_option;
    void **library_value;
    unsigned nlibrary;
};

/* The program's image while another is loaded; loads do not nest. */
static __thread const void *before;

/* The target that this image is the whole text of; -1: none, or several. */
static int target_of(const void *image)
{
    struct image m = { 0 };
    int target = -1, maxreg = 0;
    uint64_t whole = 0;
    made_look(image, &m);
    for (int i = 0; i < A.ntargets && m.ptx && target < 0; i++) {
        uint64_t mask = A.target[i].whole ? apply_ask(&m, A.target[i].name, &maxreg, &whole) : 0;
        if (mask == 1ull << i && whole == mask && !maxreg)
            target = i;
    }
    free(m.copy);
    return target;
}

/* Loads it, and lets it go again: what the driver does not take is not put into the program. */
static bool loads(const char *text, const char *name)
{
    void *module = NULL, *f = NULL;
    if (A.d.load(&module, text, 0, NULL, NULL) != 0)
        return false;
    bool has = A.d.function(&f, module, name) == 0;
    return A.d.unload(module) == 0 && has;
}

/* What to load instead; NULL: the image stays. */
static const void *instead(const void *image)
{
    load_swapped = 0;
    if (A.mode != LIVE_APPLY_ALL || A.verify || !A.d.unload || !image)
        return NULL;
    int k = target_of(image);
    if (k < 0 || !loads(A.target[k].text, A.target[k].name) ||
        !loads(A.target[k].whole, A.target[k].name))
        return NULL;
    load_swapped = k + 1;
    return A.target[k].text;
}

/* The result of the call as the program gets it. */
static void give(const struct call *c, int r)
{
    int *result;
    memcpy(&result, &c->result, sizeof result);
    if (result)
        *result = r;
}

static bool failed(const struct call *c)
{
    return c->result && *c->result != 0;
}

void apply_load(const struct call *c)
{
    struct module_load *p;
    memcpy(&p, &c->params, sizeof p); /* the driver reads the words behind it */
    if (c->site != AT_EXIT) {
        const void *other = instead(p->image);
        before = other ? p->image : NULL;
        p->image = other ? other : p->image;
        return;
    }
    if (!before)
        return;
    p->image = before;
    before = NULL;
    if (failed(c)) { /* it loaded a moment ago: the program gets its own, without options */
        load_swapped = 0;
        give(c, A.d.load(p->module, p->image, 0, NULL, NULL));
    }
}

void apply_library_load(const struct call *c)
{
    struct library_load *p;
    memcpy(&p, &c->params, sizeof p);
    if (c->site != AT_EXIT) {
        const void *other = A.d.library_load ? instead(p->code) : NULL;
        before = other ? p->code : NULL;
        p->code = other ? other : p->code;
        return;
    }
    if (!before)
        return;
    p->code = before;
    before = NULL;
    if (failed(c)) {
        load_swapped = 0;
        give(c, A.d.library_load(p->library, p->code, p->option, p->value, p->n, p->library_option,
                                 p->library_value, p->nlibrary));
    }
}
