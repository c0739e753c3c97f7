/* dev_wire, private to dev: the worker protocol.
 *
 *   frame:  "GLW" version(1) | type u32 | length u64 | payload | newline      little-endian throughout
 *
 * The newline is for launchers that hand on whole lines only (srun without -u).
 * A request has one reply; between them the worker may send PROGRESS, and the
 * other side CANCEL. Large data travels in DATA frames of at most WIRE_CHUNK
 * bytes, so a frame is never longer than WIRE_MAX. The first frame of a worker is
 * GREETING; what a launcher prints before it is skipped. */
#ifndef GPULOCW_DEV_WORKER_WIRE_H
#define GPULOCW_DEV_WORKER_WIRE_H

#include "engine/base/base.h"

struct dev_counters;
struct dev_info;
struct dev_run;
struct launch_spec;
struct result;
struct sim_preset;

#define WIRE_VERSION 8
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
    WIRE_BYTES
};
enum wire_end { WIRE_OK, WIRE_CLOSED, WIRE_TIMEOUT, WIRE_BAD, WIRE_CANCELLED };

/* ---- transport ---- */
/* False: the other end is gone, or the request was cancelled: part of the frame may be under way, and
 * the other end is of no more use. Never raises SIGPIPE. cancel may be NULL. */
bool wire_send(int fd, enum wire_type type, const struct buf *payload, const struct cancel *cancel);
/* Reads one frame into *payload (cleared first). until: base_now_ns() time or INT64_MAX. */
enum wire_end wire_recv(int fd, int64_t until, const struct cancel *cancel, enum wire_type *type,
                        struct buf *payload);
/* Skips noise up to the greeting. The worker's protocol version in *version. */
enum wire_end wire_greeting(int fd, int64_t until, const struct cancel *cancel, uint32_t *version);

/* ---- payloads ---- */
void wire_u32(struct buf *b, uint32_t v);
void wire_u64(struct buf *b, uint64_t v);
void wire_f64(struct buf *b, double v);
void wire_blob(struct buf *b, const void *p, uint64_t n);
void wire_text(struct buf *b, const char *s); /* NULL travels as NULL */
struct wire_in {
    const uint8_t *p;
    size_t n;
    bool bad;
};
uint32_t wire_get_u32(struct wire_in *w);
uint64_t wire_get_u64(struct wire_in *w);
double wire_get_f64(struct wire_in *w);
struct str wire_get_blob(struct wire_in *w); /* borrowed from the payload */
char *wire_get_text(struct wire_in *w);      /* owned; NULL is possible */
void wire_get_chars(struct wire_in *w, char *to, size_t n);

/* ---- records ---- */
void wire_put_diags(struct buf *b, const struct diags *ds);
void wire_get_diags(struct wire_in *w, struct diags *ds);
void wire_put_info(struct buf *b, const struct dev_info *i);
void wire_get_info(struct wire_in *w, struct dev_info *i);
void wire_put_preset(struct buf *b, const struct sim_preset *p); /* by field name */
void wire_get_preset(struct wire_in *w, struct sim_preset *p);
void wire_put_result(struct buf *b, const struct result *r); /* not options, equality, voted */
void wire_get_result(struct wire_in *w, struct result *r);
void wire_put_counters(struct buf *b, const struct dev_counters *c);
void wire_get_counters(struct wire_in *w, struct dev_counters *c);
void wire_put_launch(struct buf *b, const struct launch_spec *l); /* without initial data */
void wire_get_launch(struct wire_in *w, struct launch_spec *l);   /* owned: launch_spec_free */
void wire_put_run(struct buf *b, const struct dev_run *r);
/* Values and the launch are owned by the run: wire_run_free. Its persist is borrowed from the payload.
 */
void wire_get_run(struct wire_in *w, struct dev_run *r);
void wire_run_free(struct dev_run *r);

#endif
