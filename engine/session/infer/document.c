/* Guessed launches as JSON: launch --json. */
#include "engine/base/base.h"
#include "engine/rec/launch.h"
#include "engine/session/json_write.h"
#include "engine/session/session.h"
#include "engine/session/session_int.h"

#include <math.h>

static void put_percent(struct jw *w, const char *key, double share)
{
    jw_key(w, key);
    jw_num(w, round(share * 1e4) / 1e2); /* NaN: null */
}

static bool any_scalar(const struct launch_spec *l)
{
    for (size_t i = 0; i < l->nargs; i++)
        if (l->args[i].kind == ARG_SCALAR)
            return true;
    return false;
}

static void put_guessed(struct jw *w, const struct launch_spec *l, const struct infer_asked *t)
{
    jw_key(w, "guessed");
    jw_arr(w);
    jw_str(w, "grid");
    if (!t->said_block)
        jw_str(w, "block");
    if (!t->said_n && any_scalar(l))
        jw_str(w, "sizes");
    if (l->shared)
        jw_str(w, "shared");
    if (l->nargs)
        jw_str(w, "data");
    jw_end_arr(w);
}

static void put_guess(struct jw *w, const struct launch_spec *l, const struct infer_asked *t)
{
    jw_obj(w);
    jw_key(w, "kernel");
    jw_str(w, l->kernel);
    put_dim(w, "grid", l->grid);
    put_dim(w, "block", l->block);
    jw_key(w, "clean");
    jw_bool(w, t->clean);
    put_percent(w, "idle_threads_percent", t->work.known ? t->work.idle_threads : NAN);
    put_percent(w, "idle_ctas_percent", t->work.known ? t->work.idle_ctas : NAN);
    put_percent(w, "unread_percent", t->work.known ? t->work.unread : NAN);
    put_percent(w, "unwritten_percent", t->work.known ? t->work.unwritten : NAN);
    put_guessed(w, l, t);
    jw_key(w, "why");
    jw_str(w, t->unclean[0] ? t->unclean : t->why);
    jw_end_obj(w);
}

void json_guess(const struct launch_spec *l, const struct infer_asked *took, size_t n, struct buf *out)
{
    struct jw w = jw_open(out, 3);
    jw_obj(&w);
    jw_key(&w, "format");
    jw_str(&w, "gpulocw-guess");
    jw_key(&w, "version");
    jw_int(&w, 1);
    jw_key(&w, "launches");
    jw_arr(&w);
    for (size_t i = 0; i < n; i++)
        put_guess(&w, &l[i], &took[i]);
    jw_end_arr(&w);
    jw_end_obj(&w);
    buf_puts(out, "\n");
}
