/* Elements of factors in the vector code of dot_body.h: blocks of eight runs, f16 to and fro. */
/* Eight floats of the elements in *of. */
INLINE void put_floats(const struct dot_block *x, unsigned row, const v8i *of)
{
    const struct dot_format *f = x->f;
    v8i u = *of, size = u & (int32_t)(f->used & ((1u << (f->bits - 1)) - 1)),
        sign = (u << (32 - f->bits)) & INT32_MIN, field = size >> f->frac;
    v8i e = field - (field == 0) - f->bias, zero = size == 0, special = size >= f->special;
    v8i v = (v8i)((v8f)(size << (23 - f->frac)) * f->scale);
    v |= (special & f->ones) | (x->negated ? ~sign & INT32_MIN : sign);
    e = (e & ~(zero | special)) | (zero & DOT_NONE) | (special & DOT_SPECIAL);
    v8s h = __builtin_convertvector(e, v8s);
    memcpy(x->v + (size_t)row * x->pitch, &v, sizeof v);
    memcpy(x->e + (size_t)row * x->pitch, &h, sizeof h);
}

/* The same of eight rows of 16 bits, exponents of several rows at once. */
INLINE void put_halves(const struct dot_block *x, const v8h h[8])
{
    const struct dot_format *f = x->f;
    vh all[64 / (2 * DOT_LANES)];
    memcpy(all, h, sizeof all);
    for (unsigned i = 0; i < ARRAY_LEN(all); i++) {
        vh size = all[i] & 0x7fff, zero = size == 0, special = size >= (int16_t)f->special;
        vh e = bigger_h(size >> f->frac, (vh){ 0 } + 1) - f->bias;
        all[i] = (e & ~(zero | special)) | (zero & DOT_NONE) | (special & DOT_SPECIAL);
    }
    for (unsigned i = 0; i < 8; i++) {
        v8i v;
        if (f->frac == 10)
            from_f16(&h[i], (float *)&v);
        else
            v = __builtin_convertvector(h[i], v8i) << 16;
        v ^= x->negated ? INT32_MIN : 0;
        memcpy(x->v + (size_t)i * x->pitch, &v, sizeof v);
        memcpy(x->e + (size_t)i * x->pitch, (const int16_t *)all + (size_t)8 * i, 16);
    }
}

/* Two rows of bytes, of which *of has the pairs. */
INLINE void put_bytes(const struct dot_block *x, unsigned pair, const v8i *of)
{
    v8i u = *of, low = u & 255, high = u >> 8 & 255;
    if (!x->f->whole) {
        put_floats(x, 2 * pair, &low);
        put_floats(x, 2 * pair + 1, &high);
        return;
    }
    v8i both =
        x->f->is_signed ? ((u << 24) >> 24 & 0xffff) | (((u << 16) >> 24) << 16) : low | high << 16;
    memcpy(x->v + (size_t)pair * x->pitch, &both, sizeof both);
}

INLINE void merge(const v8h *h, v8h *to)
{
    for (unsigned i = 0; i < 4; i++) {
        to[2 * i] = SHUFFLE(v8h, h[i], h[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
        to[2 * i + 1] = SHUFFLE(v8h, h[i], h[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
    }
}
INLINE void turn(v8h h[8])
{
    v8h a[8], b[8];
    merge(h, a);
    merge(a, b);
    merge(b, h);
}

/* Elements of 32 bits: four of each run. */
static void block_words(const struct dot_block *x)
{
    uint32_t row[4][8];
    for (unsigned i = 0; i < 8; i++) {
        uint32_t run[4];
        memcpy(run, x->run[i], sizeof run);
        for (unsigned k = 0; k < 4; k++)
            row[k][x->spread ? dot_column(i) : i] = run[k];
    }
    for (unsigned k = 0; k < 4; k++) {
        v8i u;
        memcpy(&u, row[k], sizeof u);
        put_floats(x, k, &u);
    }
}

static void blocks(const struct dot_block *x)
{
    v8h h[8];
    if (x->f->bits == 32) {
        block_words(x);
        return;
    }
    for (unsigned i = 0; i < 8; i++)
        memcpy(&h[x->across && x->spread ? dot_column(i) : i], x->run[i], sizeof h[i]);
    if (x->across)
        turn(h);
    for (unsigned i = 0; !x->across && x->spread && i < 8; i++)
        h[i] = SHUFFLE(v8h, h[i], h[i], 0, 2, 4, 6, 1, 3, 5, 7);
    if (x->f->bits == 16)
        put_halves(x, h);
    for (unsigned i = 0; x->f->bits == 8 && i < 8; i++) {
        v8i u = __builtin_convertvector(h[i], v8i);
        put_bytes(x, i, &u);
    }
}

static void widen(const uint32_t *from, float *low, float *high)
{
    for (unsigned i = 0; i < REG; i += 8) {
        v8i u, both[2];
        memcpy(&u, from + i, sizeof u);
        both[0] = u & 0xffff;
        both[1] = u >> 16 & 0xffff;
        for (unsigned k = 0; k < 2; k++) {
            v8i size = both[k] & 0x7fff, special = size >= 0x7c00;
            v8i v =
                (v8i)((v8f)(size << 13) * 0x1p112f) | (special & 0x7f800000) | (both[k] & 0x8000) << 16;
            memcpy((k ? high : low) + i, &v, sizeof v);
        }
    }
}

static void turned(const uint8_t *const run[8], uint32_t *lanes)
{
    v8h h[8];
    for (unsigned i = 0; i < 8; i++)
        memcpy(&h[i], run[i], sizeof h[i]);
    turn(h);
    memcpy(lanes, h, sizeof h);
}
