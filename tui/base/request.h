/* request: everything a key can ask for, in one table. Help, key bar, key map
 * file and manual are made from it. A request belongs to a scope: its panel's
 * keys are tried first, then those of lists (for panels that scroll), then the
 * global ones. */
#pragma once

#include "engine/base/base.h"
#include "tui/base/panel_list.h"

#define PANEL_ID_ITEM(id, name, title, brief, help, list) PANEL_##id,
enum panel_id { PANEL_LIST(PANEL_ID_ITEM) PANEL_COUNT };
#undef PANEL_ID_ITEM
#define SCOPE_ITEM(id, name, title, brief, help, list) SCOPE_##id,
enum scope {
    PANEL_LIST(SCOPE_ITEM) SCOPE_LIST,
    SCOPE_GLOBAL,
    SCOPE_HELP,
    SCOPE_TREE,
    SCOPE_PICKER,
    SCOPE_LESSON,
    SCOPE_REPLAY,
    SCOPE_COUNT
};
#undef SCOPE_ITEM
const char *scope_name(enum scope s);

/* id, name, default keys (blank-separated), scope, bar label ("" : not in the key bar), help */
#define REQUEST_LIST(X)                                                                                 \
    X(QUIT, "quit", "q", GLOBAL, "", "close the top window; if none is open, quit")                     \
    X(QUIT_NOW, "quit-now", "Q C-q", GLOBAL, "", "quit at once; the session is saved")                  \
    X(CANCEL, "cancel", "x", GLOBAL, "", "stop the running sweep or search; results are kept")          \
    X(CLOSE, "close", "Esc C-c", GLOBAL, "", "close the top window; stops nothing")                     \
    X(HELP, "help", "? F1", GLOBAL, "help", "help for this panel; / finds a text in it")                \
    X(COMMAND, "command", ":", GLOBAL, "command", "command line (Tab completes, Up recalls)")           \
    X(SWEEP, "sweep", "s F5", GLOBAL, "sweep",                                                          \
      "sweep the axis of the valley panel, keeping the other knobs")                                    \
    X(RUN, "run", "r", GLOBAL, "run", "run the kernel once with the current knobs")                     \
    X(TUNE, "tune", "t", GLOBAL, "search", "search all knobs for the best configuration")               \
    X(RESUME, "resume", "C", GLOBAL, "",                                                                \
      "continue an interrupted sweep or search: the run under the cursor of the runs panel, "           \
      "else the last one")                                                                              \
    X(NEXT_PANEL, "next-panel", "Tab", GLOBAL, "", "next panel")                                        \
    X(PREV_PANEL, "previous-panel", "S-Tab", GLOBAL, "", "previous panel")                              \
    X(PANEL_1, "panel-1", "1", GLOBAL, "", "source panel")                                              \
    X(PANEL_2, "panel-2", "2", GLOBAL, "", "coalescing panel")                                          \
    X(PANEL_3, "panel-3", "3", GLOBAL, "", "locality panel")                                            \
    X(PANEL_4, "panel-4", "4", GLOBAL, "", "options panel")                                             \
    X(PANEL_5, "panel-5", "5", GLOBAL, "", "valley panel")                                              \
    X(PANEL_6, "panel-6", "6", GLOBAL, "", "counters panel")                                            \
    X(PANEL_7, "panel-7", "7", GLOBAL, "", "runs panel")                                                \
    X(PANEL_8, "panel-8", "8", GLOBAL, "", "advice panel")                                              \
    X(PANEL_9, "panel-9", "9", GLOBAL, "", "messages panel")                                            \
    X(PANEL_SUMMARY, "panel-summary", "S", GLOBAL, "",                                                  \
      "summary panel: what limits the kernel, what to try, the gain")                                   \
    X(PANEL_CUDA, "panel-cuda", "U", GLOBAL, "", "CUDA panel: the source that the PTX came from")       \
    X(PANEL_SASS, "panel-sass", "A", GLOBAL, "", "SASS panel: the machine code")                        \
    X(ZOOM, "zoom", "z", GLOBAL, "zoom", "show this panel full screen, or all panels again")            \
    X(LAYOUT, "layout", "P", GLOBAL, "",                                                                \
      "next layout of the panels (:layout NAME selects one); borders can also be moved with the mouse") \
    X(BORDER_LEFT, "border-left", "S-Left", GLOBAL, "", "move this panel's side border to the left")    \
    X(BORDER_RIGHT, "border-right", "S-Right", GLOBAL, "",                                              \
      "move this panel's side border to the right")                                                     \
    X(BORDER_UP, "border-up", "S-Up", GLOBAL, "", "move this panel's lower or upper border up")         \
    X(BORDER_DOWN, "border-down", "S-Down", GLOBAL, "", "the same border down")                         \
    X(RELOAD, "reload", "R", GLOBAL, "", "reload the PTX and its launch; keeps knobs and position")     \
    X(KERNELS, "kernels", "K", GLOBAL, "", "kernels of the file: a list to choose from")                \
    X(UNDO, "undo", "u", GLOBAL, "", "undo the last change of knobs")                                   \
    X(REDO, "redo", "C-r", GLOBAL, "", "redo what was undone")                                          \
    X(WRITE, "write", "W", GLOBAL, "",                                                                  \
      "write the rewritten kernel (FILE.tuned.ptx) and its launch description")                         \
    X(EXPORT, "export", "E", GLOBAL, "", "write this panel as text beside the session (see :export)")   \
    X(REDRAW, "redraw", "C-l", GLOBAL, "", "redraw the screen")                                         \
    X(SUSPEND, "suspend", "C-z", GLOBAL, "", "suspend to the shell")                                    \
    X(SEARCH, "search", "/", LIST, "find", "find a text in this panel")                                 \
    X(SEARCH_NEXT, "search-next", "n", LIST, "", "next hit")                                            \
    X(SEARCH_PREV, "search-previous", "N", LIST, "", "previous hit")                                    \
    X(UP, "up", "k Up", LIST, "", "one line up")                                                        \
    X(DOWN, "down", "j Down", LIST, "", "one line down")                                                \
    X(PAGE_UP, "page-up", "PgUp C-b C-u", LIST, "", "one page up")                                      \
    X(PAGE_DOWN, "page-down", "PgDn C-f C-d", LIST, "", "one page down")                                \
    X(FIRST, "first", "g Home", LIST, "", "first line")                                                 \
    X(LAST, "last", "G End", LIST, "", "last line")                                                     \
    X(SCROLL_LEFT, "scroll-left", "< A-Left", LIST, "", "scroll to the left")                           \
    X(SCROLL_RIGHT, "scroll-right", "> A-Right", LIST, "", "scroll to the right")                       \
    X(SRC_REWRITE, "rewritten", "v", SOURCE, "rewritten",                                               \
      "original, original and rewritten side by side from the first change on, rewritten only")         \
    X(SRC_CHANGE, "next-change", "c", SOURCE, "change", "next line that the rewrite added or changed")  \
    X(SRC_CHANGE_BACK, "previous-change", "C", SOURCE, "", "previous change")                           \
    X(SRC_NEXT_LOAD, "next-load", "] l", SOURCE, "load", "next global load")                            \
    X(SRC_PREV_LOAD, "previous-load", "[ L", SOURCE, "", "previous global load")                        \
    X(SRC_NEXT_REG, "next-register", "Right w", SOURCE, "", "next register on the line")                \
    X(SRC_PREV_REG, "previous-register", "Left b", SOURCE, "", "previous register on the line")         \
    X(SRC_DEFINE, "definition", "d Enter", SOURCE, "def",                                               \
      "jump to the definition of the register under the cursor")                                        \
    X(SRC_BACK, "back", "Backspace C-o", SOURCE, "", "back to the start of the last jump")              \
    X(SRC_HOT, "hottest-load", "h", SOURCE, "hot",                                                      \
      "the load with the most traffic, then the next ones (traffic past L1 if a run has counted it)")   \
    X(SRC_TREE, "address-tree", "a", SOURCE, "address",                                                 \
      "show how this load's address is computed, as a tree")                                            \
    X(SRC_FOLD, "fold", "Space", SOURCE, "fold", "fold or open the function under the cursor")          \
    X(COA_NEXT, "next-access", "] l Right", COALESCE, "next load", "next load")                         \
    X(COA_PREV, "previous-access", "[ L Left", COALESCE, "",                                            \
      "previous load (before the first: all loads)")                                                    \
    X(COA_SORT, "sort-accesses", "h", COALESCE, "hot first",                                            \
      "sort by position, or the loads with the most traffic first")                                     \
    X(COA_WARP_UP, "next-warp", "+ =", COALESCE, "warp", "lanes of the next warp")                      \
    X(COA_WARP_DOWN, "previous-warp", "-", COALESCE, "", "lanes of the previous warp")                  \
    X(COA_ROUND_UP, "next-round", "}", COALESCE, "round", "lanes in the next loop iteration")           \
    X(COA_ROUND_DOWN, "previous-round", "{", COALESCE, "", "previous iteration")                        \
    X(COA_LOOP, "next-loop", "o", COALESCE, "",                                                         \
      "choose the loop that { and } step, if several surround the load")                                \
    X(LOC_NEXT_PART, "next-part", "]", LOCALITY, "next part",                                           \
      "next part: class, misses by cache size, footprints, sharing")                                    \
    X(LOC_PREV_PART, "previous-part", "[", LOCALITY, "", "previous part")                               \
    X(LOC_SMALLER, "smaller-cache", "h Left", LOCALITY, "", "cursor to a smaller cache")                \
    X(LOC_LARGER, "larger-cache", "l Right", LOCALITY, "size", "cursor to a larger cache")              \
    X(LOC_NEXT_LOAD, "curve-of-next-load", "+ =", LOCALITY, "load",                                     \
      "overlay the curve of the next load")                                                             \
    X(LOC_PREV_LOAD, "curve-of-previous-load", "-", LOCALITY, "", "curve of the previous load")         \
    X(OPT_NEXT, "next-value", "Right l +", OPTIONS, "change", "next value")                             \
    X(OPT_PREV, "previous-value", "Left h -", OPTIONS, "", "previous value")                            \
    X(OPT_EDIT, "edit-value", "Enter e", OPTIONS, "edit", "type the value")                             \
    X(OPT_FOLD, "fold-options", "Space", OPTIONS, "fold", "show or fold the other knobs of the group")  \
    X(OPT_RESET, "default-value", "d Del", OPTIONS, "", "back to the default")                          \
    X(OPT_RESET_ALL, "default-all", "D", OPTIONS, "", "all knobs back to their defaults")               \
    X(OPT_SAVE, "save-launch", "w", OPTIONS, "save launch", "write the launch description to its file") \
    X(VAL_LEFT, "cursor-left", "h Left", VALLEY, "", "cursor one point to the left")                    \
    X(VAL_RIGHT, "cursor-right", "l Right", VALLEY, "cursor", "cursor one point to the right")          \
    X(VAL_FIRST, "cursor-first", "g Home", VALLEY, "", "cursor to the first point")                     \
    X(VAL_LAST, "cursor-last", "G End", VALLEY, "", "cursor to the last point")                         \
    X(VAL_BEST, "cursor-best", "b", VALLEY, "best", "cursor to the best point")                         \
    X(VAL_ZOOM_IN, "zoom-in", "+ =", VALLEY, "", "zoom in around the cursor")                           \
    X(VAL_ZOOM_OUT, "zoom-out", "-", VALLEY, "", "zoom out")                                            \
    X(VAL_ZOOM_ALL, "zoom-all", "0", VALLEY, "", "show the whole curve")                                \
    X(VAL_LOG, "log-axis", "o", VALLEY, "log", "logarithmic or linear y axis")                          \
    X(VAL_LOG_X, "log-x-axis", "O", VALLEY, "", "logarithmic or linear x axis (default: by its range)") \
    X(VAL_METRIC, "metric", "m", VALLEY, "metric",                                                      \
      "time, speed-up over caching all, L1 hit rate, DRAM bytes")                                       \
    X(VAL_AXIS, "axis", "a", VALLEY, "axis", "knob that the next sweep varies")                         \
    X(VAL_RUN_NEXT, "next-run", "j Down ]", VALLEY, "", "next sweep of the session")                    \
    X(VAL_RUN_PREV, "previous-run", "k Up [", VALLEY, "", "previous sweep")                             \
    X(VAL_COMPARE, "overlay", "c", VALLEY, "overlay",                                                   \
      "overlay the previous sweep (or the marked run), or remove it")                                   \
    X(VAL_STYLE, "plot-style", "y", VALLEY, "", "braille, block or ASCII drawing")                      \
    X(VAL_APPLY, "apply-point", "Enter", VALLEY, "apply",                                               \
      "use the knobs of the point under the cursor")                                                    \
    X(CNT_NEXT, "next-result", "] l Right", COUNTERS, "result", "next result")                          \
    X(CNT_PREV, "previous-result", "[ h Left", COUNTERS, "", "previous result")                         \
    X(CNT_BASE, "baseline", "b", COUNTERS, "baseline",                                                  \
      "compare with caching all, bypassing all, or the first run")                                      \
    X(RUN_MARK, "mark", "Space m", RUNS, "mark", "mark for comparison (two marks: A and B)")            \
    X(RUN_SHOW, "show", "Enter", RUNS, "show", "show in the valley or counters panel")                  \
    X(RUN_COMPARE, "compare", "c", RUNS, "compare",                                                     \
      "overlay the marked sweeps, or show two runs side by side")                                       \
    X(RUN_SORT, "sort", "o", RUNS, "sort", "sort by number, time, kind, kernel")                        \
    X(RUN_FILTER, "filter", "f", RUNS, "filter", "show only runs that contain the text")                \
    X(RUN_DELETE, "delete", "d Del", RUNS, "delete", "delete (again: restore)")                         \
    X(RUN_NOTE, "note", "e", RUNS, "note", "write a note")                                              \
    X(ADV_APPLY, "apply", "Enter Space", ADVICE, "try", "run this advice")                              \
    X(ADV_TAKE, "take", "p", ADVICE, "take knobs", "use its knobs without running")                     \
    X(MSG_LEVEL, "level", "f", MESSAGES, "level", "errors only, warnings too, everything")              \
    X(MSG_GOTO, "goto", "Enter", MESSAGES, "go to", "go to this place in the source")                   \
    X(PAPERS_RUN, "papers-run", "Enter Space", PAPERS, "run",                                           \
      "run this experiment on its simulated device; again: cancel it")                                  \
    X(PROGRAM_CAPTURE, "program-capture", "Enter", PROGRAM, "capture",                                  \
      "run the program again, capture this kernel with its data and open it")                           \
    X(PROGRAM_APPLY, "program-apply", "A", PROGRAM, "apply",                                            \
      "run the program with the session's recommendation, alternating with the original")               \
    X(PROGRAM_OPTIMIZE, "program-optimize", "O", PROGRAM, "optimize",                                   \
      "make the program faster: capture, tune and verify the kernels that take its time")               \
    X(SUMMARY_TRY, "summary-try", "Enter", SUMMARY, "try", "run the first advice not yet tried")        \
    X(CUDA_NEXT, "next-cuda-load", "] l", CUDA, "load", "next line that loads from global memory")      \
    X(CUDA_PREV, "previous-cuda-load", "[ L", CUDA, "", "previous such line")                           \
    X(CUDA_HOT, "hottest-cuda-line", "h", CUDA, "hot", "the line whose loads have the most traffic")    \
    X(CUDA_PTX, "cuda-ptx", "Enter d", CUDA, "PTX", "to the PTX of this line")                          \
    X(SASS_NEXT, "next-sass-access", "] l", SASS, "access", "next access to global memory")             \
    X(SASS_PREV, "previous-sass-access", "[ L", SASS, "", "previous such access")                       \
    X(TREE_GOTO, "tree-goto", "Enter d", TREE, "go to", "to this instruction in the source")            \
    X(TREE_CLOSE, "tree-close", "q Esc a", TREE, "", "close the tree")                                  \
    X(HELP_CLOSE, "close-help", "q Esc ?", HELP, "", "close help")                                      \
    X(PICK_OPEN, "open", "Enter Space", PICKER, "open", "open the demo or lesson")                      \
    X(LESSON_NEXT, "lesson-next", "Enter ) A-n F2", LESSON, "next step",                                \
      "next step of the lesson (Enter: once the task is done)")                                         \
    X(LESSON_PREV, "lesson-previous", "( A-p F3", LESSON, "", "previous step")                          \
    X(LESSON_HIDE, "lesson-hide", "F4 A-h", LESSON, "",                                                 \
      "hide or show the lesson (first the rest of it, if it does not fit)")                             \
    X(REPLAY_PLAY, "replay-play", "Space", REPLAY, "play", "play or pause the recorded points")         \
    X(REPLAY_STEP, "replay-step", ".", REPLAY, "step", "one recorded point forward")                    \
    X(REPLAY_BACK, "replay-back", ",", REPLAY, "", "one recorded point back")                           \
    X(REPLAY_END, "replay-end", "e", REPLAY, "end", "all recorded points")
enum request {
    REQ_NONE,
#define X(id, name, keys, scope, bar, help) REQ_##id,
    REQUEST_LIST(X)
#undef X
        REQ_COUNT
};
struct request_info {
    const char *name;
    const char *keys; /* written as in the key map */
    const char *bar;
    const char *help; /* one line */
    enum scope scope;
};
const struct request_info *request_info(enum request r);
enum request request_find(struct str name); /* REQ_NONE: none of that name */

struct panel_info {
    const char *name;
    const char *title;
    const char *brief;
    const char *help; /* one line */
    bool list;
};
const struct panel_info *panel_info(enum panel_id p);

#define KEYMAP_MAX 320
struct keymap {
    struct {
        uint32_t key;
        uint16_t request;
    } v[KEYMAP_MAX];
    size_t n;
};
void keymap_default(struct keymap *m);
/* Key map file: lines "REQUEST = KEY KEY ..." replace the keys of a request;
 * a key goes from any other request of that scope; '#' starts a comment line. Mistakes are located; good
 * lines count anyway. */
void keymap_parse(struct keymap *m, const char *path, struct str text, struct diags *ds);
enum request keymap_find(const struct keymap *m, uint32_t key, enum scope scope);
/* First key of a request as text ("" when it has none); out at least 16 bytes. */
void keymap_key(const struct keymap *m, enum request r, char *out);
/* All its keys, blank-separated. */
void keymap_keys(const struct keymap *m, enum request r, struct buf *out);
