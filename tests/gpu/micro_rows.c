/* The rows of micro.c's table. Names: level, pattern, circumstances. Patterns: "lines" means 32 lanes in
 * 32 lines, one sector each; "co" a warp's 32 words in one line. Small L1: carve-out 100. */
#include "tests/gpu/micro.h"

#define LD    "ld.global.u32 @v, [@a];"
#define CG    "ld.global.cg.u32 @v, [@a];"
#define NA    "ld.global.L1::no_allocate.u32 @v, [@a];"
#define ST    "st.global.u32 [@a], %r10;"
#define LDS   "ld.shared.u32 @v, [@a];"
#define SMALL .carveout = 100
#define FULL  .carveout = 0
#define KB    1024u
#define MB    (1024u * 1024u)

/* One warp, one SM; all lanes the same. */
#define ONE .grid = 1, .block = 32, .stamps = true
/* One CTA of 32 warps, each in `own` bytes of its own. */
#define SM(own_) .grid = 1, .block = 1024, .stamps = true
/* A chain of loads of as many lines as lanes; the words of all in one bank, or (pitch 132) each in its
 * own. */
#define LAT_LINES(what, op_, n, rounds_)                                                                \
    {                                                                                                   \
        "lat." what ", " #n " lines", "cycle", MICRO_LATENCY, 1, .grid = 1, .block = n, .stamps = true, \
                                                                 .carveout = -1, .in = {                \
                                                                     .op = op_,                         \
                                                                     .lane = 128,                       \
                                                                     .unroll = 4,                       \
                                                                     .chain = true,                     \
                                                                     .step = 4096,                      \
                                                                     .advance = 16384,                  \
                                                                     .wrap = rounds_ * 16384,           \
                                                                     .rounds = 512                      \
                                                                 }                                      \
    }
#define LAT_PITCH(what, op_, p, rounds_)                                    \
    {                                                                       \
        "lat." what ", 32 lines pitch " #p, "cycle", MICRO_LATENCY, 1,      \
            .grid = 1, .block = 32, .stamps = true, .carveout = -1, .in = { \
                .op = op_,                                                  \
                .lane = p,                                                  \
                .unroll = 4,                                                \
                .chain = true,                                              \
                .step = 4352,                                               \
                .advance = 17408,                                           \
                .wrap = rounds_ * 17408,                                    \
                .rounds = 512                                               \
            }                                                               \
    }
/* 32 warps of one SM, misses in L1: `n` accesses at once. */
#define WALK_CO(op_, n, own)                                                                          \
    {                                                                                                 \
        .op = op_, .lane = 4, .warp = own, .unroll = n, .step = 128, .advance = 128 * n, .wrap = own, \
        .rounds = 64                                                                                  \
    }
#define WALK_LINES(op_, n, own)                                                              \
    {                                                                                        \
        .op = op_, .lane = 128, .warp = own, .unroll = n, .step = 4096, .advance = 4096 * n, \
        .wrap = own, .rounds = 16                                                            \
    }
/* `n` misses of each of `warps` warps at once, from DRAM: lines of one sector each, or whole ones. */
#define FLIGHT_LINES(op_, n, warps, carve)                                                      \
    {                                                                                           \
        "flight.lines " #op_ ", " #n " of " #warps " warps carve " #carve, "sector/cycle",      \
            MICRO_PER_CYCLE, 32, .grid = 1, .block = 32 * warps, .stamps = true, .large = true, \
                                 .cold = true, .carveout = carve, .in = {                       \
                                     .op = op_,                                                 \
                                     .lane = 128,                                               \
                                     .warp = 4096 * n,                                          \
                                     .unroll = n,                                               \
                                     .step = 4096,                                              \
                                     .advance = 4096 * n * warps,                               \
                                     .wrap = 1u << 28,                                          \
                                     .rounds = 64                                               \
                                 }                                                              \
    }
#define FLIGHT_CO(op_, n, warps, carve)                                                        \
    {                                                                                          \
        "flight.co " #op_ ", " #n " of " #warps " warps carve " #carve, "sector/cycle",        \
            MICRO_PER_CYCLE, 4, .grid = 1, .block = 32 * warps, .stamps = true, .large = true, \
                                .cold = true, .carveout = carve, .in = {                       \
                                    .op = op_,                                                 \
                                    .lane = 4,                                                 \
                                    .warp = 128 * n,                                           \
                                    .unroll = n,                                               \
                                    .step = 128,                                               \
                                    .advance = 128 * n * warps,                                \
                                    .wrap = 1u << 28,                                          \
                                    .rounds = 64                                               \
                                }                                                              \
    }
/* A row per lane, `pitch` bytes apart; four neighbouring words at once, as an unrolled row walk does. */
#define WALK_ROWS(op_, pitch)                                                                      \
    {                                                                                              \
        .op = op_, .lane = pitch, .warp = 128, .unroll = 4, .step = 4, .advance = 16, .wrap = 128, \
        .rounds = 32                                                                               \
    }

/* One warp reads `bytes` again and again. */
#define CYCLE_CO(bytes, carve)                                               \
    {                                                                        \
        "cap.co " #bytes " KB carve " #carve, "% L1 hits", MICRO_L1_HITS, 4, \
            .grid = 1, .block = 32, .carveout = carve, .in = {               \
                .op = LD,                                                    \
                .lane = 4,                                                   \
                .unroll = 4,                                                 \
                .step = 128,                                                 \
                .advance = 512,                                              \
                .wrap = bytes * KB,                                          \
                .rounds = bytes * 2 * 32                                     \
            }                                                                \
    }
#define CYCLE_LINES(bytes, carve)                                                \
    {                                                                            \
        "cap.lines " #bytes " KB carve " #carve, "% L1 hits", MICRO_L1_HITS, 32, \
            .grid = 1, .block = 32, .carveout = carve, .in = {                   \
                .op = LD,                                                        \
                .lane = 128,                                                     \
                .unroll = 1,                                                     \
                .advance = 4096,                                                 \
                .wrap = bytes * KB,                                              \
                .rounds = bytes / 4 * 32                                         \
            }                                                                    \
    }

/* `p` of 16 warps read `tile` KB again and again with plain loads, the others pass 64 KB of their own
 * with out_. */
#define MIX(what, p, tile, carve, in_, out_)                                                         \
    {                                                                                                \
        "mix." what ", " #p " of 16 keep " #tile " KB carve " #carve, "% L1 hits", MICRO_L1_HITS,    \
            in_##_EACH, .grid = 1, .block = 512, .carveout = carve, .split = p, .in = in_(LD, tile), \
                        .out = out_                                                                  \
    }
#define TILE_CO(op_, tile)                                                                \
    {                                                                                     \
        .op = op_, .lane = 4, .warp = 128 * KB, .unroll = 4, .step = 128, .advance = 512, \
        .wrap = tile * KB, .rounds = 1024                                                 \
    }
#define TILE_CO_EACH 4
#define TILE_LINES(op_, tile)                                                               \
    {                                                                                       \
        .op = op_, .lane = 128, .warp = 128 * KB, .unroll = 4, .step = 32, .advance = 4096, \
        .wrap = tile * KB, .rounds = 512                                                    \
    }
#define TILE_LINES_EACH 32
/* All warps read the same. */
#define SAME_CO(op_, tile)                                                                 \
    {                                                                                      \
        .op = op_, .lane = 4, .unroll = 4, .step = 128, .advance = 512, .wrap = tile * KB, \
        .rounds = 1024                                                                     \
    }
#define SAME_CO_EACH 4
#define SAME_WORD(op_, tile)                                                                \
    {                                                                                       \
        .op = op_, .unroll = 4, .step = 4, .advance = 16, .wrap = tile * KB, .rounds = 2048 \
    }
#define SAME_WORD_EACH 1
#define PASS_NONE \
    {             \
        .op = ""  \
    }
#define PASS_CO(op_)                                                                      \
    {                                                                                     \
        .op = op_, .lane = 4, .warp = 128 * KB, .unroll = 4, .step = 128, .advance = 512, \
        .wrap = 64 * KB, .base = 4 * MB, .rounds = 1024                                   \
    }
#define PASS_LINES(op_)                                                                          \
    {                                                                                            \
        .op = op_, .lane = 128, .warp = 128 * KB, .unroll = 4, .step = 4096, .advance = 16 * KB, \
        .wrap = 64 * KB, .base = 4 * MB, .rounds = 256                                           \
    }

/* 16 warps of an SM load what is in L1 while 16 others store as many times. Cycles per access of either.
 */
#define PAIR(what, in_, out_)                                                     \
    {                                                                             \
        "load+store.sm " what, "cycle/request", MICRO_CYCLES_PER, 1, SM(0), FULL, \
            .split = 16, .in = in_, .out = out_                                   \
    }
#define IN_LINES(op_, at)                                                                        \
    {                                                                                            \
        .op = op_, .lane = 128, .warp = 4096, .unroll = 4, .step = 32, .base = at, .rounds = 256 \
    }
#define IN_CO(op_, at)                                                                         \
    {                                                                                          \
        .op = op_, .lane = 4, .warp = 512, .unroll = 4, .step = 128, .base = at, .rounds = 256 \
    }

/* Warps that ask for all words of a line, line after line from L2: how many wait for one sector? */
#define MERGE_LINE(warps)                                                                 \
    {                                                                                     \
        "merge.words of one line, " #warps " warps", "request/cycle", MICRO_PER_CYCLE, 1, \
            .grid = 1, .block = 32 * warps, .carveout = 0, .stamps = true, .in = {        \
                .op = LD,                                                                 \
                .unroll = 32,                                                             \
                .step = 4,                                                                \
                .advance = 128,                                                           \
                .wrap = 65536,                                                            \
                .rounds = 256                                                             \
            }                                                                             \
    }
/* Atomics: 264 CTAs of 512, 64 each. */
#define ATOM(what, op_, l, w, c)                                                                    \
    {                                                                                               \
        "atom.chip " what, "lane/cycle", MICRO_CHIP, 32, .grid = 264, .block = 512, .carveout = -1, \
                                                         .in = {                                    \
                                                             .op = op_,                             \
                                                             .lane = l,                             \
                                                             .warp = w,                             \
                                                             .cta = c,                              \
                                                             .unroll = 1,                           \
                                                             .rounds = 64                           \
                                                         }                                          \
    }
#define ATOM_SM(what, op_, l, w)                                                                     \
    {                                                                                                \
        "atom.sm " what, "lane/cycle", MICRO_PER_CYCLE, 32, .grid = 1, .block = 512, .carveout = -1, \
                                                            .stamps = true, .in = {                  \
                                                                .op = op_,                           \
                                                                .lane = l,                           \
                                                                .warp = w,                           \
                                                                .unroll = 1,                         \
                                                                .rounds = 64                         \
                                                            }                                        \
    }
#define ATOM_SH(what, op_, l, w)                                                                \
    {                                                                                           \
        "atom.shared " what, "cycle/request", MICRO_CYCLES_PER, 1,                              \
            .grid = 1, .block = 256, .carveout = -1, .stamps = true, .shared = 32 * KB, .in = { \
                .op = op_,                                                                      \
                .lane = l,                                                                      \
                .warp = w,                                                                      \
                .unroll = 4,                                                                    \
                .rounds = 64                                                                    \
            }                                                                                   \
    }
#define RED   "red.global.add.u32 [@a], %r10;"
#define ATOMR "atom.global.add.u32 @v, [@a], %r10;"
#define REDF  "red.global.add.f32 [@a], %f60;"
#define RED64 "red.global.add.u64 [@a], %w60;"
#define CAS   "atom.global.cas.b32 @v, [@a], %r10, %r10;"

/* Order in which the 32 warps of an SM get on. */
#define ORDER(what, carve, warps, ...)                                                           \
    {                                                                                            \
        "order." what ", " #warps " warps carve " #carve, "% first done", MICRO_FIRST, 1,        \
            .grid = 1, .block = 32 * warps, .stamps = true, .carveout = carve, .in = __VA_ARGS__ \
    }
#define SHARED(what, l)                                                                                 \
    {                                                                                                   \
        "shared." what, "cycle/request", MICRO_CYCLES_PER, 1, SM(0), .carveout = -1, .shared = 32 * KB, \
                                                                     .in = {                            \
                                                                         .op = LDS,                     \
                                                                         .lane = l,                     \
                                                                         .unroll = 8,                   \
                                                                         .step = 4,                     \
                                                                         .rounds = 64                   \
                                                                     }                                  \
    }
#define STREAM(what, unit_, metric_, each_, op_)                                           \
    {                                                                                      \
        "stream." what, unit_, metric_, each_, .grid = 1024, .block = 256, .carveout = -1, \
                                               .large = true, .in = {                      \
                                                   .op = op_,                              \
                                                   .lane = 1 * KB,                         \
                                                   .warp = 32 * KB,                        \
                                                   .cta = 256 * KB,                        \
                                                   .unroll = 1,                            \
                                                   .advance = 4,                           \
                                                   .wrap = 1 * KB,                         \
                                                   .rounds = 64                            \
                                               }                                           \
    }

#define ROWS_HITS(op_, what, carve, warps)                                                  \
    {                                                                                       \
        "l1.rows " what ", " #warps " warps carve " #carve, "% L1 hits", MICRO_L1_HITS, 32, \
            .grid = 1, .block = 32 * warps, .carveout = carve, .in = {                      \
                .op = op_,                                                                  \
                .lane = 4096,                                                               \
                .warp = 131072,                                                             \
                .unroll = 4,                                                                \
                .step = 4,                                                                  \
                .advance = 16,                                                              \
                .wrap = 4096,                                                               \
                .rounds = 64                                                                \
            }                                                                               \
    }
/* A lane walks along `n` rows at once, each word of its own load; `p` of 32 warps, the others with cg.
 */
#define ROWS_MANY(n, p)                                                                              \
    {                                                                                                \
        "l1.rows plain, " #n " rows a lane, " #p " of 32 warps carve 0", "% L1 hits", MICRO_L1_HITS, \
            32, .grid = 1, .block = 1024, FULL, .split = p, .in = LANE_ROWS(LD, n),                  \
                .out = LANE_ROWS(CG, n)                                                              \
    }
#define LANE_ROWS(op_, n)                                                                   \
    {                                                                                       \
        .op = op_, .lane = 4096, .warp = 131072, .unroll = n, .step = 8 * MB, .advance = 4, \
        .wrap = 4096, .rounds = 192                                                         \
    }

#define ISSUE_SH(n, warps)                                                                             \
    {                                                                                                  \
        "issue." #n " shared loads of 32 cycles, " #warps " warps", "cycle", MICRO_ISSUE, 1,           \
            .grid = 1, .block = 32 * warps, .stamps = true, .carveout = -1, .shared = 32 * KB, .in = { \
                .op = "ld.volatile.shared.u32 @v, [@a];",                                              \
                .lane = 128,                                                                           \
                .unroll = n,                                                                           \
                .step = 4,                                                                             \
                .rounds = 1                                                                            \
            }                                                                                          \
    }
#define ISSUE_L2(n, warps)                                                           \
    {                                                                                \
        "issue." #n " reads of 32 lines, " #warps " warps", "cycle", MICRO_ISSUE, 1, \
            .grid = 1, .block = 32 * warps, .stamps = true, FULL, .in = {            \
                .op = "ld.relaxed.gpu.global.u32 @v, [@a];",                         \
                .lane = 128,                                                         \
                .warp = 128 * KB,                                                    \
                .unroll = n,                                                         \
                .step = 4096,                                                        \
                .rounds = 1                                                          \
            }                                                                        \
    }
#define L1_TILE(kb, threads, carve)                                                                     \
    {                                                                                                   \
        "cap.one warp of " #threads " threads, " #kb " KB carve " #carve, "% L1 hits", MICRO_L1_HITS,   \
            4, .grid = 1, .block = threads, .carveout = carve, .split = 1, .out = { .op = "" }, .in = { \
                .op = LD,                                                                               \
                .lane = 4,                                                                              \
                .unroll = 4,                                                                            \
                .step = 128,                                                                            \
                .advance = 512,                                                                         \
                .wrap = kb * KB,                                                                        \
                .rounds = kb * 2 * 16                                                                   \
            }                                                                                           \
    }
#define ROWS_CHIP(what, carve, large_, threads)                                                      \
    {                                                                                                \
        "l1.rows chip " what ", " #threads " threads carve " #carve, "% L1 hits", MICRO_L1_HITS, 32, \
            .grid = 256, .block = threads, .carveout = carve, .large = large_, .in = {               \
                .op = LD,                                                                            \
                .lane = 4096,                                                                        \
                .warp = large_ ? 131072 : 128,                                                       \
                .cta = large_ ? 131072 * threads / 32 : 131072,                                      \
                .unroll = 4,                                                                         \
                .step = 4,                                                                           \
                .advance = 16,                                                                       \
                .wrap = large_ ? 4096 : 128,                                                         \
                .rounds = large_ ? 256 : 32                                                          \
            }                                                                                        \
    }

/* All SMs read the same few sectors past L1: a word per warp, sector after sector, or a line per warp.
 * Relaxed: what an assembler may not take together; the same instruction as .cg. `late`: bytes that each
 * warp starts later. */
#define CGR "ld.relaxed.gpu.global.u32 @v, [@a];"
#define HOT(what, unit_, metric_, l, st, bytes, late)                             \
    {                                                                             \
        "hot." what, unit_, metric_, 1, .grid = 132, .block = 1024, FULL, .in = { \
            .op = CGR,                                                            \
            .lane = l,                                                            \
            .unroll = 4,                                                          \
            .step = st,                                                           \
            .advance = 4 * st,                                                    \
            .wrap = bytes,                                                        \
            .rounds = 128,                                                        \
            .apart = late                                                         \
        }                                                                         \
    }
#define HOT_WORD(what, st, bytes, late)                                  \
    HOT("word, " what, "request/cycle", MICRO_CHIP, 0, st, bytes, late), \
        HOT("word, " what ", reads", "sector/request", MICRO_L2_READS, 0, st, bytes, late)
#define HOT_LINE(what, st, bytes, late)                                  \
    HOT("line, " what, "request/cycle", MICRO_CHIP, 4, st, bytes, late), \
        HOT("line, " what ", reads", "sector/request", MICRO_L2_READS, 4, st, bytes, late)
#define HOT_SMS(n, every)                                                                 \
    {                                                                                     \
        "hot.word, 2 KB, " #n " SMs, every " #every, "request/cycle", MICRO_PER_CYCLE, 1, \
            .grid = 132, .block = 1024, .stamps = true, FULL,                             \
            .in = { .op = CGR,                                                            \
                    .unroll = 4,                                                          \
                    .step = 32,                                                           \
                    .advance = 128,                                                       \
                    .wrap = 2 * KB,                                                       \
                    .rounds = 128 },                                                      \
            .sms = n, .sm_step = every                                                    \
    }
#define HOT_SMS_READS(n, every)                                                                      \
    {                                                                                                \
        "hot.line, 16 KB, " #n " SMs, every " #every ", reads", "sector/request", MICRO_L2_READS, 1, \
            .grid = 132, .block = 32, FULL,                                                          \
            .in = { .op = CGR,                                                                       \
                    .lane = 4,                                                                       \
                    .unroll = 4,                                                                     \
                    .step = 128,                                                                     \
                    .advance = 512,                                                                  \
                    .wrap = 16 * KB,                                                                 \
                    .rounds = 1024 },                                                                \
            .sms = n, .sm_step = every                                                               \
    }
/* `n` CTAs of 32 * w threads: each thread goes along a row of its own, all at the same column. */
#define COLUMN(what, op_, p, n, w, st, len, large_)                    \
    {                                                                  \
        what " column, pitch " #p, "sector/cycle", MICRO_CHIP, 32,     \
            .grid = n, .block = 32 * w, .large = large_, FULL, .in = { \
                .op = op_,                                             \
                .lane = p,                                             \
                .warp = 32 * p,                                        \
                .cta = 32 * p * w,                                     \
                .unroll = 4,                                           \
                .step = st,                                            \
                .advance = 4 * st,                                     \
                .wrap = len,                                           \
                .rounds = large_ ? len / 16 : 128                      \
            }                                                          \
    }
/* All SMs go eight times over `own` bytes per warp, 4224 warps; `keep` of 16 warps with in_, the others
 * with out_ over as much, or through 48 KB each. */
#define LOOP_L2(what, in_, own)                                                   \
    {                                                                             \
        "l2.loop " what ", " #own " bytes a warp", "% L2 hits", MICRO_L2_HITS, 4, \
            .grid = 264, .block = 512, .large = true, SMALL, .in = {              \
                .op = in_,                                                        \
                .lane = 4,                                                        \
                .warp = own,                                                      \
                .cta = 16 * own,                                                  \
                .unroll = 4,                                                      \
                .step = 128,                                                      \
                .advance = 512,                                                   \
                .wrap = own,                                                      \
                .rounds = own / 512 * 8                                           \
            }                                                                     \
    }
#define LOOP_MIX(what, in_, out_, keep, own)                                                           \
    {                                                                                                  \
        "l2.loop " what ", " #keep " of 16 keep " #own " bytes a warp", "% L2 hits", MICRO_L2_HITS, 4, \
            .grid = 264, .block = 512, .large = true, SMALL, .split = keep,                            \
            .in = { .op = in_,                                                                         \
                    .lane = 4,                                                                         \
                    .warp = 60 * KB,                                                                   \
                    .cta = 960 * KB,                                                                   \
                    .unroll = 4,                                                                       \
                    .step = 128,                                                                       \
                    .advance = 512,                                                                    \
                    .wrap = own,                                                                       \
                    .rounds = 256 },                                                                   \
            .out = {                                                                                   \
                .op = out_,                                                                            \
                .lane = 4,                                                                             \
                .warp = 60 * KB,                                                                       \
                .cta = 960 * KB,                                                                       \
                .unroll = 4,                                                                           \
                .step = 128,                                                                           \
                .advance = 512,                                                                        \
                .wrap = 60 * KB,                                                                       \
                .rounds = 120                                                                          \
            }                                                                                          \
    }

/* One instruction as a chain of one warp, and many of 32 warps. In op_, 50 is the chain's register; in
 * many_, @x. */
#define CHAIN(what, kind, op_)                                                 \
    {                                                                          \
        "chain." what, "cycle", MICRO_LATENCY, 1, ONE, .carveout = -1, .in = { \
            .op = op_,                                                         \
            .unroll = 16,                                                      \
            .rounds = 64,                                                      \
            .math = kind                                                       \
        }                                                                      \
    }
#define MANY(what, kind, op_)                                                              \
    {                                                                                      \
        "many." what, "cycle/request", MICRO_CYCLES_PER, 1, SM(0), .carveout = -1, .in = { \
            .op = op_,                                                                     \
            .unroll = 8,                                                                   \
            .rounds = 64,                                                                  \
            .math = kind                                                                   \
        }                                                                                  \
    }
#define F1(name) \
    CHAIN(name ".f32", 'f', name ".f32 %f50, %f50;"), MANY(name ".f32", 'f', name ".f32 @f, @f;")
#define F2(name)                                            \
    CHAIN(name ".f32", 'f', name ".f32 %f50, %f50, %f51;"), \
        MANY(name ".f32", 'f', name ".f32 @f, @f, %f51;")
#define D1(name) \
    CHAIN(name ".f64", 'd', name ".f64 %d50, %d50;"), MANY(name ".f64", 'd', name ".f64 @d, @d;")
#define D2(name)                                            \
    CHAIN(name ".f64", 'd', name ".f64 %d50, %d50, %d51;"), \
        MANY(name ".f64", 'd', name ".f64 @d, @d, %d51;")
#define V1(name) CHAIN(name, 'v', name " %v50, %v50;"), MANY(name, 'v', name " @v, @v;")
#define V2(name) CHAIN(name, 'v', name " %v50, %v50, %v51;"), MANY(name, 'v', name " @v, @v, %v51;")
#define V3(name) \
    CHAIN(name, 'v', name " %v50, %v50, %v51, %v52;"), MANY(name, 'v', name " @v, @v, %v51, %v52;")
#define W2(name) CHAIN(name, 'w', name " %w50, %w50, %w51;"), MANY(name, 'w', name " @w, @w, %w51;")

static const struct micro_row rows[] = {
    { "launch.empty", "ns", MICRO_NS, 1, .grid = 1, .block = 32, .carveout = -1, .in = { .op = "" } },

    { "lat.l1", "cycle", MICRO_LATENCY, 1, ONE, .carveout = -1,
      .in = { .op = LD,
              .unroll = 8,
              .chain = true,
              .step = 128,
              .advance = 1024,
              .wrap = 4096,
              .rounds = 256 } },
    LAT_LINES("l1", LD, 2, 8),
    LAT_LINES("l1", LD, 4, 8),
    LAT_LINES("l1", LD, 8, 8),
    LAT_LINES("l1", LD, 16, 8),
    LAT_LINES("l1", LD, 32, 8),
    LAT_PITCH("l1", LD, 132, 8),
    LAT_LINES("l2", CG, 2, 64),
    LAT_LINES("l2", CG, 4, 64),
    LAT_LINES("l2", CG, 8, 64),
    LAT_LINES("l2", CG, 16, 64),
    LAT_LINES("l2", CG, 32, 64),
    LAT_PITCH("l2", CG, 132, 64),
    { "lat.l2", "cycle", MICRO_LATENCY, 1, ONE, .carveout = -1,
      .in = { .op = CG,
              .unroll = 8,
              .chain = true,
              .step = 128,
              .advance = 1024,
              .wrap = 65536,
              .rounds = 512 } },
    { "lat.l2 one line, nearest SM", "cycle", MICRO_LEAST, 1, .grid = 132, .block = 32, .stamps = true,
      .carveout = -1, .in = { .op = CG, .unroll = 8, .chain = true, .rounds = 64 } },
    { "lat.l2 one line, farthest SM", "cycle", MICRO_MOST, 1, .grid = 132, .block = 32, .stamps = true,
      .carveout = -1, .in = { .op = CG, .unroll = 8, .chain = true, .rounds = 64 } },
    { "lat.dram", "cycle", MICRO_LATENCY, 1, ONE, .carveout = -1, .large = true, .cold = true,
      .in = { .op = CG,
              .unroll = 8,
              .chain = true,
              .step = 16640,
              .advance = 133120,
              .wrap = 1u << 28,
              .rounds = 2000 } },
    { "lat.shared", "cycle", MICRO_LATENCY, 1, ONE, .carveout = -1, .shared = 4 * KB,
      .in = { .op = LDS, .unroll = 8, .chain = true, .rounds = 64 } },
    { "lat.atom", "cycle", MICRO_LATENCY, 1, .grid = 1, .block = 1, .stamps = true, .carveout = -1,
      .in = { .op = "atom.global.exch.b32 @v, [@a], %r20;", .unroll = 8, .chain = true, .rounds = 64 } },
    { "lat.atom.shared", "cycle", MICRO_LATENCY, 1, .grid = 1, .block = 1, .stamps = true,
      .carveout = -1, .shared = 4 * KB,
      .in = { .op = "atom.shared.exch.b32 @v, [@a], %r20;", .unroll = 8, .chain = true, .rounds = 64 } },

    F2("add"),
    CHAIN("fma.rn.f32", 'f', "fma.rn.f32 %f50, %f50, %f51, %f51;"),
    MANY("fma.rn.f32", 'f', "fma.rn.f32 @f, @f, %f51, %f51;"),
    F1("sqrt.rn"),
    F1("rcp.rn"),
    F2("div.rn"),
    F1("sqrt.approx"),
    F1("rcp.approx"),
    F2("div.approx"),
    F2("div.full"),
    F1("rsqrt.approx"),
    F1("sin.approx"),
    F1("ex2.approx"),
    F1("lg2.approx"),
    F1("tanh.approx"),
    F1("cvt.rni.f32"),
    F2("min"),
    F1("sqrt.approx.ftz"),
    F1("ex2.approx.ftz"),
    D2("add.rn"),
    CHAIN("fma.rn.f64", 'd', "fma.rn.f64 %d50, %d50, %d51, %d51;"),
    MANY("fma.rn.f64", 'd', "fma.rn.f64 @d, @d, %d51, %d51;"),
    D1("sqrt.rn"),
    D1("rcp.rn"),
    D2("div.rn"),
    D1("rsqrt.approx"),
    D2("min"),
    CHAIN("add xor", 'v', "add.u32 %v50, %v50, %v51; xor.b32 %v50, %v50, %v51;"),
    MANY("add.u32", 'v', "add.u32 @v, @v, %r1;"),
    V3("mad.lo.u32"),
    V2("mul.hi.u32"),
    V2("div.u32"),
    V2("rem.u32"),
    V2("div.s32"),
    V2("rem.s32"),
    V1("popc.b32"),
    V1("clz.b32"),
    V1("brev.b32"),
    V3("bfe.u32"),
    CHAIN("bfi.b32", 'v', "bfi.b32 %v50, %v50, %v51, %v52, %v51;"),
    MANY("bfi.b32", 'v', "bfi.b32 @v, @v, %v51, %v52, %v51;"),
    V2("shl.b32"),
    V2("min.s32"),
    V3("prmt.b32"),
    V3("dp4a.u32.u32"),
    V1("bfind.u32"),
    V1("abs.s32"),
    V3("sad.u32"),
    V3("fma.rn.f16x2"),
    V1("ex2.approx.f16x2"),
    W2("add.u64"),
    CHAIN("add.u64 mad.wide", 'w',
          "cvt.u32.u64 %v53, %w50; mad.wide.u32 %w50, %v53, %v52, %w51; add.u64 %w50, %w50, %w51;"),
    W2("mul.lo.u64"),
    W2("mul.hi.u64"),
    CHAIN("div.u32 by", 'v', "div.u32 %v50, %r1, %v50;"),
    MANY("div.u32 by", 'v', "div.u32 @v, %v51, @v;"),
    CHAIN("div.s32 by", 'v', "div.s32 %v50, %r1, %v50;"),
    CHAIN("div.f32 by", 'f', "div.rn.f32 %f50, %f51, %f50;"),
    MANY("div.f32 by", 'f', "div.rn.f32 @f, %f51, @f;"),
    CHAIN("div.approx.f32 by", 'f', "div.approx.f32 %f50, %f51, %f50;"),
    W2("div.u64"),
    W2("rem.u64"),
    W2("div.s64"),
    W2("min.u64"),
    W2("and.b64"),
    CHAIN("popc.b64", 'w', "popc.b64 %v53, %w50; cvt.u64.u32 %w50, %v53;"),
    CHAIN("shl.b64", 'w', "shl.b64 %w50, %w50, %v52;"),
    MANY("shl.b64", 'w', "shl.b64 @w, @w, %v52;"),
    CHAIN("mad.wide.u32", 'w', "cvt.u32.u64 %v53, %w50; mad.wide.u32 %w50, %v53, %v52, %w51;"),
    MANY("mad.wide.u32", 'w', "mad.wide.u32 @w, %r1, %v52, @w;"),
    CHAIN("cvt f32 s32 f32", 'f', "cvt.rzi.s32.f32 %v50, %f50; cvt.rn.f32.s32 %f50, %v50;"),
    MANY("cvt f32 s32 f32", 'f', "cvt.rzi.s32.f32 @v, @f; cvt.rn.f32.s32 @f, @v;"),
    CHAIN("cvt f32 f64 f32", 'f', "cvt.f64.f32 %d50, %f50; cvt.rn.f32.f64 %f50, %d50;"),
    MANY("cvt f32 f64 f32", 'f', "cvt.f64.f32 @d, @f; cvt.rn.f32.f64 @f, @d;"),
    CHAIN("setp selp", 'v', "setp.ne.u32 %p0, %v50, %v52; selp.u32 %v50, %v51, %v52, %p0;"),
    MANY("setp selp", 'v', "setp.ne.u32 %p0, @v, %v52; selp.u32 @v, %v51, @v, %p0;"),
    CHAIN("branch not taken", 'v',
          "add.u32 %v50, %v50, %v51;\nsetp.eq.u32 %p0, %v50, 0x1234567;\n@%p0 bra END;"),
    MANY("branch not taken", 'v',
         "add.u32 @v, @v, %v51;\nsetp.eq.u32 %p0, @v, 0x1234567;\n@%p0 bra END;"),
    { "chain.loop of one add", "cycle", MICRO_LATENCY, 1, ONE, .carveout = -1,
      .in = { .op = "add.u32 %v50, %v50, %v51;", .unroll = 1, .rounds = 512, .math = 'v' } },
    { "many.loop of one add", "cycle/request", MICRO_CYCLES_PER, 1, SM(0), .carveout = -1,
      .in = { .op = "add.u32 @v, @v, %v51;", .unroll = 1, .rounds = 512, .math = 'v' } },
    CHAIN("shfl and add", 'v', "shfl.sync.bfly.b32 %v50, %v50, %v51, 31, -1; add.u32 %v50, %v50, %r1;"),
    MANY("shfl", 'v', "shfl.sync.bfly.b32 @v, @v, %v51, 31, -1;"),
    CHAIN("vote.ballot", 'v', "setp.ne.u32 %p0, %v50, %v52; vote.sync.ballot.b32 %v50, %p0, -1;"),
    CHAIN("redux", 'v', "redux.sync.add.u32 %v50, %v50, -1;"),
    CHAIN("bar.sync", 'v', "bar.sync 0; add.u32 %v50, %v50, %v51;"),
    MANY("bar.sync", 'v', "bar.sync 0; add.u32 @v, @v, %v51;"),

    { "l1.co", "sector/cycle", MICRO_PER_CYCLE, 4, SM(512), FULL, .in = WALK_CO(LD, 4, 512) },
    { "l1.lines", "cycle/request", MICRO_CYCLES_PER, 1, SM(4096), FULL,
      .in = { .op = LD, .lane = 128, .warp = 4096, .unroll = 4, .step = 32, .rounds = 64 } },
    { "l1.lines pitch 132", "cycle/request", MICRO_CYCLES_PER, 1, SM(4096), FULL,
      .in = { .op = LD, .lane = 132, .warp = 4096, .unroll = 4, .step = 32, .rounds = 64 } },
    { "l1.lines pitch 256", "cycle/request", MICRO_CYCLES_PER, 1, .grid = 1, .block = 512,
      .stamps = true, FULL,
      .in = { .op = LD, .lane = 256, .warp = 8192, .unroll = 4, .step = 32, .rounds = 64 } },
    { "l1.sectors pitch 32", "cycle/request", MICRO_CYCLES_PER, 1, SM(4096), FULL,
      .in = { .op = LD, .lane = 32, .warp = 4096, .unroll = 4, .step = 4, .rounds = 64 } },
    { "l1.one word", "cycle/request", MICRO_CYCLES_PER, 1, SM(4096), FULL,
      .in = { .op = LD, .unroll = 4, .step = 4, .rounds = 64 } },
    SHARED("no conflict", 4),
    SHARED("2 ways", 8),
    SHARED("8 ways", 32),
    SHARED("32 ways", 128),
    SHARED("one word", 0),

    { "l2.sm co", "sector/cycle", MICRO_PER_CYCLE, 4, SM(0), FULL, .in = WALK_CO(CG, 8, 16384) },
    { "l2.sm co small L1", "sector/cycle", MICRO_PER_CYCLE, 4, SM(0), SMALL,
      .in = WALK_CO(CG, 8, 16384) },
    { "l2.sm co plain small L1", "sector/cycle", MICRO_PER_CYCLE, 4, SM(0), SMALL,
      .in = WALK_CO(LD, 8, 16384) },
    { "l2.sm lines", "sector/cycle", MICRO_PER_CYCLE, 32, SM(0), FULL, .in = WALK_LINES(CG, 4, 65536) },
    { "l2.sm lines small L1", "sector/cycle", MICRO_PER_CYCLE, 32, SM(0), SMALL,
      .in = WALK_LINES(CG, 4, 65536) },
    { "l2.sm lines plain", "sector/cycle", MICRO_PER_CYCLE, 32, SM(0), FULL,
      .in = WALK_LINES(LD, 4, 65536) },
    { "l2.sm lines plain small L1", "sector/cycle", MICRO_PER_CYCLE, 32, SM(0), SMALL,
      .in = WALK_LINES(LD, 4, 65536) },
    { "l2.sm rows", "sector/cycle", MICRO_PER_CYCLE, 32, SM(0), FULL, .in = WALK_ROWS(CG, 4096) },
    { "l2.sm rows small L1", "sector/cycle", MICRO_PER_CYCLE, 32, SM(0), SMALL,
      .in = WALK_ROWS(CG, 4096) },
    { "l2.sm rows plain", "sector/cycle", MICRO_PER_CYCLE, 32, SM(0), FULL, .in = WALK_ROWS(LD, 4096) },
    { "l2.sm rows plain small L1", "sector/cycle", MICRO_PER_CYCLE, 32, SM(0), SMALL,
      .in = WALK_ROWS(LD, 4096) },
    { "l2.sm lines 4 warps", "sector/cycle", MICRO_PER_CYCLE, 32, .grid = 1, .block = 128,
      .stamps = true, FULL, .in = WALK_LINES(CG, 4, 65536) },
    { "l2.sm co 1 warp", "sector/cycle", MICRO_PER_CYCLE, 4, ONE, FULL, .in = WALK_CO(CG, 8, 16384) },
    { "l2.sm co 1 warp 32 at once", "sector/cycle", MICRO_PER_CYCLE, 4, ONE, FULL,
      .in = WALK_CO(CG, 32, 16384) },
    { "l2.chip co", "sector/cycle", MICRO_CHIP, 4, .grid = 264, .block = 512, FULL,
      .in = { .op = CG,
              .lane = 4,
              .warp = 2048,
              .cta = 32768,
              .unroll = 8,
              .step = 128,
              .advance = 1024,
              .wrap = 2048,
              .rounds = 128 } },
    { "l2.chip co small L1", "sector/cycle", MICRO_CHIP, 4, .grid = 264, .block = 512, SMALL,
      .in = { .op = CG,
              .lane = 4,
              .warp = 2048,
              .cta = 32768,
              .unroll = 8,
              .step = 128,
              .advance = 1024,
              .wrap = 2048,
              .rounds = 128 } },
    { "l2.chip lines", "sector/cycle", MICRO_CHIP, 32, .grid = 264, .block = 512, FULL,
      .in = { .op = CG,
              .lane = 128,
              .warp = 4096,
              .cta = 65536,
              .unroll = 4,
              .step = 32,
              .rounds = 64 } },
    { "l2.chip lines small L1", "sector/cycle", MICRO_CHIP, 32, .grid = 264, .block = 512, SMALL,
      .in = { .op = CG,
              .lane = 128,
              .warp = 4096,
              .cta = 65536,
              .unroll = 4,
              .step = 32,
              .rounds = 64 } },
    { "l2.chip lines, 1 MB", "sector/cycle", MICRO_CHIP, 32, .grid = 264, .block = 512, FULL,
      .in = { .op = CG,
              .lane = 128,
              .warp = 4096,
              .cta = 4096,
              .unroll = 4,
              .step = 32,
              .rounds = 64 } },
    { "l2.chip lines pitch 160", "sector/cycle", MICRO_CHIP, 32, .grid = 264, .block = 512, FULL,
      .in = { .op = CG,
              .lane = 160,
              .warp = 5120,
              .cta = 81920,
              .unroll = 4,
              .step = 32,
              .rounds = 64 } },
    { "l2.chip lines pitch 160, 1 MB", "sector/cycle", MICRO_CHIP, 32, .grid = 264, .block = 512, FULL,
      .in = { .op = CG,
              .lane = 160,
              .warp = 5120,
              .cta = 5120,
              .unroll = 4,
              .step = 32,
              .rounds = 64 } },
    { "l2.chip lines pitch 1184", "sector/cycle", MICRO_CHIP, 32, .grid = 264, .block = 512, FULL,
      .in = { .op = CG,
              .lane = 1184,
              .warp = 37888,
              .cta = 592,
              .unroll = 4,
              .step = 32,
              .rounds = 64 } },
    { "l2.chip lines pitch 4128", "sector/cycle", MICRO_CHIP, 32, .grid = 264, .block = 512, FULL,
      .in = { .op = CG, .lane = 4128, .warp = 32, .cta = 512, .unroll = 4, .step = 32, .rounds = 64 } },
    { "l2.chip lines pitch 8480, 1 MB", "sector/cycle", MICRO_CHIP, 32, .grid = 264, .block = 512, FULL,
      .in = { .op = CG, .lane = 8480, .warp = 96, .cta = 3392, .unroll = 4, .step = 32, .rounds = 64 } },
    { "l2.chip rows", "sector/cycle", MICRO_CHIP, 32, .grid = 264, .block = 512, FULL,
      .in = { .op = CG,
              .lane = 4096,
              .warp = 128,
              .cta = 131072,
              .unroll = 4,
              .step = 4,
              .advance = 16,
              .wrap = 128,
              .rounds = 64 } },
    { "l2.chip rows small L1", "sector/cycle", MICRO_CHIP, 32, .grid = 264, .block = 512, SMALL,
      .in = { .op = CG,
              .lane = 4096,
              .warp = 128,
              .cta = 131072,
              .unroll = 4,
              .step = 4,
              .advance = 16,
              .wrap = 128,
              .rounds = 64 } },
    { "l2.chip rows pitch 136", "sector/cycle", MICRO_CHIP, 32, .grid = 264, .block = 512, FULL,
      .in = { .op = CG,
              .lane = 136,
              .warp = 4352,
              .cta = 69632,
              .unroll = 4,
              .step = 4,
              .advance = 16,
              .wrap = 128,
              .rounds = 64 } },
    { "l2.chip rows small L1, reads", "sector/sector", MICRO_L2_READS, 32, .grid = 264, .block = 512,
      SMALL,
      .in = { .op = CG,
              .lane = 4096,
              .warp = 128,
              .cta = 131072,
              .unroll = 4,
              .step = 4,
              .advance = 16,
              .wrap = 128,
              .rounds = 64 } },
    { "l2.chip rows, reads", "sector/sector", MICRO_L2_READS, 32, .grid = 264, .block = 512, FULL,
      .in = { .op = CG,
              .lane = 4096,
              .warp = 128,
              .cta = 131072,
              .unroll = 4,
              .step = 4,
              .advance = 16,
              .wrap = 128,
              .rounds = 64 } },
    ROWS_HITS(LD, "plain", 100, 4),
    ROWS_HITS(LD, "plain", 100, 8),
    ROWS_HITS(LD, "plain", 100, 16),
    ROWS_HITS(LD, "plain", 100, 20),
    ROWS_HITS(LD, "plain", 100, 24),
    ROWS_HITS(LD, "plain", 100, 28),
    ROWS_HITS(LD, "plain", 100, 32),
    ROWS_HITS(NA, "na", 100, 16),
    ROWS_HITS(LD, "plain", 0, 32),
    ROWS_HITS(NA, "na", 0, 32),
    ROWS_HITS(NA, "na", 0, 4),
    ROWS_MANY(1, 32),
    ROWS_MANY(2, 32),
    ROWS_MANY(3, 32),
    ROWS_MANY(4, 32),
    ROWS_MANY(1, 16),
    ROWS_MANY(2, 16),
    ROWS_MANY(2, 8),
    ROWS_MANY(3, 16),
    ROWS_MANY(3, 8),
    ROWS_MANY(3, 4),
    ROWS_MANY(4, 8),
    ROWS_CHIP("L2", 100, 0, 256),
    ROWS_CHIP("L2", 100, 0, 512),
    ROWS_CHIP("L2", 100, 0, 1024),
    ROWS_CHIP("DRAM", 100, 1, 128),
    ROWS_CHIP("DRAM", 100, 1, 256),
    ROWS_CHIP("DRAM", 0, 1, 256),
    ISSUE_SH(2, 1),
    ISSUE_SH(4, 1),
    ISSUE_SH(8, 1),
    ISSUE_SH(12, 1),
    ISSUE_SH(16, 1),
    ISSUE_SH(24, 1),
    ISSUE_SH(32, 1),
    ISSUE_SH(48, 1),
    ISSUE_SH(8, 4),
    ISSUE_SH(16, 4),
    ISSUE_SH(2, 32),
    ISSUE_SH(4, 32),
    ISSUE_SH(8, 32),
    ISSUE_L2(2, 1),
    ISSUE_L2(4, 1),
    ISSUE_L2(8, 1),
    ISSUE_L2(12, 1),
    ISSUE_L2(16, 1),
    ISSUE_L2(24, 1),
    ISSUE_L2(32, 1),
    ISSUE_L2(8, 4),
    ISSUE_L2(16, 4),
    L1_TILE(208, 1024, 0),
    L1_TILE(224, 1024, 0),
    L1_TILE(240, 1024, 0),
    L1_TILE(256, 1024, 0),
    L1_TILE(224, 512, 0),
    L1_TILE(240, 512, 0),
    L1_TILE(240, 1024, -1),
    L1_TILE(240, 256, -1),
    L1_TILE(224, 256, -1),
    { "merge.one warp, rows, reads", "sector/sector", MICRO_L2_READS, 32, .grid = 1, .block = 32, FULL,
      .in = WALK_ROWS(CG, 4096) },
    { "merge.one warp, same line 8 times, reads", "sector/sector", MICRO_L2_READS, 4, .grid = 1,
      .block = 32, FULL,
      .in = { .op = "ld.relaxed.gpu.global.u32 @v, [@a];",
              .lane = 4,
              .unroll = 8,
              .advance = 128,
              .wrap = 65536,
              .rounds = 256 } },
    { "merge.32 warps, same lines, reads", "sector/sector", MICRO_L2_READS, 4, .grid = 1, .block = 1024,
      FULL,
      .in = { .op = CG,
              .lane = 4,
              .unroll = 4,
              .step = 128,
              .advance = 512,
              .wrap = 65536,
              .rounds = 256 } },
    MERGE_LINE(1),
    MERGE_LINE(2),
    MERGE_LINE(4),
    MERGE_LINE(8),
    MERGE_LINE(32),
    { "merge.all SMs, same lines, reads", "sector/sector", MICRO_L2_READS, 4, .grid = 132, .block = 32,
      FULL,
      .in = { .op = CG,
              .lane = 4,
              .unroll = 4,
              .step = 128,
              .advance = 512,
              .wrap = 65536,
              .rounds = 256 } },
    { "merge.all SMs, same lines", "sector/cycle", MICRO_CHIP, 4, .grid = 132, .block = 1024, FULL,
      .in = { .op = CG,
              .lane = 4,
              .unroll = 4,
              .step = 128,
              .advance = 512,
              .wrap = 65536,
              .rounds = 128 } },
    { "merge.all SMs, one word", "request/cycle", MICRO_CHIP, 1, .grid = 264, .block = 512, FULL,
      .in = { .op = CG, .unroll = 4, .step = 4, .advance = 16, .wrap = 4096, .rounds = 128 } },

    HOT_WORD("one sector", 0, 0, 0),
    HOT_WORD("one line", 32, 128, 0),
    HOT_WORD("512 bytes", 32, 512, 0),
    HOT_WORD("2 KB", 32, 2048, 0),
    HOT_WORD("2 KB, words in order", 4, 2048, 0),
    HOT_WORD("16 KB", 32, 16 * KB, 0),
    HOT_WORD("64 KB", 32, 64 * KB, 0),
    HOT_WORD("2 KB apart", 32, 2048, 96),
    HOT_WORD("16 KB apart", 32, 16 * KB, 1184),
    HOT_WORD("64 KB apart", 32, 64 * KB, 4512),
    HOT_LINE("one line", 0, 0, 0),
    HOT_LINE("512 bytes", 128, 512, 0),
    HOT_LINE("2 KB", 128, 2048, 0),
    HOT_LINE("16 KB", 128, 16 * KB, 0),
    HOT_LINE("64 KB", 128, 64 * KB, 0),
    HOT_LINE("2 KB apart", 128, 2048, 640),
    HOT_LINE("16 KB apart", 128, 16 * KB, 1152),
    HOT_LINE("64 KB apart", 128, 64 * KB, 4736),
    HOT_LINE("512 KB apart", 128, 512 * KB, 123 * KB),
    HOT_SMS(1, 1),
    HOT_SMS(2, 1),
    HOT_SMS(2, 2),
    HOT_SMS(4, 1),
    HOT_SMS(4, 2),
    HOT_SMS(4, 16),
    HOT_SMS(8, 1),
    HOT_SMS(8, 2),
    HOT_SMS(8, 16),
    HOT_SMS(16, 1),
    HOT_SMS(16, 8),
    HOT_SMS(33, 4),
    HOT_SMS(66, 2),
    HOT_SMS(132, 1),
    HOT_SMS_READS(2, 1),
    HOT_SMS_READS(2, 2),
    HOT_SMS_READS(2, 4),
    HOT_SMS_READS(2, 8),
    HOT_SMS_READS(2, 14),
    HOT_SMS_READS(2, 16),
    HOT_SMS_READS(2, 18),
    HOT_SMS_READS(2, 32),
    HOT_SMS_READS(4, 1),
    HOT_SMS_READS(4, 2),
    HOT_SMS_READS(4, 16),
    HOT_SMS_READS(8, 1),
    HOT_SMS_READS(8, 2),
    HOT_SMS_READS(8, 16),
    HOT_SMS_READS(16, 1),
    HOT_SMS_READS(16, 8),
    HOT_SMS_READS(66, 2),
    HOT_SMS_READS(132, 1),
    COLUMN("l2.chip", CG, 4096, 132, 2, 32, 4096, 0),
    COLUMN("l2.chip", CG, 4224, 126, 2, 32, 4096, 0),
    COLUMN("l2.chip", CG, 1024, 132, 8, 32, 1024, 0),
    COLUMN("l2.chip", CG, 1184, 114, 8, 32, 1024, 0),
    COLUMN("l2.chip", CG, 8192, 132, 1, 32, 8192, 0),
    COLUMN("l2.chip", CG, 8320, 130, 1, 32, 8192, 0),
    COLUMN("dram.chip", CG, 4096, 256, 8, 4, 4096, 1),
    COLUMN("dram.chip", CG, 4224, 248, 8, 4, 4096, 1),
    COLUMN("dram.chip", CG, 4160, 252, 8, 4, 4096, 1),
    COLUMN("dram.chip plain", LD, 4096, 256, 8, 4, 4096, 1),
    COLUMN("dram.chip plain", LD, 4224, 248, 8, 4, 4096, 1),
    COLUMN("dram.chip na", NA, 4096, 256, 8, 4, 4096, 1),
    COLUMN("dram.chip na", NA, 4224, 248, 8, 4, 4096, 1),
    LOOP_L2("cg", CG, 4096),
    LOOP_L2("cg", CG, 8192),
    LOOP_L2("cg", CG, 12288),
    LOOP_L2("na", NA, 1024),
    LOOP_L2("na", NA, 2048),
    LOOP_L2("na", NA, 4096),
    LOOP_L2("na", NA, 6144),
    LOOP_L2("na", NA, 8192),
    LOOP_L2("na", NA, 10240),
    LOOP_L2("na", NA, 12288),
    LOOP_L2("na", NA, 16384),
    LOOP_MIX("cg, cg through", CG, CG, 8, 4096),
    LOOP_MIX("cg, na through", CG, NA, 8, 4096),
    LOOP_MIX("cg, na through", CG, NA, 8, 16384),
    LOOP_MIX("na, cg through", NA, CG, 8, 4096),
    LOOP_MIX("na, na through", NA, NA, 8, 4096),
    LOOP_MIX("na, na through", NA, NA, 8, 1024),
    LOOP_MIX("na, cg through", NA, CG, 8, 1024),
    LOOP_MIX("cg, cg through", CG, CG, 8, 1024),
    { "dram.chip read", "byte/ns", MICRO_CHIP_GBPS, 128, .grid = 264, .block = 1024, .carveout = -1,
      .large = true,
      .in = { .op = LD,
              .lane = 4,
              .warp = 1 * KB,
              .cta = 32 * KB,
              .unroll = 8,
              .step = 128,
              .advance = 264 * 32 * KB,
              .wrap = 30ull * 264 * 32 * KB,
              .rounds = 60 } },
    { "dram.chip write", "byte/ns", MICRO_CHIP_GBPS, 128, .grid = 264, .block = 1024, .carveout = -1,
      .large = true,
      .in = { .op = ST,
              .lane = 4,
              .warp = 1 * KB,
              .cta = 32 * KB,
              .unroll = 8,
              .step = 128,
              .advance = 264 * 32 * KB,
              .wrap = 30ull * 264 * 32 * KB,
              .rounds = 60 } },
    { "dram.chip write words", "sector/ns", MICRO_CHIP_GBPS, 32, .grid = 264, .block = 1024,
      .carveout = -1, .large = true,
      .in = { .op = ST,
              .lane = 32,
              .warp = 1 * KB,
              .cta = 32 * KB,
              .unroll = 1,
              .advance = 264 * 32 * KB,
              .wrap = 30ull * 264 * 32 * KB,
              .rounds = 60 } },
    { "dram.chip read sectors", "sector/ns", MICRO_CHIP_GBPS, 32, .grid = 264, .block = 1024,
      .carveout = -1, .large = true,
      .in = { .op = LD,
              .lane = 256,
              .warp = 8 * KB,
              .cta = 256 * KB,
              .unroll = 1,
              .advance = 32,
              .wrap = 96,
              .rounds = 3 } },
    FLIGHT_LINES(CG, 1, 4, 0),
    FLIGHT_LINES(CG, 1, 8, 0),
    FLIGHT_LINES(CG, 1, 12, 0),
    FLIGHT_LINES(CG, 1, 16, 0),
    FLIGHT_LINES(CG, 1, 32, 0),
    FLIGHT_LINES(CG, 2, 32, 0),
    FLIGHT_LINES(CG, 4, 32, 0),
    FLIGHT_LINES(LD, 1, 16, 0),
    FLIGHT_LINES(LD, 4, 32, 0),
    FLIGHT_LINES(CG, 4, 32, 100),
    FLIGHT_LINES(LD, 4, 32, 100),
    FLIGHT_CO(CG, 2, 32, 0),
    FLIGHT_CO(CG, 4, 32, 0),
    FLIGHT_CO(CG, 8, 32, 0),
    FLIGHT_CO(CG, 12, 32, 0),
    FLIGHT_CO(CG, 16, 32, 0),
    FLIGHT_CO(CG, 32, 32, 0),
    FLIGHT_CO(LD, 16, 32, 0),
    FLIGHT_CO(LD, 32, 32, 0),
    FLIGHT_CO(CG, 32, 32, 100),
    FLIGHT_CO(LD, 32, 32, 100),
    { "dram.sm read", "byte/cycle", MICRO_PER_CYCLE, 128, SM(0), .carveout = -1, .large = true,
      .cold = true,
      .in = { .op = LD,
              .lane = 4,
              .warp = 1 * KB,
              .unroll = 8,
              .step = 128,
              .advance = 32 * KB,
              .wrap = 1ull << 28,
              .rounds = 256 } },
    { "store.sm co", "sector/cycle", MICRO_PER_CYCLE, 4, SM(0), .carveout = -1,
      .in = WALK_CO(ST, 8, 16384) },
    { "store.sm lines", "sector/cycle", MICRO_PER_CYCLE, 32, SM(0), .carveout = -1,
      .in = WALK_LINES(ST, 4, 65536) },
    PAIR("lines + lines", IN_LINES(LD, 0), IN_LINES(ST, 4 * MB)),
    PAIR("lines + co", IN_LINES(LD, 0), IN_CO(ST, 4 * MB)),
    PAIR("co + co", IN_CO(LD, 0), IN_CO(ST, 4 * MB)),
    PAIR("co + lines", IN_CO(LD, 0), IN_LINES(ST, 4 * MB)),
    { "store.chip co", "sector/cycle", MICRO_CHIP, 4, .grid = 264, .block = 512, .carveout = -1,
      .in = { .op = ST,
              .lane = 4,
              .warp = 2048,
              .cta = 32768,
              .unroll = 8,
              .step = 128,
              .advance = 1024,
              .wrap = 2048,
              .rounds = 128 } },
    { "store.chip words", "sector/cycle", MICRO_CHIP, 32, .grid = 264, .block = 512, .carveout = -1,
      .in = { .op = ST,
              .lane = 128,
              .warp = 4096,
              .cta = 65536,
              .unroll = 4,
              .step = 32,
              .rounds = 64 } },
    STREAM("read", "access/ns", MICRO_CHIP_GBPS, 32, CG),
    STREAM("read plain", "access/ns", MICRO_CHIP_GBPS, 32, LD),
    STREAM("write", "access/ns", MICRO_CHIP_GBPS, 32, ST),
    STREAM("read, DRAM", "byte/access", MICRO_DRAM, 32, CG),
    STREAM("read plain, L1", "% L1 hits", MICRO_L1_HITS, 32, LD),
    STREAM("write, DRAM", "byte/access", MICRO_DRAM, 32, ST),
    STREAM("read, L2 hits", "% L2 hits", MICRO_L2_HITS, 32, CG),

    ORDER("fma", -1, 32, { .op = "fma.rn.f32 %f61, %f61, %f60, %f60;", .unroll = 16, .rounds = 64 }),
    ORDER("L1 co", 0, 32,
          { .op = LD,
            .lane = 4,
            .warp = 2048,
            .unroll = 4,
            .step = 128,
            .advance = 512,
            .wrap = 2048,
            .rounds = 128 }),
    ORDER("L2 co", 0, 32, WALK_CO(CG, 8, 16384)),
    ORDER("L2 co", 100, 32, WALK_CO(CG, 8, 16384)),
    ORDER("L2 co plain", 100, 32, WALK_CO(LD, 8, 16384)),
    ORDER("L2 lines", 0, 32, WALK_LINES(CG, 4, 65536)),
    ORDER("L2 lines", 100, 32, WALK_LINES(CG, 4, 65536)),
    ORDER("L2 lines plain", 100, 32, WALK_LINES(LD, 4, 65536)),
    ORDER("L2 lines plain", 0, 32, WALK_LINES(LD, 4, 65536)),
    ORDER("L2 rows", 100, 32, WALK_ROWS(CG, 4096)),
    ORDER("L2 rows plain", 100, 32, WALK_ROWS(LD, 4096)),
    ORDER("L2 rows plain", 0, 32, WALK_ROWS(LD, 4096)),

    CYCLE_CO(8, 100),
    CYCLE_CO(16, 100),
    CYCLE_CO(18, 100),
    CYCLE_CO(20, 100),
    CYCLE_CO(22, 100),
    CYCLE_CO(24, 100),
    CYCLE_CO(28, 100),
    CYCLE_CO(32, 100),
    CYCLE_CO(40, 100),
    CYCLE_CO(64, 100),
    CYCLE_LINES(8, 100),
    CYCLE_LINES(16, 100),
    CYCLE_LINES(20, 100),
    CYCLE_LINES(24, 100),
    CYCLE_LINES(28, 100),
    CYCLE_LINES(32, 100),
    CYCLE_LINES(40, 100),
    CYCLE_LINES(64, 100),
    CYCLE_LINES(96, 100),
    CYCLE_CO(192, 0),
    CYCLE_CO(208, 0),
    CYCLE_CO(224, 0),
    CYCLE_CO(240, 0),
    CYCLE_CO(256, 0),
    CYCLE_CO(320, 0),
    CYCLE_CO(208, -1),
    CYCLE_CO(224, -1),
    CYCLE_CO(240, -1),
    CYCLE_CO(256, -1),
    CYCLE_LINES(192, 0),
    CYCLE_LINES(224, 0),
    CYCLE_LINES(240, 0),
    CYCLE_LINES(256, 0),
    CYCLE_LINES(320, 0),
    CYCLE_LINES(512, 0),

    MIX("same co, cg co", 8, 16, 0, SAME_CO, SAME_CO(CG, 16)),
    MIX("same co, cg co", 1, 16, 0, SAME_CO, SAME_CO(CG, 16)),
    MIX("same co, cg co", 15, 16, 0, SAME_CO, SAME_CO(CG, 16)),
    MIX("same co, na co", 8, 16, 0, SAME_CO, SAME_CO(NA, 16)),
    MIX("same word, cg word", 8, 16, 0, SAME_WORD, SAME_WORD(CG, 16)),
    MIX("same word, cg word", 1, 16, 0, SAME_WORD, SAME_WORD(CG, 16)),
    MIX("co alone", 1, 8, 100, TILE_CO, PASS_NONE),
    MIX("co, cg co", 1, 8, 100, TILE_CO, PASS_CO(CG)),
    MIX("co, cg lines", 1, 8, 100, TILE_CO, PASS_LINES(CG)),
    MIX("co, na co", 1, 8, 100, TILE_CO, PASS_CO(NA)),
    MIX("co, plain co", 1, 8, 100, TILE_CO, PASS_CO(LD)),
    MIX("co, stores", 1, 8, 100, TILE_CO, PASS_CO(ST)),
    MIX("lines alone", 1, 8, 100, TILE_LINES, PASS_NONE),
    MIX("lines, cg co", 1, 8, 100, TILE_LINES, PASS_CO(CG)),
    MIX("lines, cg lines", 1, 8, 100, TILE_LINES, PASS_LINES(CG)),
    MIX("lines, na lines", 1, 8, 100, TILE_LINES, PASS_LINES(NA)),
    MIX("lines, plain lines", 1, 8, 100, TILE_LINES, PASS_LINES(LD)),
    MIX("co alone", 8, 16, 0, TILE_CO, PASS_NONE),
    MIX("co, cg co", 8, 16, 0, TILE_CO, PASS_CO(CG)),
    MIX("co, cg lines", 8, 16, 0, TILE_CO, PASS_LINES(CG)),
    MIX("co, na co", 8, 16, 0, TILE_CO, PASS_CO(NA)),
    MIX("co, plain co", 8, 16, 0, TILE_CO, PASS_CO(LD)),
    MIX("co, stores", 8, 16, 0, TILE_CO, PASS_CO(ST)),
    MIX("lines, cg lines", 8, 16, 0, TILE_LINES, PASS_LINES(CG)),
    MIX("lines, na lines", 8, 16, 0, TILE_LINES, PASS_LINES(NA)),
    MIX("co, cg co", 2, 16, 0, TILE_CO, PASS_CO(CG)),
    MIX("co, cg lines", 2, 16, 0, TILE_CO, PASS_LINES(CG)),
    MIX("co alone", 8, 28, 0, TILE_CO, PASS_NONE),
    MIX("co alone", 8, 30, 0, TILE_CO, PASS_NONE),
    MIX("co alone", 8, 32, 0, TILE_CO, PASS_NONE),
    MIX("co alone", 8, 40, 0, TILE_CO, PASS_NONE),
    MIX("co, cg co", 8, 24, 0, TILE_CO, PASS_CO(CG)),
    MIX("co, cg co", 8, 28, 0, TILE_CO, PASS_CO(CG)),
    MIX("co, cg co", 8, 32, 0, TILE_CO, PASS_CO(CG)),
    MIX("co, cg lines", 8, 24, 0, TILE_CO, PASS_LINES(CG)),
    MIX("co, cg lines", 8, 28, 0, TILE_CO, PASS_LINES(CG)),
    MIX("co, cg lines", 8, 32, 0, TILE_CO, PASS_LINES(CG)),

    ATOM("red one word", RED, 0, 0, 0),
    ATOM("atom one word", ATOMR, 0, 0, 0),
    ATOM("red one line", RED, 4, 0, 0),
    ATOM("atom one line", ATOMR, 4, 0, 0),
    ATOM("red a word per warp, one line", RED, 0, 4, 0),
    ATOM("red a word per warp", RED, 0, 128, 2048),
    ATOM("red 16 lines", RED, 4, 128, 0),
    ATOM("red a line per warp", RED, 4, 128, 2048),
    ATOM("atom a line per warp", ATOMR, 4, 128, 2048),
    ATOM("red a sector per lane", RED, 32, 1024, 16384),
    ATOM("red a line per lane", RED, 128, 4096, 65536),
    ATOM("red f32 one word", REDF, 0, 0, 0),
    ATOM("red f32 one line", REDF, 4, 0, 0),
    ATOM("red f32 a line per warp", REDF, 4, 128, 2048),
    ATOM("red u64 one word", RED64, 0, 0, 0),
    ATOM("red u64 a line pair per warp", RED64, 8, 256, 4096),
    ATOM("cas one word", CAS, 0, 0, 0),
    ATOM("cas a line per warp", CAS, 4, 128, 2048),
    ATOM("red 32 lines", RED, 128, 0, 0),
    ATOM("red 32 words of 1 KB", RED, 36, 0, 0),
    ATOM("red a word per warp, 16 lines", RED, 0, 128, 0),
    ATOM_SM("red one word", RED, 0, 0),
    ATOM_SM("red one line", RED, 4, 0),
    ATOM_SM("red a line per warp", RED, 4, 128),
    ATOM_SM("red a sector per lane", RED, 32, 1024),
    ATOM_SM("red a line per lane", RED, 128, 4096),
    ATOM_SM("atom one word", ATOMR, 0, 0),
    ATOM_SM("atom a line per warp", ATOMR, 4, 128),
    ATOM_SH("red no conflict", "red.shared.add.u32 [@a], %r10;", 4, 128),
    ATOM_SH("red one word", "red.shared.add.u32 [@a], %r10;", 0, 0),
    ATOM_SH("red a word per warp", "red.shared.add.u32 [@a], %r10;", 0, 128),
    ATOM_SH("red 2 ways", "red.shared.add.u32 [@a], %r10;", 8, 0),
    ATOM_SH("red 32 ways", "red.shared.add.u32 [@a], %r10;", 128, 0),
    ATOM_SH("atom no conflict", "atom.shared.add.u32 @v, [@a], %r10;", 4, 128),
    ATOM_SH("atom one word", "atom.shared.add.u32 @v, [@a], %r10;", 0, 0),
    ATOM_SH("red f32 no conflict", "red.shared.add.f32 [@a], %f60;", 4, 128),
    ATOM_SH("red f32 one word", "red.shared.add.f32 [@a], %f60;", 0, 0),
    ATOM_SH("cas no conflict", "atom.shared.cas.b32 @v, [@a], %r10, %r10;", 4, 128),
    ATOM_SH("cas one word", "atom.shared.cas.b32 @v, [@a], %r10, %r10;", 0, 0),

    { "cta.empty 32", "CTA/cycle", MICRO_CHIP, 1, .grid = 65536, .block = 32, .carveout = -1,
      .in = { .op = "mov.u32 %r20, 0;", .unroll = 1, .rounds = 1 } },
    { "cta.empty 256", "warp/cycle", MICRO_CHIP, 1, .grid = 65536, .block = 256, .carveout = -1,
      .in = { .op = "mov.u32 %r20, 0;", .unroll = 1, .rounds = 1 } },
    { "cta.empty 1024", "warp/cycle", MICRO_CHIP, 1, .grid = 16384, .block = 1024, .carveout = -1,
      .in = { .op = "mov.u32 %r20, 0;", .unroll = 1, .rounds = 1 } },
    { "cta.one read, 256", "warp/cycle", MICRO_CHIP, 1, .grid = 33792, .block = 256, .carveout = -1,
      .in = { .op = CG, .unroll = 1, .rounds = 1, .warp = 128, .lane = 4 } },
};

size_t micro_row_count(void)
{
    return ARRAY_LEN(rows);
}
const struct micro_row *micro_row(size_t i)
{
    return &rows[i];
}
