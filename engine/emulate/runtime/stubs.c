/* Every function of the runtime is there. One that no other file defines is not supported: its weak body
 * here says so, and which it was is told at the end. */
#include "engine/emulate/runtime/runtime.h"

#include <string.h>

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
#if defined(__x86_64__)
#define JUMP "jmp "
#define AT   "@PLT"
#elif defined(__aarch64__)
#define JUMP "b "
#define AT   ""
#else
#error "a jump for this processor"
#endif
#define CALL(name)
#define OTHER(name, of)                                                                    \
    __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ": " JUMP #of AT \
            "\n.size " #name ", .-" #name "\n");
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
