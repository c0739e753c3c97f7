/* launch_file: launch descriptions, read and written. */
#pragma once

#include "engine/base/base.h"

struct dev_info;
struct launch_spec;
struct ptx_module;

struct launch_file {
    struct launch_spec *launch;
    size_t n;
    char *path;
};
enum status launch_file_read(const char *path, struct launch_file *out, struct diags *ds);
enum status launch_file_write(const char *path, const struct launch_spec *l, size_t n, struct diags *ds);
void launch_file_text(const struct launch_spec *l, size_t n, struct buf *out);
/* Is the PTX that a launch description names beside or below it, or --allow-files given? ST_INPUT with a
 * diagnostic: no. */
enum status launch_ptx_check(const char *ptx, const char *launch, struct diags *ds);
/* Tells launches apart: sizes, data and arguments; never 0. Not their files' names. */
uint64_t launch_key(const struct launch_spec *l);
void launch_file_free(struct launch_file *f);
/* Deep copy (launch_spec_free). */
enum status launch_copy(const struct launch_spec *l, struct launch_spec *out);
/* The same in memory of its own (launch_spec_drop); NULL where that fails. */
enum status launch_copied(const struct launch_spec *l, struct launch_spec **out);
/* Kernels by their names in the module: where the file leaves them out, or says what people call them.
 * What is not found stays as it is. */
enum status launch_name_kernels(struct launch_file *f, const struct ptx_module *m);
/* Fits the description to the kernel: argument count and sizes, block limits. Located in the launch
 * file. */
enum status launch_check(const struct launch_spec *l, const struct ptx_module *m,
                         const struct dev_info *d, struct diags *ds);
