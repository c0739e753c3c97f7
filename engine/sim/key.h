/* key: modifiers of an instruction as bits; shared by decoding and the operations it selects. */
#pragma once

/* Modifiers that select a row; the rest do not change what registers receive. */
enum {
    KEY_FTZ = 1,
    KEY_SAT = 2,
    KEY_RZ = 4,
    KEY_RM = 8,
    KEY_RP = 16,
    KEY_APPROX = 32,
    KEY_FULL = 64,
    KEY_CLAMP = 128,
    KEY_WRAP = 256,
    KEY_S2 = 512,
    KEY_U2 = 1024,
    KEY_NAN = 2048,
    KEY_XORSIGN = 4096,
    KEY_ABS = 8192,
    KEY_RELU = 16384,
    KEY_OTHER = 32768,
    KEY_NEG_PRODUCT = 65536, /* of an fma that stands for mul and add (decode/contract.c) */
    KEY_NEG_ADDEND = 131072
};
