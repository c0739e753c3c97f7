/* What a proof says, for people and programs. */
#include "engine/tune/proof.h"

static void full_text(const struct tune_proof *p, struct buf *out)
{
    buf_printf(out, "%s (full: %u orders, %u data set%s%s",
               tune_proof_proven(p) ? "proven" : "equal on what was tried", p->orders, p->data_sets,
               p->data_sets == 1 ? "" : "s",
               p->uniform_checked ? "" : "; .uni not checked, the original does not keep it");
    for (uint32_t k = 0; k < p->unseen && k < TUNE_UNSEEN; k++)
        buf_printf(out, "%s%s", k ? ", " : "; not seen: ", p->not_seen[k]);
    if (p->unseen > TUNE_UNSEEN)
        buf_printf(out, " and %u more", p->unseen - TUNE_UNSEEN);
    buf_puts(out, ")");
}

static void text_of(const struct tune_proof *p, struct buf *out)
{
    const char *level = p->level == TUNE_FULL ? "full" : "quick";
    if (p->verdict == PROOF_BROKEN)
        buf_printf(out, "DIFFERENT (%s): %s", level, p->message);
    else if (p->verdict == PROOF_NONE)
        buf_printf(out, "not proven: %s", p->message);
    else if (p->level == TUNE_QUICK)
        buf_printf(out, "equal (quick)");
    else
        full_text(p, out);
}

void tune_proof_text(const struct tune_proof *p, struct buf *out)
{
    text_of(p, out);
    if (p->device[0])
        buf_printf(out, ", on %s (simulated)", p->device);
    for (unsigned i = 0; i < p->nleft_out && i < TUNE_LEFT_OUT; i++)
        buf_printf(out, "%s%s", i ? ", " : "; not compared: ", p->left_out[i]);
}
