/* What the toolkit's static runtime is to whoever links it: one object file with these functions, which ask the
 * driver for a table that is not documented. Here they fail. */
#include "tests/emulate/program.h"

const char *volatile inside_asks = "cuGetExportTable";
unsigned inside_text(unsigned x);
static int fails(void)
{
    return inside_asks[0] == 'c' ? cudaErrorNotSupported : (int)inside_text(1);
}

#define STEP(k) x = (x ^ (x >> ((k) % 13 + 1))) * (2654435761u + 2 * (k));
#define EIGHT(k) \
    STEP(k) STEP(k + 1) STEP(k + 2) STEP(k + 3) STEP(k + 4) STEP(k + 5) STEP(k + 6) STEP(k + 7)
/* Text that a linker leaves as it is, by which the whole is found. */
unsigned inside_text(unsigned x)
{
    EIGHT(1) EIGHT(9) EIGHT(17) EIGHT(25) EIGHT(33) EIGHT(41) EIGHT(49) EIGHT(57) return x;
}

int cudaMalloc(void **p, size_t n)
{
    *p = (void *)(uintptr_t)n;
    return fails();
}
int cudaMemcpy(void *to, const void *from, size_t n, int kind)
{
    return to == from && n > (size_t)kind ? 0 : fails();
}
int cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s)
{
    return f == s && grid.x + block.x + shared > 0 && args ? 0 : fails();
}
void **__cudaRegisterFatBinary(void *wrapper)
{
    static void *handle;
    handle = fails() ? wrapper : NULL;
    return &handle;
}
void __cudaRegisterFatBinaryEnd(void **handle)
{
    *handle = fails() ? *handle : NULL;
}
void __cudaRegisterFunction(void **handle, const char *stub, char *fun, const char *name, int limit,
                            void *tid, void *bid, void *bdim, void *gdim, int *wsize)
{
    *handle =
        fails() && stub && fun && name && limit && tid && bid && bdim && gdim && wsize ? NULL : *handle;
}
