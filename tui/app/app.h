/* app: the whole state of the workbench between two frames, and the services that views and commands
 * share. Knows no terminal and no drawing: keys, clock and engine are given to it, so a test can drive
 * it (tui/control/control.h). Panels make their lines from this state with the functions of page.h. */
#pragma once

#include "engine/base/base.h"
#include "engine/rec/elem.h"
#include "tui/app/engine.h"
#include "tui/app/layout/layout.h"
#include "tui/app/prompt.h"
#include "tui/app/view_state.h"
#include "tui/base/plot_model.h"
#include "tui/base/request.h"
#include "tui/base/theme.h"

struct event;
struct cuda_page;
struct job_snapshot;
struct launch_spec;
struct lesson;
struct options;
struct ptx_module;
struct session_run;
struct work;

/* What handling an event came to. */
enum ui_effect { UI_REDRAW = 1, UI_REPAINT = 2, UI_LEAVE = 4, UI_SUSPEND = 8, UI_MOUSE = 16 };

/* v[at-1] is the present; v[at..n) can be redone */
struct undo {
    struct options *v; /* UNDO_MAX */
    unsigned n, at;
};
struct lesson_view {
    struct lesson *lesson;
    char *path;
    unsigned step;
    bool hidden, more /* as last drawn: text was left over */, passed;
    size_t runs_before, runs_at_step;
    struct options *at_step;
    /* 0: above the panel; k: over it, part k of what does not fit */
    unsigned part;
    /* a command that writes, what and where as whole paths (owned), all of that is on the screen, and
     * the user's yes */
    char asked[PROMPT_TEXT];
    char *writes;
    bool seen, agreed;
    /* the lesson's first commands were given; what was open until then */
    bool begun;
    const struct ptx_module *before;
};

/* What a guessed launch is asked about, and what was wanted when there was none (app/launch/guess.h). */
struct guess_view {
    bool asked /* the engine works on it */, wanted, other /* the answers are not the guess */;
    const struct launch_spec *before; /* only compared */
    int kind;                         /* enum job_kind */
    char text[128];
    long number;
    struct options *options;
    uint32_t n;
    struct dim3u block;
};

enum overlay { OVERLAY_NONE, OVERLAY_HELP, OVERLAY_PICKER, OVERLAY_TREE, OVERLAY_KERNELS };
struct pick {
    char *title; /* owned */
    char *path;  /* owned */
    char *help;  /* owned */
    bool lesson;
};

/* A warning or error of the front end itself (a command mistyped, a file that cannot be written). */
#define SAID_MAX 64
struct remark {
    enum diag_level level;
    int64_t time_ns;
    char text[256];
};

struct app_settings {
    const char *const *worker;
    size_t nworkers /* as --worker gave them: they go into the command that tells the configuration */;
    char theme[256];
    bool theme_given /* else it follows the terminal's background */, mouse, ascii;
    enum plot_style style;
    bool style_given; /* by the user: the terminal does not choose */
    struct layout_view layout;
    enum panel_id open; /* what a kernel opens with; the summary: its original runs at once */
};
/* What the services below ask of the room above them (tui/control). */
struct app_hooks {
    /* What is in front, or what would be run, is another. */
    void (*changed)(struct app *a);
    /* One command line, as app_command takes it; a request, as app_request does. */
    unsigned (*command)(struct app *a, const char *line);
    unsigned (*request)(struct app *a, enum request r);
    /* May a lesson begin with this line: does it only set and show? */
    bool (*may_begin)(const char *line);
};
struct app {
    struct app_engine engine;
    const struct app_hooks *hooks;
    const struct job_snapshot *snap; /* never NULL after app_init; borrowed, see app_snapshot */
    int64_t now_ns;                  /* injected clock */
    int w, h;
    struct theme theme;
    struct keymap keys;
    struct app_settings set;
    struct arena *frame; /* lives from one app_begin_frame to the next */
    enum panel_id focus;
    /* when each panel was last in front: layouts show the latest */
    unsigned recent[PANEL_COUNT], recent_clock;
    bool zoomed;
    bool lines; /* no screen: line mode, which has commands and no keys */
    enum overlay overlay;
    struct page page[PANEL_COUNT], chart[PANEL_COUNT]; /* chart: fixed lines below the list */
    struct page over;                                  /* the overlay's lines */
    struct list list[PANEL_COUNT], over_list;
    char search[64];
    struct prompt prompt;
    struct history history;
    struct options *options; /* owned, with those of undo, lesson and guess */
    struct options *draft;   /* of them: one that is being made */
    struct undo undo;
    struct source_view source;
    struct coalesce_view coalesce;
    struct locality_view locality;
    struct valley_view valley;
    struct counters_view counters;
    struct runs_view runs;
    struct messages_view messages;
    struct summary_view summary;
    struct options_view opts;
    struct replay_view replay;
    struct reload_view reload;
    struct guess_view guess;
    struct lesson_view lesson;
    struct pick *pick;
    size_t npicks;
    /* entry that the picker's cursor goes to when it is next drawn; -1: stays */
    long pick_wanted;
    /* one line above the key bar */
    char notice[256];
    enum diag_level notice_level;
    int64_t notice_until;
    bool run_untold; /* a run is under way or has ended, and its line was not shown */
    /* what the screen itself warned of: the messages panel keeps it, oldest first */
    struct remark said[SAID_MAX];
    size_t nsaid;
    char *data_dir, *config_dir; /* owned; config_dir NULL: none */
    int tree_access;             /* access whose address tree is shown */
    uint64_t launch_key;         /* of the snapshot's launch; 0: there is none */
    bool leaving;
    bool help_over_picker; /* the help lies over the list of demos */
    bool pasting;          /* between the marks of a paste: what comes is text */
    int64_t pasted_ns;     /* when its last character came */
    bool to_launch;        /* a launch was asked for: once it is there, the options' cursor goes to it */
    size_t advice_first;   /* lines above the first item of the advice, as last laid out; 0: none */
    unsigned to_knob; /* 1 + the knob that a command has set: the options' cursor goes to it; 0: none */
    bool was_working;
    bool kernel_named; /* on the command line: no list of kernels is offered */
    /* what is worked out in the background; NULL: not started */
    struct work *reuse;        /* reuse.h */
    struct work *legal;        /* legal.h */
    struct work *papers;       /* the page of the papers */
    struct work *sass;         /* the machine code */
    struct work *written;      /* the best of a search that goes on: write_best.h */
    struct work *kernels;      /* those of the file, for the list of kernels */
    struct work *kernel_facts; /* what that list says of each */
    bool kernels_offered;      /* the list of kernels came unasked: other keys close it */
    bool kernels_wanted;       /* a program was opened: of several kernels one is chosen */
    bool kernels_declined;     /* a key since the file was asked for: its list does not come unasked */
    const struct cuda_page *cuda; /* the CUDA panel as last updated; the frame's, or NULL */
    /* the original runs unasked (control/first_run.h): wanted here, under way, and what it ran last for */
    bool first_run, first_busy;
    char first_of[512];
    struct work *program,
        *program_next;      /* the survey of a program; its capture or its run with tuned kernels */
    struct work *optimized; /* what `optimize` of it came to */
    int64_t started_ns;     /* clock when the app began */
};
/* ---- services for views and commands ---- */
/* In fmt {REQUEST} is a key, as in view_keys. */
void app_notice(struct app *a, enum diag_level level, const char *fmt, ...) BASE_PRINTF(3, 4);
/* The first error, or warning; frees them. */
void app_notice_diags(struct app *a, struct diags *ds);
/* Is a run, a sweep or a search under way? */
bool app_measuring(const struct app *a);
bool app_measured(const struct job_snapshot *s); /* was one, then? */
/* Is it this (enum job_kind) that is under way? */
bool app_doing(const struct job_snapshot *s, unsigned kind);
/* The engine's word for a job as the screen says it: "tune" is a search. */
const char *app_word(const struct job_snapshot *s);
void app_focus(struct app *a, enum panel_id p);
/* The options changed by the user: kept for undo and sent to the engine for a preview. */
void app_options_set(struct app *a, const struct options *o);
/* One knob of them, by its text; false, and said: it is not allowed. */
bool app_knob_set(struct app *a, size_t i, struct str text);
/* a->options have changed: told to the engine, for a preview. */
void app_options_sent(struct app *a);
/* Theme by name or path. False: there is none such, or its file is bad: the present one stays, but for a
 * reload (name is set.theme itself), which takes the default. */
bool app_theme(struct app *a, const char *name);
/* Runs of the snapshot as shown: sweep i with replay's limit applied. NULL: out of range. */
const struct session_run *app_run(const struct app *a, size_t i);
/* The last run that is not deleted and of this kind (or any: kind < 0); SIZE_MAX: none. */
size_t app_last_run(const struct app *a, int kind);
