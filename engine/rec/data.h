/* data: the initial data of a launch, and who needs them. Part of rec.h, which includes it. */
#pragma once

#include "engine/base/base.h"

struct arg_spec;
struct launch_spec;

struct data_file;

/* Initial bytes of every buffer of a launch: index i is args[i] (n == 0 for non-buffers,
 * and for SAME_AS, which share). Owned; launch_data_free. */
/* file: above 0, the bytes are its first n, mapped (base_pages). zero: all are, and no memory has been
 * used for them. rule, from: one is not NULL: they can be made again by that rule, or read again, at any
 * time, so that a device may take their pages (bytes is NULL then). held, made: how many hold them, what
 * was made since. Only data.c and pages.c touch these. */
struct launch_buffer {
    uint8_t *bytes;
    size_t n;
    int file;
    bool zero;
    const struct arg_spec *rule;
    struct data_file *from;
    uint32_t held;
    struct launch_view *made;
};
struct launch_data {
    const struct launch_spec *spec;
    struct launch_buffer *buffers; /* nargs */
    struct launch_buffer *symbols; /* nsymbols */
    struct launch_buffer **before; /* [nbefore][before[i].nargs], own buffers only */
    uint64_t total_bytes;
};
/* Sizes are checked (overflow, `max_bytes`) before anything is allocated. */
enum status launch_data_make(const struct launch_spec *l, uint64_t max_bytes, struct launch_data *out,
                             struct diags *ds);
void launch_data_free(struct launch_data *d);
/* One buffer of n bytes elsewhere: to be filled (LAUNCH_BYTES: zeros so far), zeros, or made by the rule
 * of `a`. False: the rule does not fit, or out of memory. */
enum launch_source { LAUNCH_BYTES, LAUNCH_ZERO, LAUNCH_RULE };
bool launch_buffer_make(struct launch_buffer *b, uint64_t n, enum launch_source source,
                        const struct arg_spec *a);

/* ---- who needs the initial bytes: from any thread ---- */
/* Until it lets go, nobody takes the pages. False: somebody has; it is to let go all the same. */
bool launch_buffer_hold(const struct launch_buffer *b);
void launch_buffer_drop(const struct launch_buffer *b);
void launch_data_hold(const struct launch_data *d, bool hold); /* of all buffers; false: lets go */
/* Who alone holds b, a device whose launch is about to change it, has its file from here on, and need
 * not keep what is in it: the bytes can be had again (those of no rule and no file go into one without a
 * name). -1: they cannot, or others hold them. */
int launch_buffer_take(const struct launch_buffer *b);
/* The bytes, for who holds them; pages that were taken are made again, those that are looked at, once,
 * to stay as long as the data. NULL: out of memory, or the file they came from has changed
 * (launch_buffer_again says so). */
const uint8_t *launch_buffer_bytes(const struct launch_buffer *b);
const uint8_t *launch_buffer_part(const struct launch_buffer *b, uint64_t at, uint64_t n);
/* NULL: they would have to be made */
const uint8_t *launch_buffer_whole(const struct launch_buffer *b);
/* Puts bytes at..at+n at `to`, on up to `threads` threads (0: all); at is a multiple of LAUNCH_PIECE,
 * and so is n unless that is the end. ST_INPUT, ST_IO: the file they came from cannot be read again, or
 * holds something else now. */
#define LAUNCH_PIECE 4096u
enum status launch_buffer_again(const struct launch_buffer *b, uint64_t at, uint64_t n, uint8_t *to,
                                unsigned threads, struct diags *ds);
static inline enum status launch_buffer_fill(const struct launch_buffer *b, uint8_t *to,
                                             unsigned threads, struct diags *ds)
{
    return launch_buffer_again(b, 0, b->n, to, threads, ds);
}

/* ---- bytes of one's own that begin as a buffer's and cost what is looked at or written; while the
 * buffer is held ---- */
struct launch_view;
struct launch_view *launch_view_new(const struct launch_buffer *b); /* owned; NULL: out of memory */
void launch_view_free(struct launch_view *v);
/* inside the buffer; from any thread. NULL: as launch_buffer_bytes */
uint8_t *launch_view_at(struct launch_view *v, uint64_t at, uint64_t n);
uint8_t *launch_view_whole(struct launch_view *v); /* NULL: only parts can be had */
