/* Tensor maps: bytes as the driver makes them, and what it refuses (tests/gpu/tensor_maps.txt). */
#include "engine/base/base.h"
#include "engine/rec/tensor_map.h"
#include "tests/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
    char kind[16], dims[200], strides[200], box[200], steps[100], bytes[300];
    unsigned type, interleave, swizzle, l2, oob;
    unsigned long long address;
};

static unsigned numbers(const char *text, long long *v, char separator)
{
    unsigned n = 0;
    for (const char *s = text; *s && *s != '-' && n < 8; n++) {
        char *end;
        v[n] = strtoll(s, &end, 10);
        s = *end == separator ? end + 1 : end + strlen(end);
    }
    return n;
}

static void corners(struct tensor_map *m, char *text)
{
    long long v[8];
    char *lower = strtok(text, ","), *upper = strtok(NULL, ","), *channels = strtok(NULL, ","),
         *pixels = strtok(NULL, ",");
    char *parts[2] = { lower, upper };
    for (unsigned k = 0; k < 2; k++) {
        unsigned n = 0;
        for (char *s = parts[k]; s && *s && n < 3; n++) {
            v[n] = strtoll(s, &s, 10);
            s += *s == ':';
        }
        for (unsigned d = 0; d < n; d++)
            (k ? m->upper : m->lower)[d] = (int32_t)v[d];
    }
    m->im2col = true;
    m->channels = (uint32_t)atoi(channels);
    m->pixels = (uint32_t)atoi(pixels);
}

static struct tensor_map map_of(struct row *r)
{
    long long v[8];
    struct tensor_map m = { .address = r->address,
                            .type = (uint8_t)r->type,
                            .interleave = (uint8_t)r->interleave,
                            .swizzle = (uint8_t)r->swizzle,
                            .l2 = (uint8_t)r->l2,
                            .nan = r->oob };
    m.rank = (uint8_t)numbers(r->dims, v, ',');
    for (unsigned d = 0; d < TENSOR_RANK_MOST; d++) {
        m.dims[d] = d < m.rank ? (uint64_t)v[d] : 1;
        m.steps[d] = m.box[d] = 1;
    }
    for (unsigned d = 0, n = numbers(r->strides, v, ','); d < n; d++)
        m.strides[d + 1] = (uint64_t)v[d];
    for (unsigned d = 0, n = numbers(r->steps, v, ','); d < n; d++)
        m.steps[d] = (uint32_t)v[d];
    m.channels = m.pixels = 1;
    if (!strcmp(r->kind, "im2col")) {
        corners(&m, r->box);
    } else {
        for (unsigned d = 0, n = numbers(r->box, v, ','); d < n; d++)
            m.box[d] = (uint32_t)v[d];
    }
    return m;
}

static bool read_row(FILE *f, struct row *r)
{
    char line[1200];
    while (fgets(line, sizeof line, f))
        if (line[0] != '#')
            return sscanf(line, "%15s %u %llx %199s %199s %199s %99s %u %u %u %u %299s", r->kind,
                          &r->type, &r->address, r->dims, r->strides, r->box, r->steps, &r->interleave,
                          &r->swizzle, &r->l2, &r->oob, r->bytes) == 12;
    return false;
}

/* Every row is encoded to the driver's bytes, and they back to the same map; or it is refused. */
static void test_as_the_driver(void **state)
{
    (void)state;
    FILE *f = fopen("tests/gpu/tensor_maps.txt", "r");
    struct row r;
    unsigned made = 0, refused = 0;
    char why[200];
    assert_non_null(f);
    while (read_row(f, &r)) {
        struct tensor_map m = map_of(&r), back;
        bool ok = tensor_map_check(&m, why, sizeof why);
        if (ok != (strcmp(r.bytes, "refused") != 0))
            fail_msg("%s %u %s %s: %s", r.kind, r.type, r.dims, r.steps, ok ? "not refused" : why);
        if (!ok) {
            refused++;
            continue;
        }
        uint8_t got[TENSOR_MAP_BYTES];
        char text[2 * TENSOR_MAP_BYTES + 1] = "";
        tensor_map_encode(&m, got);
        for (unsigned i = 0; i < TENSOR_MAP_BYTES; i++)
            snprintf(text + 2 * i, 3, "%02x", got[i]);
        for (size_t n = strlen(text); n && text[n - 1] == '0'; n--)
            text[n - 1] = 0;
        assert_string_equal(text, r.bytes);
        assert_true(tensor_map_decode(got, &back));
        assert_int_equal(back.type, m.type);
        assert_int_equal(back.address, m.address);
        assert_memory_equal(back.dims, m.dims, sizeof m.dims);
        assert_memory_equal(back.strides, m.strides, sizeof m.strides);
        assert_memory_equal(back.steps, m.steps, sizeof m.steps);
        assert_memory_equal(back.lower, m.lower, sizeof m.lower);
        assert_memory_equal(back.upper, m.upper, sizeof m.upper);
        made++;
    }
    fclose(f);
    assert_true(made > 100);
    assert_true(refused > 30);
}

/* What tensormap.replace cannot change: promotion in L2, and what the engine derives from the box. */
static void forget(uint8_t raw[TENSOR_MAP_BYTES])
{
    raw[10] &= 0xf9;
    memset(raw + 64, 0, TENSOR_MAP_BYTES - 64);
}

/* Numbers of .elemtype (PTX ISA 9.7.9.28) by the driver's types. */
static const uint8_t elemtype[TENSOR_TYPE_COUNT] = { 0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 11, 12 };

static bool replace_all(uint8_t *raw, const struct tensor_map *m)
{
    bool ok = tensor_map_replace(raw, TENSOR_FIELD_ADDRESS, 0, m->address) &&
              tensor_map_replace(raw, TENSOR_FIELD_RANK, 0, m->rank - 1u) &&
              tensor_map_replace(raw, TENSOR_FIELD_TYPE, 0, elemtype[m->type]) &&
              tensor_map_replace(raw, TENSOR_FIELD_INTERLEAVE, 0, m->interleave) &&
              tensor_map_replace(raw, TENSOR_FIELD_SWIZZLE, 0, m->swizzle) &&
              tensor_map_replace(raw, TENSOR_FIELD_FILL, 0, m->nan);
    for (unsigned d = 0; d < m->rank; d++)
        ok &= tensor_map_replace(raw, TENSOR_FIELD_DIM, d, m->dims[d]) &&
              tensor_map_replace(raw, TENSOR_FIELD_BOX, d, m->box[d]) &&
              tensor_map_replace(raw, TENSOR_FIELD_STEP, d, m->steps[d]) &&
              (!d || tensor_map_replace(raw, TENSOR_FIELD_STRIDE, d - 1, m->strides[d]));
    return ok;
}

/* Every field of one map replaced by the next one's gives the bytes that the driver made of that. */
static void test_replaced(void **state)
{
    (void)state;
    FILE *f = fopen("tests/gpu/tensor_maps.txt", "r");
    struct row r;
    uint8_t last[TENSOR_MAP_BYTES] = { 0 }, want[TENSOR_MAP_BYTES];
    unsigned rank = 0, pairs = 0;
    assert_non_null(f);
    while (read_row(f, &r)) {
        if (strcmp(r.kind, "tiled") != 0 || !strcmp(r.bytes, "refused"))
            continue;
        struct tensor_map m = map_of(&r);
        memset(want, 0, sizeof want);
        for (unsigned i = 0; r.bytes[i]; i++) {
            unsigned digit = (unsigned)(strchr("0123456789abcdef", r.bytes[i]) - "0123456789abcdef");
            want[i / 2] |= (uint8_t)(digit << (i % 2 ? 0 : 4));
        }
        uint8_t got[TENSOR_MAP_BYTES];
        memcpy(got, last, sizeof got);
        if (rank == m.rank) {
            assert_true(replace_all(got, &m));
            memcpy(last, want, sizeof last);
            forget(got);
            forget(want);
            assert_memory_equal(got, want, sizeof got);
            pairs++;
        } else {
            memcpy(last, want, sizeof last);
        }
        rank = m.rank;
    }
    fclose(f);
    assert_true(pairs > 50);
}

/* Values that a field has no room for. */
static void test_not_replaced(void **state)
{
    (void)state;
    static const struct {
        enum tensor_field field;
        unsigned number;
        uint64_t value;
    } bad[] = { { TENSOR_FIELD_RANK, 0, 8 },       { TENSOR_FIELD_BOX, 0, 257 },
                { TENSOR_FIELD_BOX, 0, 0 },        { TENSOR_FIELD_DIM, 5, 1 },
                { TENSOR_FIELD_STRIDE, 0, 24 },    { TENSOR_FIELD_STRIDE, 4, 16 },
                { TENSOR_FIELD_STEP, 0, 9 },       { TENSOR_FIELD_TYPE, 0, 13 },
                { TENSOR_FIELD_INTERLEAVE, 0, 4 }, { TENSOR_FIELD_SWIZZLE, 0, 4 },
                { TENSOR_FIELD_FILL, 0, 2 } };
    for (unsigned i = 0; i < ARRAY_LEN(bad); i++) {
        uint8_t raw[TENSOR_MAP_BYTES] = { 0 };
        if (tensor_map_replace(raw, bad[i].field, bad[i].number, bad[i].value))
            fail_msg("value %llu of field %d is taken", (unsigned long long)bad[i].value, bad[i].field);
    }
}

/* Bytes that are none. */
static void test_no_map(void **state)
{
    (void)state;
    uint8_t raw[TENSOR_MAP_BYTES];
    struct tensor_map m;
    memset(raw, 0xff, sizeof raw);
    assert_false(tensor_map_decode(raw, &m));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_as_the_driver),
                                        cmocka_unit_test(test_replaced),
                                        cmocka_unit_test(test_not_replaced),
                                        cmocka_unit_test(test_no_map) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
