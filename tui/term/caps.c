/* caps: the one file that includes curses: what terminfo knows of the terminal. */
#include "tui/term/term.h"

#include <curses.h>
#include <term.h>
#include <stdlib.h>
#include <string.h>

static char *text_cap(const char *name)
{
    const char *s = tigetstr(name);
    return s && s != (char *)-1 ? base_strdup(s) : NULL;
}

bool caps_read(struct caps *c, const char **why)
{
    int err;
    memset(c, 0, sizeof *c);
    if (!getenv("TERM") || setupterm(NULL, 1, &err) != OK) {
        *why = "the terminal type (TERM) is unknown";
        return false;
    }
    char *cup = text_cap("cup");
    if (!cup) {
        *why = "this terminal cannot address the cursor";
        return false;
    }
    base_free(cup);
    c->enter = text_cap("smcup");
    c->leave = text_cap("rmcup");
    c->clear = text_cap("clear");
    c->hide = text_cap("civis");
    c->show = text_cap("cnorm");
    c->colours = tigetnum("colors");
    c->rgb = tigetflag("RGB") > 0;
    return true;
}

void caps_free(struct caps *c)
{
    BASE_FREE(c->enter, c->leave, c->clear, c->hide, c->show);
    memset(c, 0, sizeof *c);
}
