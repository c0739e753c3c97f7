/* Private to the session's store: a run (run.c, run_read.c), the journal, the file as it is written
 * (store.c) and read (load.c). A file calls those before it alone. */
#pragma once

#include "engine/session/store/journal.h"
#include "engine/session/run_kind.h"
#include "engine/session/session_int.h"

#include <sys/stat.h>

#define KEPT_TEXT ((size_t)1 << 20) /* PTX up to this size travels in the session */

struct session_slot {
    struct session_run *run; /* NULL: only its text is here */
    const char *text;        /* as it stands in the file; NULL: never written */
    size_t n;
    bool own; /* the text is this slot's alone, else a part of `source` */
    /* may be changed through a pointer that was handed out: written from `run` */
    bool open;
    bool kept; /* on disk, but for points that were added since */
};
struct session {
    char *path;
    char *ptx_path;
    char *time;
    char *text;
    size_t ntext;
    uint64_t hash;
    struct launch_spec *launch; /* NULL: none */
    struct session_slot *slots;
    size_t n, cap;
    size_t looked;  /* the run looked at last */
    char *source;   /* a loaded file's text, which slots point into */
    size_t nsource; /* its bytes */
    struct session_journal journal;
    bool head_changed;    /* ptx, launch or time changed: the next save writes the whole file */
    cJSON *kept;          /* unknown top-level members of a loaded session */
    struct diags trouble; /* of runs that could not be made of their text */
    struct stat mine;
    bool placed; /* the file as this program left or found it */
    bool absent; /* there was none when it began */
};

/* of session_run; of session_run with a sweep; of tune_found */
extern const struct members session_run_members, session_sweep_members, session_found_members;

bool session_run_room(struct session_run *r); /* a search has room for what comes of it */
void session_run_put(struct jw *w, const struct session_run *r); /* as in "runs" */
/* sessions from this many bytes have a journal; smaller ones are written whole */
#define SESSION_JOURNAL_FROM ((uint64_t)32 << 10)
void session_note_place(struct session *s);
/* Makes run `first` of its text, and the next ones that can be made, but where runs are gone through
 * from the last to the first. ST_NOMEM, ST_INPUT: not the first. */
enum status session_read_ahead(struct session *s, size_t first, struct diags *ds);
