"""The kernels of slow.cu: what was wrong, what `run` must say, the limit that it is against, and what the mended form gains at least (simulated; None: there is
nothing to mend)."""
from collections import namedtuple

Row = namedtuple("Row", "kernel title answer cause gain")
ROWS = [
    Row("aos", "An array of structures", r"32 bytes apart in p and read 4: a structure of arrays", "coalescing-load", 1.2),
    Row("row_sum", "A thread for each row of a matrix", r"each thread reads a row of its own: give a row to a warp, or to a part of one", "coalescing-load", 2),
    Row("csr_row", "A thread for each row of a sparse matrix", r"start of each row is loaded, and each thread reads a row of its own: give a row to a warp", "coalescing-load", 1.05),
    Row("transpose_naive", "A transposition that writes columns", r"apart in b: write it through a tile in shared memory", "coalescing-store", 3),
    Row("transpose_banks", "A tile whose columns lie in one bank", r"32 passes .* pitch of 33", "bank-conflicts", 1.5),
    Row("histogram", "A histogram in global memory", r"the place in bins is data: a private copy", "atomics", 10),
    Row("sum_all", "Every thread adds to one sum", r"atomics .*\n(.*\n)*.*one place of sum: sum up in the warp", "atomics", 1.5),
    Row("lookup", "A table in constant memory, read at different places", r"different words of table, .* move the table to shared or global memory", "constant-replays", 10),
    Row("scale8", "Stores between loads that may alias", r"loads stand behind stores .*__restrict__", None, 1.05),
    Row("wide_index", "Divisions of 64 bits", r"divisions or remainders of 64 bits.*32-bit index", "issue", 1.05),
    Row("bounds", "Launch bounds that leave 32 registers", r"launch bounds ask for 8 CTAs of an SM, which leaves a thread 32 registers", None, None),
    Row("few_ctas", "A grid of 33 CTAs", r"99 SMs have no CTA", "grid-too-small", 1.2),
    Row("half_idle", "Half of the threads have nothing to do", r"50 % of the launch's threads have no access", None, None),
    Row("columns", "Lanes along the wrong axis", r"exchange x and y", "coalescing-store", 2),
    Row("stencil", "A stencil: L1 has what its loads share", r"launch|l2-bandwidth", None, None),
    Row("copy_all", "A copy: as fast as memory is", r"dram-bandwidth, [6-9]\d %", None, None),
    Row("local_array", "A local array that is indexed by data", r"128 bytes for each thread is indexed by data: a column of shared memory", "local-memory", 1.5),
    Row("chase", "A chain of loads", r"a gather: the index into next is loaded", None, None),
    Row("serial", "One thread of a CTA works between barriers", r"warps wait here for those that still work", "barriers", 1.5),
    Row("gather", "A gather", r"a gather: the index into x is loaded; sort the indices", "coalescing-load", 1.5),
]
