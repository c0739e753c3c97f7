/* Guessed launches as JSON: launch --json. */
#include "engine/base/base.h"
#include "engine/rec/launch.h"
#include "engine/base/json_write.h"
#include "engine/session/document.h"
#include "engine/session/guess.h"
#include "engine/session/session_int.h"

#include <math.h>

static void put_percent(struct jw *w, const char *key, double share)
{
    jw_put_num(w, key, round(share * 1e4) / 1e2); /* NaN: null */
}

static void put_guess(struct jw *w, const struct launch_spec *l, const struct infer_asked *t)
{
    jw_obj(w);
    jw_put_str(w, "kernel", l->kernel);
    jw_put_dim(w, "grid", l->grid);
    jw_put_dim(w, "block", l->block);
    jw_put_bool(w, "clean", t->clean);
    put_percent(w, "idle_threads_percent", t->work.known ? t->work.idle_threads : NAN);
    put_percent(w, "idle_ctas_percent", t->work.known ? t->work.idle_ctas : NAN);
    put_percent(w, "unread_percent", t->work.known ? t->work.unread : NAN);
    put_percent(w, "unwritten_percent", t->work.known ? t->work.unwritten : NAN);
    jw_put_bool(w, "in_part", t->in_part || t->checked_part);
    launch_guessed_put(w, l->guessed);
    jw_put_str(w, "why", t->unclean[0] ? t->unclean : t->why);
    jw_end_obj(w);
}

void json_guess(const struct launch_spec *l, const struct infer_asked *took, size_t n, struct buf *out)
{
    struct jw w = document_open(out, "gpulocw-guess", 3);
    jw_put_arr(&w, "launches");
    for (size_t i = 0; i < n; i++)
        put_guess(&w, &l[i], &took[i]);
    jw_end_arr(&w);
    document_close(&w);
}
