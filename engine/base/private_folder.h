/* A folder for what a call to another program or a caller's texts need for a while. */
#pragma once

#include "engine/base/base.h"

/* A new folder that this user alone may enter, below TMPDIR (an absolute path) or /tmp. *path: owned,
 * released with private_folder_remove. ST_IO or ST_NOMEM with a diagnostic, *path NULL. */
enum status private_folder_make(char **path, struct diags *ds);
/* Removes it with the files in it (it has no folders) and frees the name. NULL is fine. */
void private_folder_remove(char *path);
/* "FOLDER/NAME" with these n bytes; its path into *out. */
enum status private_folder_put(const char *folder, const char *name, const void *data, size_t n,
                               struct buf *out, struct diags *ds);
