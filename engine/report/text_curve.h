/* text_curve: the miss-ratio curve and the footprints of `analyze`. */
#pragma once

#include "engine/base/base.h"

struct ana_access;
struct ana_kernel;

/* Appends to out; nothing when k->curve is NULL. */
void text_curve(const struct ana_kernel *k, struct buf *out);
/* One line for a load: where it stands at the device's L1; nothing without a curve or a device. */
void text_curve_load(const struct ana_kernel *k, const struct ana_access *a, struct buf *out);
