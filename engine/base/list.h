/* list: what is done to arrays that grow, and to sorted ones. */
#pragma once

/* Puts a value behind the n of v, which is made larger where it is full (base_grow); false: out of memory. */
#define LIST_PUSH(v, n, cap, ...) \
    (base_grow((void **)&(v), (n), &(cap), sizeof *(v)) && ((v)[(n)++] = __VA_ARGS__, true))

/* at: the first of n for which `below`, an expression of `at`, does not hold. It holds for a head of the
 * list. */
#define BISECT(at, n, below)                  \
    do {                                      \
        __typeof__(at) from_ = 0, to_ = (n);  \
        while (from_ < to_) {                 \
            (at) = from_ + (to_ - from_) / 2; \
            if (below)                        \
                from_ = (at) + 1;             \
            else                              \
                to_ = (at);                   \
        }                                     \
        (at) = from_;                         \
    } while (0)
