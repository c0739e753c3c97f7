/* preset_fields: what each field of a preset is, and who says so. */
#include "engine/session/preset_fields.h"

#include "engine/session/document.h"
#include "engine/session/preset.h"
#include "engine/session/session_int.h"

#include <string.h>

/* The field of the file, or NULL: it does not hold it. */
static const char *source_in(const cJSON *fields, const char *name, bool *given)
{
    const cJSON *f = fields ? json_get(fields, name) : NULL;
    const char *source = cJSON_IsObject(f) ? json_text(f, "source") : NULL;
    *given = f != NULL;
    return source ? source : *given ? "the file names none" : NULL;
}

static enum status take_sources(const cJSON *tree, struct preset_fields *out)
{
    const cJSON *fields = json_get(tree, "fields");
    for (size_t i = 0; i < sim_preset_field_count(); i++) {
        const char *untold;
        const char *source = source_in(fields, sim_preset_field(i)->name, &out->given[i]);
        sim_preset_field_default(i, out->p.cc_major, out->p.cc_minor, &untold);
        struct buf b = { 0 };
        if (!source)
            buf_puts(&b, "default: ");
        buf_puts(&b, source ? source : untold);
        out->source[i] = b.s;
        if (b.oom)
            return ST_NOMEM;
    }
    return ST_OK;
}

enum status preset_fields_read(const char *name_or_path, struct preset_fields *out, struct diags *ds)
{
    cJSON *tree = NULL;
    *out = (struct preset_fields){ .given = { false } };
    enum status st = preset_read(NULL, name_or_path, &out->p, ds);
    if (st == ST_OK)
        st = preset_tree(name_or_path, &tree, ds);
    if (st == ST_OK)
        st = take_sources(tree, out);
    cJSON_Delete(tree);
    if (st != ST_OK)
        preset_fields_free(out);
    return st;
}

void preset_fields_free(struct preset_fields *f)
{
    for (size_t i = 0; i < SIM_PRESET_FIELDS; i++)
        base_free(f->source[i]);
    *f = (struct preset_fields){ .given = { false } };
}

static void put_field(struct jw *w, const struct preset_fields *f, size_t i)
{
    const struct sim_preset_field *row = sim_preset_field(i);
    double v = sim_preset_value(&f->p, row);
    jw_put_obj(w, row->name);
    jw_key(w, "value");
    if (row->integer)
        jw_int(w, (int64_t)v);
    else
        jw_num(w, v);
    jw_put_str(w, "unit", row->unit);
    jw_put_bool(w, "given", f->given[i]);
    jw_put_str(w, "source", f->source[i]);
    jw_end_obj(w);
}

void json_preset_fields(const struct preset_fields *f, struct buf *out)
{
    struct jw w = document_open(out, "gpulocw-preset", 2);
    jw_put_str(&w, "name", f->p.name);
    jw_put_str(&w, "title", f->p.title);
    jw_put_obj(&w, "fields");
    for (size_t i = 0; i < sim_preset_field_count(); i++)
        put_field(&w, f, i);
    jw_end_obj(&w);
    document_close(&w);
}
