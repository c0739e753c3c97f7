/* What nvJitLink is to its clients: it would make machine code. Here each call fails. */
#include <stddef.h>

#define FAILS(name)                                                 \
    __attribute__((aligned(16))) int nvJitLink##name(void)          \
    {                                                               \
        return 6;                                                   \
    }                                                               \
    __attribute__((aligned(16))) int __nvJitLink##name##_13_0(void) \
    {                                                               \
        return 6;                                                   \
    }
FAILS(Version)
FAILS(Create)
FAILS(Destroy)
FAILS(AddData)
FAILS(AddFile)
FAILS(Complete)
FAILS(GetLinkedCubinSize)
FAILS(GetLinkedCubin)
FAILS(GetErrorLogSize)
FAILS(GetErrorLog)

/* Behind the last of them, as there is more in the toolkit's. */
__attribute__((aligned(16))) int more_text(int x)
{
    return x * 3 + 1;
}
