/* A library with a static runtime of its own, as extension modules of Python are; with -DKERNELS it registers
 * one in a constructor, as the compiler's host code does. */
#include "tests/emulate/program.h"

int probe(unsigned *out);
static char stub;

#ifdef KERNELS
static struct {
    unsigned magic;
    unsigned short one, sixteen;
    unsigned long long size;
    unsigned short kind, mark;
    unsigned head;
    unsigned long long payload, none;
    unsigned short minor, major;
    unsigned sm;
    unsigned long long unused, flags, rest[2];
    char text[(sizeof(ADD_PTX) + 7) / 8 * 8];
} fatbin = { 0xba55ed50, 1,      16,    64 + sizeof fatbin.text,
             1,          0x0101, 64,    sizeof fatbin.text,
             0,          0,      8,     80,
             0,          0x11,   { 0 }, ADD_PTX };
__attribute__((section(".nvFatBinSegment"))) struct {
    unsigned magic, version;
    void *data, *more;
} wrapper = { 0x466243b1, 1, &fatbin, NULL };

__attribute__((constructor)) static void _ZL24__sti____cudaRegisterAllv(void)
{
    void **handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, &stub, "add", "add", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(handle);
}
#endif

int probe(unsigned *out)
{
    unsigned in[4] = { 1, 2, 3, 4 };
    void *p;
    int e = cudaMalloc(&p, sizeof in);
    e = e ? e : cudaMemcpy(p, in, sizeof in, 1);
#ifdef KERNELS
    e = e ? e : add(&stub, p, p, 5, 4, NULL);
#else
    e = e ? e : stub;
#endif
    return e ? e : cudaMemcpy(out, p, sizeof in, 2);
}
