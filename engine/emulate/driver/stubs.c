/* Every function of the driver is there. One that no other file defines is not supported: its weak body
 * here says so, and which it was is told at the end. */
#include "engine/emulate/driver/driver.h"
#include "engine/emulate/runtime/other_form.h"

#include <string.h>

#define ONE(name, since)          CALL(name, name, since)
#define TWO(name, since, second)  CALL(name, name, since) CALL(name##_v2, name, second)
#define PTSZ(symbol, name, since) CALL(symbol, name, since) OTHER(symbol##_ptsz, symbol)
#define PTDS(symbol, name, since) CALL(symbol, name, since) OTHER(symbol##_ptds, symbol)
#define ALSO(symbol, name, since)
#define CALL(symbol, name, since)                                       \
    __attribute__((weak, visibility("default"))) CUresult symbol(void); \
    CUresult symbol(void)                                               \
    {                                                                   \
        missing(#symbol);                                               \
        return CUDA_ERROR_NOT_SUPPORTED;                                \
    }
#define OTHER(name, of)
#include "engine/emulate/driver/calls.def"
#undef CALL
#undef OTHER

/* The other forms jump there: arguments and all stay as they are. */
#define CALL(symbol, name, since)
#define OTHER(name, of) OTHER_FORM(name, of)
#include "engine/emulate/driver/calls.def"
#undef CALL
#undef OTHER
#undef ALSO

/* ---- by name and version ---- */
struct entry {
    const char *name;
    int since;
    CUresult (*fn)(void);
};
static const struct entry entries[] = {
#define CALL(symbol, name, since) { #name, since, symbol },
#define ALSO(symbol, name, since) { #name, since, symbol },
#define OTHER(name, of)
#include "engine/emulate/driver/calls.def"
};

void *driver_function(const char *name, int version, bool *later)
{
    const struct entry *best = NULL;
    *later = false;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        const struct entry *e = &entries[i];
        if (strcmp(e->name, name) != 0)
            continue;
        *later |= e->since > version;
        if (e->since <= version && (!best || e->since > best->since))
            best = e;
    }
    return best ? (void *)(uintptr_t)best->fn : NULL;
}
