/* Rules that a texture or surface has to keep (CUDA driver API: cuTexObjectCreate, cuArray3DCreate). */
#include "engine/rec/texture.h"

#include <stdio.h>

enum { WIDTH_MOST = 131072, DEPTH_MOST = 16384, LAYERS_MOST = 2048, LINEAR_MOST = 1 << 28 };

static const char *const edges[EDGE_COUNT] = { "clamp", "border", "wrap", "mirror" };

const char *texture_edge_name(enum texture_edge e)
{
    return e < EDGE_COUNT ? edges[e] : "?";
}

const char *texture_compare_name(enum texture_compare c)
{
#define TEXTURE_COMPARE_ITEM(id, name) name,
    static const char *const names[] = { TEXTURE_COMPARES(TEXTURE_COMPARE_ITEM) };
#undef TEXTURE_COMPARE_ITEM
    return c < COMPARE_COUNT ? names[c] : "";
}

static uint64_t level_bytes(const struct texture *t)
{
    uint64_t rows = t->dims[1] * texture_slices(t);
    return (rows - 1) * t->pitch + (uint64_t)t->dims[0] * texture_texel(t);
}

unsigned texture_levels(const struct texture *t)
{
    return t->levels ? t->levels : 1;
}

struct texture texture_level(const struct texture *t, unsigned k)
{
    struct texture l = *t;
    while (k--) {
        l.address += level_bytes(&l);
        for (unsigned d = 0; d < 3; d++)
            l.dims[d] = l.dims[d] > 1 ? l.dims[d] / 2 : 1;
        l.pitch = (uint64_t)l.dims[0] * texture_texel(&l);
    }
    return l;
}

uint64_t texture_bytes(const struct texture *t)
{
    struct texture last = texture_level(t, texture_levels(t) - 1);
    return last.address - t->address + level_bytes(&last);
}

struct texture texture_sampled(const struct texture *t, const struct texture *sampler)
{
    struct texture s = *t;
    for (unsigned d = 0; d < 3; d++)
        s.edge[d] = sampler->edge[d];
    s.linear = sampler->linear;
    s.mip_linear = sampler->mip_linear;
    s.compare = sampler->compare;
    s.normalized =
        sampler->sampler == SAMPLER_WHOLE ? sampler->normalized : t->normalized && sampler->normalized;
    return s;
}

static const char *size_fault(const struct texture *t)
{
    if (t->rank < 1 || t->rank > 3)
        return "\"dims\" has 1 to 3 sizes";
    for (unsigned d = 0; d < t->rank; d++)
        if (!t->dims[d] || t->dims[d] > (t->rank == 1 && !t->array ? LINEAR_MOST
                                         : t->rank == 3            ? DEPTH_MOST
                                                                   : WIDTH_MOST))
            return "a size in \"dims\" is 0 or larger than a texture can be";
    if (!t->layers || t->layers > LAYERS_MOST || (t->array && t->rank == 3))
        return "\"layers\" is 1 to 2048, of textures with one or two dimensions";
    if (t->cube && (t->rank != 2 || t->dims[0] != t->dims[1]))
        return "a cube has two \"dims\" of the same size";
    uint32_t most = 1;
    for (uint32_t d = t->dims[0] | t->dims[1] | t->dims[2]; d > 1; d >>= 1)
        most++;
    if (t->levels > most)
        return "\"levels\" continue below a level of one texel";
    if (t->levels > 1 && (t->pitch != (uint64_t)t->dims[0] * texture_texel(t) || t->surface))
        return "\"levels\" need a texture whose rows have no padding";
    return NULL;
}

static const char *texel_fault(const struct texture *t)
{
    bool is_float = elem_is_float((enum elem)t->elem);
    if (t->elem > ELEM_F32)
        return "\"type\" is one of u8, s8, u16, s16, f16, u32, s32, f32";
    if (t->channels != 1 && t->channels != 2 && t->channels != 4)
        return "\"channels\" is 1, 2 or 4";
    if (t->pitch % texture_texel(t) || t->pitch < (uint64_t)t->dims[0] * texture_texel(t))
        return "\"pitch\" is shorter than a row or not a multiple of a texel";
    if (t->fraction && (is_float || elem_size((enum elem)t->elem) > 2))
        return "\"read\": \"normalized\" needs integer elements of 8 or 16 bits";
    if (t->address % texture_texel(t))
        return "\"offset\" is not a multiple of a texel";
    if (t->linear && !is_float && !t->fraction)
        return "a linear filter needs floats, or \"read\": \"normalized\"";
    return NULL;
}

static const char *edge_fault(const struct texture *t)
{
    for (unsigned d = 0; d < 3; d++) {
        if (t->edge[d] >= EDGE_COUNT)
            return "\"address\" is made of clamp, border, wrap, mirror";
        if (t->edge[d] >= EDGE_WRAP && !t->normalized)
            return "wrap and mirror need \"normalized\": true";
    }
    if (t->cube && t->linear)
        return "a linear filter across the edges of a cube is not modelled";
    if (t->mip_linear && t->fraction == false && !elem_is_float((enum elem)t->elem) && !t->sampler)
        return "a linear filter between levels needs floats, or \"read\": \"normalized\"";
    return NULL;
}

bool texture_check(const struct texture *t, char *why, size_t n)
{
    const char *fault = t->sampler ? NULL : size_fault(t);
    if (!fault && !t->sampler)
        fault = texel_fault(t);
    if (!fault && !t->surface)
        fault = edge_fault(t);
    if (fault)
        snprintf(why, n, "%s", fault);
    return !fault;
}
