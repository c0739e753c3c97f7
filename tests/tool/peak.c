/* peak COMMAND...: runs it and tells how much memory it used at most, as the last line of standard error:
 *
 *   peak: rss 545012 kB, memory 540100 kB
 *
 * rss: what the kernel says of the process at its end (ru_maxrss); a page counts as often as it is mapped.
 * memory: every page once, and those of files without a name (memfd) also where they are not mapped: the greatest of
 * what /proc/PID/smaps_rollup and the files held open said every few milliseconds. Children of the command do not count. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EVERY_MS 5

struct now { long pss, shmem; };     /* kB */

static struct now mapped(pid_t pid)
{
    struct now n = { 0, 0 };
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        sscanf(line, "Pss: %ld", &n.pss);
        sscanf(line, "Pss_Shmem: %ld", &n.shmem);
    }
    if (f)
        fclose(f);
    return n;
}

/* Files without a name that the process holds open, kB. */
static long held(pid_t pid)
{
    char dir[64];
    long kb = 0;
    snprintf(dir, sizeof dir, "/proc/%d/fd", (int)pid);
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[400], target[64] = "";
        struct stat s;
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        if (readlink(path, target, sizeof target - 1) > 0 && !strncmp(target, "/memfd:", 7) && stat(path, &s) == 0)
            kb += (long)(s.st_blocks / 2);
    }
    if (d)
        closedir(d);
    return kb;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    pid_t pid = fork();
    if (pid == 0) {
        execvp(argv[1], argv + 1);
        perror(argv[1]);
        _exit(127);
    }
    long most = 0;
    int status = 0;
    struct rusage u;
    memset(&u, 0, sizeof u);
    while (pid > 0 && wait4(pid, &status, WNOHANG, &u) == 0) {
        struct now n = mapped(pid);
        long files = held(pid), kb = n.pss - n.shmem + (files > n.shmem ? files : n.shmem);
        most = kb > most ? kb : most;
        nanosleep(&(struct timespec){ 0, EVERY_MS * 1000000 }, NULL);
    }
    fprintf(stderr, "peak: rss %ld kB, memory %ld kB\n", u.ru_maxrss, most);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
