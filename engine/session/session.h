/* session: what was run, kept in a file. Append as you go; valid after a kill at any byte. */
#pragma once

#include "engine/base/base.h"
#include "engine/session/run_kind.h"

struct launch_spec;
struct result;
struct session_run;

#define SESSION_MAJOR 1
#define SESSION_MINOR 0
struct session;
/* path NULL: a fresh file under sessions/ or XDG data. ST_IO says so and the session goes on in memory.
 */
enum status session_new(const char *path, const char *ptx_path, struct session **out, struct diags *ds);
enum status session_load(const char *path, struct session **out, struct diags *ds);
enum status session_save(struct session *s, struct diags *ds);
/* Goes on in another file: written there now, and by every later save. The old file stays as it is. */
enum status session_move(struct session *s, const char *path, struct diags *ds);
/* Makes durable what was changed, at a cost that does not grow with what the session holds: run i as it
 * is now, or the result that session_run_point just added to `run`. A small file is written whole, a
 * large one gets a line in its journal (journal.h). As session_save. */
enum status session_keep_run(struct session *s, size_t i, struct diags *ds);
enum status session_keep_point(struct session *s, const struct session_run *run, const struct result *r,
                               struct diags *ds);
/* Before the session is left: writes the file whole where it has a journal. */
enum status session_finish(struct session *s, struct diags *ds);
void session_free(struct session *s);
const char *session_path(const struct session *s);
/* of its file when it was last read or written; 0: it has none yet */
uint64_t session_bytes(const struct session *s);
/* What was run: kept in the session so that it replays anywhere. Copied. */
void session_set_ptx(struct session *s, const char *path, struct str text);
enum status session_set_launch(struct session *s, const struct launch_spec *l);
/* NULL / empty when the session holds none (a text above 1 MiB is kept as path and hash alone). */
const char *session_ptx_path(const struct session *s);
struct str session_ptx_text(const struct session *s);
const struct launch_spec *session_launch(const struct session *s);
const char *session_time(const struct session *s);
size_t session_count(const struct session *s);
/* A run to look at, NULL: none, or it cannot be made of its text (session_trouble says why). Of a large
 * file each is read when it is first looked at, and goes with session_rest. session_at: a run to change
 * too; it stays, and every save writes it anew. */
const struct session_run *session_look(struct session *s, size_t i);
struct session_run *session_at(struct session *s, size_t i);
/* nobody looks at run i any more: what was made of its text is freed */
void session_rest(struct session *s, size_t i);
/* The run, for good: the caller's (session_run_clear, base_free); the session keeps its text. NULL: as
 * session_look, or it is changed here. */
struct session_run *session_take(struct session *s, size_t i);
/* moves what session_look had to say; true: some run is missing */
bool session_trouble(struct session *s, struct diags *ds);
/* No run is changed any more through a pointer from before: each is kept as text alone, which the next
 * save copies. */
void session_settle(struct session *s);
/* appended; fill it, then session_save */
struct session_run *session_begin(struct session *s, enum run_kind kind);
