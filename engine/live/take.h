/* One captured launch, as the injected library wrote it down or as emulation saw it, and what is made of
 * it. */
#pragma once

#include "engine/base/base.h"

struct ptx_func;
struct ptx_module;

#define TAKE_FUNC_ATTRIBUTES 16
struct take_param {
    uint64_t off, n;
    uint8_t *bytes; /* owned */
};
struct take_range { /* memory before the launch */
    uint64_t addr;  /* on the device */
    uint64_t n;     /* bytes */
    uint64_t at;    /* offset in the data file */
    int kind;       /* enum live_memory */
    uint64_t of;    /* bytes of the memory that it is a part of: n, or the limit left some out */
    char *name;     /* of a variable of the module; owned; NULL: other memory */
};
struct take_left { /* memory that is another after it */
    uint64_t addr; /* on the device */
    uint64_t n;    /* bytes */
    uint64_t at;   /* offset in the data file */
};
struct take_attr {
    int id; /* CUlaunchAttributeID; the value as in cuda.h */
    uint8_t value[64];
    bool of_stream;
};
struct take_count {
    uint64_t key, launches; /* of a shape */
};
struct take {
    char *name; /* owned */
    uint64_t image, nth;
    uint64_t key;                   /* of its shape; 0: one launch was asked for */
    uint64_t apart, no_room;        /* launches of other shapes, as live_kernel has them */
    unsigned grid[3];               /* CTAs */
    unsigned block[3];              /* threads */
    unsigned shared;                /* dynamic, bytes */
    unsigned cluster[3];            /* CTAs; [0] 0: none */
    bool cooperative, whole;        /* whole: the record was ended */
    int func[TAKE_FUNC_ATTRIBUTES]; /* CUfunction_attribute; -1: not known */
    struct take_attr *attr;
    size_t nattr, cap_attr;
    struct take_param *param;
    size_t nparam, cap_param;
    struct take_range *range;
    size_t nrange, cap_range;
    struct take_left *left;
    size_t nleft, cap_left;
    struct take_count *count; /* at the end of the program, in a record without a launch */
    size_t ncount, cap_count;
    char *refused; /* owned; NULL: it was not */
    char *data;    /* path of its data file; owned */
};
/* ST_NOMEM, ST_IO; what is no such record is one that is not whole. Free in every case. */
enum status take_read(struct take *t, const char *path, struct diags *ds);
void take_free(struct take *t);
struct ptx_symbol;
bool take_is_float(const struct ptx_symbol *param); /* which says nothing of a launch's shape */
/* Is a parameter, or an aligned word in one, this address? */
bool take_points_to(const struct take *t, uint64_t addr);

/* ---- trimming (trim.c) ---- */
/* Bytes side by side that the kernel uses, as the simulated device found. */
struct trim_region {
    uint64_t addr, n;
    size_t range; /* index into take.range */
    uint8_t type; /* enum ptx_type of its elements */
    bool written; /* by the kernel, or changed on the GPU */
    bool fixed;   /* must be at its address */
    uint32_t
        first; /* word of the parameters, in order, that points to it first; UINT32_MAX: none does */
};
struct trim {
    const struct take *t;
    uint8_t **before, **after; /* bytes of each range: as captured, as the GPU left them; owned */
    struct trim_region *v;
    size_t n, cap;
    uint64_t from, bytes; /* bytes captured, and kept */
    uint64_t differ;      /* bytes that the simulated device left otherwise than the GPU */
    double relative;      /* greatest difference of floats among them; NaN: others differ */
    uint64_t changed;     /* bytes that the GPU changed */
    char *why;            /* nothing could be trimmed: the reason; owned; NULL: it could */
};
/* Runs the kernel on the simulated device over all that was captured. ST_OK with `why` where it cannot
 * run there. */
enum status trim_run(struct trim *tr, const struct take *t, const struct ptx_module *m,
                     const struct ptx_func *f, double limit_s, struct diags *ds);
void trim_free(struct trim *tr);
/* The floats that differ are near enough to be of another rounding, or of approximations. */
#define TRIM_CLOSE 1e-3

/* ---- files (write.c) ---- */
struct take_files {
    char *ptx, *launch; /* names in the folder; owned */
    uint64_t data_bytes, trimmed_from;
    struct launch_spec *spec; /* owned */
};
/* STEM.ptx and the data of launch `number` of the kernel, in `folder`; regions get their addresses fixed where they
 * must. The description is written by live_shapes_write. */
enum status take_write(struct trim *tr, const struct ptx_module *m, const struct ptx_func *f,
                       const char *folder, const char *stem, unsigned number, struct take_files *out,
                       struct diags *ds);
/* STEM.data.bin, STEM.left.bin; those of further launches STEM.2.data.bin ... */
void take_data_name(const char *stem, unsigned number, bool left, char *out, size_t n);
void take_files_free(struct take_files *f);
struct live_survey;
struct live_want;
/* One more launch of a kernel of which something was taken; of which shape, or room: of one that there was no room
 * for. */
void live_take_count(struct live_survey *s, struct str name, uint64_t image, uint64_t key, bool room);
/* After the last launch: the descriptions. */
enum status live_shapes_write(struct live_survey *s, const struct live_want *w, struct diags *ds);
/* Trims and writes a launch of a kernel of m, and adds what came of it to its kernel in s. */
enum status live_take_add(struct live_survey *s, const struct live_want *w, const struct take *t,
                          const struct ptx_module *m, struct diags *ds);
