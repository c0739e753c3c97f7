/* Presets: data files of simulated devices, embedded ones and files. */
#include "engine/dev/dev.h"
#include "engine/session/document.h"
#include "engine/session/embed.h"
#include "engine/session/preset.h"
#include "engine/session/session_int.h"
#include "engine/sim/preset.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

size_t preset_count(void)
{
    size_t n = 0;
    while (embed_files[n].name)
        n++;
    return n;
}

const char *preset_name(size_t i)
{
    return embed_files[i].name;
}

static enum status read_fields(const cJSON *fields, const char *path, struct sim_preset *p,
                               struct diags *ds)
{
    const cJSON *f;
    bool given[SIM_PRESET_FIELDS] = { false };
    cJSON_ArrayForEach(f, fields)
    {
        const cJSON *v = cJSON_IsObject(f) ? json_get(f, "value") : f;
        size_t i = 0;
        while (i < sim_preset_field_count() && strcmp(sim_preset_field(i)->name, f->string) != 0)
            i++;
        if (i == sim_preset_field_count()) {
            diag_add(ds, DIAG_WARNING, "preset-field", path, NO_SPAN, "unknown field \"%s\" is ignored",
                     f->string);
            continue;
        }
        if (!cJSON_IsNumber(v)) {
            diag_add(ds, DIAG_ERROR, "preset-field", path, NO_SPAN, "field \"%s\" needs a number",
                     f->string);
            return ST_INPUT;
        }
        sim_preset_set(p, i, v->valuedouble);
        given[i] = true;
    }
    sim_preset_fill(p, given);
    return ST_OK;
}

static enum status from_tree(const cJSON *t, const char *path, struct sim_preset *out, struct diags *ds)
{
    const char *format = json_text(t, "format"), *name = json_text(t, "name"),
               *title = json_text(t, "title");
    *out = sim_preset_default();
    if (!format || strcmp(format, "gpulocw-preset") != 0) {
        diag_add(ds, DIAG_ERROR, "format", path, NO_SPAN, "not a gpulocw-preset file");
        return ST_INPUT;
    }
    snprintf(out->name, sizeof out->name, "%s", name ? name : path);
    snprintf(out->title, sizeof out->title, "%s", title ? title : out->name);
    enum status s = read_fields(json_get(t, "fields"), path, out, ds);
    return s == ST_OK ? sim_preset_check(out, ds) : s;
}

/* The tree of a shipped preset; *out NULL: there is none of that name. */
static enum status read_shipped(const char *name, cJSON **out, struct diags *ds)
{
    *out = NULL;
    for (size_t i = 0; embed_files[i].name; i++) {
        if (strcmp(embed_files[i].name, name) != 0)
            continue;
        char *text = base_alloc(embed_files[i].n + 1); /* the parser wants a final NUL */
        if (!text)
            return ST_NOMEM;
        memcpy(text, embed_files[i].data, embed_files[i].n);
        *out = json_parse(name, text, embed_files[i].n, ds);
        base_free(text);
        return *out ? ST_OK : ST_INPUT;
    }
    return ST_OK;
}

/* What the file itself says: of a shipped preset, or of a file. */
static enum status own_tree(const char *name_or_path, cJSON **t, struct diags *ds)
{
    enum status s = read_shipped(name_or_path, t, ds);
    if (s != ST_OK || *t)
        return s;
    if (!strchr(name_or_path, '/') && !strstr(name_or_path, ".json")) {
        struct diag *d =
            diag_add(ds, DIAG_ERROR, "preset", NULL, NO_SPAN, "no simulated device '%s'", name_or_path);
        struct buf b = { 0 };
        for (size_t i = 0; i < preset_count(); i++)
            buf_printf(&b, "%ssim:%s", i ? ", " : "there are ", preset_name(i));
        diag_hint(d, "%s", b.s ? b.s : "");
        buf_free(&b);
        return ST_DEVICE;
    }
    return json_read_file(name_or_path, t, ds);
}

/* ---- "like" ---- */
enum { LIKE_MOST = 8 }; /* presets, each like the next */

/* Fields of `own` stand in the place of those of `base`. */
static bool lay_over(cJSON *base, cJSON *own)
{
    for (cJSON *f = own ? own->child : NULL, *next; f; f = next) {
        cJSON *old = cJSON_GetObjectItemCaseSensitive(base, f->string);
        next = f->next;
        cJSON_DetachItemViaPointer(own, f);
        if (!(old ? cJSON_ReplaceItemViaPointer(base, old, f)
                  : cJSON_AddItemToObject(base, f->string, f)))
            return false;
    }
    return true;
}

/* What is known of one GPU is assumed of another that is like it. */
static bool assume(cJSON *fields, const char *like)
{
    static const char assumed[] = "assumed";
    cJSON *f;
    bool good = true;
    cJSON_ArrayForEach(f, fields)
    {
        cJSON *source = cJSON_GetObjectItemCaseSensitive(f, "source");
        struct buf b = { 0 };
        if (!cJSON_IsString(source) || strncmp(source->valuestring, assumed, sizeof assumed - 1) == 0)
            continue;
        buf_printf(&b, "assumed: as %s (%s)", like, source->valuestring);
        good = good && b.s && cJSON_SetValuestring(source, b.s);
        buf_free(&b);
    }
    return good;
}

/* Has it SMs of its own? Else it is the GPU that it is like, set up in another way. */
static bool another_gpu(const cJSON *own)
{
    return cJSON_GetObjectItemCaseSensitive(own, "sms") != NULL;
}

/* A preset that is "like" a shipped one has its fields, but for those that it gives itself. */
static enum status inherit(cJSON *t, const char *path, unsigned depth, struct diags *ds)
{
    const char *like = json_text(t, "like");
    cJSON *base = NULL;
    if (!like)
        return ST_OK;
    enum status s = depth < LIKE_MOST ? read_shipped(like, &base, ds) : ST_OK;
    if (s == ST_OK && !base) {
        diag_add(ds, DIAG_ERROR, "preset-like", path, NO_SPAN,
                 depth < LIKE_MOST ? "\"like\": no preset '%s' is shipped"
                                   : "\"like\": too many presets, one like the other, up to '%s'",
                 like);
        s = ST_INPUT;
    }
    if (s == ST_OK)
        s = inherit(base, like, depth + 1, ds);
    cJSON *fields = s == ST_OK ? cJSON_DetachItemFromObjectCaseSensitive(base, "fields") : NULL,
          *own = fields ? cJSON_DetachItemFromObjectCaseSensitive(t, "fields") : NULL;
    if (fields && own && another_gpu(own) && !assume(fields, like))
        s = ST_NOMEM;
    if (fields && (!lay_over(fields, own) || !cJSON_AddItemToObject(t, "fields", fields)))
        s = ST_NOMEM;
    cJSON_Delete(own);
    cJSON_Delete(base);
    return s;
}

enum status preset_tree(const char *name_or_path, cJSON **t, struct diags *ds)
{
    name_or_path += strncmp(name_or_path, "sim:", 4) ? 0 : 4;
    enum status s = own_tree(name_or_path, t, ds);
    return s == ST_OK ? inherit(*t, name_or_path, 0, ds) : s;
}

enum status preset_read(void *unused, const char *name_or_path, struct sim_preset *out, struct diags *ds)
{
    (void)unused;
    cJSON *t = NULL;
    enum status s = preset_tree(name_or_path, &t, ds);
    if (s == ST_OK)
        s = from_tree(t, name_or_path, out, ds);
    cJSON_Delete(t);
    return s;
}

/* How much worse `p` fits than a preset of the very GPU: another compute capability weighs more than any
 * L2. */
static double unlikeness(const struct sim_preset *p, int cc_major, int cc_minor, uint64_t l2_bytes)
{
    double cc = 10.0 * (cc_major - (double)p->cc_major) + (cc_minor - (double)p->cc_minor);
    double l2 = fabs(log2((double)p->l2_bytes / (double)(l2_bytes ? l2_bytes : 1))) / 64;
    return (cc < 0 ? 1000 - cc : cc) + (l2 < 0.9 ? l2 : 0.9);
}

const char *preset_nearest(int cc_major, int cc_minor, uint64_t l2_bytes)
{
    const char *best = NULL;
    double least = INFINITY;
    for (size_t i = 0; i < preset_count(); i++) {
        struct diags ds = { 0 };
        struct sim_preset p;
        if (preset_read(NULL, preset_name(i), &p, &ds) == ST_OK &&
            unlikeness(&p, cc_major, cc_minor, l2_bytes) < least) {
            least = unlikeness(&p, cc_major, cc_minor, l2_bytes);
            best = preset_name(i);
        }
        diags_free(&ds);
    }
    return best;
}

static void put_source(struct jw *w, const char *field, const struct preset_origin *from,
                       const struct calibrate_note *n, const cJSON *base)
{
    struct buf b = { 0 };
    const cJSON *f = base ? json_get(json_get(base, "fields"), field) : NULL;
    const char *source = f ? json_text(f, "source") : NULL;
    if (n->from == CALIBRATE_MEASURED)
        buf_printf(&b, "measured: gpulocw calibrate on %s, residual %.2g", from->device, n->residual);
    else if (n->from == CALIBRATE_DRIVER)
        buf_printf(&b, "device query: %s", from->device);
    else if (from->base)
        buf_printf(&b, "not measured, as %s: %s", from->base, source ? source : "its default");
    else
        buf_puts(&b, "not measured: default");
    jw_put_str(w, "source", b.s ? b.s : "");
    buf_free(&b);
}

static void put_fields(struct jw *w, const struct sim_preset *p, const struct preset_origin *from,
                       const cJSON *base)
{
    for (size_t i = 0; i < sim_preset_field_count(); i++) {
        const struct sim_preset_field *f = sim_preset_field(i);
        const char *at = (const char *)p + f->offset;
        jw_key(w, f->name);
        if (from) {
            jw_obj(w);
            jw_key(w, "value");
        }
        if (f->integer)
            jw_int(w, *(const int64_t *)(const void *)at);
        else
            jw_num(w, *(const double *)(const void *)at);
        if (from) {
            put_source(w, f->name, from, &from->notes[i], base);
            jw_end_obj(w);
        }
    }
}

enum status preset_write(const char *path, const struct sim_preset *p, const char *comment,
                         const struct preset_origin *from, struct diags *ds)
{
    cJSON *base = NULL;
    enum status s = from && from->base ? preset_tree(from->base, &base, ds) : ST_OK;
    if (s != ST_OK) {
        cJSON_Delete(base);
        return s;
    }
    struct buf b = { 0 };
    struct jw w = document_open(&b, "gpulocw-preset", 2);
    jw_put_str(&w, "name", p->name);
    jw_put_str(&w, "title", p->title);
    jw_put_str(&w, "comment", comment);
    jw_put_obj(&w, "fields");
    put_fields(&w, p, from, base);
    jw_end_obj(&w);
    document_close(&w);
    s = b.oom ? ST_NOMEM : file_write_atomic(path, b.s, b.n, ds);
    buf_free(&b);
    cJSON_Delete(base);
    return s;
}

const char *preset_at(void *unused, size_t i)
{
    (void)unused;
    return i < preset_count() ? preset_name(i) : NULL;
}
