/* memory: the ranges of memory that a launch can reach, copied to a file before it and after it. */
#pragma once

#include "engine/dev/inject/inject.h"

#include <stdio.h>

struct range {
    uint64_t addr; /* on the device */
    uint64_t bytes;
    uint64_t at;      /* offset in the data file */
    uint64_t of;      /* bytes of the memory that it is a part of */
    int kind;         /* enum live_memory */
    bool whole;       /* not cut by the limit */
    uint64_t host;    /* LIVE_HOST: where the host has it */
    const char *name; /* of a variable of the module; NULL: other memory */
};
enum { MOST_RANGES = 4096, MOST_NAMED = 256 };
struct memory {
    FILE *record;
    int data;
    uint64_t end;  /* of the data file */
    uint64_t left; /* bytes that may still be taken */
    struct range *v;
    size_t n;
    uint64_t named
        [MOST_NAMED]; /* what parameters point to, until memory_before shares the limit among them */
    size_t nnamed;
    char why[256];         /* why something that a parameter points to cannot be had; empty: all can */
    uint64_t missed[1024]; /* addresses / 512 that lead nowhere, by their low bits */
};
/* Looks at every aligned word of p: what points to memory of the GPU is taken, once. named: a parameter
 * of the kernel, so that what cannot be had is told; it is taken by memory_before. */
void memory_scan(struct memory *m, const void *p, size_t n, bool named);
/* A variable of the module, with what it points to. */
void memory_variable(struct memory *m, const char *name, uint64_t addr, uint64_t bytes);
/* Copies what was found, and what is found in it, until nothing new is. */
void memory_before(struct memory *m);
/* Copies again, and writes down where memory is another. */
void memory_after(struct memory *m);
/* The same for range i, whose bytes right before and right after the launch are at hand. */
void memory_given(struct memory *m, size_t i, const char *before, const char *after);
void memory_free(struct memory *m);
/* Memory of another process begins here. */
void memory_foreign(uint64_t addr, uint64_t bytes);
