/* Presets: data files of simulated devices, embedded ones and files. */
#include "engine/session/session_int.h"
#include "engine/session/embed.h"

#include <stdio.h>
#include <string.h>

size_t preset_count(void)
{
    size_t n = 0;
    while (embed_files[n].name)
        n++;
    return n;
}

const char *preset_name(size_t i) { return embed_files[i].name; }

static void set_field(struct sim_preset *p, const struct sim_preset_field *f, double v)
{
    char *at = (char *)p + f->offset;
    if (f->integer)
        *(int64_t *)(void *)at = (int64_t)v;
    else
        *(double *)(void *)at = v;
}

static enum status read_fields(const cJSON *fields, const char *path, struct sim_preset *p, struct diags *ds)
{
    const cJSON *f;
    cJSON_ArrayForEach(f, fields) {
        const cJSON *v = cJSON_IsObject(f) ? json_get(f, "value") : f;
        size_t i = 0;
        while (i < sim_preset_field_count() && strcmp(sim_preset_field(i)->name, f->string) != 0)
            i++;
        if (i == sim_preset_field_count()) {
            diag_add(ds, DIAG_WARNING, "preset-field", path, NO_SPAN, "field \"%s\" is not known here and is ignored", f->string);
            continue;
        }
        if (!cJSON_IsNumber(v)) {
            diag_add(ds, DIAG_ERROR, "preset-field", path, NO_SPAN, "field \"%s\" needs a number", f->string);
            return ST_INPUT;
        }
        set_field(p, sim_preset_field(i), v->valuedouble);
    }
    return ST_OK;
}

static enum status from_tree(const cJSON *t, const char *path, struct sim_preset *out, struct diags *ds)
{
    const char *format = json_text(t, "format"), *name = json_text(t, "name"), *title = json_text(t, "title");
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

enum status preset_read(void *unused, const char *name_or_path, struct sim_preset *out, struct diags *ds)
{
    (void)unused;
    cJSON *t = NULL;
    for (size_t i = 0; embed_files[i].name && !t; i++)
        if (strcmp(embed_files[i].name, name_or_path) == 0) {
            char *text = base_alloc(embed_files[i].n + 1);      /* the parser wants a final NUL */
            if (!text)
                return ST_NOMEM;
            memcpy(text, embed_files[i].data, embed_files[i].n);
            t = json_parse(name_or_path, text, embed_files[i].n, ds);
            base_free(text);
            if (!t)
                return ST_INPUT;
        }
    if (!t && !strchr(name_or_path, '/') && !strstr(name_or_path, ".json")) {
        struct diag *d = diag_add(ds, DIAG_ERROR, "preset", NULL, NO_SPAN, "no simulated device '%s'", name_or_path);
        struct buf b = { 0 };
        for (size_t i = 0; i < preset_count(); i++)
            buf_printf(&b, "%ssim:%s", i ? ", " : "there are ", preset_name(i));
        diag_hint(d, "%s", b.s ? b.s : "");
        buf_free(&b);
        return ST_DEVICE;
    }
    enum status s = t ? ST_OK : json_read_file(name_or_path, &t, ds);
    if (s == ST_OK)
        s = from_tree(t, name_or_path, out, ds);
    cJSON_Delete(t);
    return s;
}

enum status preset_write(const char *path, const struct sim_preset *p, const char *comment, struct diags *ds)
{
    struct buf b = { 0 };
    struct jw w = jw_open(&b, 2);
    jw_obj(&w);
    jw_key(&w, "format");
    jw_str(&w, "gpulocw-preset");
    jw_key(&w, "version");
    jw_int(&w, 1);
    jw_key(&w, "name");
    jw_str(&w, p->name);
    jw_key(&w, "title");
    jw_str(&w, p->title);
    jw_key(&w, "comment");
    jw_str(&w, comment);
    jw_key(&w, "fields");
    jw_obj(&w);
    for (size_t i = 0; i < sim_preset_field_count(); i++) {
        const struct sim_preset_field *f = sim_preset_field(i);
        const char *at = (const char *)p + f->offset;
        jw_key(&w, f->name);
        if (f->integer)
            jw_int(&w, *(const int64_t *)(const void *)at);
        else
            jw_num(&w, *(const double *)(const void *)at);
    }
    jw_end_obj(&w);
    jw_end_obj(&w);
    buf_puts(&b, "\n");
    enum status s = b.oom ? ST_NOMEM : file_write_atomic(path, b.s, b.n, ds);
    buf_free(&b);
    return s;
}
