/* Shared memory in the analysis document: which words a request asks of which bank, and other layouts.
 */
#include "engine/analysis/banks.h"
#include "engine/base/base.h"
#include "engine/session/json_write.h"
#include "engine/session/session_int.h"

static void put_words(struct jw *w, const struct ana_banks *b)
{
    uint16_t word[32];
    jw_key(w, "banks");
    jw_arr(w);
    for (unsigned k = 0; k < BANKS_N; k++) {
        unsigned n = banks_words(b, k, word);
        jw_arr(w);
        for (unsigned i = 0; i < n; i++)
            jw_int(w, word[i]);
        jw_end_arr(w);
    }
    jw_end_arr(w);
}

void json_banks(struct jw *w, const struct ana_banks *b)
{
    int32_t stride = banks_stride(b);
    jw_key(w, "worst_request");
    if (!b->lanes) {
        jw_null(w);
        return;
    }
    jw_obj(w);
    jw_key(w, "passes");
    jw_int(w, b->passes);
    jw_key(w, "least_passes");
    jw_int(w, b->ideal);
    jw_key(w, "stride_words");
    if (stride == INT32_MIN)
        jw_null(w);
    else
        jw_int(w, stride);
    put_words(w, b);
    jw_end_obj(w);
}

void json_banks_cure(struct jw *w, const struct ana_kernel *k)
{
    struct banks_cure c = banks_cure_of(k);
    jw_key(w, "shared_layout");
    if (!(c.now > 0)) {
        jw_null(w);
        return;
    }
    jw_obj(w);
    jw_key(w, "passes_per_request");
    jw_num(w, c.now);
    jw_key(w, "swizzled");
    jw_num(w, c.swizzled);
    jw_key(w, "padded");
    jw_arr(w);
    for (unsigned i = 0; i < c.nrows; i++) {
        jw_obj(w);
        jw_key(w, "row");
        jw_int(w, c.row[i]);
        jw_key(w, "passes_per_request");
        jw_num(w, c.padded[i]);
        jw_end_obj(w);
    }
    jw_end_arr(w);
    jw_end_obj(w);
}
