/* cost: memory-access cost of a configuration (paper: schedule, section 5 of the digest). */
#pragma once

/* ---- memory cost (schedule, section 5) ---- */
struct model_cost_in {
    double loads;  /* G: global load transactions after coalescing */
    double m1, m2; /* miss rates 0..1 */
    /* cycles */
    double lat_l1;
    double lat_l2;
    double lat_dram;
    double sectors;        /* sectors asked of L1 */
    double bw_l2, bw_dram; /* bytes per cycle; 0: unknown, no bound */
    double parallelism;    /* transactions in flight on the whole device; 0: 1 */
    double rate_l1;        /* transactions per cycle all L1s take; 0: unknown, no bound */
};
struct model_cost {
    /* the paper's three terms and their sum, cycles */
    double l1;
    double l2;
    double dram;
    double paper;
    /* ours, cycles: the tightest of the four bounds below, or more where a walk says so */
    double extended;
    double latency;    /* cycle */
    double bound_l1;   /* cycle */
    double bound_l2;   /* cycle */
    double bound_dram; /* cycle */
    /* the terms of latency */
    double latency_l1;
    double latency_l2;
    double latency_dram;
};
struct model_cost model_memory_cost(const struct model_cost_in *in);
