/* A small model checker for PTX: every interleaving of a tiny launch, as the oracle for "this rewrite is
 * legal".
 *
 *   module + launch --mc_load--> program (calls inlined, symbols placed)
 *                                --mc_explore--> set of final memories, flags
 *   mc_judge: is every final memory and the termination of the rewritten program one of the original's?
 *
 * It shares the front end (engine/ptx) with the passes and nothing else: no flow facts, no analysis, no
 * simulator. Every lane is a thread of its own (independent thread scheduling); memory is sequentially
 * consistent, but a .nc load may return what was there when the launch began. What it does not know is
 * "unchecked", never "legal". */
#ifndef GPULOCW_TESTS_MC_H
#define GPULOCW_TESTS_MC_H

#include "engine/pass/pass.h"
#include "engine/rec/launch.h"
#include "engine/workspace/args.h"

struct buf;
struct dev_info;
struct diags;
struct dim3u;
struct mc_kernel;
struct mc_launch;
struct mc_limits;
struct mc_origin;
struct mc_param;
struct mc_result;
struct ptx_module;
struct str;

enum { MC_THREADS = 32, MC_CTAS = 16, MC_BUFFERS = 8, MC_BYTES = 256, MC_OPERANDS = 5 };

/* ---- a launch: parameters are buffers, the same buffer again, or 32-bit scalars ---- */
enum mc_arg_kind { MC_BUFFER, MC_SAME, MC_SCALAR };
struct mc_param {
    enum mc_arg_kind kind;
    uint32_t bytes; /* buffer: multiple of 4, at most MC_BYTES */
    uint8_t init[MC_BYTES];
    uint32_t of, offset; /* same: index of the buffer parameter, bytes from its start */
    uint32_t value;      /* scalar */
};
struct mc_launch {
    struct dim3u grid, block;
    uint32_t shared, warp; /* dynamic shared bytes; lanes of a warp */
    /* what %smid may be: 0 .. sms - 1, the same for a CTA's whole life */
    uint32_t sms;
    struct mc_param param[MC_BUFFERS];
    uint32_t nparams;
};

/* ---- a program ---- */
struct mc_program;
/* ST_OK; ST_REFUSED: something in it is not modelled, `why` says what; ST_NOMEM. knob: values of
 * PASS_KNOB_SYMBOL or NULL. */
enum status mc_load(const struct ptx_module *m, struct str kernel, const struct mc_launch *l,
                    const uint32_t *knob, struct mc_program **out, char why[128]);
void mc_unload(struct mc_program *p);
/* The same instructions on the same launch: nothing an execution could see differs. */
bool mc_same(const struct mc_program *a, const struct mc_program *b);

/* ---- exploring ---- */
struct mc_limits {
    /* CTAs that run at once; 0: all. They start in the order of their numbers */
    uint32_t resident;
    uint32_t states; /* at most; 0: 20000 */
    /* every enabled thread in every state, every access a choice: no reduction */
    bool brute;
};
enum { MC_FINALS = 4096 };
struct mc_result {
    bool limit;        /* too many states: nothing below is complete */
    char unknown[128]; /* not empty: an execution did something that is not modelled */
    uint64_t *final;
    uint32_t nfinal; /* hashes of the buffers at the end, ascending */
    bool stuck;      /* from some state that can be reached, no end can be */
    bool racy;       /* two threads meet at one place, one writes, one access is weak */
    bool parted;     /* lanes of a warp go different ways at a .uni */
    bool fault;      /* access outside everything, or trap */
    /* some execution goes on for ever if the schedule is unfair: somebody waits */
    bool cycle;
    uint32_t states, runs;
    uint64_t stuck_state; /* hash of one, for mc_trace */
};
enum status mc_explore(const struct mc_program *p, const struct mc_limits *limits,
                       struct mc_result *out);
void mc_result_free(struct mc_result *r);
/* Writes the interleaving that leads to the final memory or stuck state `target`. */
void mc_trace(const struct mc_program *p, const struct mc_limits *limits, uint64_t target,
              struct buf *out);

/* ---- verdict ---- */
enum mc_verdict { MC_LEGAL, MC_ILLEGAL, MC_UNCHECKED };
/* of the original, made once per kernel */
struct mc_origin {
    struct mc_result all, few[MC_CTAS];
    bool have[MC_CTAS];
};
/* The original explored; ST_REFUSED: it cannot serve (why: not modelled, too many states, stuck, fault).
 */
enum status mc_origin_make(const struct mc_program *p, uint32_t states, struct mc_origin *out,
                           char why[128]);
void mc_origin_free(struct mc_origin *o);
/* why: what is new in the rewritten program, or what could not be checked. racy originals: results are
 * not compared. */
enum mc_verdict mc_judge(const struct mc_program *original, struct mc_origin *o,
                         const struct mc_program *rewritten, uint32_t states, char why[160],
                         struct buf *trace);

/* ---- generator ---- */
struct mc_kernel {
    struct buf text;
    struct mc_launch launch;
    struct launch_spec spec; /* the same for the passes */
    struct arg_spec args[MC_BUFFERS];
    char hex[MC_BUFFERS][2 * MC_BYTES + 1], names[MC_BUFFERS][8], same[MC_BUFFERS][8];
    char what[160]; /* its features, in words */
};
/* The kernel of a number: always the same. Free with mc_kernel_free. */
void mc_generate(uint64_t seed, struct mc_kernel *out);
void mc_kernel_free(struct mc_kernel *k);
/* The launch for the passes from k->launch; pointers into k. */
void mc_spec(struct mc_kernel *k);

/* ---- passes ---- */
extern const char *const mc_options[];
extern const size_t mc_noptions;
extern const struct dev_info mc_device;
/* The rewrite of the one pass that the options ask for without its check; ST_REFUSED: it cannot be
 * forced. */
enum status mc_force(const struct pass_input *in, struct pass_output *out, struct diags *ds);

#endif
