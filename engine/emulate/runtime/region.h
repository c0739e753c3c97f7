/* Private to the runtime and the driver: memory that the device sees. */
#pragma once

#include "engine/emulate/runtime/cuda_abi.h"

#include <stdbool.h>

struct wire_hello;
/* ---- region.c ---- */
struct context;
struct physical;
enum block_kind {
    BLOCK_DEVICE,
    BLOCK_MANAGED,
    BLOCK_PINNED,
    BLOCK_REGISTERED,
    BLOCK_MAPPED,   /* of virtual.c: memory at addresses that were reserved */
    BLOCK_KEPT,     /* what follows is never found by address */
    BLOCK_PHYSICAL, /* memory without an address */
    BLOCK_RESERVED  /* addresses without memory; their part of the file stays empty */
};
struct block {
    uint64_t addr, n; /* as the program sees it */
    uint64_t at;      /* byte of the file */
    enum block_kind kind;
    bool mapped_for_host;
    const struct context *owner;
};
bool region_start(struct wire_hello *h, int *file);
cudaError_t memory_take(size_t n, enum block_kind kind, void **out);
cudaError_t memory_give(void *p, bool host);
cudaError_t memory_register(void *p, size_t n);
cudaError_t memory_unregister(void *p);
uint64_t memory_used(void); /* bytes of the device */
/* The block that holds the address; NULL: it is none of ours. */
const struct block *block_at(const void *p);
/* Where this process reads and writes what the program calls p: device memory, or the program's own. */
void *host_of(const void *p);
/* n bytes from p on are memory that the device sees. */
bool is_inside(const void *p, size_t n);
/* A variable of a module, whose bytes are with the device. */
bool is_variable(const void *p);
bool is_of_device(const struct block *b); /* the program itself may not touch it */
/* Room for n bytes (a multiple of the granularity) of PHYSICAL or RESERVED, byte `at` of the file. False:
 * there is none. region_leave goes with it. */
bool region_place(uint64_t n, uint64_t align, enum block_kind kind, uint64_t *at);
void region_leave(uint64_t at);
uint64_t region_address(uint64_t at);
/* Of the reservation that holds the address; NULL: there is none. */
const struct block *region_reserved(uint64_t addr);
void block_lend(const struct block *b, bool written); /* the device has it now */
void block_release(const struct block *b);
/* The host wrote there. */
void wrote(const void *p, size_t n);
/* Memory at host_of-addresses from one place to the other; either may be a variable. */
cudaError_t move_bytes(void *to, const void *from, size_t n);
cudaError_t set_bytes(void *to, unsigned value, unsigned size, size_t count);

/* ---- mapped.c: memory of its own at addresses that were reserved ---- */
struct mapping {
    struct block b; /* MAPPED */
    struct physical *of;
    int access; /* 0: none yet */
};
size_t mapped_count(void);
struct mapping *mapped(size_t i);         /* in the order of the addresses */
size_t mapped_above(uint64_t addr);       /* index of the first that ends above it */
struct mapping *mapped_at(uint64_t addr); /* NULL: nothing is mapped there */
bool mapped_add(const struct mapping *m); /* false: out of memory */
void mapped_drop(size_t from, size_t to);

/* ---- virtual.c ---- */
#define VIRTUAL_STEP (UINT64_C(2) << 20) /* the granularity */
cudaError_t virtual_reserve(size_t n, size_t align, uint64_t *addr);
cudaError_t virtual_free(uint64_t addr, size_t n);
cudaError_t virtual_create(size_t n, struct physical **out);
cudaError_t virtual_release(struct physical *h);
cudaError_t virtual_retain(uint64_t addr, struct physical **out);
cudaError_t virtual_map(uint64_t addr, size_t n, size_t offset, struct physical *h);
cudaError_t virtual_unmap(uint64_t addr, size_t n);
cudaError_t virtual_allow(uint64_t addr, size_t n, int access); /* 0 none, 1 reads, 3 both */
cudaError_t virtual_allowed(uint64_t addr, unsigned long long *access);
