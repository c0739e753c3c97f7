#include "tests/emulate/program.h"

#include <dlfcn.h>

/* A library that comes by dlopen: brought LIBRARY EXPECTED, of what its probe() left last. Ends with its error. */
int main(int argc, char **argv)
{
    unsigned out[4] = { 0 };
    int (*probe)(unsigned *);
    NEED(argc == 3);
    void *l = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    NEED(l != NULL);
    *(void **)&probe = dlsym(l, "probe");
    NEED(probe != NULL);
    int e = probe(out);
    if (e)
        return e % 256;
    NEED(out[3] == (unsigned)atoi(argv[2]));
    pass();
    return 0;
}
