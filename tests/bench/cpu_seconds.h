/* Processor time of another process. */
#ifndef GPULOCW_BENCH_CPU_SECONDS_H
#define GPULOCW_BENCH_CPU_SECONDS_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* User and system time so far, seconds; 0 where /proc does not say. */
static double cpu_seconds(pid_t pid)
{
    char path[64], line[1024];
    unsigned long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    if (f && fgets(line, sizeof line, f))
        sscanf(strrchr(line, ')') + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
               &system);
    if (f)
        fclose(f);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

#endif
