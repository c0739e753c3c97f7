/* Programs in the manner of public suites: each checks its own results against the host's and prints PASS. */
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <vector>
#define OK(call)                                                                       \
    do {                                                                               \
        cudaError_t e_ = (call);                                                       \
        if (e_ != cudaSuccess) {                                                       \
            printf("FAIL line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(e_)); \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)
#define NEED(condition)                                         \
    do {                                                        \
        if (!(condition)) {                                     \
            printf("FAIL line %d: %s\n", __LINE__, #condition); \
            exit(1);                                            \
        }                                                       \
    } while (0)
#define PASS (puts("PASS"), 0)
