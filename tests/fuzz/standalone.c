/* A fuzz target as a program of its own: runs it once on every file named, and on every file of a folder
 * named. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned ran, unread;

static void one_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct stat st;
    if (!f || fstat(fileno(f), &st) != 0) {
        fprintf(stderr, "%s: cannot be read\n", path);
        unread++;
    } else {
        size_t n = (size_t)st.st_size;
        uint8_t *data = malloc(n + 1);
        if (data && fread(data, 1, n, f) == n) {
            fprintf(stderr, "%s\n", path); /* the last name is the one that crashed */
            LLVMFuzzerTestOneInput(data, n);
            ran++;
        }
        free(data);
    }
    if (f)
        fclose(f);
}

static void one(const char *path)
{
    struct stat st;
    DIR *d = stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? opendir(path) : NULL;
    if (!d) {
        one_file(path);
        return;
    }
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        char inner[4096];
        snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
        if (e->d_name[0] != '.')
            one(inner);
    }
    closedir(d);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        one(argv[i]);
    printf("%u inputs\n", ran);
    return unread || !ran ? 1 : 0;
}
