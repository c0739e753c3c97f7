/* Filling results: what is the caller's stays, failures carry their reason. */
#include "engine/dev/dev_int.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/result.h"

#include <stdio.h>

struct dev_run dev_run_default(void)
{
    return (struct dev_run){
        .carveout = -1,
        .hw_pi = -1,
        .repeat = 5,
        .max_repeat = 20,
        .spread = 0.03,
        .counters = true,
        .seed = 1,
    };
}

void dev_result_begin(struct result *out)
{
    struct result fresh = result_empty();
    fresh.options = out->options;
    fresh.equal = out->equal;
    fresh.voted = out->voted;
    fresh.sample_voted = out->sample_voted;
    *out = fresh;
}

void dev_result_fail(struct result *out, enum status st, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(out->message, sizeof out->message, fmt, ap);
    va_end(ap);
    out->status = st;
    out->time.valid = false;
    for (int i = 0; i < COUNTER_COUNT; i++)
        out->counters[i].valid = false;
}

void dev_result_no_energy(struct result *out, const char *why)
{
    if (!energy_asked(&out->energy))
        snprintf(out->energy.why, sizeof out->energy.why, "%s", why);
}

void dev_result_from_diags(struct result *out, enum status st, const struct diags *ds)
{
    const char *msg = status_text(st);
    for (size_t i = ds ? ds->n : 0; i-- > 0;)
        if (ds->v[i].level == DIAG_ERROR && ds->v[i].msg)
            msg = ds->v[i].msg;
    dev_result_fail(out, st, "%s", msg);
}

void dev_result_hash(struct result *out, const char *name, const struct output_hash *h)
{
    if (out->noutputs == RESULT_MAX_OUTPUTS)
        return;
    struct output_hash *to = &out->outputs[out->noutputs++];
    *to = *h;
    snprintf(to->name, sizeof to->name, "%s", name ? name : "");
}

void dev_result_output(struct result *out, const char *name, const void *bytes, uint64_t n)
{
    struct output_hash h = { .hash = base_hash(bytes, (size_t)n) };
    dev_result_hash(out, name, &h);
}
