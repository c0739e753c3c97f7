/* check --rewrite OLD NEW: what a rewritten text keeps of its original, by the two texts alone. */
#include "engine/check/check.h"
#include "engine/cmd/cmd_int.h"
#include "engine/invariants/invariants.h"
#include "engine/ptx/ptx.h"
#include "engine/workspace/args.h"

static void put_text(const struct args *a, const struct inv_seen *s, struct buf *out)
{
    buf_printf(out,
               "%s: %u of %u instructions are those of %s, in %u function%s; %u reads and %u effects "
               "compared\n",
               a->file[1], s->followed, s->insts, a->file[0], s->functions, s->functions == 1 ? "" : "s",
               s->uses, s->effects);
    if (s->large)
        buf_printf(out, "%u too large: where their values come from was not checked\n", s->large);
    if (s->broken)
        buf_printf(out, "%u invariant%s broken\n", s->broken, s->broken == 1 ? " is" : "s are");
    else
        buf_puts(out, "every invariant holds\n");
}

static enum status put(struct args *a, const struct inv_seen *s, const struct diags *found)
{
    struct buf out = { 0 };
    if (a->json)
        invariants_json(a->file[0], a->file[1], s, found, &out);
    else
        put_text(a, s, &out);
    enum status st = out.oom ? ST_NOMEM : ST_OK;
    if (st == ST_OK)
        cmd_give(a, &out);
    return st;
}

int cmd_check_rewrite(struct args *a)
{
    struct diags ds = { 0 }, found = { 0 };
    struct ptx_module *m[2] = { NULL, NULL };
    struct inv_seen seen;
    enum status st = ST_OK;
    if (a->nfiles != 2) {
        diag_error(&ds, "usage", "check --rewrite takes two files: the original and the rewritten text");
        return cmd_finish(a, ST_USAGE, &ds);
    }
    for (unsigned k = 0; k < 2 && st == ST_OK; k++)
        st = ptx_parse_file(a->file[k], &m[k], &ds);
    if (st == ST_OK) {
        struct inv_input in = { .old = m[0], .now = m[1], .declared = INV_UNKNOWN };
        st = inv_check(&in, &seen, &found);
        if (st == ST_OK || st == ST_REFUSED) {
            enum status written = put(a, &seen, &found);
            st = written == ST_OK ? st : written;
        }
    }
    diags_move(&ds, &found);
    diags_free(&found);
    ptx_free(m[0]);
    ptx_free(m[1]);
    return cmd_finish(a, st, &ds);
}
