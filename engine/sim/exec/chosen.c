/* Groups of `every` CTAs one after the other, the last one shorter; one CTA of each group is chosen. */
#include "engine/sim/exec/chosen.h"

static uint64_t groups(struct sim_chosen c, uint64_t n)
{
    return n / c.every + (n % c.every != 0);
}

/* Of group g: the last CTA of the last group, where bounds are; else one that the group's number draws. */
static uint64_t chosen_of(struct sim_chosen c, uint64_t n, uint64_t g)
{
    return g + 1 == groups(c, n) ? n - 1 : g * c.every + base_splitmix(g, 0) % c.every;
}

uint64_t exec_chosen_count(struct sim_chosen c, uint64_t n)
{
    if (!c.every)
        return n;
    return c.rest ? n - groups(c, n) : groups(c, n);
}

uint64_t exec_chosen_at(struct sim_chosen c, uint64_t n, uint64_t i)
{
    if (!c.every)
        return i;
    if (!c.rest)
        return chosen_of(c, n, i);
    uint64_t g = i / (c.every - 1), at = g * c.every + i % (c.every - 1);
    return at < chosen_of(c, n, g) ? at : at + 1;
}
