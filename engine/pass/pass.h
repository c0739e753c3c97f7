/* pass: PTX rewrites and their runner. Each pass refuses with a reason or
 * changes only the lines it must. Acceptance by comparing outputs lives in tune. */
#pragma once

#include "engine/ptx/text_marks.h"
#include "engine/rec/elem.h"

struct ana_kernel;
struct dev_info;
struct launch_spec;
struct options;
struct ptx_line_origin;
struct ptx_module;

/* Variables that passes add are called so: the host finds them by name, as it does every variable of a
 * module. */
#define PASS_PREFIX "gpulocw_"
bool pass_adds(struct str variable);
/* Knob values live in one module-scope .const structure read at entry, so that a
 * sweep over them needs one JIT. Word i of the structure is enum pass_knob. */
enum pass_knob {
    PASS_KNOB_PI,
    PASS_KNOB_AGENTS,
    PASS_KNOB_DISTANCE,
    PASS_KNOB_PI_THREADS /* pi in threads, or in rows of them: what the code compares */,
    PASS_KNOB_COUNT
};
#define PASS_KNOB_SYMBOL PASS_PREFIX "knobs"
enum { PASS_KNOB_ALL = 0xffff }; /* PASS_KNOB_AGENTS: as many as fit */

/* --pi vote (paper: bypass, section 4.3): one sampling launch in which the SMs run different thresholds,
 * pi = smid * (W+1) / nsmid. u64 words of this .global variable, zeroed before the launch:
 *   [0]         complement of the least (elapsed << 8 | pi) of any CTA, elapsed in SM cycles: the
 *               paper's election
 *   [1 + 2*pi]  sum of the elapsed cycles of the CTAs that ran pi
 *   [2 + 2*pi]  their number */
#define PASS_VOTE_SYMBOL PASS_PREFIX "vote"
enum { PASS_VOTE_MOST = 64, PASS_VOTE_WORDS = 1 + 2 * (PASS_VOTE_MOST + 1) };
/* --agents vote (paper: cluster, section 4.3): one launch in which the SMs run different numbers of
 * agents, 1 + smid * most / nsmid. u64 words of this .global variable from STEP * number on, zeroed
 * before the launch:
 *   sum of the SM cycles of tasks, tasks, agents that ran one, SMs */
#define PASS_AGENT_VOTE_SYMBOL PASS_PREFIX "agent_vote"
enum { PASS_AGENT_VOTE_STEP = 4, PASS_AGENT_VOTE_WORDS = PASS_AGENT_VOTE_STEP * (PASS_VOTE_MOST + 1) };

/* --softcache auto (paper: softcache): a first launch runs the monitoring slice alone (survey PROFILE),
 * a second one the code that its counts choose (soft_profile). CENSUS: the code as asked, counting what
 * its lines found. u64 words of this .global variable, zeroed before the launch:
 *   [2*p], [2*p+1]         hits, accesses of parameter p
 *   [PASS_SOFT_MONITORED]  accesses that the monitoring slice made */
#define PASS_SOFT_SYMBOL PASS_PREFIX "softcache"
enum {
    PASS_SOFT_SAMPLE = 300 /* accesses that a thread simulates, in the paper */,
    PASS_SOFT_MONITORED = 2 * 64,
    PASS_SOFT_WORDS
};
/* --tile-order: PASS_SURVEY_TILES marks which tile a warp is at: it stores to byte number
 * PASS_TILES_MOST where it is at none, else to the tile's; of more tiles the last byte but one. */
#define PASS_TILES_SYMBOL PASS_PREFIX "tiles"
enum { PASS_TILES_MOST = 1 << 20 };
enum pass_survey { PASS_SURVEY_NONE, PASS_SURVEY_PROFILE, PASS_SURVEY_CENSUS, PASS_SURVEY_TILES };

struct pass_input {
    const struct ptx_module *module;
    struct str kernel;
    const struct options *options;
    const struct dev_info *dev;       /* the device it is meant for; NULL: any */
    const struct launch_spec *launch; /* NULL: no launch known (rewrite without one) */
    /* NULL: the runner analyses by itself where a pass needs facts */
    const struct ana_kernel *facts;
    unsigned regs; /* registers a thread of the original takes; 0: not known */
};
struct pass_reset {
    char symbol[64];
    uint64_t bytes;
}; /* zeroed by the engine before every launch */
/* What the passes made of the kernel, for those who say the same in another language: each pass fills in
 * what it decided. */
struct pass_meaning {
    uint32_t pad_row, pad_gap; /* bytes: a gap behind each row of shared memory; 0: none */
    uint32_t swizzle_unit; /* bytes of shared memory that stay together; 0: words stay where they are */
    uint32_t clusters;     /* of CTAs, renamed; 0: they keep their numbers */
    int claims;            /* enum claim_kind: how agents claim */
    const char *no_launch; /* why not by cluster launch control; static text, or NULL */
    bool meets;            /* a barrier stands between the iterations of a coarsened thread */
};
struct pass_output {
    bool changed; /* false: the text is the original's */
    char *text;
    size_t n;
    struct ptx_module *module; /* the parsed rewritten text */
    struct ptx_line_origin *lines;
    uint32_t nlines;         /* against the original, composed over all passes */
    struct text_marks marks; /* of the module: what instructions of the passes mean */
    /* values for PASS_KNOB_SYMBOL (u32 words) when `knobs` */
    bool knobs;
    uint32_t knob[PASS_KNOB_COUNT];
    struct pass_reset reset[8];
    uint32_t nreset;
    struct dim3u grid, block;
    uint32_t shared; /* the launch the new code wants */
    /* tiles are done in another order: that they are independent is to be shown by a launch */
    bool tiles;
    struct pass_meaning meaning;
    int hw_pi; /* hardware bypass variant: -1 off */
    int extra_regs;
    uint32_t extra_shared; /* cost estimate of the rewrite */
    /* softcache, chosen before the launch: lines per thread, and whose (--softcache-data) */
    int soft_lines;
    char soft_data[256];
};
/* Runs every pass the options ask for, in table order. ST_REFUSED with located reasons; notes for what
 * was replaced or left alone. On anything but ST_OK *out is empty. pass_output_free. */
enum status pass_apply(const struct pass_input *in, struct pass_output *out, struct diags *ds);
/* The same; survey: a launch that finds something out. soft_profile: PASS_SOFT_WORDS that a profile
 * left, or NULL. */
enum status pass_apply_survey(const struct pass_input *in, enum pass_survey survey,
                              const uint64_t *soft_profile, struct pass_output *out, struct diags *ds);
void pass_output_free(struct pass_output *o);
/* The text for use without the engine: knob values become PASS_KNOB_SYMBOL's initial values. out->text
 * itself has none, so that configurations that differ in knob values alone have the same text. */
void pass_standalone(const struct pass_output *o, struct buf *out);
/* Has the kernel, or what it calls, a loop that may wait for other CTAs, another kernel or the host? Not
 * known: yes. */
bool pass_waits(const struct ptx_module *m, struct str kernel);
/* Is this value of a knob legal here? ST_OK, or ST_REFUSED with the reason; nothing is rewritten. */
enum status pass_legal(const struct pass_input *in, struct diags *ds);
/* softcache: lines of so many bytes per thread (paper: softcache, CLN) in what an SM's resident threads
 * leave free. */
uint32_t pass_softcache_lines(uint64_t shared_free_per_sm, uint64_t threads_per_sm, unsigned line);
/* The two texts line by line: ' ' in both, '-' original's alone, '+' rewritten's alone (line numbers
 * from 1; of the other text: where it would stand). A changed line is a '-' before a '+'. Owned; NULL:
 * out of memory. */
struct pass_diff_line {
    char sign;
    uint32_t old, now;
};
struct pass_diff_line *pass_diff_lines(const struct ptx_module *original, const struct pass_output *o,
                                       size_t *n);
/* Unified diff with context, colourless. */
void pass_diff(const struct ptx_module *original, const struct pass_output *o, struct buf *out);
