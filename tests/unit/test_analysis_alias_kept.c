/* Pointers that were followed stay followed: tests/golden/alias_roots.txt has the answers of the walk
 * that alias.c replaced, for every global access of every kernel at hand; what is unknown now is listed
 * there with the reason. */
#include "tests/unit/alias_kept.h"

#include "engine/analysis/alias.h"
#include "engine/ptx/ptx.h"

#include <stdlib.h>

struct check {
    FILE *print; /* ALIAS_ROOTS_PRINT: answers are written there, nothing is compared */
    char *golden;
    uint32_t kernels, followed, gained, lost, listed, differ;
};

static char *line_of(const struct check *c, const char *head)
{
    char *at = strstr(c->golden, head);
    return at ? at + strlen(head) : NULL;
}

static void compare(struct check *c, const char *head, const char *old, const char *now)
{
    for (; *now; old++, now++) {
        c->followed += *old != '.' && *old != 'x';
        c->gained += *old == '.' && *now != '.';
        c->listed += *old == 'x' && *now == '.';
        if (*old == '.' || *old == 'x' || *old == *now)
            continue;
        *(*now == '.' ? &c->lost : &c->differ) += 1;
        fprintf(stderr, "%s was %c, is %c\n", head, *old, *now);
    }
}

static void visit(void *ctx, const char *path, const struct ptx_module *m, const struct ptx_func *f,
                  const struct launch_spec *l)
{
    struct check *c = ctx;
    struct alias_opts o = { .launch = l };
    struct alias *a = alias_make(m, f, &o);
    struct buf head = { 0 }, now = { 0 };
    assert_non_null(a);
    buf_printf(&head, "%s %c %.*s ", path, l ? 'L' : '-', (int)f->name.n, f->name.s);
    buf_puts(&now, "");
    for (uint32_t k = 0; k < f->ninsts; k++) {
        struct alias_roots r;
        if (!kept_access(&f->insts[k]))
            continue;
        alias_roots(a, f, alias_address(&f->insts[k]), &r);
        char letter[2] = { kept_letter(r.params, r.sym, r.window, r.unknown), 0 };
        buf_puts(&now, letter);
    }
    c->kernels++;
    if (c->print)
        fprintf(c->print, "%s%s\n", head.s, now.s ? now.s : "");
    else if (now.n) {
        char *old = line_of(c, head.s);
        assert_non_null(old);
        assert_int_equal(strcspn(old, "\n"), now.n);
        compare(c, head.s, old, now.s);
    }
    buf_free(&head);
    buf_free(&now);
    alias_free(a);
}

static void test_followed_stays_followed(void **state)
{
    (void)state;
    const char *to = getenv("ALIAS_ROOTS_PRINT");
    struct check c = { .print = to ? fopen(to, "w") : NULL };
    struct diags ds = { 0 };
    size_t n = 0;
    assert_int_equal(file_read("tests/golden/alias_roots.txt", 1u << 24, &c.golden, &n, &ds), ST_OK);
    kept_all(visit, &c);
    printf("%u kernels and launches: %u accesses were followed, %u more are now, %u are listed as "
           "unknown\n",
           c.kernels, c.followed, c.gained, c.listed);
    if (c.print)
        fclose(c.print);
    assert_int_equal(c.lost, 0);
    assert_int_equal(c.differ, 0);
    assert_true(c.print || c.followed > 3000);
    base_free(c.golden);
    diags_free(&ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_followed_stays_followed) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
