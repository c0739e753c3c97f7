/* Where ptxas is installed: it accepts every golden module as we do. Disagreements are listed,
 * each with its reason, in tests/golden/ptx/ptxas.txt; one that is gone must leave the list. */
#include "tests/support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/ptx/ptx.h"

#define DIR_NAME "tests/golden/ptx"

static bool ptxas_accepts(const char *name, const struct ptx_module *m)
{
    char command[600], suffix[2] = { 0 };
    uint32_t target = m && m->target >= 75 ? m->target : 75;
    if (m && m->target >= 75)
        suffix[0] = m->target_suffix;
    /* Not -o /dev/null: ptxas removes its output when it refuses, and root may. */
    snprintf(command, sizeof command,
             "ptxas %s -arch=sm_%u%s -o %s/accepts.cubin " DIR_NAME "/%s > /dev/null 2>&1",
             m && m->version >= 31 ? "-c" : "", target, suffix, support_scratch(), name);
    return system(command) == 0;
}

static bool is_listed(const char *list, const char *name)
{
    char key[300];
    snprintf(key, sizeof key, "\n%.*s:", (int)strlen(name) - 4, name);
    return strstr(list, key) != NULL;
}

static unsigned compare(const char *name, const char *list)
{
    char path[512];
    struct diags ds = { 0 };
    struct ptx_module *m;
    snprintf(path, sizeof path, DIR_NAME "/%s", name);
    bool ours = ptx_parse_file(path, &m, &ds) == ST_OK, theirs = ptxas_accepts(name, m),
         listed = is_listed(list, name);
    ptx_free(m);
    diags_free(&ds);
    if ((ours == theirs) != listed)
        return 0;
    if (listed)
        print_error("%s is listed as a disagreement, but there is none\n", name);
    else
        print_error("%s: %s by us, %s by ptxas, and not listed\n", name, ours ? "accepted" : "refused",
                    theirs ? "accepted" : "refused");
    return 1;
}

static void same_verdict(void **state)
{
    (void)state;
    if (system("command -v ptxas > /dev/null 2>&1") != 0)
        skip();
    struct diags ds = { 0 };
    char *list;
    size_t n;
    unsigned wrong = 0;
    assert_status_ok(file_read(DIR_NAME "/ptxas.txt", 1u << 20, &list, &n, &ds), &ds);
    DIR *d = opendir(DIR_NAME);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        size_t len = strlen(e->d_name);
        if (len > 4 && !strcmp(e->d_name + len - 4, ".ptx"))
            wrong += compare(e->d_name, list);
    }
    closedir(d);
    base_free(list);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(same_verdict) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
