/* A kernel of a program that ran, as capture and emulate write it in their documents. */
#include "engine/base/base.h"
#include "engine/cmd/cmd_int.h"
#include "engine/live/live.h"
#include "engine/ptx/ptx.h"

#include <math.h>

double cmd_live_share(const struct live_survey *s, const struct live_kernel *k)
{
    return s->gpu_ns ? (double)k->time_ns / (double)s->gpu_ns : 0;
}

static void put_three(struct buf *b, const char *key, const unsigned v[3])
{
    buf_printf(b, ",\"%s\":[%u,%u,%u]", key, v[0], v[1], v[2]);
}

static void put_text(struct buf *b, const char *key, const char *text)
{
    buf_printf(b, ",\"%s\":", key);
    if (text)
        buf_json(b, str_of(text));
    else
        buf_puts(b, "null");
}

/* What the simulated device's outputs are against the GPU's. */
static const char *outputs(const struct live_files *f)
{
    return !f->simulated ? NULL : !f->differ ? "equal" : f->close ? "close" : "differ";
}

static void put_attributes(const struct live_files *f, struct buf *b)
{
    buf_printf(b, ",\"attributes\":{\"cooperative\":%s,\"cluster\":", f->cooperative ? "true" : "false");
    if (f->cluster[0])
        buf_printf(b, "[%u,%u,%u]", f->cluster[0], f->cluster[1], f->cluster[2]);
    else
        buf_puts(b, "null");
    if (f->carveout >= 0)
        buf_printf(b, ",\"carveout_percent\":%d", f->carveout);
    else
        buf_puts(b, ",\"carveout_percent\":null");
    if (f->shared_most >= 0)
        buf_printf(b, ",\"max_dynamic_shared\":%d,", f->shared_most);
    else
        buf_puts(b, ",\"max_dynamic_shared\":null,");
    if (f->window_bytes)
        buf_printf(b, "\"access_window\":{\"address\":\"0x%llx\",\"bytes\":%llu,\"hit_ratio\":%g}}",
                   (unsigned long long)f->window_address, (unsigned long long)f->window_bytes,
                   f->window_ratio);
    else
        buf_puts(b, "\"access_window\":null}");
}

static void put_files(const struct live_files *f, bool emulated, struct buf *b)
{
    if (!f || !f->ptx) {
        buf_puts(b, "\"files\":null");
        put_text(b, "not_captured", f ? f->why : NULL);
        return;
    }
    buf_puts(b, "\"files\":{\"ptx\":");
    buf_json(b, str_of(f->ptx));
    put_text(b, "launch", f->launch);
    buf_printf(b, ",\"data_bytes\":%llu,\"trimmed_from\":%llu,\"nth\":%llu",
               (unsigned long long)f->data_bytes, (unsigned long long)f->trimmed_from,
               (unsigned long long)f->nth);
    put_text(b, "outputs", emulated ? NULL : outputs(f));
    buf_printf(b, ",\"differing_bytes\":%llu,\"relative_difference\":", (unsigned long long)f->differ);
    if (isnan(f->relative))
        buf_puts(b, "null");
    else
        buf_printf(b, "%.3g", f->relative);
    put_attributes(f, b);
    buf_puts(b, "}");
    put_text(b, "not_captured", f->why);
}

static void put_time(struct buf *b, uint64_t timed, uint64_t ns)
{
    buf_printf(b, ",\"timed_launches\":%llu,\"time_ns\":", (unsigned long long)timed);
    if (timed)
        buf_printf(b, "%llu", (unsigned long long)ns);
    else
        buf_puts(b, "null");
}

static void put_shapes(const struct live_kernel *k, struct buf *b)
{
    buf_puts(b, "\"shapes\":[");
    for (size_t i = 0; i < k->nshapes; i++) {
        const struct live_group *p = &k->shape[i];
        buf_printf(b, "%s{\"launches\":%llu", i ? "," : "", (unsigned long long)p->launches);
        put_three(b, "grid", p->grid);
        put_three(b, "block", p->block);
        buf_printf(b, ",\"shared\":%u", p->shared);
        put_time(b, p->timed, p->time_ns);
        buf_puts(b, "}");
    }
    buf_puts(b, "],");
}

void cmd_live_kernel(const struct live_survey *s, const struct live_kernel *k, const char *evidence,
                     struct buf *b)
{
    struct buf readable = { 0 };
    ptx_readable(str_of(k->name), &readable);
    buf_puts(b, "{\"name\":");
    buf_json(b, str_of(k->name));
    put_text(b, "readable", readable.s);
    buf_free_checked(&readable, b);
    if (k->image)
        buf_printf(b, ",\"image\":\"%016llx\"", (unsigned long long)k->image);
    else
        buf_puts(b, ",\"image\":null");
    buf_printf(b, ",\"ptx\":%s", k->why ? "false" : "true");
    put_text(b, "why", k->why);
    put_text(b, "ptx_file", k->ptx_file);
    buf_printf(b, ",\"launches\":%llu", (unsigned long long)k->launches);
    put_three(b, "grid", k->grid);
    put_three(b, "block", k->block);
    buf_printf(b, ",\"shared\":%u", k->shared);
    put_time(b, k->timed, k->time_ns);
    if (evidence)
        put_text(b, "evidence", k->timed ? evidence : NULL);
    buf_printf(b, ",\"share\":%.6f,", cmd_live_share(s, k));
    put_shapes(k, b);
    put_files(k->files, s->emulated, b);
    buf_puts(b, "}");
}
