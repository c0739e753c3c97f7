/* A program on the fake driver whose launches have data: captured CASE PTX-FILE. */
#include "tests/live/fake_live.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 3000, BLOCK = 128, GRID = (N + BLOCK - 1) / BLOCK };

static char text[1 << 16];
static void *module, *function;

/* The text by NVRTC: linked, or looked up as CuPy does. */
static void load_compiled(const char *kernel, int looked_up)
{
    static char cubin[FAKE_CUBIN];
    int (*get)(void *, char *) = nvrtcGetCUBIN;
    void *f = looked_up ? dlsym(RTLD_DEFAULT, "nvrtcGetCUBIN") : NULL;
    if (f)
        memcpy(&get, &f, sizeof get);
    get(text, cubin);
    fake_load(20, &module, cubin);
    fake_get(23, &function, module, kernel);
}

/* The text by the driver's linker. */
static void load_linked(const char *kernel)
{
    static char cubin[FAKE_CUBIN];
    void *out = cubin, *state = &module;
    struct {
        void *state;
        int type;
        void *data;
        size_t n;
    } data = { state, 1, text, strlen(text) + 1 };
    struct {
        void *state;
        void **cubin;
        size_t *n;
    } end = { state, &out, NULL };
    fake_other(382, &data);
    nvrtcGetCUBIN("other", cubin);
    fake_other(365, &end);
    fake_load(20, &module, cubin);
    fake_get(23, &function, module, kernel);
}

/* The text by nvJitLink, linked by name or looked up; LTO-IR is no text. */
static void load_jit(const char *kernel, const char *how)
{
    static char cubin[FAKE_CUBIN];
    static const char ir[] = "BC\300\336\0\1";
    int (*add)(void *, int, const void *, size_t, const char *) = __nvJitLinkAddData_12_8;
    int (*get)(void *, char *) = __nvJitLinkGetLinkedCubin_12_8;
    int lto = strcmp(how, "jitlto") == 0, any = strcmp(how, "jitany") == 0;
    void *state = &state, *f = any ? dlsym(RTLD_DEFAULT, "nvJitLinkAddData") : NULL,
         *g = any ? dlsym(RTLD_DEFAULT, "nvJitLinkGetLinkedCubin") : NULL;
    if (f && g) {
        memcpy(&add, &f, sizeof add);
        memcpy(&get, &g, sizeof get);
    }
    add(state, lto ? 3 : any ? 10 : 2, lto ? ir : text, lto ? sizeof ir : strlen(text), "name");
    get(state, cubin);
    nvJitLinkDestroy(&state);
    fake_load(20, &module, cubin);
    fake_get(23, &function, module, kernel);
}

/* As XLA does it: the text goes through ptxas, by files below $PTXAS_FILES; the one of the tests copies
 * $PTXAS_FILES/made. */
static void load_by_ptxas(const char *kernel)
{
    static char cubin[FAKE_CUBIN];
    char name[3][300], command[1000];
    static const char *const NAMES[] = { "made", "text", "out" };
    for (int i = 0; i < 3; i++)
        snprintf(name[i], sizeof name[i], "%s/%s", getenv("PTXAS_FILES"), NAMES[i]);
    fake_cubin(text, cubin);
    FILE *f = fopen(name[0], "wb"), *g = fopen(name[1], "wb");
    if (!f || !g || fwrite(cubin, sizeof cubin, 1, f) != 1 || fputs(text, g) < 0 || fclose(f) ||
        fclose(g))
        exit(98);
    snprintf(command, sizeof command, "ptxas -arch=sm_90 '%s' -o '%s'", name[1], name[2]);
    memset(cubin, 0, sizeof cubin);
    if (system(command) != 0 || !(f = fopen(name[2], "rb")) || fread(cubin, sizeof cubin, 1, f) != 1)
        exit(97);
    fclose(f);
    fake_load(20, &module, cubin);
    fake_get(23, &function, module, kernel);
}

static void load(const char *path, const char *kernel)
{
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (!f || fclose(f) != 0 || !n)
        exit(99);
    fake_load(19, &module, text);
    fake_get(23, &function, module, kernel);
}

static uint64_t floats(uint64_t bytes, int kind)
{
    uint64_t a = fake_alloc(bytes, kind);
    float *p = (float *)(uintptr_t)a;
    for (uint64_t i = 0; i < bytes / 4; i++)
        p[i] = 1.5F + (float)(i % 977);
    return a;
}

static void launch(unsigned id, void **params, int attributes)
{
    const struct fake_launch l = { GRID, BLOCK, 0, params, NULL, attributes };
    fake_launch_with(id, function, &l);
}

/* scale(x, y, a, n) with x of this kind, inside a larger allocation. */
static void scale(int kind, unsigned id, int attributes, int times)
{
    uint64_t x = floats(1 << 20, kind) + 4096, y = fake_alloc(N * 4, FAKE_DEVICE);
    float a = 2.5F;
    int n = N;
    void *params[] = { &x, &y, &a, &n };
    for (int i = 0; i < times; i++, a += 1)
        launch(id, params, attributes);
}

/* Numbers that look like pointers to what the launch uses: nothing is reached by them. */
static void looks(void)
{
    uint64_t x = floats(1 << 20, FAKE_DEVICE) + 4096, y = fake_alloc(N * 4, FAKE_DEVICE);
    float a = 1;
    int n = N;
    void *params[] = { &x, &y, &a, &n };
    ((uint64_t *)(uintptr_t)x)[5] = x + 64;
    ((uint64_t *)(uintptr_t)x)[9] = y;
    launch(307, params, 0);
}

/* Launches of several shapes: another grid; the same grid, and an integer that is another or nearly the same. */
static void shapes(void)
{
    static const struct {
        int n;
        unsigned grid, times;
    } shape[] = { { N, GRID, 2 }, { 1000, 8, 1 }, { N - 9, GRID, 3 }, { 40, GRID, 6 } };
    uint64_t x = floats(1 << 20, FAKE_DEVICE) + 4096, y = fake_alloc(N * 4, FAKE_DEVICE);
    for (unsigned i = 0; i < sizeof shape / sizeof *shape; i++)
        for (unsigned k = 0; k < shape[i].times; k++) {
            float a = (float)k - 1.5F;
            int n = shape[i].n;
            void *params[] = { &x, &y, &a, &n };
            const struct fake_launch l = { shape[i].grid, BLOCK, 0, params, NULL, 0 };
            fake_launch_with(307, function, &l);
        }
}

static void scale_pieces(void)
{
    uint64_t x = fake_alloc_pieces(8192, 4), y = fake_alloc(N * 4, FAKE_DEVICE);
    float a = 0.5F;
    int n = N;
    void *params[] = { &x, &y, &a, &n };
    for (unsigned i = 0; i < 4 * 8192 / 4; i++)
        ((float *)(uintptr_t)x)[i] = (float)i;
    launch(307, params, 0);
}

/* first: the element that the lowest index takes */
static void gather(int first)
{
    struct {
        uint64_t in, index, out;
        int n;
        float scale;
    } g = { floats((64u << 10) + 4 * (unsigned)first, FAKE_DEVICE), fake_alloc(N * 4, FAKE_DEVICE),
            fake_alloc(N * 4, FAKE_DEVICE), N, 3 };
    int *index = (int *)(uintptr_t)g.index;
    for (int i = 0; i < N; i++)
        index[i] = first + (i * 7919) % 5000;
    void *params[] = { &g };
    launch(307, params, 0);
}

static void rows(void)
{
    uint64_t list = fake_alloc(16, FAKE_DEVICE), out = fake_alloc(N * 4, FAKE_DEVICE);
    uint64_t *row = (uint64_t *)(uintptr_t)list;
    int n = N;
    void *params[] = { &list, &out, &n };
    row[0] = floats(1 << 16, FAKE_DEVICE);
    row[1] = floats(1 << 16, FAKE_DEVICE);
    launch(442, params, 0);
}

static void table(void)
{
    uint64_t out = fake_alloc(N * 4, FAKE_DEVICE);
    int n = N;
    void *params[] = { &out, &n };
    for (int i = 0; i < 16; i++)
        fake_table[i] = 1.0F / (float)(i + 1);
    fake_count[2] = 40;
    launch(307, params, 0);
}

static void spin(void)
{
    uint64_t flag = fake_alloc(4, FAKE_DEVICE), out = fake_alloc(4, FAKE_DEVICE);
    void *params[] = { &flag, &out };
    launch(307, params, 0);
    fake_release();
}

static void in_a_stream_capture(void)
{
    struct {
        void *stream;
        int mode;
    } p = { NULL, 0 };
    fake_other(539, &p);
    scale(FAKE_DEVICE, 307, 0, 2);
    fake_other(497, &p);
}

/* scale, then gather of what it made: the memory that gather gets is not there before the graph. */
static void by_graph(int changed)
{
    uint64_t x = floats(1 << 15, FAKE_DEVICE), y = fake_alloc(1 << 15, FAKE_DEVICE);
    float a = 2.5F;
    int n = 8000;
    void *params[] = { &x, &y, &a, &n }, *gathered, *exec;
    struct {
        uint64_t in, index, out;
        int n;
        float scale;
    } g = { y, fake_alloc(N * 4, FAKE_DEVICE), fake_alloc(N * 4, FAKE_DEVICE), N, 3 };
    void *more[] = { &g }, *graph = fake_graph_new();
    for (int i = 0; i < N; i++)
        ((int *)(uintptr_t)g.index)[i] = 1000 + (i * 7919) % 5000;
    fake_get(23, &gathered, module, "gather");
    void *first = fake_graph_kernel(graph, function, 63, BLOCK, params, NULL);
    fake_graph_kernel(graph, gathered, GRID, BLOCK, more, first);
    exec = graph;
    if (changed)
        fake_graph_changed(graph, &exec);
    else
        fake_graph_run(graph, 3);
}

static void ipc(void)
{
    uint64_t x = floats(1 << 16, FAKE_DEVICE), y = fake_alloc(N * 4, FAKE_DEVICE), *opened = &x;
    float a = 2;
    int n = N;
    void *params[] = { &x, &y, &a, &n };
    fake_other(567, &opened);
    launch(307, params, 0);
}

/* The same through a handle that is mapped, or a pointer into a pool. */
static void imported(int by_pool)
{
    uint64_t x = floats(1 << 16, FAKE_DEVICE), y = fake_alloc(N * 4, FAKE_DEVICE), handle = 77, *to = &x;
    uint64_t *got = &handle;
    const struct {
        uint64_t at, bytes, offset, handle, flags;
    } own = { y, N * 4, 0, 76, 0 }, map = { x, 1 << 16, 0, 77, 0 };
    float a = 2;
    int n = N;
    void *params[] = { &x, &y, &a, &n };
    if (by_pool) {
        fake_other(616, &to);
    } else {
        fake_other(555, &got);
        fake_other(551, &own);
        fake_other(551, &map);
    }
    launch(307, params, 0);
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";
    cuInit(0);
    load(argv[2], strcmp(what, "gather") == 0  ? "gather"
                  : strcmp(what, "far") == 0   ? "gather"
                  : strcmp(what, "rows") == 0  ? "rows"
                  : strcmp(what, "table") == 0 ? "table"
                  : strcmp(what, "spin") == 0  ? "spin"
                                               : "scale");
    if (strcmp(what, "nvrtc") == 0 || strcmp(what, "lookup") == 0)
        load_compiled("scale", what[0] == 'l');
    if (strcmp(what, "link") == 0)
        load_linked("scale");
    if (strncmp(what, "jit", 3) == 0)
        load_jit("scale", what);
    if (strcmp(what, "ptxas") == 0)
        load_by_ptxas("scale");
    if (strcmp(what, "dump") == 0) {
        static char cubin[FAKE_CUBIN];
        fake_cubin(text, cubin);
        fake_load(20, &module, cubin);
        fake_get(23, &function, module, "scale");
    }
    if (strcmp(what, "plain") == 0 || strncmp(what, "jit", 3) == 0 || strcmp(what, "nvrtc") == 0 ||
        strcmp(what, "lookup") == 0 || strcmp(what, "link") == 0 || strcmp(what, "dump") == 0 ||
        strcmp(what, "ptxas") == 0)
        scale(FAKE_DEVICE, 307, 0, 3);
    else if (strcmp(what, "ex") == 0)
        scale(FAKE_DEVICE, 652, 1, 1);
    else if (strcmp(what, "cooperative") == 0)
        scale(FAKE_DEVICE, 477, 0, 1);
    else if (strcmp(what, "host") == 0)
        scale(FAKE_HOST, 307, 0, 1);
    else if (strcmp(what, "managed") == 0)
        scale(FAKE_MANAGED, 307, 0, 1);
    else if (strcmp(what, "lost") == 0)
        scale(FAKE_LOST, 307, 0, 1);
    else if (strcmp(what, "peer") == 0)
        scale(FAKE_PEER, 307, 0, 1);
    else if (strcmp(what, "looks") == 0)
        looks();
    else if (strcmp(what, "shapes") == 0)
        shapes();
    else if (strcmp(what, "pieces") == 0)
        scale_pieces();
    else if (strcmp(what, "gather") == 0)
        gather(1000);
    else if (strcmp(what, "far") == 0)
        gather(600000);
    else if (strcmp(what, "rows") == 0)
        rows();
    else if (strcmp(what, "table") == 0)
        table();
    else if (strcmp(what, "spin") == 0)
        spin();
    else if (strcmp(what, "stream") == 0)
        in_a_stream_capture();
    else if (strcmp(what, "graph") == 0 || strcmp(what, "changed") == 0)
        by_graph(what[0] == 'c');
    else if (strcmp(what, "ipc") == 0)
        ipc();
    else if (strcmp(what, "imported") == 0 || strcmp(what, "pool") == 0)
        imported(what[0] == 'p');
    if (strcmp(what, "plain") == 0 && dlsym(RTLD_DEFAULT, "nvJitLinkAddFile"))
        printf("a function that no library has was found\n");
    printf("done\n");
    return 4;
}
