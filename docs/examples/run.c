/* A kernel as it is and with a bypass threshold, through the library.
 *
 *     cc run.c $(pkg-config --cflags --libs gpulocw) -o run && ./run kernel.ptx
 *
 * kernel.launch.json, the launch description, lies beside the PTX file (gpulocw launch writes one). */
#include <gpulocw.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number behind "median": in a result. A program of your own takes a JSON library. */
static double median(const char *document)
{
    const char *at = strstr(document, "\"median\":");
    return at ? strtod(at + strlen("\"median\":"), NULL) : -1;
}

static double timed(gpulocw *g, const char *file, const char *options)
{
    char arguments[4096];
    snprintf(arguments, sizeof arguments, "{\"file\":\"%s\"%s}", file, options);
    gpulocw_status s = gpulocw_call(g, "run", arguments);
    if (s == GPULOCW_DONE)
        return median(gpulocw_document(g));
    fprintf(stderr, "status %d: %s\n", s, gpulocw_diagnostics(g));
    return -1;
}

int main(int argc, char **argv)
{
    gpulocw *g = gpulocw_new();
    if (!g || argc != 2) {
        fprintf(stderr, "usage: run KERNEL.ptx\n");
        gpulocw_free(g);
        return 2;
    }
    double original = timed(g, argv[1], ""),
           bypass = timed(g, argv[1], ",\"bypass\":\"l1\",\"pi\":\"bpa\"");
    if (original > 0 && bypass > 0)
        printf("simulated: %.1f us as it is, %.1f us with all loads past L1\n", original / 1e3,
               bypass / 1e3);
    gpulocw_free(g);
    return original > 0 && bypass > 0 ? 0 : 1;
}
