/* ptx_type: the types of section 5.2. Part of ptx_table.h, which includes it. */
#pragma once

/* Fundamental and packed types (section 5.2). PTX_T_U32 ... */
/* Name, spelling, bits, kind: b bits, u unsigned, s signed, f float, p predicate, x packed or narrow. */
#define PTX_TYPE_LIST(X)                 \
    X(B8, "b8", 8, 'b')                  \
    X(B16, "b16", 16, 'b')               \
    X(B32, "b32", 32, 'b')               \
    X(B64, "b64", 64, 'b')               \
    X(B128, "b128", 128, 'b')            \
    X(U8, "u8", 8, 'u')                  \
    X(U16, "u16", 16, 'u')               \
    X(U32, "u32", 32, 'u')               \
    X(U64, "u64", 64, 'u')               \
    X(S8, "s8", 8, 's')                  \
    X(S16, "s16", 16, 's')               \
    X(S32, "s32", 32, 's')               \
    X(S64, "s64", 64, 's')               \
    X(F16, "f16", 16, 'f')               \
    X(F16X2, "f16x2", 32, 'x')           \
    X(BF16, "bf16", 16, 'f')             \
    X(BF16X2, "bf16x2", 32, 'x')         \
    X(TF32, "tf32", 32, 'x')             \
    X(F32, "f32", 32, 'f')               \
    X(F32X2, "f32x2", 64, 'x')           \
    X(F64, "f64", 64, 'f')               \
    X(PRED, "pred", 1, 'p')              \
    X(U16X2, "u16x2", 32, 'x')           \
    X(S16X2, "s16x2", 32, 'x')           \
    X(E4M3, "e4m3", 8, 'x')              \
    X(E5M2, "e5m2", 8, 'x')              \
    X(E4M3X2, "e4m3x2", 16, 'x')         \
    X(E5M2X2, "e5m2x2", 16, 'x')         \
    X(E2M3, "e2m3", 8, 'x')              \
    X(E3M2, "e3m2", 8, 'x')              \
    X(E2M1, "e2m1", 8, 'x')              \
    X(E2M3X2, "e2m3x2", 16, 'x')         \
    X(E3M2X2, "e3m2x2", 16, 'x')         \
    X(E2M1X2, "e2m1x2", 8, 'x')          \
    X(E4M3X4, "e4m3x4", 32, 'x')         \
    X(E5M2X4, "e5m2x4", 32, 'x')         \
    X(E2M3X4, "e2m3x4", 32, 'x')         \
    X(E3M2X4, "e3m2x4", 32, 'x')         \
    X(E2M1X4, "e2m1x4", 16, 'x')         \
    X(UE8M0, "ue8m0", 8, 'x')            \
    X(UE8M0X2, "ue8m0x2", 16, 'x')       \
    X(UE4M3, "ue4m3", 8, 'x')            \
    X(U4, "u4", 4, 'u')                  \
    X(S4, "s4", 4, 's')                  \
    X(U2, "u2", 2, 'u')                  \
    X(S2, "s2", 2, 's')                  \
    X(B1, "b1", 1, 'b')                  \
    X(B4X16, "b4x16", 64, 'x')           \
    X(B4X16_P64, "b4x16_p64", 64, 'x')   \
    X(B6X16_P32, "b6x16_p32", 96, 'x')   \
    X(B6P2X16, "b6p2x16", 128, 'x')      \
    X(TEXREF, "texref", 64, 'x')         \
    X(SAMPLERREF, "samplerref", 64, 'x') \
    X(SURFREF, "surfref", 64, 'x')
#define PTX_TYPE_ITEM(n, text, bits, kind) PTX_T_##n,
enum ptx_type { PTX_T_NONE, PTX_TYPE_LIST(PTX_TYPE_ITEM) PTX_T_COUNT };
#undef PTX_TYPE_ITEM
unsigned ptx_type_bits(enum ptx_type t);
char ptx_type_kind(enum ptx_type t);
const char *ptx_type_name(enum ptx_type t);
