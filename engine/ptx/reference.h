/* reference: texture, sampler and surface references of a module (PTX ISA 5.3). */
#pragma once

#include "engine/ptx/ptx.h"

/* What the declaration of a sampler or texture says of reading it (PTX ISA 5.3). */
enum ptx_addr_mode { PTX_ADDR_WRAP, PTX_ADDR_MIRROR, PTX_ADDR_OGL, PTX_ADDR_CLAMP, PTX_ADDR_BORDER };
struct ptx_sampling {
    uint8_t addr_mode[3]; /* enum ptx_addr_mode */
    bool linear, unnormalized;
};
/* A texture, sampler or surface reference. */
static inline bool ptx_is_reference(const struct ptx_symbol *s)
{
    return s->type == PTX_T_TEXREF || s->type == PTX_T_SAMPLERREF || s->type == PTX_T_SURFREF;
}
