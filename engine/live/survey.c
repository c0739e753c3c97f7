/* What was seen of a program: its kernels, as a list that grows. */
#include "engine/base/base.h"
#include "engine/live/live.h"
#include "engine/live/live_int.h"

struct live_kernel *live_survey_add(struct live_survey *s, struct str name, uint64_t image)
{
    void *v = s->v;
    if (!base_grow(&v, s->n, &s->cap, sizeof *s->v))
        return NULL;
    s->v = v;
    struct live_kernel *k = &s->v[s->n];
    *k = (struct live_kernel){ .image = image };
    struct buf b = { 0 };
    buf_str(&b, name);
    k->name = buf_take(&b);
    s->n += k->name != NULL;
    return k->name ? k : NULL;
}

void live_files_free(struct live_files *f)
{
    if (!f)
        return;
    base_free(f->ptx);
    base_free(f->launch);
    base_free(f->why);
    base_free(f);
}

void live_survey_free(struct live_survey *s)
{
    for (size_t i = 0; i < s->n; i++) {
        base_free(s->v[i].name);
        base_free(s->v[i].ptx_file);
        live_files_free(s->v[i].files);
        base_free(s->v[i].shape);
    }
    base_free(s->v);
    base_free(s->refused);
    *s = (struct live_survey){ 0 };
}
