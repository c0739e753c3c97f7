/* document: every JSON document begins and ends here; what may stand in it, fields.def says. */
#pragma once

#include "engine/base/json_write.h"

/* Opens the document's object: its format, a record of fields.def, and its version where that has one.
 * pretty: as jw_open. */
struct jw document_open(struct buf *out, const char *format, int pretty);
/* Closes it; a newline behind it. With GPULOCW_CHECK_DOCUMENTS in the environment, as tests have it, a document
 * that contradicts its table is not given out: gpulocw-diagnostics stands in its place, and says where. */
void document_close(struct jw *w);
#define DOCUMENT_NO_JSON "is not valid JSON"
/* Does a document hold what its table says? False: why not, in `why`, which is empty before. */
bool document_check(const char *text, size_t n, struct buf *why);
