#include "tests/fake/fake.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *fake_self(void)
{
    static char path[1024];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    return path;
}

const char *fake_path(const char *name)
{
    static char paths[4][1200];
    static unsigned turn;
    char *out = paths[turn++ % 4];
    snprintf(out, sizeof paths[0], "%s", fake_self());
    char *slash = strrchr(out, '/');
    snprintf(slash, 1200 - (size_t)(slash - out), "/fake/%s", name);
    return out;
}

void fake_use(const char *driver, const char *cuda_script, const char *cupti_script)
{
    setenv("GPULOCW_LIBCUDA", fake_path(driver), 1);
    setenv("FAKE_CUDA", cuda_script ? cuda_script : "", 1);
    setenv("FAKE_CUPTI", cupti_script ? cupti_script : "", 1);
    setenv("CUPTI_PATH", fake_path(""), 1);
    setenv("GPULOCW_LIBNVML", fake_path("libnvml.so"), 1);
}

long fake_number(const char *driver, const char *name)
{
    void *library = dlopen(fake_path(driver), RTLD_NOW | RTLD_LOCAL);
    void *p = library ? dlsym(library, name) : NULL;
    long (*f)(void), n = -1;
    if (p) {
        memcpy(&f, &p, sizeof f);
        n = f();
    }
    if (library)
        dlclose(library);
    return n;
}

void fake_use_none(void)
{
    setenv("GPULOCW_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
}

static enum status default_preset(void *ctx, const char *name, struct sim_preset *out, struct diags *ds)
{
    (void)ctx;
    if (strcmp(name, "hopper-h200")) {
        diag_error(ds, "preset", "no preset named '%s'", name);
        return ST_INPUT;
    }
    *out = sim_preset_default();
    snprintf(out->name, sizeof out->name, "%s", name);
    return ST_OK;
}

struct dev_env fake_env(void)
{
    return (struct dev_env){ .preset = default_preset, .self = fake_self(), .threads = 1 };
}

bool fake_worker_main(int argc, char **argv, int *code)
{
    if (argc < 2 || strcmp(argv[1], "worker"))
        return false;
    struct dev_env env = fake_env();
    *code = dev_worker_serve(&env, 0, 1) == ST_OK ? 0 : 4;
    return true;
}
