/* preset: the numbers of one simulated GPU; the table of fields is preset.def. */
#pragma once

#include "engine/base/base.h"

struct dev_info;

/* ---- presets: numbers of one GPU; the field table is preset.def ---- */
struct sim_preset {
    char name[64];  /* "hopper-h200" */
    char title[96]; /* "NVIDIA H200" */
#define PRESET_INT(field, unit, def, least, most, source, help) int64_t field;
#define PRESET_NUM(field, unit, def, least, most, source, help) double field;
#include "engine/sim/preset.def"
#undef PRESET_INT
#undef PRESET_NUM
};
enum {
#define PRESET_INT(field, unit, def, least, most, source, help) SIM_PRESET_AT_##field,
#define PRESET_NUM(field, unit, def, least, most, source, help) SIM_PRESET_AT_##field,
#include "engine/sim/preset.def"
#undef PRESET_INT
#undef PRESET_NUM
    SIM_PRESET_FIELDS
};
struct sim_preset_field {
    const char *name;
    const char *unit; /* "": a plain number */
    const char *help;
    const char *source; /* of the default */
    bool integer;       /* int64_t, else double */
    size_t offset;      /* in struct sim_preset */
    double def;
    double least; /* range, both ends included */
    double most;
};
size_t sim_preset_field_count(void);
const struct sim_preset_field *sim_preset_field(size_t i);
double sim_preset_value(const struct sim_preset *p, const struct sim_preset_field *f);
void sim_preset_set(struct sim_preset *p, size_t i, double value);
struct sim_preset sim_preset_default(void); /* compute capability 9.0 */
struct sim_preset sim_preset_default_for(int64_t major, int64_t minor);
/* What field i is on an architecture where a preset does not hold it; *source says why. */
double sim_preset_field_default(size_t i, int64_t major, int64_t minor, const char **source);
/* Gives every field that is not given[] its default for p's compute capability. */
void sim_preset_fill(struct sim_preset *p, const bool *given);
/* ranges and consistency */
enum status sim_preset_check(const struct sim_preset *p, struct diags *ds);
void sim_preset_info(const struct sim_preset *p, struct dev_info *out);
