/* Sessions of two versions: one that can be read is read too with another minor number and with fields
 * of a later version in it, and has as many runs; of a later major version that says so it is refused.
 * What is written of it is read again. */
#include "engine/session/session.h"
#include "engine/session/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

/* Runs of the session in these bytes; -1: it cannot be read. */
static long runs_of(const char *text, size_t n)
{
    char path[64];
    struct diags ds = { 0 };
    struct session *s;
    int fd = memfd_create("session", 0);
    must(fd >= 0 && write(fd, text, n) == (ssize_t)n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    enum status st = session_load(path, &s, &ds);
    long runs = st == ST_OK ? (long)session_count(s) : -1;
    must(st == ST_OK || ds.errors);
    if (st == ST_OK)
        session_free(s);
    close(fd);
    diags_free(&ds);
    return runs;
}

static void put(cJSON *o, const char *key, cJSON *value)
{
    if (cJSON_GetObjectItemCaseSensitive(o, key))
        cJSON_ReplaceItemInObjectCaseSensitive(o, key, value);
    else
        cJSON_AddItemToObject(o, key, value);
}

static long runs_as(const cJSON *root, void (*change)(cJSON *))
{
    cJSON *copy = cJSON_Duplicate(root, true);
    must(copy != NULL);
    change(copy);
    char *text = cJSON_PrintUnformatted(copy);
    must(text != NULL);
    long runs = runs_of(text, strlen(text));
    cJSON_free(text);
    cJSON_Delete(copy);
    return runs;
}

static void nothing(cJSON *o)
{
    (void)o;
}
static void later_minor(cJSON *o)
{
    put(o, "minor", cJSON_CreateNumber(SESSION_MINOR + 7));
}
static void later_fields(cJSON *o)
{
    cJSON *run;
    cJSON_AddItemToObject(o, "field_of_tomorrow", cJSON_CreateString("x"));
    cJSON_ArrayForEach(run, cJSON_GetObjectItemCaseSensitive(o, "runs"))
    {
        if (cJSON_IsObject(run))
            cJSON_AddItemToObject(run, "field_of_tomorrow", cJSON_CreateNumber(1));
    }
}
static void later_major(cJSON *o)
{
    put(o, "major", cJSON_CreateNumber(SESSION_MAJOR + 1));
    put(o, "reads_from", cJSON_CreateNumber(SESSION_MAJOR + 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diags ds = { 0 };
    cJSON *root = json_parse("session", (const char *)data, size, &ds);
    if (root && cJSON_IsObject(root)) {
        long runs = runs_as(root, nothing);
        must(runs < 0 || runs_as(root, later_minor) == runs);
        must(runs < 0 || runs_as(root, later_fields) == runs);
        must(runs < 0 || runs_as(root, later_major) < 0);
    }
    cJSON_Delete(root);
    diags_free(&ds);
    return 0;
}
