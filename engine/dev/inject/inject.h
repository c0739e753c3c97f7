/* Private to the injected library: what CUPTI and the driver hand out, the images, the handles, and a
 * launch as the parts that look at it (survey, capture, apply) get it.
 *
 * State lives in one global, since CUPTI's callbacks have no other place. S.lock guards it; no driver
 * function is called while it is held, since CUPTI may call back from inside. */
#pragma once

#include "engine/dev/inject/driver_calls.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { MOST_IMAGES = 1 << 14, MOST_HANDLES = 1 << 17, MOST_KERNELS = 1 << 14, MOST_CALLS = 1 << 20 };
enum { DOMAIN_DRIVER = 1, AT_EXIT = 1, MULTIPLE_SUBSCRIBERS = 39 };

/* CUpti_CallbackData (cupti_callbacks.h; the same from CUDA 11 to 13). */
struct call {
    int site;
    const char *function;
    const void *params;
    const int *result;
    const char *symbol;
    void *context;
    uint32_t context_number;
    uint64_t *own; /* one word of ours, from entry to exit of the call */
    uint32_t correlation;
};

/* ---- activity records ---- */
/* The record of a kernel up to its name (cupti_activity.h: the members up to there are the same from
 * CUDA 11 to 13). */
struct ran {
    uint32_t kind;
    uint8_t cache, bank;
    uint16_t registers;
    uint32_t wanted, used;
    uint64_t start;     /* ns */
    uint64_t end;       /* ns */
    uint64_t completed; /* ns */
    uint32_t device;
    uint32_t context;
    uint32_t stream;
    int32_t grid[3];       /* CTAs */
    int32_t block[3];      /* threads */
    int32_t shared_static; /* bytes */
    int32_t shared;        /* dynamic, bytes */
    uint32_t local;        /* local memory of a thread, bytes */
    uint32_t local_all;    /* of all threads, bytes */
    uint32_t correlation;
    int64_t grid_id;
    const char *name;
};

/* ---- images: what a module or a library was loaded from ---- */
struct image {
    uint64_t hash, bytes; /* of one ELF file or text; 0: several, or not known */
    bool ptx;             /* it holds PTX */
    bool cubin;           /* machine code */
    bool lto;             /* LTO-IR */
    int swapped;          /* 1 + target of apply whose tuned text was loaded instead; 0: none */
    /* A copy of what has PTX: its text, or a container with its entries of PTX alone; NULL: none. A
     * program may free its own after the load. */
    char *copy;
    size_t ncopy;
};
void image_look(const void *code, struct image *m);
/* Puts n bytes of PTX behind what m has; nothing where there is no memory. */
void image_keep(struct image *m, const void *data, size_t n);
extern __thread int load_swapped;     /* of the load under way: `swapped` of its image */
uint64_t image_hash(const void *elf); /* as image_look has it */
/* The bytes of a file, and zeros behind them; NULL: none; free. bytes may be NULL. */
char *image_file(const char *path, size_t *bytes);

/* ---- handles: modules, libraries, kernels and functions ---- */
struct handle {
    const void *key;
    const char *name; /* of a kernel or function as it was asked for; NULL: another kind, or not known */
    int image;        /* index; -1: not known */
    bool asked, known; /* the driver was asked for name and module; the survey has a row */
    int take;          /* capture: 0 not known, -1 not wanted, 1 + number of the kernel; atomic */
    int quick;         /* 0: look it up with care, else image + 2; atomic: read without the lock */
    int row;           /* 1 + row of the survey for its last launch; 0: none; atomic */
};
/* NULL: none, or no room for one more. S.lock is held. */
struct handle *handle_at(const void *key, bool make);

/* ---- a launch, whichever call makes it ---- */
struct launch;
/* Fills handle, image and name, and keeps the image for the record of when it ran. */
void launch_look_up(struct launch *l);
struct launch {
    void *f, *stream;       /* f: a CUfunction, or a CUkernel */
    unsigned grid[3];       /* CTAs */
    unsigned block[3];      /* threads */
    unsigned shared;        /* dynamic, bytes */
    void **params, **extra; /* as cuLaunchKernel takes them; one of them NULL */
    const struct launch_attribute *attribute;
    unsigned nattributes;
    bool cooperative, own_stream; /* own_stream: stream 0 is the thread's own (_ptsz) */
    int image;                    /* index into S.image; -1: not known */
    const char *name;             /* of the kernel, as in the PTX; NULL: not known */
    uint32_t correlation;
    uint64_t *own;         /* a word that is kept from the launch's entry to its exit */
    const int *result;     /* of the call, at its exit */
    void *context;         /* CUcontext */
    struct handle *handle; /* of f; NULL: there is no room for it */
    /* The call's own parameters: what is written there changes the launch. One of them NULL. */
    struct launch_call *plain;
    struct launch_ex_call *ex;
};
/* Other calls of the driver that a part looks at; they end with an id of 0. */
enum call_time { BEFORE, AFTER /* that did not fail */, AFTER_ANY, BOTH };
struct other_call {
    uint32_t id;
    enum call_time when;
    void (*fn)(const struct call *c);
};
/* Parts that look at each launch; called in order at its entry, in reverse at its exit. */
struct launch_part {
    bool (*wanted)(void); /* asked once, at the start */
    void (*enter)(struct launch *l);
    void (*leave)(struct launch *l, int result);
    /* An image was loaded as this module or (library) library, and stands in S.image; may be NULL. */
    void (*image)(int image, void *owner, bool library);
    const struct other_call *calls; /* what else it looks at; may be NULL */
};
extern const struct launch_part *const launch_parts[];
extern const size_t nlaunch_parts;

/* ---- the driver's functions, found at the start; NULL where an old driver lacks one ---- */
struct driver {
#define DRIVER_FN(name, ...) int (*name)(__VA_ARGS__);
#include "engine/dev/inject/driver.def"
#undef DRIVER_FN
};

/* ---- kernels that ran ---- */
struct timed {
    uint64_t launches;
    uint64_t ns; /* of all of them together */
};
struct kernel {
    char *name;
    int image, next;
    uint64_t counted;     /* launches by calls; atomic; kept where only surveys look at launches */
    struct timed by_call; /* of these, those with a record (sample.h) */
    struct timed other;   /* executions by graphs, and all that no call counted */
    unsigned grid[3];     /* CTAs */
    unsigned block[3];    /* threads */
    unsigned shared;      /* dynamic, bytes */
};

struct inject_state {
    pthread_mutex_t lock, writing; /* writing: of the record */
    pid_t owner;
    const char *file, *refused;
    struct image image[MOST_IMAGES];
    int nimages;
    struct handle handle[MOST_HANDLES];
    unsigned nhandles;
    struct kernel kernel[MOST_KERNELS];
    int bucket[MOST_KERNELS], nkernels;
    bool ended;        /* the record is whole */
    uint64_t ran;      /* kernels that ended */
    uint64_t left_out; /* launches and images that there was no room for */
    int (*next_record)(uint8_t *, size_t, void **);
    int (*flush)(uint32_t);
    struct driver driver;
    bool part[8]; /* which of launch_parts are wanted */
};
extern struct inject_state S;

/* Turns on the callbacks of the driver's calls that are looked at. */
typedef int (*enable_fn)(uint32_t, void *, int, uint32_t);
void calls_enable(enable_fn enable, void *subscriber);
void on_call(void *own, int domain, uint32_t id, const struct call *c);
/* Set while a callback of ours calls the driver: what that calls back is passed over. */
extern __thread bool in_callback;

/* Activity records. */
void survey_wanted(uint8_t **buffer, size_t *n, size_t *most);
void survey_full(void *context, uint32_t stream, uint8_t *buffer, size_t n, size_t valid);
void survey_put(int f);
/* A kernel that was launched, perhaps into a graph: its executions by graphs are found by name. S.lock
 * is held. */
void survey_known(const struct launch *l);
/* A launch that nothing but the survey looks at. survey_count_like: one of a function whose last launch
 * has that row; takes no lock; false: it has another shape, and is not counted. */
void survey_count(const struct launch *l);
bool survey_count_like(int row, const struct launch *l);

/* apply (apply.h): a part; a kernel's record, S.lock is held; its lines of the record. */
extern const struct launch_part take_part, apply_part;
void apply_ran(uint32_t correlation, const char *name, uint64_t start, uint64_t end);
void apply_put(int f);

uint64_t hash_of(const void *p, uint64_t n); /* FNV-1a */
