/* lanes: the vector code of lanes.def, one table per instruction set; chosen when a program is loaded.
 */
#pragma once

#include "engine/sim/exec/slots.h"

enum lane_op {
    LANE_NONE,
#define LANE1(name, ...) LANE_##name,
#define LANE2            LANE1
#define LANE3            LANE1
#define LANE4            LANE1
#define LANEP            LANE1
#define LANEX(name)      LANE_##name,
#include "engine/sim/exec/lanes/lanes.def"
    LANE_COUNT
};
extern exec_fn *const exec_lanes_base[LANE_COUNT];
extern exec_fn *const exec_lanes_avx2[LANE_COUNT];
extern exec_fn *const exec_lanes_avx512[LANE_COUNT];
/* Result of a comparison that is more than "p = r": in->x is a struct exec_compare. */
void exec_compare_more(struct exec_warp *w, const struct exec_inst *in, uint32_t mask, uint32_t r);
struct exec_compare {
    bool complement;
    uint8_t op; /* 0 none, else enum ptx_mod AND OR XOR as 1 2 3 */
    bool set;
    uint8_t set_bytes;
    uint64_t set_value;
    exec_fn *pair; /* two halves: f16x2 */
};
static inline void exec_put_compare(struct exec_warp *w, const struct exec_inst *in, uint32_t mask,
                                    uint32_t r)
{
    if (in->x)
        exec_compare_more(w, in, mask, r);
    else
        pred_write(w, in->dst, mask, r);
}
/* The best table this processor can run. `limit`: 0 any, 1 base only, 2 up to AVX2, 3 any but no machine
 * code (tests). */
exec_fn *const *exec_lanes_pick(unsigned limit);
/* sim_load_marked with lane kernels limited as above. */
enum status sim_load_lanes(const struct ptx_module *m, struct str kernel, const struct text_marks *marks,
                           const struct sim_preset *preset, struct sim_mem *mem, unsigned limit,
                           struct sim_program **out, struct diags *ds);
