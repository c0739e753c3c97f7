/* Instructions of dot_body.h as any processor has them: four floats. */
INLINE vf four_f(const float *p)
{
    return load_f(p);
}
INLINE vh four_h(const int16_t *p)
{
    return (vh){ p[0], p[1], p[2], p[3], p[0], p[1], p[2], p[3] };
}
INLINE vh bigger_h(vh a, vh b)
{
    vh m = a > b;
    return (a & m) | (b & ~m);
}
INLINE vi bigger_i(vi a, vi b)
{
    vi m = a > b;
    return (a & m) | (b & ~m);
}
INLINE bool any(vi m)
{
    return (m[0] | m[1] | m[2] | m[3]) != 0;
}
INLINE vi whole(vf x)
{
    return __builtin_convertvector(x, vi);
}
INLINE vi pairs(vh a, vh b)
{
    vi r;
    for (unsigned i = 0; i < 4; i++)
        r[i] = a[2 * i] * b[2 * i] + a[2 * i + 1] * b[2 * i + 1];
    return r;
}
INLINE void widen_rows(const float *from, float *to)
{
    for (unsigned r = 0; r < DOT_ROWS; r++) {
        int32_t u; /* of whole numbers any bits, which a float may not keep */
        memcpy(&u, from + r, sizeof u);
        vi v = (vi){ 0 } + u;
        memcpy(to + 4 * r, &v, sizeof v);
    }
}
INLINE void widen_exponents(const int16_t *from, int16_t *to)
{
    for (unsigned i = 0; i < WIDE; i++)
        to[i] = from[i / 4];
}
static void narrow(const float *low, const float *high, bool finite, uint32_t *to)
{
    dot_narrow_each(low, high, finite, to);
}
INLINE void from_f16(const v8h *from, float to[8])
{
    v8i u = __builtin_convertvector(*from, v8i), size = u & 0x7fff,
        v = (v8i)((v8f)(size << 13) * 0x1p112f) | ((size >= 0x7c00) & 0x7f800000) | (u & 0x8000) << 16;
    memcpy(to, &v, sizeof v);
}
