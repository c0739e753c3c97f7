/* model: formulas and algorithms over numbers only; no PTX, no device.
 * Papers: bypass (valley model, categories), schedule (reuse distance, memory cost).
 * Sections are those of the digest. */
#ifndef GPULOCW_PERFMODEL_PERFMODEL_H
#define GPULOCW_PERFMODEL_PERFMODEL_H

#include "engine/base/base.h"

#include "engine/perfmodel/valley.h"
#include "engine/perfmodel/category.h"
#include "engine/perfmodel/reuse.h"
#include "engine/perfmodel/lru_set.h"
#include "engine/perfmodel/cost.h"
#include "engine/perfmodel/cache.h"
#include "engine/perfmodel/warp_sim.h"
#endif
