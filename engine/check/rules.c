/* The rules, and the file that changes them. */
#include "engine/check/check.h"
#include "engine/session/json.h"

#include <math.h>
#include <string.h>

static const struct rule rules[] = {
#define RULE(id, name, level, limit, unit, fault, title, page, help) \
    { name, level, limit, unit, fault, title, page, help },
#include "engine/check/rules.def"
#undef RULE
};
const char *const rule_level_names[] = { "off", "note", "warning", "error", NULL };

const struct rule *rule_at(enum rule_id id)
{
    return &rules[id];
}

struct rules rules_default(void)
{
    struct rules r;
    for (size_t i = 0; i < RULE_COUNT; i++) {
        r.level[i] = rules[i].level;
        r.limit[i] = rules[i].limit;
    }
    return r;
}

static enum status wrong(const char *path, const cJSON *at, struct diags *ds, const char *fmt,
                         const char *what)
{
    struct diag *d = diag_add(ds, DIAG_ERROR, "rules", path, at ? json_place(at) : NO_SPAN, fmt, what);
    diag_hint(d, "docs/reference/check.md lists rules, levels and limits");
    return ST_INPUT;
}

static int level_named(const char *name)
{
    for (int i = 0; name && rule_level_names[i]; i++)
        if (strcmp(name, rule_level_names[i]) == 0)
            return i;
    return -1;
}

static enum status read_rule(const char *path, const cJSON *o, size_t i, struct rules *r,
                             struct diags *ds)
{
    const cJSON *v;
    if (!cJSON_IsObject(o))
        return wrong(path, o, ds, "rule '%s' must be {\"level\": LEVEL, \"limit\": NUMBER}",
                     rules[i].name);
    cJSON_ArrayForEach(v, o)
    {
        int level =
            strcmp(v->string, "level") == 0 && cJSON_IsString(v) ? level_named(v->valuestring) : -1;
        bool limit = strcmp(v->string, "limit") == 0 && cJSON_IsNumber(v) && v->valuedouble >= 0 &&
                     !isnan(rules[i].limit);
        if (level < 0 && !limit)
            return wrong(path, o, ds, "unknown key '%s', or a value that is not valid for it",
                         v->string);
        if (limit)
            r->limit[i] = v->valuedouble;
        else
            r->level[i] = (enum rule_level)level;
    }
    return ST_OK;
}

static size_t rule_named(const char *name)
{
    size_t i = 0;
    while (i < RULE_COUNT && strcmp(rules[i].name, name) != 0)
        i++;
    return i;
}

enum status rules_read(const char *path, struct rules *r, struct diags *ds)
{
    cJSON *o = NULL;
    const cJSON *v;
    enum status st = json_read_placed(path, &o, ds);
    if (st != ST_OK)
        return st;
    const char *format = json_text(o, "format");
    const cJSON *list = json_get(o, "rules");
    if (!format || strcmp(format, "gpulocw-rules") != 0 || !cJSON_IsObject(list))
        st = wrong(path, o, ds,
                   "%s is not a rules file: it needs \"format\": \"gpulocw-rules\" and \"rules\": {...}",
                   path);
    cJSON_ArrayForEach(v, list)
    {
        size_t i = rule_named(v->string);
        if (st == ST_OK)
            st = i < RULE_COUNT ? read_rule(path, v, i, r, ds)
                                : wrong(path, v, ds, "no rule '%s'", v->string);
    }
    cJSON_Delete(o);
    return st;
}
