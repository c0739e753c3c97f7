/* banks: accesses to shared memory in the coalescing panel. */
#pragma once

#include "engine/base/base.h"

struct ana_access;
struct app;
struct page;
struct row;

/* Passes of its worst request, in `cols` columns. */
void view_banks_metric(struct row *r, const struct ana_access *x, unsigned cols);
/* The words that this request asks of each bank, and what another layout leaves. */
void view_banks_chart(struct app *a, struct page *p, const struct ana_access *x, unsigned w, unsigned h);
