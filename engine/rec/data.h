/* data: the initial data of a launch, and who needs them. Part of rec.h, which includes it. */
#ifndef GPULOCW_REC_DATA_H
#define GPULOCW_REC_DATA_H

#include "engine/rec/rec.h"

/* Initial bytes of every buffer of a launch: index i is args[i] (n == 0 for non-buffers,
 * and for SAME_AS, which share). Owned; launch_data_free. */
/* file: above 0, the bytes are its first n, mapped (base_pages). zero: all are, and no memory has been used for them.
 * rule: not NULL, they can be made again by it at any time, so that a device may take their pages (bytes is NULL then).
 * held, made: how many hold them, where they were made since. Only data.c touches these. */
struct launch_buffer { uint8_t *bytes; size_t n; int file; bool zero; const struct arg_spec *rule; uint32_t held; uint8_t *made; };
struct launch_data {
    const struct launch_spec *spec;
    struct launch_buffer *buffers;       /* nargs */
    struct launch_buffer *symbols;       /* nsymbols */
    struct launch_buffer **before;       /* [nbefore][before[i].nargs], own buffers only */
    uint64_t total_bytes;
};
/* Sizes are checked (overflow, `max_bytes`) before anything is allocated. */
enum status launch_data_make(const struct launch_spec *l, uint64_t max_bytes,
                             struct launch_data *out, struct diags *ds);
void launch_data_free(struct launch_data *d);
/* One buffer of n bytes elsewhere: to be filled (LAUNCH_BYTES: zeros so far), zeros, or made by the rule of `a`. False: the
 * rule does not fit, or out of memory. */
enum launch_source { LAUNCH_BYTES, LAUNCH_ZERO, LAUNCH_RULE };
bool launch_buffer_make(struct launch_buffer *b, uint64_t n, enum launch_source source, const struct arg_spec *a);

/* ---- who needs the initial bytes: from any thread ---- */
/* Until it lets go, nobody takes the pages. False: somebody has; it is to let go all the same. */
bool launch_buffer_hold(const struct launch_buffer *b);
void launch_buffer_let_go(const struct launch_buffer *b);
void launch_data_hold(const struct launch_data *d, bool hold);   /* of all buffers; false: lets go */
/* Who alone holds b, a device whose launch is about to change it, has its file from here on, and need not keep what is in it:
 * the bytes can be made again. -1: they cannot, or others hold them. */
int launch_buffer_take(const struct launch_buffer *b);
/* The bytes, for who holds them; pages that were taken are made again, once, to stay as long as the data. NULL: out of memory. */
const uint8_t *launch_buffer_bytes(const struct launch_buffer *b);
/* Puts them at `to`, on up to `threads` threads (0: all). */
void launch_buffer_fill(const struct launch_buffer *b, uint8_t *to, unsigned threads);

#endif
