/* notice: see notice.h. */
#include "tui/app/notice.h"

#include "engine/base/name.h"
#include "tui/app/app.h"
#include "tui/app/page.h"

#include <stdio.h>
#include <string.h>

#define NOTICE_NS (6LL * 1000000000)

static void remember(struct app *a, enum diag_level level)
{
    if (a->nsaid == SAID_MAX)
        memmove(a->said, a->said + 1, sizeof a->said[0] * --a->nsaid);
    struct remark *r = &a->said[a->nsaid++];
    *r = (struct remark){ .level = level, .time_ns = a->now_ns };
    memcpy(r->text, a->notice, sizeof r->text);
}

void notice_until(struct app *a, enum diag_level level)
{
    a->notice_level = level;
    a->notice_until = a->now_ns + NOTICE_NS * (level == DIAG_ERROR ? 3 : 1);
}

void app_notice(struct app *a, enum diag_level level, const char *fmt, ...)
{
    struct buf b = { 0 };
    va_list ap;
    va_start(ap, fmt);
    view_print(a, &b, fmt, ap);
    va_end(ap);
    snprintf(a->notice, sizeof a->notice, "%s", b.s ? b.s : "");
    buf_free(&b);
    notice_until(a, level);
    if (level != DIAG_NOTE)
        remember(a, level);
}

void app_notice_diags(struct app *a, struct diags *ds)
{
    const struct diag *pick = NULL;
    for (size_t i = 0; i < ds->n; i++)
        if (!pick || ds->v[i].level > pick->level)
            pick = &ds->v[i];
    if (pick && pick->file && pick->at.line)
        app_notice(a, pick->level, "%s:%u:%u: %s", pick->file, pick->at.line, pick->at.col, pick->msg);
    else if (pick)
        app_notice(a, pick->level, "%s%s%s%s%s", pick->file ? base_file_name(pick->file) : "",
                   pick->file ? ": " : "", pick->msg, pick->hint ? ": " : "",
                   pick->hint ? pick->hint : "");
    diags_free(ds);
}
