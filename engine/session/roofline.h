/* roofline: what a launch did for its bytes, beside what the device could do at most. */
#pragma once

#include "engine/rec/counters.h"
#include "engine/rec/limits.h"

struct preset_fields;

#define ROOF_MOST (PIPE_COUNT + 2)
/* One ceiling: a pipe of arithmetic, or a level of memory. */
struct roof {
    const char *name; /* "fp32", "L2" */
    bool memory;
    double amount;    /* operations, or bytes read and written */
    double rate;      /* the same per second, at most; 0: not known */
    double share;     /* of the launch's time that it would take at that rate, 0..1; NaN: not known */
    double intensity; /* memory: operations of all pipes for a byte; NaN: no byte went there */
    char from[320];   /* preset fields with value, unit and source */
};
struct roofline {
    bool valid;
    char why_not[120]; /* not valid: the reason */
    double operations; /* of all pipes */
    double seconds;    /* of the launch, its overhead included */
    double attained;   /* operations per second */
    struct roof roof[ROOF_MOST];
    size_t n;
    struct roof l1;         /* what loads ask of the L1s; its rate is no ceiling of the picture */
    enum limit_cause limit; /* what limits it: the first of the result's limits */
    enum origin origin;
};
/* The preset of a device as it was read last, for who asks for one result after another. Begin with {0};
 * roofline_device_free. */
struct roofline_device {
    char *spec;
    struct preset_fields *fields; /* NULL: it cannot be read */
};
void roofline_device_free(struct roofline_device *d);
/* Of one result on the device that --device named so: only simulated devices count operations. d: NULL,
 * or the preset is kept there. */
struct roofline roofline_of(const struct result *r, const char *spec, struct roofline_device *d);
/* What the ceilings leave at most at an intensity of memory level m; compute: those of the pipes alone.
 * Operations per second. */
double roofline_compute(const struct roofline *f);
/* Writes the key "roofline". */
void json_roofline(struct jw *w, const struct roofline *f);
/* A line for each ceiling, and what limits. */
void roofline_text(const struct roofline *f, struct buf *out);
/* The picture in characters: both axes logarithmic, L and D the launch by L2's and DRAM's bytes. Lines
 * end in '\n'. */
void roofline_plot(const struct roofline *f, unsigned width, unsigned height, struct buf *out);
