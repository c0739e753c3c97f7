/* mem: inside of device memory, for the functional half. */
#pragma once

#include "engine/sim/sim.h"

#include <pthread.h>

struct sim_alloc {
    uint64_t addr, n;
    uint8_t *host;
    const char *name;
    bool constant, variable; /* variable: a module's, not constant */
};
/* The allocation that holds addr, or NULL. Allocations do not change during a launch. */
const struct sim_alloc *sim_mem_find(const struct sim_mem *m, uint64_t addr);
/* The allocation nearest to addr (for messages), or NULL when there is none. */
const struct sim_alloc *sim_mem_nearest(const struct sim_mem *m, uint64_t addr);

/* Where in global memory an address can lead, as far as the code tells (reach.c). */
enum exec_reach {
    REACH_ANY,
    REACH_VARIABLES /* the module's own */,
    REACH_BUFFERS /* what parameters point to */
};

#define SIM_GRID_SPACE 64u /* bytes that a cooperative launch has for the grid's barrier */

struct sim_range {
    uint64_t off, n;
};
struct sim_mem_entry {
    struct sim_alloc a;
    struct sim_range *touched;
    size_t ntouched, cap; /* what the host was given pointers to */
    bool all_touched;
    /* a launch may have stored into it since sim_mem_take_written; set by any host thread */
    bool written;
    uint64_t mapped, file_at; /* bytes of the file it occupies and where; 0: own storage */
    /* over a file of someone else's (0: zeros): what is stored is in pages of its own */
    bool over;
    int file;
    bool asks;
    struct sim_give give; /* until the first store: whether the file can be had */
    bool own_file;        /* it was: stores go there, and it is closed at the end */
    bool lent;            /* the host's memory is the caller's; `file`: where from, -1: no file */
    bool changed;         /* and something may have been stored, since it was put back */
    uint8_t *init;        /* bit per byte: written; NULL: all are, or before sim_mem_track_init */
};
struct ptx_symbol;
/* A variable that stays while programs of its module come and go. */
struct sim_kept {
    const struct ptx_module *module;
    const struct ptx_symbol *symbol;
    uint64_t addr;
};
struct sim_mem {
    struct sim_mem_entry *v;
    size_t n, cap;        /* by address */
    uint64_t limit;       /* byte */
    uint64_t used;        /* byte */
    uint64_t base;        /* lowest address that is given to an allocation without one */
    uint64_t next_global; /* address */
    uint64_t next_const;  /* address */
    int fd;               /* the file of large allocations; -1: none yet */
    uint64_t file_end;
    pthread_mutex_t lock; /* of `asks` */
    bool keeps;           /* sim_mem_keep_variables */
    struct sim_kept *kept;
    size_t nkept, cap_kept;
};
/* Where a variable lies that was kept; 0: none is. */
uint64_t sim_mem_kept(const struct sim_mem *m, const struct ptx_symbol *s);
/* False: out of memory. */
bool sim_mem_keep(struct sim_mem *m, const struct ptx_module *module, const struct ptx_symbol *s,
                  uint64_t addr);
struct sim_mem_entry *sim_mem_entry(const struct sim_mem *m, uint64_t addr);
/* As sim_mem_alloc; constant: among the .const variables; variable: of the others. */
enum sim_place { PLACE_BUFFER, PLACE_CONSTANT, PLACE_VARIABLE };
uint64_t sim_mem_place(struct sim_mem *m, uint64_t n, const char *name, enum sim_place as);
/* a is an allocation of m, found by sim_mem_find; a launch is about to store into it. */
void sim_mem_note_written(struct sim_mem *m, const struct sim_alloc *a);
/* Makes and fills the maps of initialised bytes. False: out of memory. */
bool sim_mem_track_init(struct sim_mem *m);

/* A copy-on-write view of an allocation as it is now (`any`: or as it was made, where that is cheaper);
 * NULL: out of memory. Given back with the entry's `mapped`. */
uint8_t *sim_mem_view(const struct sim_mem *m, const struct sim_mem_entry *e, bool any);
void sim_mem_view_free(uint8_t *view, uint64_t mapped);
/* n, up to the next multiple of `to`. */
static inline uint64_t sim_round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}
