/* Coordinates to texels: filters, edges, layers, faces of a cube (CUDA programming guide, "Texture
 * fetching"). Weights of a linear filter have 8 bits after the binary point. */
#include "engine/sim/exec/lanes/math.h"
#include "engine/sim/exec/texture/texture.h"

#include <math.h>

/* Texel i of a row of n, by the rule for its edge; false: none. */
static bool edge_of(uint8_t edge, int64_t n, int64_t *i)
{
    int64_t m;
    switch (edge) {
    case EDGE_CLAMP: *i = *i < 0 ? 0 : *i >= n ? n - 1 : *i; return true;
    case EDGE_WRAP: *i = (*i % n + n) % n; return true;
    case EDGE_MIRROR:
        m = (*i % (2 * n) + 2 * n) % (2 * n);
        *i = m < n ? m : 2 * n - 1 - m;
        return true;
    default: return *i >= 0 && *i < n;
    }
}

/* A float coordinate in texels. */
static double scaled(const struct texture *t, unsigned d, double c)
{
    if (!isfinite(c))
        return 0;
    if (t->normalized) {
        double whole = floor(c);
        if (t->edge[d] == EDGE_WRAP)
            c -= whole;
        else if (t->edge[d] == EDGE_MIRROR)
            c = fmod(whole, 2) != 0 ? 1 - (c - whole) : c - whole;
        c *= t->dims[d];
    }
    return c < -0x1p30 ? -0x1p30 : c > 0x1p30 ? 0x1p30 : c;
}

/* x, y, z towards one of six faces: the coordinates on it from 0 to 1 (PTX ISA 9.7.10.3, cube). */
static unsigned face_of(const double c[3], double st[2])
{
    double a[3] = { fabs(c[0]), fabs(c[1]), fabs(c[2]) };
    unsigned m = a[0] >= a[1] && a[0] >= a[2] ? 0 : a[1] >= a[2] ? 1 : 2;
    bool minus = c[m] < 0;
    double s = m == 0 ? (minus ? c[2] : -c[2]) : m == 1 ? c[0] : minus ? -c[0] : c[0];
    double r = m == 1 ? (minus ? -c[2] : c[2]) : -c[1], len = a[m] != 0 ? a[m] : 1;
    st[0] = (s / len + 1) / 2;
    st[1] = (r / len + 1) / 2;
    return 2 * m + minus;
}

static int64_t slice_of(const struct texture *t, int64_t layer, unsigned face)
{
    int64_t last = (int64_t)t->layers - 1, l = layer < 0 ? 0 : layer > last ? last : layer;
    return l * (t->cube ? 6 : 1) + face;
}

static void put(const struct texture *t, int64_t slice, const int64_t i[3], bool inside, double weight,
                struct texels *out)
{
    uint64_t row = (uint64_t)((slice * t->dims[2] + i[2]) * t->dims[1] + i[1]);
    out->v[out->n].inside = inside;
    out->v[out->n].addr = t->address + row * t->pitch + (uint64_t)i[0] * texture_texel(t);
    out->v[out->n++].weight = (float)weight;
}

/* A product of two fractions of 8 bits, to 8 bits. */
static int product(int a, int b)
{
    return (a * b + 128) >> 8;
}

/* Weights of the corners of a cell, in units of 1/256: the corner that is high in all dimensions has the
 * rounded product of the fractions, and the others have what is left of sums. Of one and two dimensions
 * measured on an H200; of three, 96 % of its results. A texture of one dimension with a border is a row
 * whose neighbours are border, half of the way to one of them: measured, too. */
static void weigh(const struct texture *t, const struct exec_tex *x, const unsigned part[3], int w[8])
{
    int a = (int)part[0], b = (int)part[1], c = (int)part[2];
    int ab = product(a, b), ac = product(a, c), bc = product(b, c), abc = product(ac, b);
    if (x->rank == 1) {
        bool halved = t->edge[0] == EDGE_BORDER && t->layers == 1;
        w[1] = halved ? product(a, 128) : a;
        w[0] = (halved ? 128 : 256) - w[1];
        return;
    }
    w[0] = 256 - a - b - c + ab + ac + bc - abc;
    w[1] = a - ab - ac + abc;
    w[2] = b - ab - bc + abc;
    w[3] = ab - abc;
    w[4] = c - ac - bc + abc;
    w[5] = ac - abc;
    w[6] = bc - abc;
    w[7] = abc;
}

/* Corner k of the cell whose lowest texel is `low`: bit d of k says which side in dimension d. */
static void corner(const struct texture *t, const struct exec_tex *x, int64_t slice,
                   const int64_t low[3], double weight, unsigned k, struct texels *out)
{
    int64_t i[3] = { 0, 0, 0 };
    bool inside = true;
    for (unsigned d = 0; d < x->rank; d++) {
        i[d] = low[d] + (k >> d & 1);
        inside &= edge_of(x->cube ? EDGE_CLAMP : t->edge[d], t->dims[d], &i[d]);
    }
    put(t, slice, i, inside, weight, out);
}

/* Integer coordinates: that texel, or none. */
static void fetch(const struct texture *t, const struct exec_tex *x, const struct texture_place *p,
                  struct texels *out)
{
    int64_t i[3] = { 0, 0, 0 };
    bool inside = true;
    for (unsigned d = 0; d < x->rank; d++) {
        i[d] = (int64_t)p->c[d] + p->offset[d];
        inside &= i[d] >= 0 && i[d] < t->dims[d];
    }
    put(t, slice_of(t, p->layer, 0), i, inside, 1, out);
}

/* The texels of one level, their weights times `share`. */
static void texels_of_level(const struct texture *t, const struct exec_tex *x,
                            const struct texture_place *p, double share, struct texels *out)
{
    static const unsigned gathered[] = { 2, 3, 1, 0 };
    bool cell = x->gather || t->linear;
    double at[3] = { p->c[0], p->c[1], p->c[2] };
    unsigned face = 0, part[3] = { 0, 0, 0 };
    int64_t low[3] = { 0, 0, 0 };
    if (!x->floats) {
        fetch(t, x, p, out);
        return;
    }
    if (x->cube)
        face = face_of(p->c, at);
    for (unsigned d = 0; d < x->rank; d++) {
        double c = x->cube ? at[d] * t->dims[d] : scaled(t, d, at[d]);
        /* in units of 1/256, to the nearest; to the texel's centre */
        int64_t fixed = cell ? (int64_t)floor((c - 0.5) * 256 + 0.5) : (int64_t)floor(c) * 256;
        low[d] = (fixed >> 8) + p->offset[d];
        part[d] = (unsigned)(fixed & 255);
    }
    int64_t slice = slice_of(t, p->layer, face);
    int weight[8] = { 256 };
    if (cell)
        weigh(t, x, part, weight);
    for (unsigned k = 0; k < (cell ? 1u << x->rank : 1u); k++) {
        unsigned at_corner = x->gather ? gathered[k] : k;
        corner(t, x, slice, low, weight[at_corner] / 256.0 * share, at_corner, out);
    }
}

double texture_gradient_level(const struct texture *t, const struct exec_tex *x, double d[2][3])
{
    double most = 0;
    for (unsigned g = 0; g < 2; g++) {
        double length = 0;
        for (unsigned k = 0; k < x->rank; k++) {
            double texels = d[g][k] * (t->normalized ? (double)t->dims[k] : 1.0);
            length += texels * texels;
        }
        most = length > most ? length : most;
    }
    return most > 0 ? log2(most) / 2 : 0; /* of a squared length */
}

void texels_of(const struct texture *t, const struct exec_tex *x, const struct texture_place *p,
               struct texels *out)
{
    double last = texture_levels(t) - 1, level = !(p->level > 0) ? 0 : p->level > last ? last : p->level;
    bool between = t->mip_linear && x->floats && !x->gather && x->level != TEX_BASE;
    double fixed = between ? floor(level * 256 + 0.5) : floor(level + 0.5) * 256;
    unsigned low = (unsigned)(fixed / 256);
    double part = fixed / 256 - low;
    struct texture here = texture_level(t, low);
    out->n = 0;
    texels_of_level(&here, x, p, 1 - part, out);
    if (part > 0) {
        here = texture_level(t, low + 1);
        texels_of_level(&here, x, p, part, out);
    }
}

static uint32_t raw_of(enum elem e, const uint8_t *p)
{
    uint32_t v = 0;
    memcpy(&v, p, elem_size(e));
    return e == ELEM_S8    ? (uint32_t)(int32_t)(int8_t)v
           : e == ELEM_S16 ? (uint32_t)(int32_t)(int16_t)v
                           : v;
}

static float fraction_of(enum elem e, uint32_t raw)
{
    bool is_signed = e == ELEM_S8 || e == ELEM_S16;
    float most = e == ELEM_U8 ? 255 : e == ELEM_S8 ? 127 : e == ELEM_U16 ? 65535 : 32767;
    float v = is_signed ? (float)(int32_t)raw / most : (float)raw / most;
    return v < -1 ? -1 : v;
}

uint32_t texel_channel(const struct texture *t, const uint8_t *texel, unsigned k, bool is_float)
{
    enum elem e = (enum elem)t->elem;
    if (k >= t->channels)
        return 0; /* the fourth, too: measured on an H200 */
    uint32_t raw = raw_of(e, texel + k * elem_size(e));
    return !is_float       ? raw
           : e == ELEM_F16 ? bits_f32(f16_to(raw))
           : t->fraction   ? bits_f32(fraction_of(e, raw))
                           : raw;
}
