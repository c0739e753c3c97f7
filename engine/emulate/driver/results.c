/* Names and texts of results. */
#include "engine/emulate/driver/driver.h"

static const struct {
    int number;
    const char *name;
} results[] = {
#define ERROR(number, name, text)
#define BOTH(number, name, result, text) { number, result },
#define RESULT(number, result)           { number, result },
#include "engine/emulate/runtime/errors.def"
};

static const char *name_of(CUresult r)
{
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (results[i].number == r)
            return results[i].name;
    return NULL;
}

static CUresult put(const char **out, const char *text)
{
    if (out)
        *out = text;
    return out && text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

PLAIN(cuGetErrorName, (CUresult r, const char **out), put(out, name_of(r)))
PLAIN(cuGetErrorString, (CUresult r, const char **out),
      put(out, name_of(r) ? cudaGetErrorString(r) : NULL))
