/* preset: simulated devices as files. */
#pragma once

#include "engine/base/base.h"

struct calibrate_note;
struct sim_preset;

enum status preset_read(void *unused, const char *name_or_path, struct sim_preset *out,
                        struct diags *ds);
/* from: where the fields of a calibrated preset are from, for their "source"; NULL: numbers alone. */
/* base: shipped preset's name, or NULL */
struct preset_origin {
    const char *device, *base;
    const struct calibrate_note *notes;
};
enum status preset_write(const char *path, const struct sim_preset *p, const char *comment,
                         const struct preset_origin *from, struct diags *ds);
/* The shipped preset of the GPU most like one: its compute capability, or the last before it; of
 * several, the most alike L2. NULL: none. */
const char *preset_nearest(int cc_major, int cc_minor, uint64_t l2_bytes);
size_t preset_count(void);
const char *preset_name(size_t i);
const char *preset_at(void *unused, size_t i); /* struct dev_env.preset_at; NULL behind the last */
