/* panel_list: the panels, in the order of their numbers. */
#pragma once

/* id, name (its view is view_<name>), title, short title, help, list-like */
#define PANEL_LIST(X)                                                                                  \
    X(SOURCE, source, "Source", "Source",                                                              \
      "PTX with what each global load costs: degree of coalescing, sectors per request, class, cache " \
      "decision",                                                                                      \
      true)                                                                                            \
    X(COALESCE, coalesce, "Coalesce", "Coalesce",                                                      \
      "the 32-position graph of the loads, and which lane touches which sector", true)                 \
    X(LOCALITY, locality, "Locality", "Local",                                                         \
      "who reuses the data: class and evidence; misses by cache size; footprint of each array; "       \
      "sharing between CTAs",                                                                          \
      true)                                                                                            \
    X(OPTIONS, options, "Options", "Options",                                                          \
      "every knob of a configuration and the launch description; what is not legal says why", true)    \
    X(VALLEY, valley, "Valley", "Valley",                                                              \
      "time or throughput over the swept knob: cache peak, cache valley, memory plateau, best point "  \
      "(cha: all warps cache, bpa: all bypass)",                                                       \
      false)                                                                                           \
    X(COUNTERS, counters, "Counters", "Count", "where the bytes went: L1, L2, DRAM, before and after", \
      true)                                                                                            \
    X(RUNS, runs, "Runs", "Runs", "everything that was run: sort, filter, mark, compare, notes", true) \
    X(ADVICE, advice, "Advice", "Advice", "what to try next, and why", true)                           \
    X(MESSAGES, messages, "Messages", "Msgs", "what was said: errors, warnings, notes; oldest first",  \
      true)                                                                                            \
    X(PAPERS, papers, "Papers", "Papers",                                                              \
      "the papers' figures and tables: run one, ours beside theirs", true)                             \
    X(PROGRAM, program, "Program", "Prog",                                                             \
      "a program on the GPU: its kernels, capturing one, the tuned kernel in its launches", true)      \
    X(SUMMARY, summary, "Summary", "Summary",                                                          \
      "on one page: what limits the kernel, what to try, what that would gain", true)                  \
    X(CUDA, cuda, "CUDA", "CUDA",                                                                      \
      "the CUDA source with what each line's loads cost, and the PTX that a line became", true)        \
    X(SASS, sass, "SASS", "SASS",                                                                      \
      "the machine code, with registers and spills: by ptxas and nvdisasm or cuobjdump", true)         \
    X(COMPARE, compare, "Compare", "Compare",                                                          \
      "two runs side by side: what an edit or an option changed in time, limits, counters and lines",  \
      false)
