/* What a simulated launch came to: counters, one line each (COUNTER_LIST), and hashes of its outputs. */
#include "engine/dev/dev_int.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/launch_arg.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/result.h"

#include <stdio.h>

static void put_counter(struct result *out, enum counter_id id, double value, bool valid)
{
    out->counters[id] = (struct counter){ value, ORIGIN_SIMULATED, valid };
}

static void put_ratio(struct result *out, enum counter_id id, double scale, uint64_t part,
                      uint64_t whole)
{
    put_counter(out, id, whole ? scale * (double)part / (double)whole : 0, whole != 0);
}

/* Arithmetic, tensor cores, copies. */
static void fill_work(struct result *out, const struct sim_stats *s)
{
    const struct sim_work *w = &s->work;
    double cycles = (double)w->tensor_cores * s->cycles;
    for (unsigned c = 0; c < COUNTER_COUNT; c++)
        if (counter_sums((enum counter_id)c))
            put_counter(out, (enum counter_id)c, (double)w->count[c], true);
    put_ratio(out, COUNTER_L2_WRITE_HIT_RATE, 100, w->write_hits, s->l2_writes);
    put_ratio(out, COUNTER_LOADS_IN_FLIGHT, 1, w->load_cycles, w->loading_cycles);
    put_counter(out, COUNTER_L2_WRITE_SECTORS, (double)s->l2_writes, true);
    put_counter(out, COUNTER_DRAM_WRITE_BYTES, (double)s->dram_write_bytes, true);
    put_counter(out, COUNTER_COPY_REQUESTS, (double)w->copies, true);
    put_counter(out, COUNTER_COPY_READ_SECTORS, (double)w->copy_reads, true);
    put_counter(out, COUNTER_COPY_WRITE_SECTORS, (double)w->copy_writes, true);
    put_ratio(out, COUNTER_COPY_L2_HIT_RATE, 100, w->copy_hits, w->copy_hits + w->copy_missed);
    put_counter(out, COUNTER_TENSOR_ACTIVE, cycles > 0 ? 100 * (double)w->tensor_busy / cycles : 0,
                cycles > 0);
    for (unsigned k = 0; k < PIPE_COUNT; k++)
        put_counter(out, pipe_counter((enum pipe)k), (double)w->flop[k],
                    k < PIPE_TENSOR_16 || w->tensor_cores);
}

static void fill_limits(struct result *out, const struct sim_stats *s)
{
    struct limit_launch l = s->slots;
    double busy = s->clock_mhz > 0 ? s->cycles * 1000 / s->clock_mhz : 0;
    l.overhead = s->time_ns > busy ? 1 - busy / s->time_ns : 0;
    limits_attribute(out, &l, s->spent, s->nspent);
}

static void fill_timed(struct result *out, const struct sim_stats *s)
{
    put_counter(out, COUNTER_L1_REQUESTS, (double)s->l1_requests, true);
    put_counter(out, COUNTER_L1_SECTORS, (double)s->l1_sectors, true);
    put_ratio(out, COUNTER_L1_SECTORS_PER_REQUEST, 1, s->l1_sectors, s->l1_requests);
    put_ratio(out, COUNTER_L1_HIT_RATE, 100, s->l1_hits, s->l1_sectors);
    put_counter(out, COUNTER_L2_READ_SECTORS, (double)s->l2_reads, true);
    put_ratio(out, COUNTER_L2_HIT_RATE, 100, s->l2_hits, s->l2_hits + s->l2_missed);
    put_counter(out, COUNTER_DRAM_READ_BYTES, (double)s->dram_read_bytes, true);
    put_counter(out, COUNTER_WARPS_ACTIVE, s->warps_active, true);
    fill_work(out, s);
    out->time.sample[0] = (int64_t)(s->time_ns + 0.5);
    out->time.n = 1;
    out->time.origin = ORIGIN_SIMULATED;
    out->time.valid = true;
    timing_finish(&out->time);
    out->sampled = s->sampled;
    out->timed_turns = (uint32_t)s->timed_turns;
    out->loop_turns = (uint32_t)s->turns;
    fill_limits(out, s);
    for (uint32_t i = 0; i < s->nloads; i++)
        if (s->loads[i].sectors)
            result_add_load(out, (struct load_counts){ s->loads[i].line, s->loads[i].requests,
                                                       s->loads[i].sectors, s->loads[i].l1_hits });
}

void dev_sim_counters(struct result *out, const struct sim_stats *s, bool timed)
{
    put_counter(out, COUNTER_INST_WARP, (double)s->inst_warp, s->inst_warp != 0);
    put_counter(out, COUNTER_INST_THREAD, (double)s->inst_thread, s->inst_thread != 0);
    out->ctas_per_sm = s->ctas_per_sm;
    if (timed)
        fill_timed(out, s);
}

void dev_sim_code(struct result *out, const struct dev_resources *r)
{
    enum origin by = r->estimated ? ORIGIN_MODELLED : ORIGIN_COMPILED;
    out->regs = r->regs;
    snprintf(out->regs_from, sizeof out->regs_from, "%s", r->regs_from);
    out->counters[COUNTER_REGS_PER_THREAD] = (struct counter){ r->regs, by, r->regs > 0 };
    out->counters[COUNTER_REGS_SPILL_BYTES] = (struct counter){ r->spilled, by, true };
    out->shared_static = r->shared_static;
    out->local_bytes = r->local_bytes;
}

void dev_sim_outputs(struct result *out, const struct launch_spec *l, const struct dev_bound *b,
                     struct sim_mem *mem)
{
    for (size_t i = 0; i < launch_nargs(l); i++) {
        size_t k = b->main_use[i].buffer;
        if (!launch_arg(l, i)->output || k == SIZE_MAX)
            continue;
        const uint8_t *bytes = sim_mem_host(mem, b->buffers[k].addr, b->buffers[k].bytes);
        if (bytes)
            dev_result_output(out, launch_arg(l, i)->name, bytes, b->buffers[k].bytes);
    }
}
