/* Private to the runtime: the tables of a program or a library, as its file has them. */
#pragma once

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct object {
    const uint8_t *p;
    size_t n;
    const Elf64_Ehdr *head;
    const Elf64_Shdr *section;
    void *map; /* what object_close gives back */
    size_t mapped;
};
bool object_open(const char *path, struct object *m);
void object_close(struct object *m);
/* Inside the file; NULL: it has none. */
const Elf64_Shdr *object_section(const struct object *m, const char *name);
bool object_holds(const struct object *m, const Elf64_Shdr *s);

/* Names of a static CUDA runtime that has lost them, of a toolkit that is on this machine: *names is the
 * library that was linked, and at what address its text lies in m, whose file is `path`. False: there is no
 * such runtime in it, or no toolkit of its version. */
bool object_names(const struct object *m, const char *path, struct object *names, uint64_t *at);
