/* Private to emulate: what the processes of a program share, and one process's device. */
#pragma once

#include "engine/emulate/emulate.h"
#include "engine/emulate/runtime/wire.h"

#include <pthread.h>
#include <sys/types.h>

/* The runtime library, as built (engine/emulate/runtime). */
extern const unsigned char emulate_library[];
extern const unsigned long emulate_library_bytes;

/* All processes of the program add to it. */
struct emulation {
    const struct emulate_want *want;
    struct emulate_seen *seen;
    pthread_mutex_t lock; /* of seen, and of tell */
    struct cancel stop;   /* asked: no launch goes on */
};
void emulation_tell(struct emulation *e, struct diags *ds); /* and frees ds */

/* Serves one process until it closes its end. Takes the socket. */
void guest_serve(struct emulation *e, int socket);

/* ---- the processes of the program (host.c) ---- */
struct host;
/* They reach it at the socket of that path. *out in every case, for host_stop. */
enum status host_start(struct emulation *e, const char *path, struct host **out, struct diags *ds);
void host_program(struct host *h, pid_t pid); /* of the program itself; 0: it has ended */
/* Waits for all that have come, also those that the program left behind. */
void host_stop(struct host *h);

/* ---- what was seen (seen.c) ---- */
struct card_kernel;
struct sim_stats;
void seen_missing(struct emulation *e, const char *call, size_t n);
/* l: shape; stats: time_ns is a number where the launch was timed. */
void seen_launch(struct emulation *e, const struct card_kernel *k, uint64_t image,
                 const struct wire_launch *l, const struct sim_stats *stats);
/* What a check found: the errors of ds, whose lines are those of the kernel's module. True: something
 * that was not there before. */
bool seen_findings(struct emulation *e, const struct card_kernel *k, const struct diags *ds);

/* ---- a first launch, looked at (look.c) ---- */
struct sim_touch;
struct look {
    _Atomic uint64_t requests;
    _Atomic uint64_t sectors;
    _Atomic uint64_t least;
};
bool look_wanted(const struct wire_launch *l);
void look_touch(void *ctx, const struct sim_touch *t); /* ctx: struct look */
void look_keep(struct emulation *e, const struct card_kernel *k, const struct wire_launch *l,
               const struct look *seen, const struct sim_stats *stats);

/* ---- modules (modules.c) ---- */
struct card;
struct card_code;
/* The PTX of fatbins, chosen for the device and linked: one module. error: cudaError of whoever asks for
 * something in it; ds says why. */
struct card_code *module_open(struct card *m, const uint8_t *parts, uint64_t bytes, uint64_t nparts,
                              int *error, struct diags *ds);
/* The cudaError that stands for a launch's diagnostics. */
int error_of(enum status st, const struct diags *ds);

/* ---- messages (stream.c) ---- */
struct stream {
    int fd;
    uint8_t *in; /* received, not yet taken; owned */
    size_t n;
    size_t at;
    size_t cap;
    int file; /* that came beside a message; -1: none */
};
/* The next message; its record and bytes are borrowed until the next call. False: the other end has
 * closed, or what it says is no message. */
bool stream_next(struct stream *s, struct wire_head *h, const uint8_t **body);
bool stream_put(struct stream *s, const void *record, size_t n, const void *bytes, size_t more);
void stream_free(struct stream *s);
