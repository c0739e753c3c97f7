/* Every function of the runtime is there. One that no other file defines is not supported: its weak body
 * here says so, and which it was is told at the end. */
#include "engine/emulate/runtime/other_form.h"
#include "engine/emulate/runtime/runtime.h"

#include <string.h>

#define PTSZ(name) CALL(name) OTHER(name##_ptsz, name)
#define PTDS(name) CALL(name) OTHER(name##_ptds, name)
#define CALL(name)                                                       \
    __attribute__((weak, visibility("default"))) cudaError_t name(void); \
    cudaError_t name(void)                                               \
    {                                                                    \
        missing(#name);                                                  \
        return give(cudaErrorNotSupported);                              \
    }
#define OTHER(name, of)
#include "engine/emulate/runtime/calls.def"
#undef CALL
#undef OTHER

/* The other forms jump there: arguments and all stay as they are. */
#define CALL(name)
#define OTHER(name, of) OTHER_FORM(name, of)
#include "engine/emulate/runtime/calls.def"
#undef CALL
#undef OTHER

/* ---- by name ---- */
#define CALL(name)
#define OTHER(name, of) cudaError_t name(void);
#include "engine/emulate/runtime/calls.def"
#undef CALL
#undef OTHER

void *runtime_function(const char *name)
{
    static const struct {
        const char *name;
        cudaError_t (*fn)(void);
    } all[] = {
#define CALL(name)      { #name, name },
#define OTHER(name, of) { #name, name },
#include "engine/emulate/runtime/calls.def"
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, name) == 0)
            return (void *)(uintptr_t)all[i].fn;
    return NULL;
}
