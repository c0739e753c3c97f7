#include "tests/emulate/program.h"

/* printf of kernels comes out where the program waits; an assertion is an error of its own. */
static const char text[] =
    PTX_HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
             ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 u, "
             ".param .b64 c);\n"
             ".global .align 1 .b8 words[7] = {104,105,32,37,100,10,0};\n.global .align 1 .b8 what[4] = "
             "{120,62,48,0};\n"
             ".visible .entry say() {\n .local .align 8 .b8 buf[8];\n" PTX_REGS
             "mov.u32 %r1, %ctaid.x; st.local.u32 [buf], %r1; mov.u64 %rd1, words; cvta.global.u64 "
             "%rd2, %rd1; mov.u64 %rd3, buf; cvta.local.u64 %rd4, %rd3;\n"
             "{ .param .b64 p0; st.param.b64 [p0], %rd2; .param .b64 p1; st.param.b64 [p1], %rd4; "
             ".param .b32 q; call (q), vprintf, (p0, p1); } ret; }\n"
             ".visible .entry claim() {\n" PTX_REGS "mov.u64 %rd1, what; cvta.global.u64 %rd2, %rd1;\n"
             "{ .param .b64 a; st.param.b64 [a], %rd2; .param .b64 b; st.param.b64 [b], %rd2; .param "
             ".b32 c; st.param.b32 [c], 12; .param .b64 d; st.param.b64 [d], %rd2; .param .b64 e; "
             "st.param.b64 [e], 1; call __assertfail, (a, b, c, d, e); } ret; }\n";

int main(void)
{
    static char say, claim;
    void **m = load(text);
    kernel(m, &say, "say");
    kernel(m, &claim, "claim");
    puts("before");
    OK(launch(&say, 3, 1, NULL, NULL));
    OK(cudaDeviceSynchronize());
    puts("after");
    OK(launch(&claim, 1, 1, NULL, NULL));
    NEED(cudaDeviceSynchronize() == 710);
    pass();
    return 0;
}
