/* card: a simulated device whose memory is the caller's: launches from memory. A module, an entry, a
 * shape, parameter bytes; buffers are host memory with device addresses (sim_mem_lend); what launches
 * leave in them and in the module's variables is there for the next. One thread at a time. */
#pragma once

#include "engine/sim/preset.h"
#include "engine/sim/sim.h"

struct card;
struct card_code;
struct card_kernel;
struct ptx_func;
struct textures;

/* variables_at: where variables of modules lie, above every address that the caller lends; threads: of
 * the host, 0: all. ST_INPUT: the preset does not add up. *out owned. */
enum status card_new(const struct sim_preset *p, uint64_t variables_at, unsigned threads,
                     struct card **out, struct diags *ds);
void card_free(struct card *m); /* and all its code; NULL is fine */
/* For sim_mem_lend, sim_mem_release and sim_mem_host. */
struct sim_mem *card_memory(struct card *m);
const struct dev_info *card_info(const struct card *m);

/* Takes the module, whatever the status: it lives as long as the code. */
enum status card_load(struct card *m, struct ptx_module *module, struct card_code **out);
const struct ptx_module *card_module(const struct card_code *c);
/* The kernel of that name, ready to launch; the same one for the same name. ST_INPUT: there is none;
 * ST_DEVICE: an instruction is not modelled. *out borrowed from c. */
enum status card_kernel(struct card_code *c, struct str name, struct card_kernel **out,
                        struct diags *ds);
const struct ptx_func *card_function(const struct card_kernel *k);
struct sim_resources card_resources(const struct card_kernel *k);
/* Where a variable of the module lies. False: there is none of that name, or no kernel of the module can
 * be made ready (ds). */
bool card_variable(struct card_code *c, struct str name, uint64_t *addr, uint64_t *bytes,
                   struct diags *ds);
/* Each piece of memory there is: what was lent, and variables. name: of a variable of c's module, else
 * NULL; bytes: as it is now, borrowed until the next launch. */
struct card_piece {
    uint64_t addr, n;
    const uint8_t *bytes;
    struct str name;
};
/* False: behind the last. */
bool card_piece(const struct card_kernel *k, size_t i, struct card_piece *out);
/* The variable lies in memory that was lent at addr, which gets its initial value. Before any kernel of
 * the module is asked for. ST_INPUT: no such variable, or no such memory. */
enum status card_place(struct card_code *c, struct str name, uint64_t addr, struct diags *ds);

struct card_launch {
    struct dim3u grid, block;
    struct dim3u cluster; /* x == 0: as the kernel says */
    uint32_t shared;      /* dynamic, bytes */
    int carveout;         /* percent of shared memory that is preferred; -1: the device's choice */
    const uint8_t *params;
    uint64_t nparams; /* bytes, laid out as the kernel declares */
    const struct textures *textures;
    bool timed; /* else outputs alone */
    bool exact; /* timed: every CTA, not a sample */
    bool check_uninit, check_races;
    struct sim_told touch; /* not timed: told each access; fn NULL: nobody is */
    const struct cancel *cancel;
};
struct dev_resident card_resident(const struct card_kernel *k, const struct card_launch *l);
/* Memory and variables are as the kernel left them, whatever was timed. Time and counters in *out, to be
 * freed with sim_stats_free. ST_USAGE: the launch does not fit kernel or device; ST_DEVICE: the kernel
 * faults, and ds says how; ST_CANCELLED. */
enum status card_launch(struct card_kernel *k, const struct card_launch *l, struct sim_stats *out,
                        struct diags *ds);

/* Counters, and where it was timed the time and what limits it, as the result of a run: its comparison is
 * unknown. */
void card_result(const struct sim_stats *s, bool timed, struct result *out);

/* All memory, the variables' too, as it is; to be put back once, in any order with launches between. NULL:
 * out of memory, or more than 4 GB. Owned until then. */
struct card_state;
struct card_state *card_save(struct card *m);
void card_restore(struct card *m, struct card_state *s);
