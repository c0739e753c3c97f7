/* What a time rests on, and what one gains over another. */
#include "engine/rec/gain.h"

#include "engine/rec/result_read.h"

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
    switch (result_time(r)->origin) {
    case ORIGIN_MEASURED: return EVIDENCE_MEASURED;
    case ORIGIN_MODELLED: return EVIDENCE_MODELLED;
    default: return result_sampled(r) ? EVIDENCE_SAMPLED : EVIDENCE_WHOLE;
    }
}

static bool ran(const struct result *r)
{
    return r && result_status(r) == ST_OK && result_time(r)->valid && result_equal(r) != EQUAL_NO;
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
    return evidence_of(was) == evidence_of(now) && result_cold(was) == result_cold(now) &&
           gain_same_registers(result_regs_from(was), result_regs_from(now));
}

double gain_of(const struct result *was, const struct result *now)
{
    return ran(was) && ran(now) && alike(was, now)
               ? gain_between((double)result_time(was)->median, (double)result_time(now)->median)
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
