/* preset_fields: the fields of a preset with where each comes from. */
#pragma once

#include "engine/sim/preset.h"

struct preset_fields {
    struct sim_preset p;
    char *source[SIM_PRESET_FIELDS]; /* own; where the value comes from */
    bool given[SIM_PRESET_FIELDS];   /* the file holds it; else the default of the architecture */
};
/* Reads a shipped preset (with or without "sim:") or a file as preset_read does. */
enum status preset_fields_read(const char *name_or_path, struct preset_fields *out, struct diags *ds);
void preset_fields_free(struct preset_fields *f);
/* A preset file that holds every field, with units. */
void json_preset_fields(const struct preset_fields *f, struct buf *out);
