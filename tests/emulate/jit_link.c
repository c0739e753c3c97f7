#include "tests/emulate/driver.h"

#include <dlfcn.h>

/* nvJitLink, brought by dlopen as its clients in Python do: jit_link LIBRARY. A kernel in one text calls a function
 * in another; machine code and LTO-IR are refused with what to do. */
static void *library;
static int (*create)(void **, unsigned, const char **), (*destroy)(void **), (*complete)(void *),
    (*add_data)(void *, int, const void *, size_t, const char *), (*size)(void *, size_t *),
    (*cubin)(void *, void *), (*log_size)(void *, size_t *), (*error_log)(void *, void *),
    (*version)(unsigned *, unsigned *);

static char caller[] =
    PTX_HEAD ".extern .func (.param .b32 out) twice(.param .b32 x);\n"
             ".visible .entry call(.param .u64 p) {\n" PTX_REGS
             "ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1];\n"
             "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), twice, (a); ld.param.b32 "
             "%r2, [b]; }\nst.global.u32 [%rd1], %r2; ret; }\n";
static char callee[] =
    PTX_HEAD ".visible .func (.param .b32 out) twice(.param .b32 x) {\n" PTX_REGS
             "ld.param.b32 %r1, [x]; shl.b32 %r2, %r1, 1; st.param.b32 [out], %r2; ret; }\n";

static void runs(const void *image)
{
    CUmodule m;
    CUfunction f;
    CUdeviceptr d;
    void *args[] = { &d };
    unsigned v = 21;
    OK(cuModuleLoadData(&m, image));
    OK(cuModuleGetFunction(&f, m, "call"));
    OK(cuMemAlloc(&d, 4));
    OK(cuMemcpyHtoD(d, &v, 4));
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    OK(cuMemcpyDtoH(&v, d, 4));
    NEED(v == 42);
}

static void refuses(void)
{
    void *l;
    char log[400] = "";
    size_t n = 0;
    OK(create(&l, 0, NULL));
    IS(3, complete(l)); /* nothing in it */
    IS(8, add_data(l, 3, "lto", 3, "lto.bc"));
    OK(log_size(l, &n));
    NEED(n > 10 && n < sizeof log);
    OK(error_log(l, log));
    NEED(strstr(log, "lto.bc") && strstr(log, "hand PTX over"));
    IS(8, add_data(l, 1, "\177ELF", 4, "x.cubin"));
    OK(add_data(l, 2, "no PTX", 7, "bad.ptx"));
    IS(4, complete(l));
    OK(destroy(&l));
    IS(3, destroy(&l));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void *at;
    } all[] = { { "nvJitLinkCreate", &create },
                { "__nvJitLinkDestroy_13_0", &destroy },
                { "nvJitLinkComplete", &complete },
                { "__nvJitLinkAddData_13_0", &add_data },
                { "nvJitLinkGetLinkedCubinSize", &size },
                { "nvJitLinkGetLinkedCubin", &cubin },
                { "nvJitLinkGetErrorLogSize", &log_size },
                { "nvJitLinkGetErrorLog", &error_log },
                { "nvJitLinkVersion", &version } };
    const char *options[] = { "-arch=sm_90" };
    unsigned major = 0, minor = 9;
    CUcontext c;
    void *l;
    size_t n = 0;
    NEED(argc == 2);
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&c, 0));
    OK(cuCtxSetCurrent(c));
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    NEED(library);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        void *fn = dlsym(library, all[i].name);
        NEED(fn);
        memcpy(all[i].at, &fn, sizeof fn);
    }
    OK(version(&major, &minor));
    NEED(major == 12 && minor == 0); /* before link-time optimization */
    OK(create(&l, 1, options));
    OK(add_data(l, 2, caller, sizeof caller, "caller"));
    OK(add_data(l, 2, callee, sizeof callee, "callee"));
    OK(complete(l));
    OK(size(l, &n));
    char *image = malloc(n);
    OK(cubin(l, image));
    OK(destroy(&l));
    runs(image);
    free(image);
    refuses();
    pass();
    return 0;
}
