/* outputs: the folder of `run --outputs`; outputs against those of a captured launch. */
#pragma once

#include "engine/base/base.h"

struct launch_spec;
struct result;
struct tune_bench;

/* Before anything runs: can `folder` be written, or be made in a folder that can? Nothing is made. ST_IO
 * with a diagnostic where not. */
enum status outputs_folder(const char *folder, struct diags *ds);
/* Raw bytes bear no mark: the folder's list, gpulocw-outputs.json, names the files that are ours.
 * ST_USAGE with a diagnostic: a file of an output's name is there that the list does not name, and not
 * `force`. A folder that is not there is all right. */
enum status outputs_check(const struct launch_spec *l, const char *folder, bool force, struct diags *ds);
/* Makes the folder and writes NAME.bin of every output, raw and little-endian, then the list. */
enum status outputs_write(struct tune_bench *bench, const struct launch_spec *l, const char *folder,
                          struct diags *ds);
/* Has the launch an "expect"? */
bool outputs_are_captured(const struct launch_spec *l);
/* What the last launch left against what the GPU left when it was captured ("expect"): r->captured,
 * which stays unknown where the launch has no "expect". */
enum status outputs_captured(struct tune_bench *bench, const struct launch_spec *l, struct result *r,
                             struct diags *ds);
/* A line of text, where it is known. */
void outputs_captured_text(const struct result *r, struct buf *out);
