/* Instructions of dot_body.h as AVX2 and F16C have them: eight floats. */
INLINE vf four_f(const float *p)
{
    return (vf)_mm256_broadcast_ps((const __m128 *)(const void *)p);
}
INLINE vh four_h(const int16_t *p)
{
    int64_t x;
    memcpy(&x, p, sizeof x);
    return (vh)_mm256_set1_epi64x(x);
}
INLINE vh bigger_h(vh a, vh b)
{
    return (vh)_mm256_max_epi16((__m256i)a, (__m256i)b);
}
INLINE vi bigger_i(vi a, vi b)
{
    return (vi)_mm256_max_epi32((__m256i)a, (__m256i)b);
}
INLINE bool any(vi m)
{
    return !_mm256_testz_si256((__m256i)m, (__m256i)m);
}
INLINE vi whole(vf x)
{
    return (vi)_mm256_cvttps_epi32((__m256)x);
}
INLINE vi pairs(vh a, vh b)
{
    return (vi)_mm256_madd_epi16((__m256i)a, (__m256i)b);
}
INLINE void widen_rows(const float *from, float *to)
{
    for (unsigned r = 0; r < DOT_ROWS; r += 2) {
        __m256i at = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
        __m256i v = _mm256_castsi128_si256(_mm_loadl_epi64((const __m128i *)(const void *)(from + r)));
        _mm256_store_si256((__m256i *)(void *)(to + 4 * r), _mm256_permutevar8x32_epi32(v, at));
    }
}
INLINE void widen_exponents(const int16_t *from, int16_t *to)
{
    const __m128i first = _mm_setr_epi8(0, 1, 0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3, 2, 3);
    for (unsigned r = 0; r < DOT_ROWS; r += 2) {
        int32_t two;
        memcpy(&two, from + r, sizeof two);
        __m128i v = _mm_shuffle_epi8(_mm_cvtsi32_si128(two), first);
        _mm_store_si128((__m128i *)(void *)(to + 4 * r), v);
    }
}
static void narrow(const float *low, const float *high, bool finite, uint32_t *to)
{
    const __m256 most = _mm256_set1_ps(65504), sign = _mm256_set1_ps(-0.0f);
    __m256 out = _mm256_setzero_ps();
    for (unsigned i = 0; i < REG; i += 8) {
        __m256 l = _mm256_loadu_ps(low + i), h = _mm256_loadu_ps(high + i);
        out = _mm256_or_ps(out, _mm256_cmp_ps(_mm256_andnot_ps(sign, l), most, _CMP_NLE_UQ));
        out = _mm256_or_ps(out, _mm256_cmp_ps(_mm256_andnot_ps(sign, h), most, _CMP_NLE_UQ));
    }
    if (_mm256_movemask_ps(out)) {
        dot_narrow_each(low, high, finite, to);
        return;
    }
    for (unsigned i = 0; i < REG; i += 8) {
        __m128i l = _mm256_cvtps_ph(_mm256_loadu_ps(low + i), _MM_FROUND_TO_NEAREST_INT),
                h = _mm256_cvtps_ph(_mm256_loadu_ps(high + i), _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128((__m128i *)(void *)(to + i), _mm_unpacklo_epi16(l, h));
        _mm_storeu_si128((__m128i *)(void *)(to + i + 4), _mm_unpackhi_epi16(l, h));
    }
}
INLINE void from_f16(const v8h *from, float to[8])
{
    _mm256_storeu_ps(to, _mm256_cvtph_ps((__m128i)*from));
}
