/* claim: the papers' statements, tried on what the experiments came to when they were last recorded. */
#pragma once

#include "engine/base/base.h"

struct claim {
    const char *paper;   /* its short name */
    const char *section; /* where it says so */
    const char *text;    /* restated */
    const char *test;    /* claims.def says how it reads; NULL: not tried */
    const char *why_not; /* where test is NULL */
};
size_t claim_count(void);
const struct claim *claim_at(size_t i);

enum record_kind { RECORD_ROW, RECORD_MEAN, RECORD_FACT };
struct record {
    enum record_kind kind;
    const char *id;       /* of the experiment */
    const char *platform; /* preset; "": none */
    const char *of;       /* recorded.def says what */
    const char *series;
    double value;     /* as the experiment's */
    const char *word; /* NULL: value is a number */
};
struct records {
    const struct record *v;
    size_t n;
};
struct records claim_records(void);

/* Which runs the records are of. */
struct evidence {
    const char *id;   /* of the experiment */
    const char *date; /* year-month-day */
    const char *what; /* ran, on which device */
};
const struct evidence *claim_evidence(size_t *n);

enum claim_result { CLAIM_PASS, CLAIM_FAIL, CLAIM_NOT_TRIED };
const char *claim_result_name(enum claim_result r);
/* The values that decide it, or what is missing, go into `why`. A test that cannot be read is not tried, and
 * why begins with "unreadable". */
enum claim_result claim_try(const char *test, const struct records *r, struct buf *why);

void claims_text(struct buf *out);
void claims_json(struct buf *out);
void claims_md(struct buf *out);
