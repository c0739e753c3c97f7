/* result_read: what most readers ask of a result; they need not see how it is laid out. */
#pragma once

#include "engine/rec/counters.h"
#include "engine/rec/equality.h"

struct energy;
struct limits;
struct options;
struct result;

#define RESULT_MAX_OUTPUTS 16
/* differ: bytes that are not those of an earlier output whose hash is `other`, the first at byte
 * `first`; 0: not known. */
struct output_hash {
    char name[48];
    uint64_t hash;
    uint64_t other;
    uint64_t differ;
    uint64_t first;
};
/* What was compared where not all outputs were made. */
struct outputs_part {
    uint64_t ctas;      /* that made their outputs */
    uint64_t all_ctas;  /* of the launch; 0: all outputs were made */
    uint64_t bytes;     /* that they made as the original did */
    uint64_t all_bytes; /* of all outputs */
    uint64_t wrong;     /* bytes that they made otherwise */
};
#define RESULT_MAX_LOADS 64
struct load_counts {
    uint32_t line;
    uint64_t requests, sectors, l1_hits /* sectors */;
}; /* the global loads of a line, all warps together */

/* The member of that name (struct result says what it is). */
const struct options *result_options(const struct result *r);
enum status result_status(const struct result *r);
const char *result_message(const struct result *r);
const struct timing *result_time(const struct result *r);
const struct counter *result_counters(const struct result *r); /* [COUNTERS_MOST] */
const struct output_hash *result_outputs(const struct result *r);
const struct outputs_part *result_part(const struct result *r);
uint32_t result_noutputs(const struct result *r);
const struct load_counts *result_loads(const struct result *r);
uint32_t result_nloads(const struct result *r);
const struct limits *result_limits(const struct result *r);
const struct energy *result_energy(const struct result *r);
enum equality result_equal(const struct result *r);
enum equality result_captured(const struct result *r);
uint64_t result_captured_differ(const struct result *r);
void result_captured_set(struct result *r, enum equality captured, uint64_t differ);
uint32_t result_regs(const struct result *r);
const char *result_regs_from(const struct result *r);
uint32_t result_shared_static(const struct result *r);
uint32_t result_local_bytes(const struct result *r);
uint32_t result_ctas_per_sm(const struct result *r);
bool result_sampled(const struct result *r);
uint32_t result_timed_turns(const struct result *r);
uint32_t result_loop_turns(const struct result *r);
bool result_cold(const struct result *r);
unsigned result_guessed(const struct result *r);
int result_voted(const struct result *r);
int result_sample_voted(const struct result *r);
uint32_t result_probe_ctas(const struct result *r);
struct limits *result_limits_set(struct result *r); /* to be filled */
struct outputs_part *result_part_set(struct result *r);
/* Empty; base_free. NULL: out of memory. */
struct result *result_new(void);
struct result *result_list(size_t n); /* so many, likewise */
void result_copy(struct result *to, const struct result *from);
void result_clear(struct result *r); /* empty */
size_t result_bytes(void);           /* that one takes */
/* Result i of a list. */
const struct result *result_at(const struct result *list, size_t i);
struct result *result_slot(struct result *list, size_t i); /* to be filled */
/* NaN: r is NULL, or has none. */
double result_counter(const struct result *r, size_t c);
const struct load_counts *result_load(const struct result *r, uint32_t line); /* NULL: not counted */
