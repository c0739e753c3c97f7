/* Instructions of dot_body.h as AVX-512 (F, BW, DQ, VL) has them: 16 floats. */
INLINE vf four_f(const float *p)
{
    return (vf)_mm512_broadcast_f32x4(_mm_loadu_ps(p));
}
INLINE vh four_h(const int16_t *p)
{
    int64_t x;
    memcpy(&x, p, sizeof x);
    return (vh)_mm512_set1_epi64(x);
}
INLINE vh bigger_h(vh a, vh b)
{
    return (vh)_mm512_max_epi16((__m512i)a, (__m512i)b);
}
INLINE vi bigger_i(vi a, vi b)
{
    return (vi)_mm512_max_epi32((__m512i)a, (__m512i)b);
}
INLINE bool any(vi m)
{
    return _mm512_test_epi32_mask((__m512i)m, (__m512i)m) != 0;
}
INLINE vi whole(vf x)
{
    return (vi)_mm512_cvttps_epi32((__m512)x);
}
INLINE vi pairs(vh a, vh b)
{
    return (vi)_mm512_madd_epi16((__m512i)a, (__m512i)b);
}
INLINE void widen_rows(const float *from, float *to)
{
    const __m512i at = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    __m512i v = _mm512_loadu_si512(from);
    for (int i = 0; i < 4; i++) {
        __m512i r = _mm512_permutexvar_epi32(_mm512_add_epi32(at, _mm512_set1_epi32(4 * i)), v);
        _mm512_store_si512(to + 16 * i, r);
    }
}
INLINE void widen_exponents(const int16_t *from, int16_t *to)
{
    static const int16_t at[REG] = { 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3,
                                     4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7 };
    __m512i v = _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(const void *)from)),
            low = _mm512_loadu_si512(at), high = _mm512_add_epi16(low, _mm512_set1_epi16(8));
    _mm512_store_si512(to, _mm512_permutexvar_epi16(low, v));
    _mm512_store_si512(to + REG, _mm512_permutexvar_epi16(high, v));
}
static void narrow(const float *low, const float *high, bool finite, uint32_t *to)
{
    const __m512 most = _mm512_set1_ps(65504);
    __mmask16 out = 0;
    for (unsigned i = 0; i < REG; i += 16) {
        out |= _mm512_cmp_ps_mask(_mm512_abs_ps(_mm512_loadu_ps(low + i)), most, _CMP_NLE_UQ);
        out |= _mm512_cmp_ps_mask(_mm512_abs_ps(_mm512_loadu_ps(high + i)), most, _CMP_NLE_UQ);
    }
    if (out) {
        dot_narrow_each(low, high, finite, to);
        return;
    }
    for (unsigned i = 0; i < REG; i += 16) {
        __m256i l = _mm512_cvtps_ph(_mm512_loadu_ps(low + i), _MM_FROUND_TO_NEAREST_INT),
                h = _mm512_cvtps_ph(_mm512_loadu_ps(high + i), _MM_FROUND_TO_NEAREST_INT);
        __m512i both =
            _mm512_or_si512(_mm512_cvtepu16_epi32(l), _mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
        _mm512_storeu_si512(to + i, both);
    }
}
INLINE void from_f16(const v8h *from, float to[8])
{
    _mm256_storeu_ps(to, _mm256_cvtph_ps((__m128i)*from));
}
