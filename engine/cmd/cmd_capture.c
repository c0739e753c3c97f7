/* capture: which kernels a program launches, how long they take, which have PTX (--list); and chosen
 * launches with all that they work on, as files that open like any other. */
#include "engine/cmd/cmd_int.h"
#include "engine/cmd/io.h"
#include "engine/dev/inject/shape.h"
#include "engine/live/live.h"
#include "engine/live/remote.h"
#include "engine/ptx/ptx.h"
#include "engine/session/document.h"
#include "engine/workspace/args.h"
#include "engine/workspace/own_files.h"
#include "engine/workspace/source.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRIM_S 120.0 /* most seconds of one simulated run */

static void put_document(const struct live_survey *s, char *const *argv, struct buf *b)
{
    struct jw w = document_open(b, "gpulocw-capture", 2);
    jw_put_obj(&w, "program");
    jw_put_words(&w, "command", argv);
    jw_put_int(&w, "exit_status", s->exit);
    jw_put_uint(&w, "processes", s->processes);
    jw_put_uint(&w, "cut_off", s->cut_off);
    jw_put_uint(&w, "wall_ns", s->wall_ns);
    jw_put_uint(&w, "gpu_ns", s->gpu_ns);
    jw_end_obj(&w);
    jw_put_arr(&w, "kernels");
    for (size_t i = 0; i < s->n; i++)
        cmd_live_kernel(&w, s, &s->v[i], NULL);
    jw_end_arr(&w);
    document_close(&w);
}

static void put_table(const struct live_survey *s, struct buf *b)
{
    uint64_t with = 0;
    size_t n = 0;
    buf_printf(b, "%8s %12s %7s  %-4s kernel\n", "launches", "time in ms", "share", "PTX");
    for (size_t i = 0; i < s->n; i++) {
        const struct live_kernel *k = &s->v[i];
        buf_printf(b, "%8llu ", (unsigned long long)k->launches);
        if (k->timed)
            buf_printf(b, "%12.4f %5.1f %%  ", (double)k->time_ns / 1e6, 100 * cmd_live_share(s, k));
        else
            buf_printf(b, "%12s %7s  ", "n/a", "n/a");
        buf_printf(b, "%-4s ", k->why ? "no" : "yes");
        ptx_readable(str_of(k->name), b);
        buf_printf(b, "  %ux%ux%u of %ux%ux%u", k->grid[0], k->grid[1], k->grid[2], k->block[0],
                   k->block[1], k->block[2]);
        if (k->nshapes > 1)
            buf_printf(b, " and %zu other shapes", k->nshapes - 1);
        buf_printf(b, "%s%s\n", k->why ? ": " : "", k->why ? k->why : "");
        n += !k->why;
        with += k->why ? 0 : k->time_ns;
    }
    if (s->emulated) {
        buf_printf(b, "%zu kernels, %zu with PTX, run without a GPU\n", s->n, n);
        return;
    }
    buf_printf(b,
               "%zu kernels, %zu with PTX (%.1f %% of the GPU's time); %.3f ms of %.3f ms on the GPU\n",
               s->n, n, s->gpu_ns ? 100 * (double)with / (double)s->gpu_ns : 0.0,
               (double)s->gpu_ns / 1e6, (double)s->wall_ns / 1e6);
    if (s->untimed)
        buf_printf(
            b, "%llu launches were counted and not timed: they count as the mean of the timed ones\n",
            (unsigned long long)s->untimed);
}

static void tell(const struct live_survey *s, struct diags *ds)
{
    if (s->left_out)
        diag_add(ds, DIAG_WARNING, "survey", NULL, NO_SPAN,
                 "%llu more images and kernels are not listed: the limit is 16384 of each",
                 (unsigned long long)s->left_out);
    if (s->refused)
        diag_add(ds, DIAG_WARNING, "survey", NULL, NO_SPAN, "nothing could be recorded: %s", s->refused);
    else if (!s->processes)
        diag_add(
            ds, DIAG_WARNING, "survey", NULL, NO_SPAN,
            "no process of the program used CUDA for half a second, or exited normally after using it");
    if (s->cut_off)
        diag_add(ds, DIAG_WARNING, "survey", NULL, NO_SPAN,
                 "%u of %u processes that used CUDA ended by _exit or a signal: launches of their last "
                 "half second may be missing",
                 s->cut_off, s->processes);
}

/* ---- capture ---- */
/* Its other launches, in the same files, and those that are not there. */
static void put_other_shapes(const struct live_kernel *k, struct buf *b)
{
    for (size_t i = 1; i < k->nfiles; i++) {
        const struct live_files *f = &k->files[i];
        if (f->left_out)
            continue;
        buf_printf(b, "  launch %llu, %ux%ux%u of %ux%ux%u", (unsigned long long)f->nth, f->grid[0],
                   f->grid[1], f->grid[2], f->block[0], f->block[1], f->block[2]);
        if (f->spec)
            buf_printf(b, ", %.3f MB%s%s\n", (double)f->data_bytes / 1e6, f->why ? ": " : "",
                       f->why ? f->why : "");
        else
            buf_printf(b, ": not captured: %s\n", f->why ? f->why : "?");
    }
    if (k->nfiles > 1 && !isnan(live_covers(k)))
        buf_printf(b, "  these launches are of shapes that take %.0f %% of its time\n",
                   100 * live_covers(k));
    if (k->apart)
        buf_printf(b, "  %llu launches of other shapes: --shapes takes up to %d\n",
                   (unsigned long long)k->apart, SHAPES_MOST);
    if (k->no_room)
        buf_printf(b, "  %llu launches of other shapes were beyond --max-bytes\n",
                   (unsigned long long)k->no_room);
}

static void put_captured(const struct live_survey *s, const char *folder, struct buf *b)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct live_files *f = s->v[i].files;
        if (!f)
            continue;
        ptx_readable(str_of(s->v[i].name), b);
        if (!f->ptx) {
            buf_printf(b, ": not captured: %s\n", f->why ? f->why : "?");
            continue;
        }
        buf_printf(b, ": launch %llu in %s/%s, %.3f MB of %.3f MB in reach", (unsigned long long)f->nth,
                   folder, f->launch, (double)f->data_bytes / 1e6, (double)f->trimmed_from / 1e6);
        if (s->emulated && f->simulated)
            buf_puts(b, "\n");
        else if (!f->simulated)
            buf_printf(b, "; not trimmed: %s\n", f->why ? f->why : "?");
        else if (!f->differ)
            buf_puts(b, "; simulated outputs equal the GPU's\n");
        else if (!f->close)
            buf_printf(b, "; simulated outputs differ from the GPU's in %llu bytes\n",
                       (unsigned long long)f->differ);
        else
            buf_printf(b, "; simulated outputs are the GPU's within %.2g (relative)\n", f->relative);
        put_other_shapes(&s->v[i], b);
    }
}

static bool size_of(const char *text, uint64_t *bytes)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (!isdigit((unsigned char)*text) || errno || (*end && (!shift || end[1])) ||
        v > UINT64_MAX >> (shift + 1))
        return false;
    *bytes = v << shift;
    return v != 0;
}

static void on_progress(void *ctx, const char *line)
{
    cmd_progress_detail(ctx, 0, "captured", line);
}

static const char *folder_of(const struct args *a)
{
    return a->folder ? a->folder : "captured";
}

static enum status folder_make(const char *folder, struct diags *ds)
{
    struct buf inside = { 0 };
    buf_printf(&inside, "%s/", folder);
    bool there = inside.s && !inside.oom && file_make_dirs(inside.s);
    buf_free(&inside);
    if (!there)
        diag_error(ds, "write", "cannot create the folder %s: %s", folder, strerror(errno));
    return there ? ST_OK : ST_IO;
}

static enum status max_bytes_of(const struct args *a, uint64_t *bytes, struct diags *ds)
{
    *bytes = UINT64_C(1) << 30;
    if (!a->max_bytes || size_of(a->max_bytes, bytes))
        return ST_OK;
    diag_error(ds, "usage", "--max-bytes needs a number of bytes, such as 512M");
    return ST_USAGE;
}

enum status cmd_capture_want(struct args *a, const char *folder, struct live_want *w, struct diags *ds)
{
    *w = (struct live_want){ .kernel = a->kernels,
                             .nkernels = a->kernels_n,
                             .nth = a->nth ? (uint64_t)a->nth : 1,
                             .folder = folder,
                             .trim_s = TRIM_S,
                             .open = source_open,
                             .progress = isatty(STDERR_FILENO) ? on_progress : NULL,
                             .ctx = a };
    enum status st = max_bytes_of(a, &w->max_bytes, ds);
    if (a->shapes < 0 || a->shapes > SHAPES_MOST || (a->shapes && a->nth)) {
        diag_error(ds, "usage", "--shapes needs a number from 1 to %d, and does not go with --nth",
                   SHAPES_MOST);
        st = ST_USAGE;
    }
    w->shapes = a->nth ? 0 : a->shapes ? (unsigned)a->shapes : SHAPES_MOST;
    return st == ST_OK ? folder_make(folder, ds) : st;
}

enum status cmd_capture_index(const struct live_survey *s, char *const *argv, const char *folder,
                              struct diags *ds)
{
    struct buf path = { 0 }, b = { 0 };
    buf_printf(&path, "%s/capture.json", folder);
    put_document(s, argv, &b);
    enum status st = path.oom || b.oom ? ST_NOMEM : file_write_atomic(path.s, b.s, b.n, ds);
    buf_free(&path);
    buf_free(&b);
    return st;
}

static enum status capture(struct args *a, const char *folder, struct live_survey *s, struct diags *ds)
{
    struct live_want w;
    enum status st = cmd_capture_want(a, folder, &w, ds);
    if (st == ST_OK)
        st = a->emulate ? cmd_emulate_survey(a, &w, s, ds) : live_capture_run(a->program, &w, s, ds);
    if (w.progress)
        cmd_progress_end(a);
    return st == ST_OK ? cmd_capture_index(s, a->program, w.folder, ds) : st;
}

/* folder: where the files go, which may be another than the one that is told. */
static int capture_into(struct args *a, const char *folder)
{
    struct diags ds = { 0 };
    struct live_survey s = { 0 };
    struct buf b = { 0 };
    enum status st = !a->list     ? capture(a, folder, &s, &ds)
                     : a->emulate ? cmd_emulate_survey(a, NULL, &s, &ds)
                                  : live_survey_run(a->program, &s, &ds);
    int rc = s.exit;
    if (st == ST_OK) {
        if (a->json)
            put_document(&s, a->program, &b);
        else
            put_table(&s, &b);
        if (!a->json && !a->list)
            put_captured(&s, folder_of(a), &b);
        tell(&s, &ds);
        cmd_put(a, &b);
    }
    buf_free(&b);
    live_survey_free(&s);
    int own = cmd_finish(a, st, &ds);
    return own ? own : rc; /* the program's own */
}

/* ---- on another machine ---- */
static bool add_options(struct remote *r, const struct args *a)
{
    char number[32], shapes[32];
    snprintf(number, sizeof number, "%ld", a->nth);
    snprintf(shapes, sizeof shapes, "%ld", a->shapes);
    bool ok =
        (!a->json || cmd_remote_word(r, "--json")) && (!a->list || cmd_remote_word(r, "--list")) &&
        (!a->nth || (cmd_remote_word(r, "--nth") && cmd_remote_word(r, number))) &&
        (!a->shapes || (cmd_remote_word(r, "--shapes") && cmd_remote_word(r, shapes))) &&
        (!a->max_bytes || (cmd_remote_word(r, "--max-bytes") && cmd_remote_word(r, a->max_bytes))) &&
        (!a->folder || (cmd_remote_word(r, "-o") && cmd_remote_word(r, a->folder)));
    for (size_t i = 0; i < a->kernels_n && ok; i++)
        ok = cmd_remote_word(r, "-k") && cmd_remote_word(r, a->kernels[i]);
    return ok;
}

static void hand_on(void *ctx, const char *text, size_t n)
{
    const struct args *a = ctx;
    if (a->io->out)
        a->io->out(a->io->ctx, text, n);
}

static int capture_there(struct args *a)
{
    struct diags ds = { 0 };
    struct remote r = { 0 };
    const struct remote_back back = { a->list ? NULL : folder_of(a), hand_on, a };
    uint64_t bytes;
    enum status st = max_bytes_of(a, &bytes, &ds);
    if (st == ST_OK && a->worker_n > 1) {
        diag_error(&ds, "usage", "capture takes one --worker");
        st = ST_USAGE;
    }
    if (st == ST_OK && !a->list)
        st = folder_make(back.folder, &ds);
    if (st == ST_OK && !add_options(&r, a))
        st = ST_NOMEM;
    return cmd_remote_there(a, "capture", &r, &back, st, &ds);
}

/* The files go into a folder of their own, from there back to who asked. */
static int capture_sent(struct args *own)
{
    struct diags ds = { 0 };
    struct remote_out *out = NULL;
    int rc = 0;
    enum status st = remote_out_start(&out, &ds);
    if (st == ST_OK) {
        rc = capture_into(own, own->sent_to);
        st = remote_out_end(out, own->list ? NULL : own->sent_to, rc, &ds);
    }
    int told = cmd_finish(own, st, &ds);
    return told ? told : rc;
}

/* Names of the files are known when they come: no file of such a name may be another's. */
int cmd_capture_guarded(struct args *a, const char *folder,
                        int (*run)(struct args *a, const char *folder))
{
    static const char *const ends[] = { ".ptx",      ".launch.json", ".data.bin",
                                        ".left.bin", "capture.json", NULL };
    struct diags ds = { 0 };
    struct own_files own = { .folder = NULL };
    enum status st = own_files_open(&own, folder, a->force, &ds);
    if (st == ST_OK)
        st = own_files_look(&own, ends, &ds);
    int rc = st == ST_OK ? run(a, folder) : 0;
    if (st == ST_OK)
        st = own_files_add_new(&own, ends, &ds);
    if (st == ST_OK && own.names.n)
        st = own_files_save(&own, &ds);
    own_files_close(&own);
    if (st != ST_OK)
        rc = cmd_finish(a, st, &ds);
    diags_free(&ds);
    return rc;
}

static int capture_here(struct args *a, const char *folder)
{
    return a->worker_n ? capture_there(a) : capture_into(a, folder);
}

static int refuse(struct args *a, const char *why)
{
    struct diags ds = { 0 };
    diag_error(&ds, "usage", "%s", why);
    return cmd_finish(a, ST_USAGE, &ds);
}

int cmd_capture(struct args *a)
{
    if (a->emulate && a->worker_n)
        return refuse(a, "--emulate needs no GPU, and no --worker");
    if (a->device && !a->emulate)
        return refuse(a, "capture runs the program on its GPU; --device goes with --emulate");
    if (a->program && a->program[0])
        return a->sent_to    ? capture_sent(a)
               : !a->list    ? cmd_capture_guarded(a, folder_of(a), capture_here)
               : a->worker_n ? capture_there(a)
                             : capture_into(a, folder_of(a));
    return refuse(a, "no program given: gpulocw capture [-o FOLDER] [-k KERNEL] -- PROGRAM ARG...");
}
