/* term: modes, signals, and the sending of changed cells.
 *
 * Restoring must work from a signal handler: the bytes to send and the modes to
 * set are kept ready in one static record, which is the only global of the front
 * end. Fatal signals restore and die; TERM, HUP and INT ask the loop to leave;
 * a second one of those dies at once. */
#include "tui/term/term.h"

#include "tui/base/key.h"
#include "tui/base/text.h"
#include "tui/draw/surface.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define KEY_WAIT_MS 30 /* how long after ESC a sequence may go on */
#define MOUSE_ON    "\033[?1000h\033[?1002h\033[?1006h"
#define MOUSE_OFF   "\033[?1006l\033[?1002l\033[?1000l"
#define PASTE_ON    "\033[?2004h" /* pasted text comes between marks */
#define PASTE_OFF   "\033[?2004l"

static struct {
    volatile sig_atomic_t active, size, leave /* the signal that asked for it */, stop, resume;
    struct termios before;
    char restore[256];
    size_t nrestore;
    int pipe[2];
    int asked;
} guard = { .pipe = { -1, -1 } };

struct term {
    struct caps caps;
    enum depth depth;
    bool utf8, mouse, pastes /* a terminal of a kind that marks pasted text, or skips the request */;
    struct termios raw;
    struct surface shown; /* what the terminal shows */
    bool valid;
    char in[512];
    size_t nin;
    bool waiting, eof; /* waiting: in[] holds the head of a sequence */
    bool asked;        /* for the background's colour, and no answer yet */
    struct buf out;
};

/* ---- what a signal handler may call ---- */
static void restore_now(void)
{
    if (!guard.active)
        return;
    guard.active = 0;
    for (size_t at = 0; at < guard.nrestore;) {
        ssize_t n = write(1, guard.restore + at, guard.nrestore - at);
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    tcsetattr(0, TCSANOW, &guard.before);
}

static void on_fatal(int sig)
{
    restore_now();
    signal(sig, SIG_DFL);
    raise(sig);
}

static void on_signal(int sig)
{
    int keep = errno;
    switch (sig) {
    case SIGWINCH: guard.size = 1; break;
    case SIGTSTP: guard.stop = 1; break;
    case SIGCONT: guard.resume = 1; break;
    default:
        if (guard.asked++)
            on_fatal(sig);
        guard.leave = sig;
    }
    if (write(guard.pipe[1], "s", 1) < 0)
        errno = keep; /* full: the loop will wake anyway */
    errno = keep;
}

static void catch_signals(void)
{
    static const int fatal[] = { SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGQUIT },
                     asked[] = { SIGTERM, SIGHUP, SIGINT, SIGWINCH, SIGTSTP, SIGCONT };
    static char stack[1 << 16];
    stack_t alt = { .ss_sp = stack, .ss_size = sizeof stack };
    struct sigaction sa = { .sa_handler = on_fatal, .sa_flags = SA_ONSTACK };
    sigaltstack(&alt, NULL);
    for (size_t i = 0; i < ARRAY_LEN(fatal); i++)
        sigaction(fatal[i], &sa, NULL);
    sa = (struct sigaction){ .sa_handler = on_signal, .sa_flags = SA_RESTART };
    for (size_t i = 0; i < ARRAY_LEN(asked); i++)
        sigaction(asked[i], &sa, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* ---- sending ---- */
static bool send_all(const char *s, size_t n)
{
    while (n) {
        ssize_t k = write(1, s, n);
        if (k < 0 && (errno == EINTR || errno == EAGAIN)) {
            struct pollfd p = { 1, POLLOUT, 0 };
            if (errno == EAGAIN)
                poll(&p, 1, 1000);
            continue;
        }
        if (k <= 0)
            return false;
        s += k;
        n -= (size_t)k;
    }
    return true;
}

static void put_colour(struct buf *out, struct colour c, bool back, enum depth d)
{
    if (c.kind == COLOUR_DEFAULT || d == DEPTH_MONO)
        return;
    if (d == DEPTH_TRUE && c.kind == COLOUR_RGB) {
        buf_printf(out, ";%d;2;%u;%u;%u", back ? 48 : 38, c.r, c.g, c.b);
        return;
    }
    int i = colour_index(c, d == DEPTH_TRUE ? DEPTH_256 : d);
    if (i < 8)
        buf_printf(out, ";%d", (back ? 40 : 30) + i);
    else if (i < 16)
        buf_printf(out, ";%d", (back ? 100 : 90) + i - 8);
    else
        buf_printf(out, ";%d;5;%d", back ? 48 : 38, i);
}

void term_look(struct buf *out, const struct look *l, enum depth d)
{
    static const struct {
        uint8_t bit, code;
    } attrs[] = {
        { ATTR_BOLD, 1 }, { ATTR_DIM, 2 }, { ATTR_ITALIC, 3 }, { ATTR_UNDERLINE, 4 }, { ATTR_REVERSE, 7 }
    };
    unsigned a = d == DEPTH_MONO ? l->mono : l->attrs;
    buf_puts(out, "\033[0");
    for (size_t i = 0; i < ARRAY_LEN(attrs); i++)
        if (a & attrs[i].bit)
            buf_printf(out, ";%u", attrs[i].code);
    put_colour(out, l->fg, false, d);
    put_colour(out, l->bg, true, d);
    buf_puts(out, "m");
}

static void put_cell(struct term *t, const struct cell *c)
{
    char u[4];
    buf_put(&t->out, u, utf8_encode(c->cp ? c->cp : ' ', u));
    if (c->mark)
        buf_put(&t->out, u, utf8_encode(c->mark, u));
}

/* Sends the changed cells of one row; *look is the look in force (role, sel), -1: none. */
static void send_row(struct term *t, const struct surface *s, const struct theme *theme, int y,
                     int *look, bool all)
{
    const struct cell *now = s->cell + (size_t)y * (size_t)s->w;
    struct cell *old = t->shown.cell + (size_t)y * (size_t)s->w;
    int at = -1; /* column where the terminal's cursor is */
    for (int x = 0; x < s->w; x++) {
        if (!all && now[x].cp == old[x].cp && now[x].mark == old[x].mark && now[x].role == old[x].role &&
            now[x].sel == old[x].sel)
            continue;
        if (now[x].cp == 0 && x > 0 && at != x)
            x--; /* second half of a wide character: send the whole */
        if (at != x)
            buf_printf(&t->out, "\033[%d;%dH", y + 1, x + 1);
        int want = now[x].role * 2 + now[x].sel;
        if (want != *look) {
            struct look l = theme_look(theme, (enum role)now[x].role, now[x].sel, t->depth);
            term_look(&t->out, &l, t->depth);
            *look = want;
        }
        put_cell(t, &now[x]);
        bool wide = x + 1 < s->w && now[x + 1].cp == 0;
        old[x] = now[x];
        if (wide)
            old[x + 1] = now[x + 1], x++;
        at = x + 1;
    }
}

bool term_draw(struct term *t, const struct surface *s, const struct theme *theme, bool repaint)
{
    int look = -1;
    bool all = repaint || !t->valid || t->shown.w != s->w || t->shown.h != s->h;
    if (all && (t->shown.w != s->w || t->shown.h != s->h) && !surface_resize(&t->shown, s->w, s->h))
        return true; /* out of memory: the old picture stays */
    buf_clear(&t->out);
    if (t->depth == DEPTH_TRUE)
        buf_puts(&t->out, "\033[?2026h");
    buf_puts(&t->out, t->caps.hide ? t->caps.hide : "");
    if (all)
        buf_printf(&t->out, "\033[0m%s", t->caps.clear ? t->caps.clear : "");
    for (int y = 0; y < s->h; y++)
        send_row(t, s, theme, y, &look, all);
    buf_puts(&t->out, "\033[0m");
    if (s->cursor_x >= 0)
        buf_printf(&t->out, "\033[%d;%dH%s", s->cursor_y + 1, s->cursor_x + 1,
                   t->caps.show ? t->caps.show : "");
    if (t->depth == DEPTH_TRUE)
        buf_puts(&t->out, "\033[?2026l");
    t->valid = true;
    return send_all(t->out.s, t->out.n);
}

/* ---- modes ---- */
static void enter_modes(struct term *t)
{
    buf_clear(&t->out);
    tcsetattr(0, TCSAFLUSH, &t->raw);
    guard.active = 1;
    buf_printf(&t->out, "%s\033[?7l%s%s", t->caps.enter ? t->caps.enter : "",
               t->caps.hide ? t->caps.hide : "", t->mouse ? MOUSE_ON : "");
    if (t->pastes)
        buf_puts(&t->out, PASTE_ON);
    send_all(t->out.s, t->out.n);
    t->valid = false;
}

/* Colour depth wanted and possible: NO_COLOR, COLORTERM, terminfo; when: --color, NULL is auto. */
static enum depth term_depth(const struct caps *c, const char *when)
{
    const char *no = getenv("NO_COLOR"), *ct = getenv("COLORTERM");
    bool always = when && !strcmp(when, "always"), never = when && !strcmp(when, "never");
    if (never || (no && *no && !always) || c->colours < 8)
        return DEPTH_MONO;
    if (c->rgb || (ct && (!strcmp(ct, "truecolor") || !strcmp(ct, "24bit"))))
        return DEPTH_TRUE;
    return c->colours >= 256 ? DEPTH_256 : c->colours >= 16 ? DEPTH_16 : DEPTH_8;
}

/* The Linux console's fonts have no braille; a terminal that calls itself a VT or plain ANSI may have
 * nothing but ASCII. */
enum plot_style term_plot_style(void)
{
    const char *name = getenv("TERM");
    if (name && (!strncmp(name, "vt", 2) || !strcmp(name, "ansi")))
        return PLOT_ASCII;
    return name && !strncmp(name, "linux", 5) ? PLOT_BLOCK : PLOT_BRAILLE;
}

bool term_utf8(void)
{
    setlocale(LC_CTYPE, "");
    return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

static void set_raw(struct termios *raw)
{
    *raw = guard.before;
    raw->c_iflag &= ~(tcflag_t)(BRKINT | ICRNL | INPCK | ISTRIP | IXON);
    raw->c_cflag |= CS8;
    raw->c_lflag &= ~(tcflag_t)(ECHO | ICANON | IEXTEN | ISIG);
    raw->c_cc[VMIN] = 0;
    raw->c_cc[VTIME] = 0;
}

/* Is the terminal xterm, or one that knows its private modes and questions? */
static bool is_kin(void)
{
    static const char *const kin[] = { "xterm", "rxvt",    "screen",  "tmux", "alacritty", "foot",
                                       "kitty", "wezterm", "konsole", "vte",  "st-",       "gnome" };
    const char *name = getenv("TERM");
    for (size_t i = 0; name && i < ARRAY_LEN(kin); i++)
        if (!strncmp(name, kin[i], strlen(kin[i])))
            return true;
    return false;
}

struct term *term_open(bool mouse, const char *color, const char **why)
{
    struct term *t = base_alloc(sizeof *t);
    if (!t || !caps_read(&t->caps, why)) {
        base_free(t);
        return NULL;
    }
    if (tcgetattr(0, &guard.before) != 0 || pipe(guard.pipe) != 0) {
        *why = "standard input is not a terminal";
        caps_free(&t->caps);
        base_free(t);
        return NULL;
    }
    for (int i = 0; i < 2; i++) {
        fcntl(guard.pipe[i], F_SETFL, O_NONBLOCK);
        fcntl(guard.pipe[i], F_SETFD, FD_CLOEXEC);
    }
    set_raw(&t->raw);
    t->utf8 = term_utf8();
    t->mouse = mouse;
    t->pastes = is_kin();
    t->depth = term_depth(&t->caps, color);
    guard.nrestore =
        (size_t)snprintf(guard.restore, sizeof guard.restore, "%s%s\033[0m\033[?7h%s%s", MOUSE_OFF,
                         t->pastes ? PASTE_OFF : "", t->caps.show ? t->caps.show : "",
                         t->caps.leave ? t->caps.leave : "\r\n");
    if (guard.nrestore >= sizeof guard.restore)
        guard.nrestore = sizeof guard.restore - 1;
    catch_signals();
    enter_modes(t);
    return t;
}

/* OSC 11, which xterm and its kin answer. Consoles and VTs would print it or take it for a palette. */
void term_ask_background(struct term *t)
{
    static const char question[] = "\033]11;?\033\\";
    t->asked = t->asked || (t->depth != DEPTH_MONO && is_kin());
    if (t->asked)
        send_all(question, sizeof question - 1);
}

/* An answer that comes after we have gone would be typed into the shell. */
#define ANSWER_MS 60
static void await_answer(struct term *t)
{
    char drop[256];
    struct pollfd p = { 0, POLLIN, 0 };
    if (t->asked && !t->eof && poll(&p, 1, ANSWER_MS) == 1 && read(0, drop, sizeof drop) < 0)
        t->eof = true;
}

void term_close(struct term *t)
{
    if (!t)
        return;
    await_answer(t);
    restore_now();
    signal(SIGWINCH, SIG_DFL);
    signal(SIGTSTP, SIG_DFL);
    signal(SIGCONT, SIG_DFL);
    surface_free(&t->shown);
    buf_free(&t->out);
    caps_free(&t->caps);
    base_free(t);
}

int term_fd(const struct term *t)
{
    (void)t;
    return 0;
}
int term_signal_fd(const struct term *t)
{
    (void)t;
    return guard.pipe[0];
}
int term_signal(const struct term *t)
{
    return t->eof && !guard.leave ? SIGHUP : guard.leave;
}
bool term_is_utf8(const struct term *t)
{
    return t->utf8;
}

void term_size(const struct term *t, int *w, int *h)
{
    struct winsize ws;
    (void)t;
    *w = 80, *h = 24;
    if (ioctl(1, TIOCGWINSZ, &ws) == 0 && ws.ws_col && ws.ws_row)
        *w = ws.ws_col, *h = ws.ws_row;
}

void term_mouse(struct term *t, bool on)
{
    t->mouse = on;
    send_all(on ? MOUSE_ON : MOUSE_OFF, strlen(on ? MOUSE_ON : MOUSE_OFF));
}

void term_suspend(struct term *t)
{
    sigset_t stop, before;
    restore_now();
    signal(SIGTSTP, SIG_DFL);
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, &before);
    kill(0, SIGTSTP); /* the whole job, as the terminal driver would */
    sigprocmask(SIG_SETMASK, &before, NULL);
    catch_signals();
    guard.stop = guard.resume = 0;
    enter_modes(t);
}

/* ---- events ---- */
static bool signal_event(struct term *t, struct event *e, bool *leave)
{
    char drop[64];
    while (read(guard.pipe[0], drop, sizeof drop) > 0)
        ;
    if (guard.leave)
        *leave = true;
    if (guard.stop) {
        term_suspend(t);
        *e = (struct event){ .kind = EVENT_RESUME };
        return true;
    }
    if (guard.resume) {
        guard.resume = 0;
        enter_modes(t);
        guard.size = 1;
    }
    if (guard.size) {
        guard.size = 0;
        *e = (struct event){ .kind = EVENT_RESIZE };
        term_size(t, &e->x, &e->y);
        return true;
    }
    return false;
}

struct event term_next(struct term *t, bool *leave)
{
    struct event e = { .kind = EVENT_NONE };
    if (signal_event(t, &e, leave))
        return e;
    if (t->nin < sizeof t->in && !t->eof) {
        ssize_t n = read(0, t->in + t->nin, sizeof t->in - t->nin);
        struct pollfd p = { 0, POLLIN, 0 };
        if (n > 0) {
            t->nin += (size_t)n;
            t->waiting = false;
        } else if (n == 0 && poll(&p, 1, 0) == 1 && (p.revents & (POLLHUP | POLLERR))) {
            t->eof = true;
        } else if (n < 0 && errno != EINTR && errno != EAGAIN) {
            t->eof = true;
        }
    }
    if (t->eof)
        *leave = true;
    while (t->nin && e.kind == EVENT_NONE) {
        size_t used = term_decode(t->in, t->nin, t->waiting, t->utf8, &e);
        if (!used) {
            t->waiting = true; /* decided when the loop comes back after KEY_WAIT_MS */
            return e;
        }
        t->nin -= used;
        memmove(t->in, t->in + used, t->nin);
    }
    t->waiting = false;
    t->asked &= e.kind != EVENT_BACKGROUND;
    return e;
}

int term_pending_ms(const struct term *t)
{
    return t->waiting ? KEY_WAIT_MS : -1;
}
