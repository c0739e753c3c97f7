/* link: several PTX modules as one program. They are put together as text: what follows sees one module,
 * and a session that keeps its text needs no other file. Names work as nvlink's do (PTX ISA 11.6).
 * And one module without what some of its kernels do not need. */
#pragma once

#include "engine/base/base.h"

struct ptx_module;

/* name: for messages, need not be a file. text: length bytes of PTX. Neither is kept. library: see
 * ptx_link_take; ptx_link does not look at it. */
struct ptx_link_input {
    const char *name;
    const char *text;
    size_t length;
    bool library;
};
/* *out: the program, called "a.ptx + b.ptx", freed with ptx_free. ST_INPUT: a module has mistakes, a
 * name is defined twice or nowhere, or is declared in two shapes; ds says where and who needs it. n ==
 * 1: the module as it is, undefined names are left. */
enum status ptx_link(const struct ptx_link_input *in, size_t n, struct ptx_module **out,
                     struct diags *ds);
/* Inputs with `library` set count only where they define what the program lacks, in their order, as a
 * linker takes members of an archive. Moves what counts to the front of in: *taken inputs. ST_INPUT: a
 * text has mistakes; ST_NOMEM. */
enum status ptx_link_take(struct ptx_link_input *in, size_t n, size_t *taken, struct diags *ds);
/* What is there when a program is loaded: vprintf, malloc, cudaLaunchDeviceV2, ... */
bool ptx_link_runtime(struct str name);
/* Of these, what CUDA's device runtime library has (dynamic parallelism): a GPU needs it linked. */
bool ptx_link_device_runtime(struct str name);
/* Does the module declare a function or a variable that it does not define, and that is not there when
 * it is loaded? runtime: one of the device runtime's. */
bool ptx_link_lacks(const struct ptx_module *m, bool runtime);
/* Between the files' names of a program, as messages, the workbench and sessions write them. */
#define PTX_LINK_PLUS " + "

/* Links several parsed modules by name: unresolved .extern is a note; a name defined twice an error. */
enum status ptx_link_check(struct ptx_module *const *m, size_t n, struct diags *ds);
/* The module as these kernels and variables (by name) need it: functions and variables that they cannot
 * come to are dropped, every line keeps its number. *out NULL: not worth it (less than a quarter would
 * go), or not possible. ST_OK or ST_NOMEM. */
enum status ptx_narrow(const struct ptx_module *m, const struct str *keep, size_t nkeep,
                       struct ptx_module **out);
