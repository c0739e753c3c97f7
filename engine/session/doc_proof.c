/* A proof as JSON: a member of documents and sessions. */
#include "engine/base/base.h"
#include "engine/session/session.h"
#include "engine/session/session_int.h"
#include "engine/tune/tune.h"

#include <stdio.h>

static const char *const levels[] = { "quick", "full", NULL };
static const char *const verdicts[] = { "not-proven", "holds", "broken", NULL };
static const struct field proof_fields[] = {
    FIELD_E(tune_proof, "level", level, levels),
    FIELD_E(tune_proof, "verdict", verdict, verdicts),
    FIELD(tune_proof, FIELD_TEXT, "message", message),
    FIELD(tune_proof, FIELD_TEXT, "device", device),
    FIELD(tune_proof, FIELD_U32, "orders", orders),
    FIELD(tune_proof, FIELD_U32, "data_sets", data_sets),
    FIELD(tune_proof, FIELD_U32, "buffers", buffers),
    FIELD(tune_proof, FIELD_BOOL, "nc_snapshot", nc_snapshot),
    FIELD(tune_proof, FIELD_BOOL, "uniform_checked", uniform_checked),
    FIELD(tune_proof, FIELD_BOOL, "poisoned", poisoned),
    FIELD(tune_proof, FIELD_U32, "unseen", unseen),
};

static void put_body(struct jw *w, const struct tune_proof *p)
{
    struct buf text = { 0 };
    tune_proof_text(p, &text);
    jw_obj(w);
    fields_write(w, proof_fields, ARRAY_LEN(proof_fields), p);
    jw_key(w, "holds");
    jw_bool(w, p->verdict == PROOF_HOLDS);
    jw_key(w, "not_compared");
    jw_arr(w);
    for (unsigned i = 0; i < p->nleft_out && i < TUNE_LEFT_OUT; i++)
        jw_str(w, p->left_out[i]);
    jw_end_arr(w);
    jw_key(w, "proven");
    jw_bool(w, tune_proof_proven(p));
    jw_key(w, "not_seen");
    jw_arr(w);
    for (unsigned i = 0; i < p->unseen && i < TUNE_UNSEEN; i++)
        jw_str(w, p->not_seen[i]);
    jw_end_arr(w);
    jw_key(w, "text");
    jw_str(w, text.s ? text.s : "");
    jw_end_obj(w);
    buf_free_checked(&text, w->out);
}

void put_proof(struct jw *w, const struct tune_proof *p)
{
    if (!p || !tune_proof_said(p))
        return;
    jw_key(w, "proof");
    put_body(w, p);
}

void json_proof(const struct tune_proof *p, struct buf *out)
{
    struct jw w = jw_open(out, 0);
    put_body(&w, p);
}

enum status get_proof(const cJSON *o, struct tune_proof *p, struct diags *ds)
{
    const cJSON *name;
    *p = (struct tune_proof){ .verdict = PROOF_NONE };
    if (!cJSON_IsObject(o))
        return ST_OK;
    cJSON_ArrayForEach(name, json_get(o, "not_compared"))
    {
        if (p->nleft_out == TUNE_LEFT_OUT || !cJSON_IsString(name))
            break;
        snprintf(p->left_out[p->nleft_out++], sizeof p->left_out[0], "%s", name->valuestring);
    }
    uint32_t n = 0;
    cJSON_ArrayForEach(name, json_get(o, "not_seen"))
    {
        if (n == TUNE_UNSEEN || !cJSON_IsString(name))
            break;
        snprintf(p->not_seen[n++], sizeof p->not_seen[0], "%s", name->valuestring);
    }
    return fields_read(o, proof_fields, ARRAY_LEN(proof_fields), p, "proof", ds);
}
