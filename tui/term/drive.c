/* drive: see drive.h. */
#include "tui/term/drive.h"

#include "engine/analysis/analysis.h"
#include "engine/cmd/cmd.h"
#include "engine/workspace/job.h"
#include "engine/workspace/snapshot.h"
#include "tui/control/command.h"
#include "tui/control/control.h"

#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_NS (60LL * 1000000000)

enum status drive_open(struct drive *d, const struct dev_env *env, struct diags *ds)
{
    struct app_engine engine = engine_app(&d->link);
    char session[64];
    snprintf(d->folder, sizeof d->folder, "/tmp/gpulocw-XXXXXX");
    if (!mkdtemp(d->folder)) {
        *d->folder = '\0';
        diag_error(ds, "session", "cannot create a folder in /tmp");
        return ST_IO;
    }
    snprintf(session, sizeof session, "%s/lesson.json", d->folder);
    enum status st = job_engine_new(env, session, &d->link.engine, ds);
    if (st == ST_OK && !app_init(&d->app, &engine, job_snapshot_get(d->link.engine), cmd_data_dir()))
        st = ST_NOMEM;
    return st;
}

/* Removes the session and the files beside it; nothing else is ever in that folder. */
static void remove_folder(const char *folder)
{
    DIR *d = opendir(folder);
    char path[400];
    for (struct dirent *e; d && (e = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            unlink(path);
    }
    if (d)
        closedir(d);
    rmdir(folder);
}

void drive_close(struct drive *d)
{
    if (d->link.engine) {
        const struct job_snapshot *last = d->app.snap;
        app_free(&d->app);
        job_snapshot_release(last);
        job_engine_free(d->link.engine);
    }
    if (*d->folder)
        remove_folder(d->folder);
}

void drive_settle(struct drive *d)
{
    for (;;) {
        const struct job_snapshot *s = job_snapshot_get(d->link.engine), *old = d->app.snap;
        d->app.now_ns = base_now_ns();
        app_snapshot(&d->app, s);
        job_snapshot_release(old);
        if (!s->busy && s->worked >= d->link.posted)
            return;
        struct pollfd f = { job_wake_fd(d->link.engine), POLLIN, 0 };
        poll(&f, 1, 200);
    }
}

void drive_rest(struct drive *d)
{
    int64_t until = base_now_ns() + PATIENCE_NS;
    for (;;) {
        drive_settle(d);
        const struct job_snapshot *s = d->app.snap;
        bool works = s->spec && s->facts && (s->unsettled || !s->facts->reuse.valid);
        if (!works || base_now_ns() > until)
            return;
        struct pollfd f = { job_wake_fd(d->link.engine), POLLIN, 0 };
        poll(&f, 1, 200);
    }
}

bool drive_allows(const char *line)
{
    static const char *const runs[] = { "run", "sweep", "tune", "resume", "device sim:" };
    size_t n = strcspn(line, " ");
    if (!strncmp(line, "open ", 5))
        return line[5] != '/' && !strstr(line, "..") && strlen(line) > 4 &&
               !strcmp(line + strlen(line) - 4, ".ptx");
    for (size_t i = 0; i < ARRAY_LEN(runs); i++)
        if (strlen(runs[i]) == n ? !strncmp(line, runs[i], n)
                                 : strchr(runs[i], ' ') && !strncmp(line, runs[i], strlen(runs[i])))
            return !strchr(line, '/') || !strncmp(line, "sweep", n);
    return cmdline_begins(line);
}
