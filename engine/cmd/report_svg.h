/* report_svg: the curve of a sweep as a picture for reports. */
#ifndef GPULOCW_REPORT_SVG_H
#define GPULOCW_REPORT_SVG_H

#include "engine/cmd/cmd_int.h"

/* A whole <svg> element, 640 by 360: points with their spread, bpa and cha, the best named. */
void report_svg(const struct session_run *r, struct buf *out);
/* Text with what XML reserves written out. */
void report_xml(struct buf *out, const char *text);

#endif
