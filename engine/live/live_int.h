/* Private to live. */
#pragma once

#include "engine/base/base.h"

struct live_kernel;
struct live_survey;

/* What a part of the injected library needs besides: a variable of the environment, and its own lines of
 * the record (false: out of memory). */
struct live_extra {
    const char *variable, *value;
    bool (*line)(void *ctx, const char *line);
    void *ctx;
    /* While the program runs, twice a second, with where its record lies (live_records_peek); may be
     * NULL. */
    void (*peek)(void *ctx, const char *record);
};
/* live_survey_run with that (NULL: nothing more), and without the caches. */
enum status live_run(char *const *argv, const struct live_extra *x, struct live_survey *s,
                     struct diags *ds);

/* Adds what one process saw. Lines that are no such record are passed over. */
enum status live_record_read(struct live_survey *s, const char *path, const struct live_extra *x,
                             struct diags *ds);
/* What the record has so far; it stays. Frees in every case: live_survey_free. */
enum status live_records_peek(struct live_survey *s, const char *record, const struct live_extra *x,
                              struct diags *ds);
/* A line of the record that apply's part wrote, into a's results. False: out of memory. */
bool live_apply_line(void *a, const char *line);
/* PTX for machine code, from Triton's cache and from a folder of ptxas.h (NULL: none): NAME.cubin there
 * is byte for byte the image that the driver got, and NAME.ptx lies beside it. Kernels for which it is
 * found have ptx_file, and why is NULL. */
enum status live_survey_caches(struct live_survey *s, const char *kept);
/* The PTX file beside machine code of this hash in a cache, into *ptx, owned; NULL: there is none. */
enum status live_cache_find(const char *kept, uint64_t hash, char **ptx);
/* The PTX file with that kernel in the folder of XLA_FLAGS=--xla_dump_to=FOLDER, into *ptx, owned; NULL:
 * none, or *several have it. */
enum status live_dump_find(const char *kernel, char **ptx, bool *several);
struct live_want;
struct serve;
/* The answer to a question of the library, a line of text that is changed; without a line, with no
 * answer where there is none. */
void serve_answer(struct serve *s, char *question, struct buf *out);
struct live_apply;
void live_apply_answer(const struct live_apply *a, char *question, struct buf *out);
struct take;
/* shapes.c: what was captured of launches of t's shape; a new one where there was none. NULL: out of memory. */
struct live_files *live_files_of(struct live_kernel *k, const struct take *t);
bool live_files_count(struct live_kernel *k, uint64_t key,
                      uint64_t launches); /* false: it is another shape */
/* Orders what was captured of each kernel, leaves out what is not of the most time. */
void live_shapes_choose(struct live_survey *s);
void live_files_free(struct live_kernel *k);
/* Reads the records at RECORD.*.take, trims and writes each, and adds what came of it to s. */
enum status live_takes(struct live_survey *s, const struct live_want *w, const struct serve *served,
                       const char *record, struct diags *ds);
/* One more kernel at the end of the survey; the name is copied, all else is 0. NULL: out of memory. */
struct live_kernel *live_survey_add(struct live_survey *s, struct str name, uint64_t image);
