#include "tests/emulate/driver.h"

/* Addresses that are reserved, memory that is mapped there: as a container does that grows in place. With
 * -DWITH_CUDA_H it runs on a GPU, too. */
enum {
    VALUE = 1,
    NO_MEMORY = 2,
    NO_DEVICE_OF_THAT_NUMBER = 101,
    ADDRESS = 700,
    NO_SUPPORT = 801,
    WORDS = 1 << 19
};
static CUmemAllocationProp prop;
static CUmemAccessDesc both, none;
static size_t step, total;
static CUfunction fn;

static size_t free_bytes(void)
{
    size_t f;
    OK(cuMemGetInfo(&f, &total));
    return f;
}

static void add_one(CUdeviceptr p, unsigned n)
{
    unsigned by = 1;
    void *args[] = { &p, &p, &by, &n };
    OK(cuLaunchKernel(fn, (n + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, args, NULL));
}

static unsigned word(CUdeviceptr p, size_t i)
{
    unsigned v;
    OK(cuMemcpyDtoH(&v, p + 4 * i, 4));
    return v;
}

/* Two pieces side by side, the second of which was made first; what lies across both is one array. */
static void grows(CUdeviceptr p)
{
    CUmemGenericAllocationHandle a, b, again;
    size_t before = free_bytes();
    unsigned long long flags = 9;
    OK(cuMemCreate(&b, step, &prop, 0));
    OK(cuMemCreate(&a, step, &prop, 0));
    OK(cuMemMap(p, step, 0, a, 0));
    OK(cuMemMap(p + step, step, 0, b, 0));
    if (emulated())
        NEED(before - free_bytes() == 2 * step);
    OK(cuMemGetAccess(&flags, &prop.location, p));
    NEED(flags == 0);
    OK(cuMemSetAccess(p, 2 * step, &both, 1));
    OK(cuMemGetAccess(&flags, &prop.location, p));
    NEED(flags == 3);
    OK(cuMemsetD32(p, 7, 2 * WORDS));
    add_one(p, 2 * WORDS);
    NEED(word(p, 0) == 8 && word(p, WORDS - 1) == 8 && word(p, WORDS) == 8 &&
         word(p, 2 * WORDS - 1) == 8);
    unsigned across[4] = { 1, 2, 3, 4 }, back[4];
    OK(cuMemcpyHtoD(p + step - 8, across, 16));
    OK(cuMemcpyDtoD(p, p + step - 8, 16));
    OK(cuMemcpyDtoH(back, p, 16));
    NEED(memcmp(across, back, 16) == 0 && word(p, WORDS) == 3);
    /* the same memory at another place, too: what is written at one is read at the other */
    OK(cuMemMap(p + 2 * step, step, 0, a, 0));
    OK(cuMemSetAccess(p + 2 * step, step, &both, 1));
    NEED(word(p + 2 * step, 3) == 4);
    add_one(p + 2 * step, 4);
    NEED(word(p, 0) == 2);
    /* it keeps its bytes while nothing is mapped */
    OK(cuMemUnmap(p, 2 * step));
    OK(cuMemUnmap(p + 2 * step, step));
    OK(cuMemMap(p + 3 * step, step, 0, a, 0));
    OK(cuMemSetAccess(p + 3 * step, step, &both, 1));
    NEED(word(p + 3 * step, 0) == 2);
    OK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(p + 3 * step + 100)));
    NEED(again == a);
    OK(cuMemRelease(again));
    OK(cuMemRelease(a)); /* goes when it is unmapped */
    NEED(word(p + 3 * step, 0) == 2);
    OK(cuMemUnmap(p + 3 * step, step));
    OK(cuMemRelease(b));
    if (emulated())
        NEED(before == free_bytes());
}

static void wrong(CUdeviceptr p)
{
    CUmemGenericAllocationHandle h, no;
    CUmemAllocationProp other = prop;
    CUdeviceptr q;
    unsigned v = 0;
    size_t n;
    IS(VALUE, cuMemAddressReserve(&q, step + 1, 0, 0, 0));
    IS(VALUE, cuMemAddressReserve(&q, step, 3, 0, 0));
    IS(VALUE, cuMemAddressReserve(NULL, step, 0, 0, 0));
    IS(NO_MEMORY, cuMemAddressReserve(&q, (size_t)1 << 60, 0, 0, 0));
    IS(VALUE, cuMemCreate(&no, step + 4096, &prop, 0));
    IS(VALUE, cuMemCreate(&no, 0, &prop, 0));
    IS(NO_MEMORY, cuMemCreate(&no, (total / step + 1) * step, &prop, 0));
    IS(VALUE, cuMemCreate(&no, step, NULL, 0));
    other.location.id = 99;
    IS(NO_DEVICE_OF_THAT_NUMBER, cuMemCreate(&no, step, &other, 0));
    IS(VALUE, cuMemGetAllocationGranularity(NULL, &prop, 0));
    OK(cuMemCreate(&h, 2 * step, &prop, 0));
    IS(NO_SUPPORT, cuMemMap(p + 4096, step, 0, h, 0));
    IS(NO_SUPPORT, cuMemMap(p, 4 * step, 0, h, 0));
    IS(VALUE, cuMemMap(p + 4 * step, 2 * step, 0, h, 0));
    IS(VALUE, cuMemMap(64 * step, 2 * step, 0, h, 0));
    OK(cuMemMap(p, 2 * step, 0, h, 0));
    IS(VALUE, cuMemMap(p, 2 * step, 0, h, 0));
    IS(VALUE, cuMemAddressFree(p, 4 * step));
    IS(VALUE, cuMemUnmap(p, step));
    OK(cuMemUnmap(p, 3 * step)); /* what is mapped there */
    OK(cuMemUnmap(p, 3 * step)); /* nothing */
    OK(cuMemMap(p, 2 * step, 0, h, 0));
    IS(VALUE, cuMemSetAccess(p, 4 * step, &both, 1));
    IS(VALUE, cuMemFree(p));
    if (emulated()) {
        IS(VALUE, cuMemcpyHtoD(p, &v, 4)); /* nobody may touch it yet */
        IS(VALUE, cuMemRelease((CUmemGenericAllocationHandle)(uintptr_t)&v));
    }
    OK(cuMemSetAccess(p, 2 * step, &both, 1));
    OK(cuMemcpyHtoD(p, &v, 4));
    IS(VALUE, cuMemcpyHtoD(p + 2 * step - 2, &v, 4));
    OK(cuMemGetAddressRange(&q, &n, p + 64));
    NEED(q == p && n == 2 * step);
    OK(cuMemSetAccess(p, 2 * step, &none, 1));
    OK(cuMemUnmap(p, 2 * step));
    OK(cuMemRelease(h));
    IS(VALUE, cuMemAddressFree(p, step));
    IS(VALUE, cuMemAddressFree(p + step, step));
    OK(cuMemAddressFree(p, 4 * step));
    IS(VALUE, cuMemAddressFree(p, 4 * step));
}

/* What is reserved and not mapped is no memory. */
static void empty_addresses(void)
{
    CUdeviceptr p;
    OK(cuMemAddressReserve(&p, step, 0, 0, 0));
    add_one(p, 1);
    IS(ADDRESS, cuCtxSynchronize());
}

int main(void)
{
    CUcontext c;
    CUmodule m;
    CUdeviceptr p;
    int can = 0;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&c, 0));
    OK(cuCtxSetCurrent(c));
    OK(cuDeviceGetAttribute(&can, 102, 0));
    NEED(can == 1);
    OK(cuModuleLoadData(&m, ADD_PTX));
    OK(cuModuleGetFunction(&fn, m, "add"));
    prop.type = 1, prop.location.type = 1;
    both.location.type = none.location.type = 1, both.flags = 3;
    OK(cuMemGetAllocationGranularity(&step, &prop, 0));
    NEED(step == 4 * (size_t)WORDS);
    OK(cuMemAddressReserve(&p, 4 * step, 0, 0, 0));
    NEED(p % step == 0);
    grows(p);
    wrong(p);
    OK(cuMemAddressReserve(&p, (size_t)64 << 30, (size_t)1 << 30, 0, 0)); /* far more than is mapped */
    NEED(p % ((size_t)1 << 30) == 0);
    empty_addresses();
    pass();
    return 0;
}
