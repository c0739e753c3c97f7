/* rec: plain records that every room shares: launch descriptions, options of a
 * configuration, counters, results. No behaviour beyond text <-> value and the
 * making of initial data. JSON lives in `session`. */
#ifndef GPULOCW_REC_REC_H
#define GPULOCW_REC_REC_H

#include "engine/base/base.h"

#include "engine/rec/elem.h"
#include "engine/rec/launch.h"
#include "engine/rec/options.h"
#include "engine/rec/knobs.h"
#include "engine/rec/counters.h"
#include "engine/rec/result.h"
#include "engine/rec/device.h"
#include "engine/rec/data.h"

#endif
