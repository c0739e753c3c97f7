/* base: arena, strings, status, diagnostics, hashing, threads.
 *
 * Owns nothing of the domain. Depends on the C library (and POSIX threads)
 * only. Every allocation of the engine goes through this room, so that a test
 * can make the n-th one fail (base_fail_after). */
#pragma once

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strmap_slot;

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#if defined(__GNUC__)
#define BASE_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define BASE_PRINTF(f, a)
#endif

/* ---- status: what a call came to; the exit code is the command line's ---- */
#define STATUS_LIST(X)                                 \
    X(OK, 0, "done")                                   \
    X(INPUT, 1, "bad input")                           \
    X(USAGE, 2, "wrong usage")                         \
    X(REFUSED, 3, "refused: not legal here")           \
    X(DEVICE, 4, "device trouble")                     \
    X(DIFFER, 5, "results differ from the original's") \
    X(CANCELLED, 130, "interrupted")                   \
    X(NOMEM, 4, "out of memory")                       \
    X(IO, 1, "input or output failed")
enum status {
#define X(name, code, text) ST_##name,
    STATUS_LIST(X)
#undef X
};
int status_exit_code(enum status s);
const char *status_text(enum status s);

/* ---- strings ---- */
struct str {
    const char *s;
    size_t n;
}; /* a view, never owned */
#define STR(lit) ((struct str){ (lit), sizeof(lit) - 1 })
struct str str_of(const char *s); /* NULL gives an empty view */
bool str_eq(struct str a, struct str b);
bool str_is(struct str a, const char *b);
struct str str_trim(struct str s); /* without the white space around it */
/* Takes the first line (without its newline) off rest; false: there is none left. */
bool str_line(struct str *rest, struct str *line);
/* Pairs of hex digits into digits.n / 2 bytes. False: something else is among them, or one is left over.
 */
bool str_unhex(struct str digits, uint8_t *out);
/* Edit distance (insert, delete, substitute), capped at `max`+1. */
unsigned str_distance(struct str a, struct str b, unsigned max);

/* Growable byte buffer, always NUL-terminated once written. `oom` sticks:
 * callers check it once at the end. Zero-initialise; buf_free when done. */
struct buf {
    char *s;
    size_t n, cap;
    bool oom;
};
void buf_put(struct buf *b, const void *p, size_t n);
void buf_str(struct buf *b, struct str s);
void buf_puts(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...) BASE_PRINTF(2, 3);
void buf_vprintf(struct buf *b, const char *fmt, va_list ap);
void buf_json(struct buf *b, struct str s); /* quoted and escaped JSON string */
void buf_clear(struct buf *b);              /* keeps the storage */
char *buf_take(struct buf *b);              /* returns owned (base_free), empties b; NULL on oom */
void buf_free(struct buf *b);
/* Appends `piece` to `on` and frees it. Where memory ran out for the piece, on->oom is set too. */
void buf_free_checked(struct buf *b, struct buf *on);

/* ---- memory ---- */
void *base_alloc(size_t n);            /* zeroed; NULL when out of memory */
void *base_realloc(void *p, size_t n); /* not zeroed past the old size */
void base_free(void *p), base_free_each(void *const *p, size_t n);
#define BASE_FREE(...) base_free_each((void *[]){ __VA_ARGS__ }, ARRAY_LEN(((void *[]){ __VA_ARGS__ })))
char *base_strdup(const char *s);
/* The system gets back what was freed in small pieces, also what other threads' pools keep. */
void base_trim(void);
/* Fault injection: the n-th allocation from now fails (0: none). Test use. */
void base_fail_after(uint64_t n);
uint64_t base_alloc_count(void);
/* Doubles `*v` (element size `size`) so that n+1 elements fit. False on oom. */
bool base_grow(void **v, size_t n, size_t *cap, size_t size);

/* Arena: freed as a whole. Allocation is zeroed and 16-byte aligned.
 * Returns NULL on oom and remembers it (arena_failed). Not thread-safe. */
struct arena;
struct arena *arena_new(size_t chunk); /* 0: default chunk of 64 KiB */
void arena_free(struct arena *a);      /* NULL is fine */
void *arena_alloc(struct arena *a, size_t n);
void *arena_alloc_unaligned(struct arena *a, size_t n);
char *arena_dup(struct arena *a, struct str s); /* NUL-terminated copy */
char *arena_printf(struct arena *a, const char *fmt, ...) BASE_PRINTF(2, 3);
bool arena_failed(const struct arena *a);
size_t arena_bytes(const struct arena *a); /* reserved from the system */
#define ARENA_NEW(a, T)      ((T *)arena_alloc((a), sizeof(T)))
#define ARENA_ARRAY(a, T, n) ((T *)arena_alloc((a), sizeof(T) * (size_t)(n)))

/* ---- string map: str -> uint32 value; keys are not copied ---- */
struct strmap {
    struct strmap_slot *slot;
    size_t n, cap;
    bool oom;
};
void strmap_set(struct strmap *m, struct str key, uint32_t value);
bool strmap_get(const struct strmap *m, struct str key, uint32_t *value);
void strmap_free(struct strmap *m);

/* ---- diagnostics: what the user did wrong, and where ---- */
enum diag_level { DIAG_NOTE, DIAG_WARNING, DIAG_ERROR };
/* A place in a text. line and col count from 1 (col in bytes); line 0: none. */
struct span {
    uint32_t off;
    uint32_t len;
    uint32_t line;
    uint32_t col; /* byte in the line, from 1 */
};
#define DIAG_MAX_ERRORS 20
struct diag {
    enum diag_level level;
    char *code; /* stable, e.g. "ptx-syntax"; NULL-safe */
    char *file; /* NULL when no file is concerned */
    struct span at;
    uint32_t other_line; /* of `file`: the partner of a race; 0: none */
    char *msg;           /* no trailing newline */
    char *hint;          /* what to do next, or NULL */
    char *source;        /* the text line at `at`, or NULL */
};
/* Collected, in order. Past DIAG_MAX_ERRORS errors are counted, not kept. */
struct diags {
    struct diag *v;
    size_t n, cap;
    size_t errors;
    size_t warnings;
    size_t dropped;
};
/* The returned diag is owned by ds and valid until the next add; NULL when dropped. */
struct diag *diag_add(struct diags *ds, enum diag_level level, const char *code, const char *file,
                      struct span at, const char *fmt, ...) BASE_PRINTF(6, 7);
#define NO_SPAN ((struct span){ 0, 0, 0, 0 })
/* Shorthand: error without a place. */
void diag_error(struct diags *ds, const char *code, const char *fmt, ...) BASE_PRINTF(3, 4);
void diag_hint(struct diag *d, const char *fmt, ...) BASE_PRINTF(2, 3);
/* Fills d->source from the whole text (the line around d->at.off). */
void diag_source(struct diag *d, struct str text);
/* file:line:col: level: message [code], source line, caret line, hint. */
void diags_print(const struct diags *ds, struct buf *out);
struct jw;
void diags_json(const struct diags *ds, struct jw *w); /* a JSON array */
void diags_move(struct diags *to, struct diags *from); /* appends; empties from */
void diags_free(struct diags *ds);
struct diag *diags_last(struct diags *ds); /* NULL: there is none */

/* ---- hashing and the contract's random numbers ---- */
/* 64 bit, not cryptographic; the output hash of results */
uint64_t base_hash(const void *p, size_t n);
/* splitmix64 output number i (from 0) of a seed: state = seed + (i+1)*golden. */
static inline uint64_t base_splitmix(uint64_t seed, uint64_t i)
{
    uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* ---- files ---- */
/* Whole file into memory, NUL added (not counted). ST_IO or ST_NOMEM with a diagnostic. Owned by the
 * caller. */
enum status file_read(const char *path, size_t max, char **data, size_t *n, struct diags *ds);
/* The same of a regular file alone: a pipe, a device or a file of /proc or /sys is refused, and nothing
 * waits. */
enum status file_read_regular(const char *path, size_t max, char **data, size_t *n, struct diags *ds);
/* Up to n bytes from byte `from` of a regular file into `to` (NULL: they are only counted, by the file's
 * size); *got: how many there were. */
enum status file_read_part(const char *path, uint64_t from, void *to, uint64_t n, uint64_t *got,
                           struct diags *ds);
/* The folders above path's last slash, where they are missing. False: errno says why not. */
bool file_make_dirs(const char *path);
/* Does the path lie below one of n folders? What is there is judged where its links lead, what is not
 * there yet by its folder; without that: no. */
bool file_within(const char *path, const char *const *folder, size_t n);
/* Is the folder there in which the path lies, or would lie? */
bool file_has_folder(const char *path);
/* Temporary file beside path, write, fsync, rename: path is old or new, never half. A link stays a link
 * and keeps its file's mode; a device or pipe is written in place. */
enum status file_write_atomic(const char *path, const void *data, size_t n, struct diags *ds);
/* The same of n bytes that `part` puts at `to`, a few megabytes at a time, in order; it tells its own
 * errors. */
typedef enum status (*file_part_fn)(void *ctx, uint64_t at, void *to, size_t n, struct diags *ds);
enum status file_write_parts(const char *path, uint64_t n, file_part_fn part, void *ctx,
                             struct diags *ds);

/* A new file without a name for what memory should not hold, in $TMPDIR or /var/tmp: on a disk. -1:
 * there is none, or it would be memory again. To be closed. What is put there is there until then;
 * false: no room, or trouble. */
int file_nameless(void);
bool file_put(int fd, uint64_t at, const void *p, uint64_t n);
bool file_get(int fd, uint64_t at, void *p, uint64_t n);

/* ---- threads ---- */
/* also: asked when that one is; may be NULL */
struct cancel {
    atomic_bool asked;
    const struct cancel *also;
    atomic_int signal; /* that asked, for a program that runs for us; 0: none, or it got that itself */
};
static inline bool cancel_asked(const struct cancel *c)
{
    for (; c; c = c->also)
        if (atomic_load_explicit(&((struct cancel *)(uintptr_t)c)->asked, memory_order_relaxed))
            return true;
    return false;
}
/* n zero bytes in pages of a file without a name, so that others can map them too; *file: its
 * descriptor. NULL: there are none; base_alloc will do. */
uint8_t *base_pages(uint64_t n, int *file);
/* this mapping of them gives its memory's place up until it is looked at again */
void base_pages_rest(uint8_t *p, uint64_t n);
/* all that lies there is about to be written: its memory is asked for at once */
void base_pages_ready(void *p, uint64_t n);
/* A copy of n bytes of such a file (0: zeros) that uses memory only for what is written to it; freed
 * with file -1. NULL: none. */
uint8_t *base_pages_copy(uint64_t n, int file);
void base_pages_free(uint8_t *p, uint64_t n, int file);
unsigned base_cpus(void); /* usable processors, at least 1 */
/* Calls fn(ctx, i) for i in 0..n-1 on up to `threads` threads (0: base_cpus()).
 * fn must not depend on the order. Returns after all calls ended. */
void base_parallel(unsigned threads, size_t n, void (*fn)(void *ctx, size_t i), void *ctx);
int64_t base_now_ns(void); /* monotonic */

/* Arithmetic modulo 2^64, as machines do it. */
static inline int64_t base_wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
static inline int64_t base_wrap_mul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}
