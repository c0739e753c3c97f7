/* Journals of sessions, FILE.journal, as anyone may leave one beside a session. A line of the input is
 * the text of a line of the journal: it gets its checksum here, and "@" is the first line that belongs
 * to the session; an input that begins with "!" is taken as it is. Whatever it says, the session is read
 * with it, or a diagnostic says why not; what was read is saved and read again with as many runs and
 * points, and no journal is left, but for a file that does not begin as one. */
#include "engine/base/crc.h"
#include "engine/rec/counters.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/result.h"
#include "engine/session/run.h"
#include "engine/session/session.h"
#include "engine/session/store/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64], path[80], journal[96];
static char *text; /* of the session */
static size_t ntext;

static void put(const char *name, const void *p, size_t n)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, p, n) != (ssize_t)n || close(fd))
        abort();
}

static void leave(void)
{
    unlink(journal);
    unlink(path);
    rmdir(folder);
}

/* A session with a sweep of four points and a single run. */
static void begin(void)
{
    struct diags ds = { 0 };
    struct session *s;
    const char *tmp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(folder, sizeof folder, "%s/fuzz-journal-XXXXXX", tmp);
    if (!mkdtemp(folder))
        abort();
    snprintf(path, sizeof path, "%s/s.json", folder);
    snprintf(journal, sizeof journal, "%s.journal", path);
    if (session_new(path, "x.ptx", &s, &ds) != ST_OK)
        abort();
    struct session_run *r = session_begin(s, RUN_SWEEP);
    for (int i = 0; i < 4; i++) {
        struct result p = result_empty();
        p.status = ST_OK;
        opt_bypass(&p.options)->pi.mode = PI_VALUE;
        opt_bypass(&p.options)->pi.value = i;
        p.time = (struct timing){ .sample = { 100 + i }, .n = 1, .origin = ORIGIN_SIMULATED };
        timing_finish(&p.time);
        if (!session_run_point(r, &p))
            abort();
    }
    session_begin(s, RUN_ONE);
    if (session_save(s, &ds) != ST_OK || file_read(path, 1 << 24, &text, &ntext, &ds) != ST_OK)
        abort();
    session_free(s);
    diags_free(&ds);
}

static void put_line(struct buf *out, const char *p, size_t n)
{
    char first[160];
    if (n == 1 && *p == '@') {
        n = (size_t)snprintf(
            first, sizeof first,
            "{\"format\": \"gpulocw-journal\", \"major\": 1, \"size\": %zu, \"crc\": \"%08x\"}", ntext,
            base_crc32c(0, text, ntext));
        p = first;
    }
    buf_printf(out, "%08x ", base_crc32c(0, p, n));
    buf_put(out, p, n);
    buf_puts(out, "\n");
}

static void put_journal(const char *p, size_t n)
{
    struct buf out = { 0 };
    const char *end = p + n;
    bool raw = n && *p == '!';
    if (raw)
        buf_put(&out, p + 1, n - 1);
    while (!raw && p < end) {
        const char *to = memchr(p, '\n', (size_t)(end - p));
        to = to ? to : end;
        put_line(&out, p, (size_t)(to - p));
        p = to + 1;
    }
    put(journal, out.s ? out.s : "", out.n);
    buf_free(&out);
}

static size_t count(struct session *s)
{
    size_t n = 0;
    for (size_t i = 0; i < session_count(s); i++) {
        const struct session_run *r = session_at(s, i);
        struct session_run copy;
        n += 1000003 + (r->kind == RUN_SWEEP ? r->sweep.npoints : 0);
        if (!session_run_copy(&copy, r))
            abort();
        session_run_clear(&copy);
    }
    return n;
}

static void save_and_read(struct session *s, bool ours)
{
    struct diags ds = { 0 };
    struct session *again;
    size_t n = count(s);
    if (session_save(s, &ds) != ST_OK || (ours && access(journal, F_OK) == 0) ||
        session_load(path, &again, &ds) != ST_OK || count(again) != n)
        abort();
    session_free(again);
    diags_free(&ds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diags ds = { 0 };
    struct session *s;
    if (!text)
        begin();
    if (mkdir(folder, 0700) && errno != EEXIST)
        abort();
    put(path, text, ntext);
    put_journal((const char *)data, size);
    bool ours = journal_ours(journal);
    if (session_load(path, &s, &ds) == ST_OK) {
        save_and_read(s, ours);
        session_free(s);
    } else if (!ds.errors) {
        abort();
    }
    diags_free(&ds);
    leave(); /* libFuzzer ends without a word */
    return 0;
}
