/* name: file names and their endings. */
#pragma once

#include <stddef.h>

/* Behind the last '/' of a path. */
const char *base_file_name(const char *path);
/* Bytes of s before `end`; 0: s does not end so, or is nothing else. */
size_t base_stem(const char *s, const char *end);
/* For qsort, of char *. */
int base_by_text(const void *a, const void *b);
