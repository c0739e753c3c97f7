/* wire, private to dev: the worker protocol.
 *
 *   frame:  head | payload | newline                                   little-endian throughout
 *   head:   "GLW" version(1) | type u32 | length u64 | number u64 | part u32 |
 *           CRC32C of the payload | CRC32C of the head before it
 *
 * The newline is for launchers that hand on whole lines only (srun without -u).
 * Requests are numbered from 1 without a gap. A request has one reply with its number; between
 * them the worker sends ALIVE twice a second, PROGRESS, and BYTES, whose `part` counts from 0; the
 * reply's part is how many there were. The other side may send CANCEL with the number of the launch
 * it is about. So a frame that comes twice or late is known by its number and part, and dropped; one
 * that is missing or damaged is never taken for another, and ends the worker, which says so in
 * ENDING where it can. Large data travels in frames of at most WIRE_CHUNK bytes.
 *
 * A worker begins with the greeting, which is the same in every version: "GLW", its newest
 * version, type 1, length 0, newline, and nothing more. What a launcher prints before it is skipped.
 * From version 9 on HELLO follows: program, oldest and newest version as text. The other side
 * chooses the newest that both speak, and every frame it sends carries that.
 *
 * A payload is a record: fields, each with its name.
 *   field:  length of the name u8 | name | length u32 | bytes
 *   bytes:  a whole number u64, a number f64, text, or a record; a list is a record of fields without names
 * Fields may come in any order. The reader takes those that it knows by their names; others are ignored, one that
 * is missing makes the payload bad and is named. engine/rec/fields.def has the fields of what documents show too. */
#pragma once

#include "engine/rec/data.h"

struct dev_counters;
struct dev_info;
struct dev_run;
struct text_marks;
struct result;
struct sim_preset;

#define WIRE_VERSION 15
#define WIRE_OLDEST  15 /* versions that this program speaks: OLDEST..VERSION */
#define WIRE_HEAD    36u
#define WIRE_GREET   17u /* bytes of the greeting */
#define WIRE_MAX     (64u << 20)
#define WIRE_CHUNK   (4u << 20)
#define WIRE_NOISE   (64u << 10) /* bytes of other output allowed before the greeting */
enum wire_type {
    WIRE_GREETING = 1,
    WIRE_LIST,
    WIRE_OPEN,
    WIRE_LOAD,
    WIRE_UNLOAD,
    WIRE_BIND,
    WIRE_DATA,
    WIRE_BOUND,
    WIRE_UNBIND,
    WIRE_LAUNCH,
    WIRE_CANCEL,
    WIRE_READ_ARG,
    WIRE_READ_SYMBOL,
    WIRE_COUNTERS,
    WIRE_REPLY = 100,
    WIRE_PROGRESS,
    WIRE_BYTES,
    WIRE_ALIVE,
    WIRE_ENDING,
    WIRE_HELLO
};
/* SILENT: nothing came for too long; TIMEOUT: it lives, but took too long; BAD: damaged bytes, or bytes
 * of something else. */
enum wire_end { WIRE_OK, WIRE_CLOSED, WIRE_SILENT, WIRE_TIMEOUT, WIRE_BAD, WIRE_CANCELLED };

/* ---- transport ---- */
struct wire_frame {
    enum wire_type type;
    /* of the request that the frame belongs to; 0: of none */
    uint64_t number;
    uint32_t part;
};
/* The part of a frame that has been received; kept between calls, so that a wait may be given up and
 * resumed. */
struct wire_stream {
    int fd;
    uint8_t head[WIRE_HEAD];
    size_t nhead;   /* bytes of the head that are there */
    uint64_t nbody; /* bytes of payload and newline that are there */
    uint32_t crc;   /* of that payload */
};
/* False: the other end is gone, did not take the frame until then (base_now_ns() time or INT64_MAX), or
 * the request was cancelled: part of the frame may be under way, and the other end is of no more use.
 * Never raises SIGPIPE. payload and cancel may be NULL. */
bool wire_send(int fd, const struct wire_frame *f, const struct buf *payload, int64_t until,
               const struct cancel *cancel);
bool wire_greet(int fd); /* the greeting and HELLO */
/* Reads one frame; the payload into *payload, which must be the same from call to call until a frame is
 * whole. until: base_now_ns() time or INT64_MAX, for the whole frame. TIMEOUT and CANCELLED may be
 * followed by another call; the others end the stream. */
enum wire_end wire_recv(struct wire_stream *s, int64_t until, const struct cancel *cancel,
                        struct wire_frame *f, struct buf *payload);
/* Skips noise up to the greeting. The worker's newest protocol version in *version. */
enum wire_end wire_greeting(struct wire_stream *s, int64_t until, const struct cancel *cancel,
                            uint32_t *version);
/* The payload of HELLO. False: it makes no sense. */
struct wire_hello {
    char program[32];
    uint32_t oldest, newest;
};
bool wire_get_hello(const struct buf *payload, struct wire_hello *out);

/* ---- fields ---- */
void wire_uint(struct buf *b, const char *name, uint64_t v);
void wire_num(struct buf *b, const char *name, double v);
void wire_bytes(struct buf *b, const char *name, const void *p, uint64_t n);
void wire_text(struct buf *b, const char *name, const char *s); /* NULL travels as NULL */
/* A record or a list as a field: what is put until wire_close stands in it. */
size_t wire_open(struct buf *b, const char *name);
void wire_close(struct buf *b, size_t opened);
#define WIRE_ITEM "" /* the name of the elements of lists */

struct wire_in {
    const uint8_t *p;
    size_t n;
    bool bad;
    size_t at; /* where the next field is looked for first */
    struct wire_in
        *in; /* the record that this one stands in: it is bad when this one is; NULL: the payload */
    char lacks[48]; /* of the payload: the first field that is missing; empty: none */
};
void wire_fail(struct wire_in *w);
bool wire_has(struct wire_in *w, const char *name);
/* A missing field, or one of another size, makes the payload bad: 0, an empty view or record then. */
uint64_t wire_get_uint(struct wire_in *w, const char *name);
double wire_get_num(struct wire_in *w, const char *name);
struct str wire_get_bytes(struct wire_in *w, const char *name); /* borrowed from the payload */
char *wire_get_text(struct wire_in *w, const char *name);       /* owned; NULL is possible */
void wire_get_chars(struct wire_in *w, const char *name, char *to, size_t n);
struct wire_in wire_get_record(struct wire_in *w, const char *name);
/* The next element of a list; false: there is none. */
bool wire_next(struct wire_in *list, struct wire_in *item);
/* Elements that are still to come. */
size_t wire_left(const struct wire_in *list);
/* ST_OK, or ST_DEVICE with a diagnostic: the payload is bad. */
enum status wire_judge(const struct wire_in *w, struct diags *ds);

/* ---- records ---- */
struct members;
void wire_put_members(struct buf *b, struct members m, const void *record);
/* An enum's name that nobody knows makes the payload bad. */
void wire_get_members(struct wire_in *w, struct members m, void *record);
void wire_put_diags(struct buf *b, const struct diags *ds);
void wire_get_diags(struct wire_in *w, struct diags *ds);
void wire_put_info(struct buf *b, const struct dev_info *d);
void wire_get_info(struct wire_in *w, struct dev_info *d);
void wire_put_preset(struct buf *b, const struct sim_preset *p);
void wire_get_preset(struct wire_in *w,
                     struct sim_preset *p); /* fields that are missing: as their architecture has them */
extern const struct members wire_resources, wire_compiled;   /* of dev_resources, sim_compiled */
void wire_put_result(struct buf *b, const struct result *r); /* not options */
void wire_get_result(struct wire_in *w, struct result *r);   /* options, equality and voted stay */
void wire_put_counters(struct buf *b, const struct dev_counters *c);
void wire_get_counters(struct wire_in *w, struct dev_counters *c);
void wire_put_launch(struct buf *b, const struct launch_spec *l); /* without initial data */
void wire_get_launch(struct wire_in *w, struct launch_spec *l);   /* owned: launch_spec_free */
void wire_put_marks(struct buf *b, const struct text_marks *m);
void wire_get_marks(struct wire_in *w, struct text_marks *m); /* owned: text_marks_free */
void wire_put_run(struct buf *b, const struct dev_run *r);
/* Values and the launch are owned by the run: wire_run_free. Its persist is borrowed from the payload.
 */
void wire_get_run(struct wire_in *w, struct dev_run *r);
void wire_run_free(struct dev_run *r);

/* ---- wire_buffers.c ---- */
/* Where a buffer's initial data come from. */
enum launch_source wire_source_of(const struct launch_buffer *b);
extern const char *const launch_source_names[]; /* by enum launch_source; NULL behind the last */
/* Size and source of n buffers as the elements of a list; v NULL: n empty ones. */
void wire_put_sizes(struct buf *b, const char *name, const struct launch_buffer *v, size_t n);
/* The field "bytes": bytes at..at+n of initial data, which need not be in memory. ST_OK, ST_NOMEM or what making them came
 * to. */
enum status wire_put_bytes(struct buf *out, const struct launch_buffer *v, uint64_t at, uint64_t n,
                           struct diags *ds);
