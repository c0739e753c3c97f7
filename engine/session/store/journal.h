/* FILE.journal beside a large session: what has been finished since FILE was last written whole, a line
 * each, so that keeping a point costs the same however much the session holds.
 *
 *     line   = CRC32C of the text (8 hex digits), a blank, the text (one JSON object), a newline
 *     first  {"format": "gpulocw-journal", "major": 1, "size": N, "crc": "hex"}   the FILE it belongs to
 *     then   {"run": I, "whole": {...}}   run I as the session has it; I may be the number of runs: a
 *                                         new one
 *            {"run": I, "point": {...}}   a finished configuration of run I
 *            {"saved": {"size": N, "crc": "hex"}}
 *                                         a FILE that holds all of this is about to get its name
 *
 * Each line is synced before the point counts as kept. The journal goes when FILE is written whole. */
#pragma once

#include "engine/base/base.h"

struct result;
struct session;

/* What a file's bytes are known by. */
struct journal_mark {
    uint64_t size;
    uint32_t crc; /* CRC32C */
};
struct session_journal {
    char *path;               /* NULL: none is open */
    int fd;                   /* while path is set */
    uint64_t n;               /* bytes of whole lines in it */
    bool off;                 /* a line could not be written: whole saves until one succeeds */
    bool merged;              /* one was read with the session: the next save takes it away */
    bool looked;              /* a save has looked for one left behind */
    struct journal_mark base; /* the session's file; size 0: not known */
    char *source;             /* text of the journal that was merged, which runs point into */
};

/* One line, synced; begins the journal where there is none. ST_IO with a diagnostic: the journal is as
 * it was, or off. */
enum status journal_run(struct session *s, size_t i, struct diags *ds);
enum status journal_point(struct session *s, size_t i, const struct result *r, struct diags *ds);
/* Around a whole save of n bytes at p: `saving` before the file gets its name, `saved` after it has. */
void journal_saving(struct session *s, const char *p, size_t n);
void journal_saved(struct session *s, const char *p, size_t n);
/* Takes the journal beside a session that was just read (its text is s->source, n bytes) into it. A torn
 * last line is dropped with a warning. ST_INPUT: it belongs to another file, or is damaged inside. */
enum status journal_merge(struct session *s, size_t n, struct diags *ds);
void journal_free(struct session_journal *j);

/* ---- between the two halves ---- */
char *journal_name(const struct session *s); /* owned; NULL: out of memory */
struct journal_mark journal_mark_of(const char *p, size_t n);
bool journal_ours(const char *path); /* a regular file, no link, that begins as a journal does */
