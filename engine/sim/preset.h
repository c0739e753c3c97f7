/* preset: the numbers of one simulated GPU; the table of fields is preset.def. */
#ifndef GPULOCW_SIM_PRESET_H
#define GPULOCW_SIM_PRESET_H

#include "engine/base/base.h"

struct dev_info;

/* ---- presets: numbers of one GPU; the field table is preset.def (name, unit, default, help) ---- */
struct sim_preset {
    char name[64];  /* "hopper-h200" */
    char title[96]; /* "NVIDIA H200" */
#define PRESET_INT(field, unit, def, help) int64_t field;
#define PRESET_NUM(field, unit, def, help) double field;
#include "engine/sim/preset.def"
#undef PRESET_INT
#undef PRESET_NUM
};
enum {
#define PRESET_INT(field, unit, def, help) SIM_PRESET_AT_##field,
#define PRESET_NUM(field, unit, def, help) SIM_PRESET_AT_##field,
#include "engine/sim/preset.def"
#undef PRESET_INT
#undef PRESET_NUM
    SIM_PRESET_FIELDS
};
struct sim_preset_field {
    const char *name, *unit, *help;
    bool integer;
    size_t offset;
    double def;
};
size_t sim_preset_field_count(void);
const struct sim_preset_field *sim_preset_field(size_t i);
struct sim_preset sim_preset_default(void);
/* ranges and consistency */
enum status sim_preset_check(const struct sim_preset *p, struct diags *ds);
void sim_preset_info(const struct sim_preset *p, struct dev_info *out);

#endif
