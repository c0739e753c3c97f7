/* What a proof says, for people and programs. */
#include "engine/base/base.h"
#include "engine/tune/tune.h"

void tune_proof_text(const struct tune_proof *p, struct buf *out)
{
    const char *level = p->level == TUNE_FULL ? "full" : "quick";
    if (p->verdict == PROOF_BROKEN)
        buf_printf(out, "DIFFERENT (%s): %s", level, p->message);
    else if (p->verdict == PROOF_NONE)
        buf_printf(out, "not proven: %s", p->message);
    else if (p->level == TUNE_QUICK)
        buf_printf(out, "equal (quick)");
    else
        buf_printf(out, "proven (full: %u orders, %u data set%s%s)", p->orders, p->data_sets,
                   p->data_sets == 1 ? "" : "s",
                   p->uniform_checked ? "" : "; .uni not checked, the original does not keep it");
}

static const char *yes(bool b)
{
    return b ? "true" : "false";
}

void tune_proof_json(const struct tune_proof *p, struct buf *out)
{
    static const char *const verdict[] = { "not-proven", "holds", "broken" };
    buf_printf(out,
               "{\"level\": \"%s\", \"verdict\": \"%s\", \"orders\": %u, \"data_sets\": %u, "
               "\"nc_snapshot\": %s, \"uniform_checked\": %s, "
               "\"poisoned\": %s, \"buffers\": %u, \"message\": ",
               p->level == TUNE_FULL ? "full" : "quick", verdict[p->verdict], p->orders, p->data_sets,
               yes(p->nc_snapshot), yes(p->uniform_checked), yes(p->poisoned), p->buffers);
    buf_json(out, str_of(p->message));
    buf_puts(out, "}");
}
