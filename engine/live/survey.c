/* What was seen of a program: its kernels, as a list that grows. */
#include "engine/live/live.h"
#include "engine/live/live_int.h"

#include <string.h>

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

static struct live_kernel *kernel_of(struct live_survey *s, struct str name, uint64_t image,
                                     const char *why)
{
    for (size_t i = 0; i < s->n; i++)
        if (str_eq(str_of(s->v[i].name), name) && s->v[i].image == image && s->v[i].why == why)
            return &s->v[i];
    struct live_kernel *k = live_survey_add(s, name, image);
    if (k)
        k->why = why;
    return k;
}

/* The same of several processes is one row. */
static bool add_shape(struct live_kernel *k, const struct live_kernel *t)
{
    struct live_group *s = NULL;
    for (size_t i = 0; i < k->nshapes && !s; i++)
        if (k->shape[i].shared == t->shared && memcmp(k->shape[i].grid, t->grid, sizeof t->grid) == 0 &&
            memcmp(k->shape[i].block, t->block, sizeof t->block) == 0)
            s = &k->shape[i];
    if (!s) {
        void *v = k->shape;
        if (!base_grow(&v, k->nshapes, &k->cap_shapes, sizeof *k->shape))
            return false;
        k->shape = v;
        s = &k->shape[k->nshapes++];
        *s = (struct live_group){ .shared = t->shared };
        memcpy(s->grid, t->grid, sizeof s->grid);
        memcpy(s->block, t->block, sizeof s->block);
    }
    s->launches += t->launches;
    s->timed += t->timed;
    s->time_ns += t->time_ns;
    return true;
}

bool live_survey_count(struct live_survey *s, struct str name, uint64_t image, const char *why,
                       const struct live_kernel *t)
{
    struct live_kernel *k = kernel_of(s, name, image, why);
    if (!k)
        return false;
    if (!k->launches) {
        memcpy(k->grid, t->grid, sizeof k->grid);
        memcpy(k->block, t->block, sizeof k->block);
        k->shared = t->shared;
    }
    k->launches += t->launches;
    k->timed += t->timed;
    k->time_ns += t->time_ns;
    k->sampled |= t->sampled;
    s->gpu_ns += t->time_ns;
    s->untimed += t->launches > t->timed ? t->launches - t->timed : 0;
    return add_shape(k, t);
}

void live_survey_free(struct live_survey *s)
{
    for (size_t i = 0; i < s->n; i++) {
        BASE_FREE(s->v[i].name, s->v[i].ptx_file);
        live_files_free(&s->v[i]);
        base_free(s->v[i].shape);
    }
    BASE_FREE(s->v, s->refused);
    *s = (struct live_survey){ 0 };
}
