/* Requests end to end: the arguments of a tool, as an MCP client or a line of a batch has them, to the
 * command itself, in this process. The first byte says which tool. Whatever the arguments, there is an
 * answer: a document that is JSON (of rewrite PTX), or diagnostics with an error. Arguments with a '/' are left out: the
 * commands write the files that they are told to. */
#include "engine/api/gpulocw.h"
#include "engine/session/json.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char kernel[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 o)\n"
    "{ .reg .b32 %r<6>; .reg .b64 %d<6>; ld.param.u64 %d1, [a]; ld.param.u64 %d2, [o]; mov.u32 %r1, "
    "%ctaid.x;\n"
    "mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3; mul.wide.u32 %d3, %r4, "
    "4;\n"
    "add.s64 %d4, %d1, %d3; ld.global.u32 %r5, [%d4]; add.s64 %d5, %d2, %d3; st.global.u32 [%d5], %r5; "
    "ret; }\n";
static const char launch[] =
    "{\"format\":\"gpulocw-launch\",\"version\":1,\"kernel\":\"k\",\"grid\":[2,1,1],\"block\":[32,1,1],"
    "\"args\":["
    "{\"name\":\"a\",\"buffer\":\"u32\",\"count\":64,\"init\":{\"iota\":[0,1]}},"
    "{\"name\":\"o\",\"buffer\":\"u32\",\"count\":64,\"output\":true}]}";
/* Those that end in a moment. */
static const char *const tools[] = { "analyze", "list",  "launch", "run",          "predict", "rewrite",
                                     "diff",    "check", "source", "check_memory", "devices" };

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void soon(void *ctx, double done, const char *what)
{
    static time_t begun;
    (void)what;
    if (done <= 0 || !begun)
        begun = time(NULL);
    if (time(NULL) - begun > 2)
        gpulocw_cancel(ctx);
}

static bool is_json(const char *text)
{
    struct diags ds = { 0 };
    cJSON *o = json_parse("answer", text, strlen(text), &ds);
    bool ok = o != NULL;
    cJSON_Delete(o);
    diags_free(&ds);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char folder[] = "/tmp/fuzz-requests-XXXXXX";
    static bool made;
    if (size < 2 || memchr(data, '/', size) || memchr(data, '\\', size) || memchr(data, 0, size))
        return 0;
    char *text = malloc(size);
    must(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    int back = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    must((made || mkdtemp(folder)) && back >= 0 && chdir(folder) == 0);
    made = true;
    gpulocw *g = gpulocw_new();
    must(g && gpulocw_put(g, "k.ptx", kernel, sizeof kernel - 1) == GPULOCW_DONE &&
         gpulocw_put(g, "k.launch.json", launch, sizeof launch - 1) == GPULOCW_DONE);
    gpulocw_on_progress(g, soon, g);
    const char *tool = tools[data[0] % (sizeof tools / sizeof *tools)];
    gpulocw_status st = gpulocw_call(g, tool, text);
    const char *document = gpulocw_document(g), *said = gpulocw_diagnostics(g);
    must(document && said && is_json(said));
    must(!*document || is_json(document) || strcmp(tool, "rewrite") == 0);
    must(st == GPULOCW_DONE || *document || strstr(said, "\"error\""));
    gpulocw_free(g);
    free(text);
    must(fchdir(back) == 0);
    close(back);
    return 0;
}
