/* own_files: which files of a folder are ours, where they bear no mark: machine code, raw bytes, PTX as
 * it was captured. The folder's list, gpulocw-files.json, names them.
 *
 *     struct own_files o;
 *     st = own_files_open(&o, folder, force, ds);
 *     st = own_files_may(&o, name, ds);          before a file is written that is known
 *     st = own_files_look(&o, ends, ds);         or: before any is written that ends so
 *     own_files_add(&o, name); st = own_files_save(&o, ds);
 *     own_files_close(&o); */
#pragma once

#include "engine/base/base.h"

struct own_file;
struct own_files {
    const char *folder; /* borrowed */
    bool force;
    char *list;            /* as it was read; owned; NULL: there was none */
    struct buf names;      /* of the list to come, with commas */
    struct own_file *seen; /* by own_files_look; owned */
    size_t nseen, cap;
};
/* Reads the list. A folder that is not there has none. ST_USAGE: a file of the list's name is not ours,
 * and not `force`. Close in every case. */
enum status own_files_open(struct own_files *o, const char *folder, bool force, struct diags *ds);
/* ST_USAGE with a diagnostic: a file of that name is there which the list does not name, and not
 * `force`. name: below the folder. */
enum status own_files_may(const struct own_files *o, const char *name, struct diags *ds);
/* The same for every file of the folder whose name ends in one of ends[], up to NULL. Remembers them. */
enum status own_files_look(struct own_files *o, const char *const *ends, struct diags *ds);
void own_files_add(struct own_files *o, const char *name);
/* Adds what ends so and is new since own_files_look, or was ours then. */
enum status own_files_add_new(struct own_files *o, const char *const *ends, struct diags *ds);
/* Writes the list: what was added, and what it named before. */
enum status own_files_save(const struct own_files *o, struct diags *ds);
void own_files_close(struct own_files *o);
