/* device_memory: one address space per simulated device, with guard gaps between allocations. Addresses
 * are those of the device; sizes are bytes. */
#pragma once

#include "engine/base/base.h"

struct sim_mem;
struct sim_mem *sim_mem_new(uint64_t limit); /* limit: bytes of device memory */
void sim_mem_free(struct sim_mem *m);
uint64_t sim_mem_alloc(struct sim_mem *m, uint64_t n, const char *name); /* device address, 0: no room */
/* Asked once, by any thread of a launch that is about to store into what lies over a file, whether the
 * file is now the memory's own: then stores go into it, and no copy is made. */
struct sim_give {
    bool (*fn)(void *ctx);
    void *ctx;
};
/* The same, holding the first n bytes of `file` (0: zeros), which must not change while it is there;
 * memory is used for what launches store. give: may be NULL, never. Large allocations only: 0 as well
 * when that cannot be had. */
uint64_t sim_mem_alloc_over(struct sim_mem *m, uint64_t n, const char *name, int file,
                            const struct sim_give *give);
/* The host has put back what the allocation at addr was made over. */
void sim_mem_put_back(struct sim_mem *m, uint64_t addr);
/* The same at an address of the caller's, as a pointer in captured data needs it. False: no room, or the
 * addresses are taken: by another allocation, or by windows of this device. */
bool sim_mem_alloc_at(struct sim_mem *m, uint64_t addr, uint64_t n, const char *name);
/* Memory of the caller's as an allocation at a device address of the caller's: borrowed until released.
 * The host writes there as it likes; what a check for uninitialised reads counts as written is what
 * sim_mem_host was asked for. */
struct sim_pages {
    uint8_t *host; /* n bytes, which launches read and write */
    int file;      /* they are mapped from it, shared, from a page border `at` on; -1: from none */
    uint64_t at;   /* byte of the file */
};
/* False: as sim_mem_alloc_at. */
bool sim_mem_lend(struct sim_mem *m, uint64_t addr, uint64_t n, const char *name,
                  const struct sim_pages *pages);
/* For a device that runs several kernels of a module: variables of a module are placed once, at addresses
 * from `from` on, and keep what launches store in them from one program of the module to the next, until
 * sim_mem_forget. Constants are placed as ever. */
void sim_mem_keep_variables(struct sim_mem *m, uint64_t from);
struct ptx_module;
/* Gives back the variables of a module, of which no program is left. */
void sim_mem_forget(struct sim_mem *m, const struct ptx_module *module);
/* bytes of the device that are not given out */
uint64_t sim_mem_room(const struct sim_mem *m);
enum status sim_mem_release(struct sim_mem *m, uint64_t addr);
/* NULL unless wholly inside one allocation */
uint8_t *sim_mem_host(struct sim_mem *m, uint64_t addr, uint64_t n);
/* Whether launches may have stored into the allocation at addr since the last call (true the first
 * time); not what the host wrote through sim_mem_host. Never during a launch. */
bool sim_mem_take_written(struct sim_mem *m, uint64_t addr);
bool sim_mem_written(const struct sim_mem *m, uint64_t addr); /* the same, and it stays so */
/* What a large allocation holds is not needed any more: its memory goes until it is used again. True: it
 * holds what it was made over now (zeros where that is nothing); false: anything. */
bool sim_mem_rest(struct sim_mem *m, uint64_t addr);
