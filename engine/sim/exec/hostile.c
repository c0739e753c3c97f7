/* The hostile machine: legal, and as unlike the usual one as the ISA allows.
 *
 *   .nc loads       read what was there when the launch began, whatever has been stored since (9.7.9.8:
 *                   read-only for the kernel)
 *   .uni, .aligned  a warp that comes to them in part is a fault
 *   registers       %smid, %warpid, %gridid and clocks have other values that a GPU could give as well
 *   unwritten       what nobody wrote, in shared and local memory and in registers, is not zero
 *   order           CTAs and warps run in another order */
#include "engine/sim/exec/hostile.h"

#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/slots.h"
#include "engine/sim/mem.h"

#include <string.h>

struct exec_was {
    uint64_t addr;
    uint8_t *bytes;
};

static bool reads_nc(const struct sim_program *p)
{
    for (uint32_t i = 0; i < p->ncode; i++)
        if (p->code[i].policy.nc && !p->code[i].store)
            return true;
    return false;
}

void exec_hostile_begin(struct exec_launch *x)
{
    if (!x->l->functional || !sim_is_hostile(&x->l->hostile))
        return;
    x->hostile = x->l->hostile;
    x->hostile.nc_snapshot = x->hostile.nc_snapshot && reads_nc(x->p);
    x->serial = true;
    x->checks |= x->hostile.nc_snapshot;
}

void exec_hostile_end(struct exec_launch *x)
{
    for (size_t i = 0; i < x->nwas; i++)
        base_free(x->was[i].bytes);
    base_free(x->was);
}

static uint8_t *was_find(const struct exec_launch *x, uint64_t addr)
{
    for (size_t i = 0; i < x->nwas; i++)
        if (x->was[i].addr == addr)
            return x->was[i].bytes;
    return NULL;
}

/* Loads that found the allocation itself are to look again. */
static bool was_keep(struct exec_worker *k, const struct sim_alloc *a)
{
    struct exec_launch *x = k->x;
    uint8_t *bytes =
        base_grow((void **)&x->was, x->nwas, &x->cap_was, sizeof *x->was) ? base_alloc(a->n + 64) : NULL;
    if (!bytes)
        return false;
    memcpy(bytes, a->host, a->n);
    x->was[x->nwas++] = (struct exec_was){ a->addr, bytes };
    for (uint32_t i = 0; i < x->p->nmem; i++)
        if (k->cache[i].addr == a->addr)
            k->cache[i].n = 0;
    return true;
}

uint8_t *exec_was_host(struct exec_worker *k, const struct exec_inst *in, const struct sim_alloc *a,
                       bool writes)
{
    if (!k->x->hostile.nc_snapshot || a->constant)
        return a->host;
    uint8_t *was = was_find(k->x, a->addr);
    if (writes)
        return was || was_keep(k, a) ? a->host : NULL;
    return was && in->policy.nc ? was : a->host;
}

/* A bijection of 0..n: multiplication by a number that has no divisor in common with n. */
static uint64_t shuffled(uint64_t i, uint64_t n, uint64_t seed)
{
    uint64_t step = n > 2 ? n * 5 / 8 + seed % 7 : 1, a, b;
    do {
        step = step % n ? step % n : 1;
        for (a = step, b = n; b;) {
            uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        step += a != 1;
    } while (a != 1);
    return n < UINT32_MAX ? (i * step + seed % n) % n : n - 1 - i;
}

uint64_t exec_hostile_cta(const struct exec_launch *x, uint64_t i)
{
    switch (x->hostile.order) {
    case ORDER_DOWN: return x->nctas - 1 - i;
    case ORDER_SHUFFLED: return shuffled(i, x->nctas, x->hostile.seed);
    default: return i;
    }
}

bool exec_hostile_keeps(const struct exec_launch *x, uint64_t i)
{
    return x->hostile.order == ORDER_SHUFFLED && base_splitmix(x->hostile.seed, i) % 4 == 0;
}

uint32_t exec_hostile_warp(const struct exec_launch *x, uint32_t i, uint32_t n)
{
    return x->hostile.order == ORDER_DOWN       ? n - 1 - i
           : x->hostile.order == ORDER_SHUFFLED ? (uint32_t)shuffled(i, n, x->hostile.seed)
                                                : i;
}

uint32_t exec_hostile_slice(const struct exec_launch *x, uint32_t usual)
{
    return x->hostile.order == ORDER_SHUFFLED ? 61 : x->hostile.order == ORDER_TURNS ? 1 : usual;
}

static bool poisons(const struct exec_launch *x, enum sim_poison what)
{
    return x->hostile.poison >> what & 1;
}

uint64_t exec_hostile_sreg(const struct exec_launch *x, uint16_t sreg, uint64_t v)
{
    const uint64_t seed = x->hostile.seed, sms = x->p->preset.sms > 0 ? (uint64_t)x->p->preset.sms : 1,
                   warps = (uint64_t)x->p->preset.max_warps;
    switch (sreg) {
    case PTX_SREG_SMID: return poisons(x, SIM_POISON_SMID) ? (sms - 1 - v % sms + seed) % sms : v;
    case PTX_SREG_NSMID: return poisons(x, SIM_POISON_NSMID) ? v + 1 + seed : v;
    case PTX_SREG_WARPID: return poisons(x, SIM_POISON_WARPID) && v < warps ? warps - 1 - v : v;
    case PTX_SREG_NWARPID: return poisons(x, SIM_POISON_NWARPID) ? v + 16 : v;
    case PTX_SREG_GRIDID: return poisons(x, SIM_POISON_GRIDID) ? v + 1000 + seed : v;
    case PTX_SREG_CURRENT_GRAPH_EXEC: return poisons(x, SIM_POISON_GRAPH) ? v + 0x1000 * (1 + seed) : v;
    case PTX_SREG_TOTAL_SMEM_SIZE:
    case PTX_SREG_AGGR_SMEM_SIZE: return poisons(x, SIM_POISON_TOTAL_SHARED) ? v + 1024 : v;
    case PTX_SREG_DYNAMIC_SMEM_SIZE: return poisons(x, SIM_POISON_DYNAMIC_SHARED) ? v + 256 : v;
    default:
        return sreg >= PTX_SREG_PM0 && sreg <= PTX_SREG_PM7_64 && poisons(x, SIM_POISON_COUNTER)
                   ? v + 12345 * (1 + seed)
                   : v;
    }
}

uint64_t exec_hostile_clock(const struct exec_launch *x, uint64_t now)
{
    return poisons(x, SIM_POISON_CLOCK) ? now * 3 + 0x123456789abull + x->hostile.seed * 0x10001 : now;
}

bool exec_not_uniform(struct exec_warp *w, const struct exec_inst *in, uint32_t mask, uint32_t all)
{
    if (!w->x->hostile.uniform || mask == all)
        return false;
    exec_fault(w, in, first_lane(mask ^ all), FAULT_UNIFORM,
               "the lanes of the warp diverge at an instruction that requires them together: mask "
               "0x%08x of 0x%08x",
               mask, all);
    return true;
}
