/* A proof as JSON: a member of documents and sessions. */
#include "engine/session/documents.h"
#include "engine/session/session_int.h"
#include "engine/tune/proof.h"

#include <stdio.h>

void json_proof(struct jw *w, const struct tune_proof *p)
{
    if (!p || !tune_proof_said(p))
        return;
    struct buf text = { 0 };
    tune_proof_text(p, &text);
    jw_put_obj(w, "proof");
    members_write(w, doc_members("proof"), p);
    jw_put_bool(w, "holds", p->verdict == PROOF_HOLDS);
    jw_put_arr(w, "not_compared");
    for (unsigned i = 0; i < p->nleft_out && i < TUNE_LEFT_OUT; i++)
        jw_str(w, p->left_out[i]);
    jw_end_arr(w);
    jw_put_bool(w, "proven", tune_proof_proven(p));
    jw_put_arr(w, "not_seen");
    for (unsigned i = 0; i < p->unseen && i < TUNE_UNSEEN; i++)
        jw_str(w, p->not_seen[i]);
    jw_end_arr(w);
    jw_put_str(w, "text", text.s ? text.s : "");
    jw_end_obj(w);
    buf_free_checked(&text, w->out);
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
    return members_read(o, doc_members("proof"), p, "proof", ds);
}
