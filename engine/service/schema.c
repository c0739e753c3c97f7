/* JSON schemas of the tools, made from args.def and the knobs' table. */
#include "engine/base/base.h"
#include "engine/rec/knobs.h"
#include "engine/service/service_int.h"
#include "engine/workspace/args.h"

#include <string.h>

static void put_text(struct jw *w, const char *key, const char *text)
{
    jw_key(w, key);
    jw_str(w, text);
}

/* {"type": type, "description": help} with what `more` adds */
static void put_member(struct jw *w, const char *name, const char *type, const char *help)
{
    jw_key(w, name);
    jw_obj(w);
    put_text(w, "type", type);
    put_text(w, "description", help);
    jw_end_obj(w);
}

static void put_file(struct jw *w, const struct tool *t)
{
    bool session = strcmp(t->command, "report") == 0;
    if (session) {
        put_member(w, "file", "string", "path of a session file");
        return;
    }
    put_member(w, "file", "string", "path of the PTX file, or leave it out and give ptx");
    put_member(w, "ptx", "string", "the PTX text itself");
}

static const char *argument_type(const struct arg_row *r)
{
    switch (r->kind) {
    case ARGK_FLAG: return "boolean";
    case ARGK_INT: return "integer";
    case ARGK_NUM: return "number";
    case ARGK_TEXT:
    case ARGK_LIST: break;
    }
    return "string";
}

static void put_types(struct jw *w, const char *one, const char *other)
{
    jw_key(w, "type");
    jw_arr(w);
    jw_str(w, one);
    jw_str(w, other);
    jw_end_arr(w);
}

static void put_launch_member(struct jw *w, const struct arg_row *r)
{
    jw_key(w, r->name);
    jw_obj(w);
    put_types(w, "string", "object");
    put_text(
        w, "description",
        "path of the launch description, or the description itself (default: FILE.launch.json beside "
        "the PTX file)");
    jw_end_obj(w);
}

static void put_arguments(struct jw *w, const struct tool *t)
{
    for (size_t i = 0; i < arg_count(); i++) {
        const struct arg_row *r = arg_at(i);
        if (!tool_takes(t, r->name))
            continue;
        if (strcmp(r->name, "launch") == 0)
            put_launch_member(w, r);
        else
            put_member(w, r->name, argument_type(r), r->help);
    }
}

static void put_choices(struct jw *w, const struct knob_info *k)
{
    jw_key(w, "enum");
    jw_arr(w);
    for (size_t i = 0; k->values[i]; i++)
        jw_str(w, k->values[i]);
    jw_end_arr(w);
}

static void put_knob(struct jw *w, const struct knob_info *k)
{
    jw_key(w, k->name);
    jw_obj(w);
    if (k->kind == KNOB_KIND_TEXT)
        put_types(w, "string", "integer");
    else
        put_text(w, "type",
                 k->kind == KNOB_KIND_INT    ? "integer"
                 : k->kind == KNOB_KIND_FLAG ? "boolean"
                                             : "string");
    if (k->kind == KNOB_KIND_ENUM)
        put_choices(w, k);
    if (k->kind == KNOB_KIND_INT) {
        jw_key(w, "minimum");
        jw_int(w, k->min);
        jw_key(w, "maximum");
        jw_int(w, k->max);
    }
    struct buf help = { 0 };
    buf_printf(&help, "%s%s%s", k->help, k->kind == KNOB_KIND_TEXT ? ": " : "",
               k->kind == KNOB_KIND_TEXT ? k->form : "");
    put_text(w, "description", help.s ? help.s : k->help);
    buf_free_checked(&help, w->out);
    jw_end_obj(w);
}

void tool_schema(const struct tool *t, struct buf *out)
{
    struct jw w = jw_open(out, 0);
    jw_obj(&w);
    put_text(&w, "type", "object");
    jw_key(&w, "properties");
    jw_obj(&w);
    if (tool_takes(t, "file"))
        put_file(&w, t);
    put_arguments(&w, t);
    for (size_t i = 0; t->knobs && i < knob_count(); i++)
        put_knob(&w, knob_info(i));
    jw_end_obj(&w);
    if (strcmp(t->command, "report") == 0) {
        jw_key(&w, "required");
        jw_arr(&w);
        jw_str(&w, "file");
        jw_end_arr(&w);
    }
    jw_key(&w, "additionalProperties");
    jw_bool(&w, false);
    jw_end_obj(&w);
}

void tool_answer_schema(struct buf *out)
{
    struct jw w = jw_open(out, 0);
    jw_obj(&w);
    put_text(&w, "type", "object");
    jw_key(&w, "properties");
    jw_obj(&w);
    put_member(
        &w, "exit", "integer",
        "exit code: 0 done, 1 bad input, 2 wrong usage, 3 refused as not legal, 4 device trouble, 5 "
        "results differ from the original's, 130 interrupted");
    put_member(&w, "diagnostics", "array",
               "errors, warnings and notes with file, line and what to do next");
    put_member(&w, "summary", "object", "what matters of the document");
    put_member(&w, "text", "string", "the beginning of a document that is text");
    put_member(&w, "document", "string", "URI of the whole document, for resources/read");
    put_member(&w, "bytes", "integer", "size of the whole document");
    jw_end_obj(&w);
    jw_key(&w, "required");
    jw_arr(&w);
    jw_str(&w, "exit");
    jw_str(&w, "diagnostics");
    jw_end_arr(&w);
    jw_end_obj(&w);
}

static void put_tool(const struct tool *t, struct buf *out)
{
    buf_puts(out, "{\"name\":");
    buf_json(out, str_of(t->name));
    buf_puts(out, ",\"title\":");
    buf_json(out, str_of(t->title));
    buf_puts(out, ",\"description\":");
    buf_json(out, str_of(t->help));
    buf_puts(out, ",\"inputSchema\":");
    tool_schema(t, out);
    buf_puts(out, ",\"outputSchema\":");
    tool_answer_schema(out);
    buf_printf(out,
               ",\"annotations\":{\"readOnlyHint\":%s,\"destructiveHint\":false,"
               "\"idempotentHint\":true,\"openWorldHint\":false}}",
               tool_takes(t, "output") ? "false" : "true");
}

void service_tools(struct buf *out)
{
    buf_puts(out, "[");
    for (size_t i = 0; i < tool_count(); i++) {
        buf_puts(out, i ? "," : "");
        put_tool(tool_at(i), out);
    }
    buf_puts(out, "]");
}
