/* The table of fields, and how people read it. */
#include "engine/session/fields.h"

#include <string.h>

/* A row without a type opens a record. */
static const struct field rows[] = {
#define RECORD(name, what)                 { name, NULL, NULL, NULL, what },
#define FIELD(key, type, unit, when, what) { key, type, unit, when, what },
#include "engine/rec/fields.def"
};

static bool opens(size_t row)
{
    return !rows[row].type;
}

size_t field_record_count(void)
{
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        n += opens(i);
    return n;
}

static struct field_record record_from(size_t row)
{
    struct field_record r = { rows[row].key, rows[row].what, &rows[row + 1], 0 };
    while (row + 1 + r.n < ARRAY_LEN(rows) && !opens(row + 1 + r.n))
        r.n++;
    return r;
}

struct field_record field_record_at(size_t i)
{
    size_t row = 0;
    for (;; row++)
        if (opens(row) && i-- == 0)
            return record_from(row);
}

bool field_record_is_document(const struct field_record *r)
{
    return strncmp(r->name, "gpulocw-", 8) == 0;
}

/* "run" stands for the document that "run --json" prints, "session" for gpulocw-session. */
static bool called(const struct field_record *r, const char *word)
{
    size_t n = strlen(word);
    if (!field_record_is_document(r))
        return false;
    return (strncmp(r->what, word, n) == 0 && strncmp(r->what + n, " --json", 7) == 0) ||
           strcmp(r->name + 8, word) == 0;
}

bool field_record_find(const char *name, struct field_record *r)
{
    for (int short_name = 0; short_name < 2; short_name++)
        for (size_t i = 0; i < field_record_count(); i++) {
            *r = field_record_at(i);
            if (short_name ? called(r, name) : strcmp(r->name, name) == 0)
                return true;
        }
    return false;
}

const struct field *field_of(const struct field_record *r, struct str path)
{
    for (size_t i = 0; i < r->n; i++)
        if (str_is(path, r->fields[i].key))
            return &r->fields[i];
    return NULL;
}

bool field_is_always_there(const struct field *f)
{
    return strncmp(f->when, "absent:", 7) != 0;
}

bool field_can_be_null(const struct field *f)
{
    if (field_is_always_there(f))
        return strncmp(f->when, "never", 5) != 0;
    return strstr(f->when, "null:") != NULL;
}

void fields_list(struct buf *out)
{
    for (int document = 1; document >= 0; document--) {
        buf_puts(out, document ? "Documents:\n" : "\nRecords that documents hold:\n");
        for (size_t i = 0; i < field_record_count(); i++) {
            struct field_record r = field_record_at(i);
            if (field_record_is_document(&r) == (document == 1))
                buf_printf(out, "  %-22s %s\n", r.name, r.what);
        }
    }
    buf_puts(
        out,
        "\ngpulocw schema NAME prints the fields of one, gpulocw schema NAME --json its JSON Schema.\n");
}

void field_put_when(const struct field *f, struct buf *out)
{
    if (strncmp(f->when, "never", 5) != 0)
        buf_printf(out, "; %s%s", field_is_always_there(f) ? "null: " : "", f->when);
}

void fields_text(const struct field_record *r, struct buf *out)
{
    buf_printf(out, "%s: %s\n", r->name, r->what);
    for (size_t i = 0; i < r->n; i++) {
        const struct field *f = &r->fields[i];
        buf_printf(out, "\n  %s  %s%s%s", f->key, f->type, *f->unit ? ", " : "", f->unit);
        field_put_when(f, out);
        buf_printf(out, "\n      %s\n", f->what);
    }
}

void fields_md(const struct field_record *r, struct buf *out)
{
    buf_printf(out,
               "## %s\n\n%s\n\n| key | type | unit | null when | meaning |\n|---|---|---|---|---|\n",
               r->name, r->what);
    for (size_t i = 0; i < r->n; i++) {
        const struct field *f = &r->fields[i];
        buf_printf(out, "| `%s` | %s | %s | %s | %s |\n", f->key, f->type, f->unit, f->when, f->what);
    }
}
