/* Questions to the process that runs the program (record.h): one connection each, so that all processes
 * and threads of the program may ask. */
#include "engine/dev/inject/ask.h"

#include "engine/dev/inject/inject.h"
#include "engine/dev/inject/record.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { ANSWER_MOST = 16 << 20, WAIT_S = 300 };

/* The name of a socket is at most 108 bytes: its folder is opened, and named by the descriptor. */
static bool name_socket(struct sockaddr_un *a, int *folder)
{
    char path[4200];
    snprintf(path, sizeof path, "%s%s", S.file, LIVE_ASK_SUFFIX);
    char *file = strrchr(path, '/');
    if (!file)
        return false;
    *file++ = 0;
    *folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    a->sun_family = AF_UNIX;
    return *folder >= 0 && (size_t)snprintf(a->sun_path, sizeof a->sun_path, "/proc/self/fd/%d/%s",
                                            *folder, file) < sizeof a->sun_path;
}

static int reach(void)
{
    struct sockaddr_un a = { 0 };
    struct timeval wait = { .tv_sec = WAIT_S };
    int folder = -1, s = -1;
    if (name_socket(&a, &folder))
        s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s >= 0 && connect(s, (const struct sockaddr *)&a, sizeof a) != 0) {
        close(s);
        s = -1;
    }
    if (s >= 0)
        setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    if (folder >= 0)
        close(folder);
    return s;
}

static bool put_all(int s, const char *p, size_t n)
{
    while (n) {
        ssize_t k = send(s, p, n, MSG_NOSIGNAL);
        if (k <= 0)
            return false;
        p += k;
        n -= (size_t)k;
    }
    return true;
}

static char *answer_of(int s)
{
    size_t n = 0, cap = 4096;
    char *text = malloc(cap + 1);
    ssize_t k = 1;
    while (text && k > 0 && n < ANSWER_MOST) {
        if (n == cap) {
            char *more = realloc(text, 2 * cap + 1);
            if (!more)
                break;
            text = more;
            cap *= 2;
        }
        k = recv(s, text + n, cap - n, 0);
        n += k > 0 ? (size_t)k : 0;
    }
    if (text && (k < 0 || !n)) {
        free(text);
        return NULL;
    }
    if (text)
        text[n] = 0;
    return text;
}

char *ask(const char *format, ...)
{
    va_list ap;
    char *question = NULL;
    va_start(ap, format);
    int n = vasprintf(&question, format, ap);
    va_end(ap);
    if (n < 0)
        return NULL;
    int s = reach();
    char *answer = NULL;
    if (s >= 0 && put_all(s, question, (size_t)n) && shutdown(s, SHUT_WR) == 0)
        answer = answer_of(s);
    if (s >= 0)
        close(s);
    free(question);
    return answer;
}
