/* The tables: experiments, applications, the papers' figures, energies. */
#include "engine/base/base.h"
#include "engine/paper/paper_int.h"
#include "engine/rec/counter_ids.h"

#include <math.h>
#include <string.h>

static const struct paper_experiment experiments[] = {
#define EXPERIMENT(id_, kind_, title_, ...) \
    { .id = id_, .kind = PAPER_##kind_, .title = title_, __VA_ARGS__ },
#include "engine/paper/paper.def"
#undef EXPERIMENT
};

static const struct paper_app apps[] = {
#define APP(...) { __VA_ARGS__ },
#include "engine/paper/apps.def"
#undef APP
};

static const struct paper_figure figures[] = {
#define FIGURE(id, platform, of, series, value, where) { id, platform, of, series, value, NULL, where },
#define WORD(id, platform, of, series, text, where)    { id, platform, of, series, NAN, text, where },
#include "engine/paper/figures.def"
#undef FIGURE
#undef WORD
};

static const char *const kinds[] = {
#define X(n, word, help) word,
    PAPER_KINDS(X)
#undef X
};

size_t paper_count(void)
{
    return ARRAY_LEN(experiments);
}
const struct paper_experiment *paper_at(size_t i)
{
    return &experiments[i];
}
size_t paper_app_count(void)
{
    return ARRAY_LEN(apps);
}
const struct paper_app *paper_app_at(size_t i)
{
    return &apps[i];
}
size_t paper_figure_count(void)
{
    return ARRAY_LEN(figures);
}
const struct paper_figure *paper_figure_at(size_t i)
{
    return &figures[i];
}
const char *paper_kind_name(enum paper_kind k)
{
    return kinds[k];
}

const struct paper_experiment *paper_find(const char *id)
{
    for (size_t i = 0; i < ARRAY_LEN(experiments); i++)
        if (strcmp(experiments[i].id, id) == 0)
            return &experiments[i];
    return NULL;
}

const char *paper_near(const char *id)
{
    const char *best = NULL;
    unsigned least = 4;
    for (size_t i = 0; i < ARRAY_LEN(experiments); i++) {
        unsigned d = str_distance(str_of(id), str_of(experiments[i].id), least);
        if (d < least) {
            least = d;
            best = experiments[i].id;
        }
    }
    return best;
}

const char *paper_source(const char *id)
{
    static const char *const name[] = { "bypass (SC'15)", "softcache (Resurrecting L1)",
                                        "cluster (ASPLOS'17)", "coalesce (IEEE Access 2023)",
                                        "schedule (poster)" };
    return id[0] == 's' && id[1] >= '1' && id[1] <= '5' ? name[id[1] - '1'] : "";
}

struct paper_value paper_beside(const char *id, const char *platform, const char *of, const char *series)
{
    struct paper_value v = { NAN, NAN, NULL, NULL, "" };
    for (size_t i = 0; i < ARRAY_LEN(figures); i++) {
        const struct paper_figure *f = &figures[i];
        bool here = !*f->platform || (platform && strcmp(f->platform, platform) == 0);
        if (here && strcmp(f->id, id) == 0 && strcmp(f->of, of) == 0 && strcmp(f->series, series) == 0) {
            v.paper = f->value;
            v.paper_text = f->text;
        }
    }
    return v;
}
