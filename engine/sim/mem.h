/* mem: inside of device memory, for the functional half. */
#ifndef GPULOCW_SIM_MEM_H
#define GPULOCW_SIM_MEM_H

#include "engine/sim/exec.h"

struct sim_range { uint64_t off, n; };
struct sim_mem_entry {
    struct sim_alloc a;
    struct sim_range *touched; size_t ntouched, cap;  /* what the host was given pointers to */
    bool all_touched;
    uint8_t *init;               /* bit per byte: written; NULL until sim_mem_track_init */
};
struct sim_mem {
    struct sim_mem_entry *v; size_t n, cap;            /* by address */
    uint64_t limit, used, next_global, next_const;
};
struct sim_mem_entry *sim_mem_entry(const struct sim_mem *m, uint64_t addr);
/* As sim_mem_alloc; constant: among the .const variables. */
uint64_t sim_mem_place(struct sim_mem *m, uint64_t n, const char *name, bool constant);
/* Makes and fills the maps of initialised bytes. False: out of memory. */
bool sim_mem_track_init(struct sim_mem *m);

#endif
