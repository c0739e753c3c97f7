/* memo: results of launches that several experiments of one call have in common. */
#include "engine/base/base.h"
#include "engine/paper/paper_int.h"
#include "engine/rec/result_read.h"

#include <pthread.h>
#include <string.h>

struct known {
    char *key;
    struct result *r;
};
struct paper_memo {
    pthread_mutex_t lock;
    struct known **v;
    size_t n, cap;
};

struct paper_memo *paper_memo_new(void)
{
    struct paper_memo *m = base_alloc(sizeof *m);
    if (m)
        pthread_mutex_init(&m->lock, NULL);
    return m;
}

void paper_memo_free(struct paper_memo *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n; i++) {
        BASE_FREE(m->v[i]->key, m->v[i]->r, m->v[i]);
    }
    base_free(m->v);
    pthread_mutex_destroy(&m->lock);
    base_free(m);
}

bool paper_memo_get(struct paper_memo *m, const char *key, struct result *out)
{
    bool found = false;
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->n && !found; i++)
        if (strcmp(m->v[i]->key, key) == 0) {
            result_copy(out, m->v[i]->r);
            found = true;
        }
    pthread_mutex_unlock(&m->lock);
    return found;
}

/* Without memory it is not kept: the next experiment runs it again. */
void paper_memo_put(struct paper_memo *m, const char *key, const struct result *r)
{
    struct known *k = base_alloc(sizeof *k);
    char *own = base_strdup(key);
    struct result *copy = result_new();
    pthread_mutex_lock(&m->lock);
    if (k && own && copy && base_grow((void **)&m->v, m->n, &m->cap, sizeof *m->v)) {
        result_copy(copy, r);
        *k = (struct known){ own, copy };
        m->v[m->n++] = k;
        k = NULL;
        own = NULL;
        copy = NULL;
    }
    pthread_mutex_unlock(&m->lock);
    BASE_FREE(k, own, copy);
}
