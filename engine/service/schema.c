/* JSON schemas of the tools, made from args.def and the knobs' table. */
#include "engine/rec/knobs.h"
#include "engine/service/service_int.h"
#include "engine/workspace/args.h"

#include <string.h>

#define OPTIONS_TOOL "rewrite" /* whose schema describes the knobs */

/* {"type": type, "description": help} with what `more` adds */
static void put_member(struct jw *w, const char *name, const char *type, const char *help)
{
    jw_put_obj(w, name);
    jw_put_str(w, "type", type);
    jw_put_str(w, "description", help);
    jw_end_obj(w);
}

static void put_file(struct jw *w, const struct tool *t)
{
    put_member(w, "file", "string", tool_help(t, "file"));
    if (tool_has_ptx(t))
        put_member(w, "ptx", "string", tool_help(t, "ptx"));
}

static void put_program(struct jw *w, const struct tool *t)
{
    jw_put_obj(w, TOOL_PROGRAM);
    jw_put_str(w, "type", "array");
    jw_put_obj(w, "items");
    jw_put_str(w, "type", "string");
    jw_end_obj(w);
    jw_put_str(w, "description", tool_help(t, TOOL_PROGRAM));
    jw_end_obj(w);
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
    jw_put_arr(w, "type");
    jw_str(w, one);
    jw_str(w, other);
    jw_end_arr(w);
}

static void put_arguments(struct jw *w, const struct tool *t)
{
    for (size_t i = 0; i < arg_count(); i++) {
        const struct arg_row *r = arg_at(i);
        if (!tool_takes(t, r->name) || r != tool_row(t, r->name))
            continue;
        jw_put_obj(w, r->name);
        if (strcmp(r->name, "launch") == 0)
            put_types(w, "string", "object");
        else
            jw_put_str(w, "type", argument_type(r));
        jw_put_str(w, "description", tool_help(t, r->name));
        jw_end_obj(w);
    }
}

static void put_choices(struct jw *w, const struct knob_info *k)
{
    jw_put_arr(w, "enum");
    for (size_t i = 0; k->values[i]; i++)
        jw_str(w, k->values[i]);
    jw_end_arr(w);
}

static void put_type(struct jw *w, const struct knob_info *k)
{
    if (k->kind != KNOB_KIND_ENUM)
        jw_put_str(w, "type",
                   k->kind == KNOB_KIND_INT    ? "integer"
                   : k->kind == KNOB_KIND_FLAG ? "boolean"
                                               : "string");
}

static void put_knob(struct jw *w, const struct knob_info *k)
{
    jw_put_obj(w, k->name);
    put_type(w, k);
    if (k->kind == KNOB_KIND_ENUM)
        put_choices(w, k);
    if (k->kind == KNOB_KIND_INT) {
        if (k->min)
            jw_put_int(w, "minimum", k->min);
        jw_put_int(w, "maximum", k->max);
    }
    struct buf help = { 0 };
    buf_printf(&help, "%s%s%s", k->help, k->kind == KNOB_KIND_TEXT ? ": " : "",
               k->kind == KNOB_KIND_TEXT ? k->form : "");
    jw_put_str(w, "description", help.s ? help.s : k->help);
    buf_free_checked(&help, w->out);
    jw_end_obj(w);
}

/* The options of a configuration: each knob where they are described, which one tool does for all. */
static void put_options(struct jw *w, const struct tool *t)
{
    bool here = strcmp(t->name, OPTIONS_TOOL) == 0;
    jw_put_obj(w, "options");
    put_types(w, "object", "string");
    jw_put_str(w, "description",
               here ? "the configuration: an object of these knobs, or a line: --bypass l1 --pi 7"
                    : "the configuration, written as for " OPTIONS_TOOL);
    if (here) {
        jw_put_obj(w, "properties");
        for (size_t i = 0; i < knob_count(); i++)
            put_knob(w, knob_info(i));
        jw_end_obj(w);
    }
    jw_end_obj(w);
}

/* Ends a schema: the member that must be there (NULL: none), and no other. */
static void end_schema(struct jw *w, const char *required)
{
    jw_end_obj(w);
    if (required) {
        jw_put_arr(w, "required");
        jw_str(w, required);
        jw_end_arr(w);
    }
    jw_put_bool(w, "additionalProperties", false);
    jw_end_obj(w);
}

static void put_schema(struct jw *w, const struct tool *t)
{
    jw_put_obj(w, "inputSchema");
    jw_put_str(w, "type", "object");
    jw_put_obj(w, "properties");
    if (tool_takes(t, "file"))
        put_file(w, t);
    if (tool_takes(t, TOOL_PROGRAM))
        put_program(w, t);
    put_arguments(w, t);
    if (t->knobs)
        put_options(w, t);
    end_schema(w, tool_takes(t, TOOL_PROGRAM)                 ? TOOL_PROGRAM
                  : tool_takes(t, "file") && !tool_has_ptx(t) ? "file"
                                                              : NULL);
}

/* mcp: without what a client has from the name. */
static void put_tool(const struct tool *t, bool mcp, struct jw *w)
{
    bool runs = tool_takes(t, TOOL_PROGRAM), writes = runs || tool_takes(t, "output");
    jw_obj(w);
    jw_put_str(w, "name", t->name);
    if (!mcp)
        jw_put_str(w, "title", t->title);
    jw_put_str(w, "description", t->help);
    put_schema(w, t);
    jw_put_obj(w, "annotations");
    jw_put_bool(w, "readOnlyHint", !writes);
    if (writes)
        jw_put_bool(w, "destructiveHint", runs); /* a program may do anything */
    jw_end_obj(w);
    jw_end_obj(w);
}

static void put_read_tool(struct jw *w)
{
    jw_obj(w);
    jw_put_str(w, "name", SERVICE_READ);
    jw_put_str(w, "title", "Read a document");
    jw_put_str(w, "description", "The part of a document that an earlier answer left out.");
    jw_put_obj(w, "inputSchema");
    jw_put_str(w, "type", "object");
    jw_put_obj(w, "properties");
    put_member(w, "document", "string", "URI from the answer");
    put_member(w, "path", "string", "part of a JSON document: kernels[0].loads");
    put_member(w, "offset", "integer", "next of an earlier answer");
    end_schema(w, "document");
    jw_put_obj(w, "annotations");
    jw_put_bool(w, "readOnlyHint", true);
    jw_end_obj(w);
    jw_end_obj(w);
}

void service_tools(bool mcp, struct jw *w)
{
    jw_arr(w);
    for (size_t i = 0; i < tool_count(); i++)
        put_tool(tool_at(i), mcp, w);
    if (mcp)
        put_read_tool(w);
    jw_end_arr(w);
}
