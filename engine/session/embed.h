/* Files that travel inside the binary (made by tests/tool/embed.sh at build time). */
#pragma once
#include "engine/base/base.h"

struct embed_file {
    const char *name;
    const unsigned char *data;
    size_t n;
};
extern const struct embed_file embed_files[]; /* ended by a NULL name */
