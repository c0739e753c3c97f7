/* Times of the kernels of apply's launches, as CUPTI tells them, and its lines of the record. */
#include "engine/dev/inject/apply.h"
#include "engine/dev/inject/launched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void keep_sample(struct samples *s, uint64_t ns)
{
    if (!s->ns)
        s->ns = malloc(MOST_SAMPLES * sizeof *s->ns);
    if (!s->ns)
        return;
    uint64_t at = s->n++;
    if (at >= MOST_SAMPLES) {
        at = (s->n * 0x9E3779B97F4A7C15u >> 11) % s->n;
        if (at >= MOST_SAMPLES)
            return;
    }
    s->ns[at] = ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
}

/* A kernel's record, of a launch that was seen, or of a graph's replay. S.lock is held. */
void apply_ran(uint32_t correlation, const char *name, uint64_t start, uint64_t end)
{
    if (!A.ntargets || end <= start)
        return;
    pthread_mutex_lock(&A.lock);
    A.first = !A.first || start < A.first ? start : A.first;
    A.last = end > A.last ? end : A.last;
    unsigned at = correlation % MOST_ARMS;
    int image;
    bool seen = launched_image(correlation, &image);
    if (A.call[at].correlation == correlation && A.call[at].target >= 0) {
        struct target *t = &A.target[A.call[at].target];
        keep_sample(&t->arm[A.call[at].arm], end - start);
        if (A.call[at].steady)
            keep_sample(&t->steady[A.call[at].arm == ARM_TUNED], end - start);
    } else if (!seen) {
        for (int i = 0; i < A.ntargets; i++)
            if (strcmp(A.target[i].name, name) == 0) {
                struct target *t = &A.target[i];
                if (A.mode == LIVE_APPLY_NONE)
                    keep_sample(&t->arm[ARM_ORIGINAL], end - start);
                else if (t->captured && !t->captured_original)
                    keep_sample(&t->replayed, end - start);
                break;
            }
    }
    pthread_mutex_unlock(&A.lock);
}

/* ---- the record ---- */
static void put_samples(int f, int target, int arm, const struct samples *s)
{
    if (!s->n)
        return;
    dprintf(f, "AS %d %d %llu", target, arm, (unsigned long long)s->n);
    for (uint64_t i = 0; i < s->n && i < MOST_SAMPLES; i++)
        dprintf(f, " %u", s->ns[i]);
    dprintf(f, "\n");
}

void apply_put(int f)
{
    pthread_mutex_lock(&A.lock);
    for (int i = 0; i < A.ntargets; i++) {
        const struct target *t = &A.target[i];
        dprintf(f, "AT %d %llu %llu %llu %u %u %llu %llu\n", i, (unsigned long long)t->launches,
                (unsigned long long)t->applied, (unsigned long long)t->captured, t->verified,
                t->differed, (unsigned long long)t->load_ns, (unsigned long long)t->enter_ns);
        for (int w = 0; w < LIVE_APPLY_NWHY; w++)
            if (t->skipped[w])
                dprintf(f, "AW %d %d %llu\n", i, w, (unsigned long long)t->skipped[w]);
        for (int a = 0; a < NARMS; a++)
            put_samples(f, i, a, &t->arm[a]);
        put_samples(f, i, NARMS, &t->replayed);
        put_samples(f, i, NARMS + 1, &t->steady[0]);
        put_samples(f, i, NARMS + 2, &t->steady[1]);
    }
    if (A.ntargets)
        dprintf(f, "AP %llu %llu\n", (unsigned long long)A.first, (unsigned long long)A.last);
    pthread_mutex_unlock(&A.lock);
}
