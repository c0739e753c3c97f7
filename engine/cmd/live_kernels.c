/* A kernel of a program that ran, as capture and emulate write it in their documents. */
#include "engine/base/json_write.h"
#include "engine/cmd/cmd_int.h"
#include "engine/live/live.h"
#include "engine/ptx/ptx.h"

#include <math.h>
#include <stdio.h>

double cmd_live_share(const struct live_survey *s, const struct live_kernel *k)
{
    return s->gpu_ns ? (double)k->time_ns / (double)s->gpu_ns : 0;
}

/* What the simulated device's outputs are against the GPU's. */
static const char *outputs(const struct live_files *f)
{
    return !f->simulated ? NULL : !f->differ ? "equal" : f->close ? "close" : "differ";
}

static void put_three(struct jw *w, const char *key, const unsigned v[3])
{
    jw_put_three(w, key, v[0], v[1], v[2]);
}

static void put_window(struct jw *w, const struct live_files *f)
{
    char address[32];
    if (!f->window_bytes) {
        jw_put_null(w, "access_window");
        return;
    }
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)f->window_address);
    jw_put_obj(w, "access_window");
    jw_put_str(w, "address", address);
    jw_put_uint(w, "bytes", f->window_bytes);
    jw_put_num(w, "hit_ratio", round((double)f->window_ratio * 1e6) / 1e6);
    jw_end_obj(w);
}

static void put_attributes(struct jw *w, const struct live_files *f)
{
    jw_put_obj(w, "attributes");
    jw_put_bool(w, "cooperative", f->cooperative);
    if (f->cluster[0])
        put_three(w, "cluster", f->cluster);
    else
        jw_put_null(w, "cluster");
    jw_put_uint_if(w, "carveout_percent", f->carveout >= 0, (uint64_t)f->carveout);
    jw_put_uint_if(w, "max_dynamic_shared", f->shared_most >= 0, (uint64_t)f->shared_most);
    put_window(w, f);
    jw_end_obj(w);
}

/* That the files have, that with the most time first. */
static void put_launches(struct jw *w, const struct live_kernel *k)
{
    jw_put_arr(w, "launches");
    for (size_t i = 0; i < k->nfiles; i++) {
        const struct live_files *f = &k->files[i];
        if (!f->spec || f->left_out)
            continue;
        jw_obj(w);
        jw_put_str(w, "name", f->name);
        jw_put_uint(w, "nth", f->nth);
        put_three(w, "grid", f->grid);
        put_three(w, "block", f->block);
        jw_put_uint(w, "shared", f->shared);
        jw_put_uint_if(w, "launches", f->launches != 0, f->launches);
        jw_put_num(w, "share", f->share);
        jw_put_uint(w, "data_bytes", f->data_bytes);
        jw_end_obj(w);
    }
    jw_end_arr(w);
    jw_put_num(w, "covers", live_covers(k));
    jw_put_uint(w, "shapes_apart", k->apart);
    jw_put_uint(w, "shapes_without_room", k->no_room);
}

static void put_files(struct jw *w, const struct live_kernel *k, bool emulated)
{
    const struct live_files *f = k->files;
    if (!f || !f->ptx) {
        jw_put_null(w, "files");
        jw_put_str(w, "not_captured", f ? f->why : NULL);
        return;
    }
    jw_put_obj(w, "files");
    jw_put_str(w, "ptx", f->ptx);
    jw_put_str(w, "launch", f->launch);
    jw_put_uint(w, "data_bytes", f->data_bytes);
    jw_put_uint(w, "trimmed_from", f->trimmed_from);
    jw_put_uint(w, "nth", f->nth);
    jw_put_str(w, "outputs", emulated ? NULL : outputs(f));
    jw_put_uint(w, "differing_bytes", f->differ);
    jw_put_num(w, "relative_difference", f->relative);
    put_attributes(w, f);
    put_launches(w, k);
    jw_end_obj(w);
    jw_put_str(w, "not_captured", f->why);
}

static void put_time(struct jw *w, uint64_t timed, uint64_t ns)
{
    jw_put_uint(w, "timed_launches", timed);
    jw_put_uint_if(w, "time_ns", timed != 0, ns);
}

static void put_shapes(struct jw *w, const struct live_kernel *k)
{
    jw_put_arr(w, "shapes");
    for (size_t i = 0; i < k->nshapes; i++) {
        const struct live_group *p = &k->shape[i];
        jw_obj(w);
        jw_put_uint(w, "launches", p->launches);
        put_three(w, "grid", p->grid);
        put_three(w, "block", p->block);
        jw_put_uint(w, "shared", p->shared);
        put_time(w, p->timed, p->time_ns);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

void cmd_live_kernel(struct jw *w, const struct live_survey *s, const struct live_kernel *k,
                     const char *evidence)
{
    struct buf readable = { 0 };
    ptx_readable(str_of(k->name), &readable);
    jw_obj(w);
    jw_put_str(w, "name", k->name);
    jw_put_str(w, "readable", readable.s);
    buf_free_checked(&readable, w->out);
    if (k->image)
        jw_put_hex(w, "image", k->image);
    else
        jw_put_null(w, "image");
    jw_put_bool(w, "ptx", !k->why);
    jw_put_str(w, "why", k->why);
    jw_put_str(w, "ptx_file", k->ptx_file);
    jw_put_uint(w, "launches", k->launches);
    put_three(w, "grid", k->grid);
    put_three(w, "block", k->block);
    jw_put_uint(w, "shared", k->shared);
    put_time(w, k->timed, k->time_ns);
    if (evidence)
        jw_put_str(w, "evidence", k->timed ? evidence : NULL);
    jw_put_num(w, "share", round(cmd_live_share(s, k) * 1e6) / 1e6);
    put_shapes(w, k);
    put_files(w, k, s->emulated);
    jw_end_obj(w);
}
