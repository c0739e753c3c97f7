/* A program whose threads load, look up, link, launch and unload at the same time on the fake driver:
 * threads LAUNCHES [THREADS [churn]]. Without churn a thread launches one kernel of its own, and the
 * time of a launch is printed: what is the injected library's is the difference to a run without it. */
#include "tests/live/fake_live.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_THREADS = 16, ROUNDS = 40 };
static int launches = 1000, churn;
static char names[MOST_THREADS][32], texts[MOST_THREADS][128];

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The text through the driver's linker, in a state of its own. */
static void *linked(int k)
{
    static char cubins[MOST_THREADS][FAKE_CUBIN];
    void *out = cubins[k], *m;
    struct {
        void *state;
        int type;
        void *data;
        size_t n;
    } data = { cubins[k], 1, texts[k], strlen(texts[k]) + 1 };
    struct {
        void *state;
        void **cubin;
        size_t *n;
    } end = { cubins[k], &out, NULL };
    fake_other(382, &data);
    fake_cubin(texts[k], cubins[k]);
    fake_other(365, &end);
    fake_load(20, &m, cubins[k]);
    return m;
}

static void *one(void *p)
{
    int k = *(int *)p;
    void *m, *f;
    for (int i = 0; i < (churn ? ROUNDS : 1); i++) {
        if (i % 2)
            m = linked(k);
        else
            fake_load(20, &m, texts[k]);
        fake_get(23, &f, m, names[k]);
        for (int j = 0; j < (churn ? launches / ROUNDS : 100); j++)
            fake_launch(307, f, 2);
        if (churn)
            fake_other(22, &m);
    }
    if (churn)
        return NULL;
    double from = now_ns();
    for (int j = 0; j < launches; j++)
        fake_launch(307, f, 2);
    printf("ns_per_launch %.1f\n", (now_ns() - from) / launches);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[MOST_THREADS];
    int number[MOST_THREADS], n = argc > 2 ? atoi(argv[2]) : 1;
    launches = argc > 1 ? atoi(argv[1]) : launches;
    churn = argc > 3;
    n = n < 1 || n > MOST_THREADS ? 1 : n;
    cuInit(0);
    for (int k = 0; k < n; k++) {
        number[k] = k;
        snprintf(names[k], sizeof names[k], "kernel_%d", k);
        snprintf(texts[k], sizeof texts[k],
                 ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry %s() { ret; }",
                 names[k]);
        pthread_create(&thread[k], NULL, one, &number[k]);
    }
    for (int k = 0; k < n; k++)
        pthread_join(thread[k], NULL);
    return 0;
}
