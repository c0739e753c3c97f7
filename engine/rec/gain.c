/* What a time rests on, and what one gains over another. */
#include "engine/rec/gain.h"

#include "engine/rec/result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *evidence_name(enum evidence e)
{
    static const char *const name[] = { [EVIDENCE_MODELLED] = "modelled",
                                        [EVIDENCE_SAMPLED] = "sampled",
                                        [EVIDENCE_WHOLE] = "whole",
                                        [EVIDENCE_MEASURED] = "measured" };
    return name[e];
}

const char *evidence_words(enum evidence e)
{
    return e == EVIDENCE_SAMPLED ? "simulated, sampled"
           : e == EVIDENCE_WHOLE ? "simulated, whole"
                                 : evidence_name(e);
}

enum evidence evidence_of(const struct result *r)
{
    switch (r->time.origin) {
    case ORIGIN_MEASURED: return EVIDENCE_MEASURED;
    case ORIGIN_MODELLED: return EVIDENCE_MODELLED;
    default: return r->sampled ? EVIDENCE_SAMPLED : EVIDENCE_WHOLE;
    }
}

static bool ran(const struct result *r)
{
    return r && r->status == ST_OK && r->time.valid && r->equal != EQUAL_NO;
}

bool gain_same_registers(const char *was, const char *now)
{
    return !*was || !*now || !strcmp(was, now);
}

double gain_between(double was, double now)
{
    return was > 0 && now > 0 ? was / now : (double)NAN;
}

static bool alike(const struct result *was, const struct result *now)
{
    return evidence_of(was) == evidence_of(now) && was->cold == now->cold &&
           gain_same_registers(was->regs_from, now->regs_from);
}

double gain_of(const struct result *was, const struct result *now)
{
    return ran(was) && ran(now) && alike(was, now)
               ? gain_between((double)was->time.median, (double)now->time.median)
               : (double)NAN;
}

const struct result *gain_lacks(const struct result *was, const struct result *now)
{
    if (!ran(was) || !ran(now))
        return NULL;
    enum evidence a = evidence_of(was), b = evidence_of(now);
    return a == EVIDENCE_SAMPLED && b == EVIDENCE_WHOLE   ? was
           : a == EVIDENCE_WHOLE && b == EVIDENCE_SAMPLED ? now
                                                          : NULL;
}

struct gain_words gain_words(double gain)
{
    struct gain_words w = { "n/a" };
    if (!isnan(gain))
        snprintf(w.s, sizeof w.s, "%.2fx", gain);
    return w;
}
