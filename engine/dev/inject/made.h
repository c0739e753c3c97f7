/* made: PTX that became machine code inside the program, by the hash of that; what a linker got. */
#pragma once

#include "engine/dev/inject/inject.h"

/* image_look; an ELF file gets the PTX that the program made it of, and whether LTO-IR went into it. */
void made_look(const void *code, struct image *m);
/* The machine code was made of this text, which is kept from here on; NULL: none. */
void made_keep(const void *cubin, char *ptx, size_t n, bool lto);

/* ---- linkers: inputs are kept by the linker's state until it is destroyed ---- */
enum made_input { MADE_PTX, MADE_FATBIN, MADE_LTO, MADE_ANY /* by its first bytes */, MADE_OTHER };
void made_link_add(const void *state, enum made_input kind, const char *data, size_t n);
void made_link_add_file(const void *state, enum made_input kind, const char *path);
void made_link_made(const void *state, const void *cubin);
void made_link_drop(const void *state);

/* Calls of the driver's linker. */
extern const struct other_call made_calls[];
