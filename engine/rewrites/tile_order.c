/* tile_order: the order in which the CTAs of a persistent kernel take its tiles. T tiles, W in a row:
 *
 *   row      as the kernel counts              column   down the columns
 *   reverse  the last one first                tile     X x Y squares of tiles, row by row
 *
 *   before                                     after, --tile-order column, T 24, W 4 (6 rows)
 *     mov.u32 %r9, %ctaid.x;                     mov.u32 %r9, %ctaid.x;
 *   TILE: setp.ge.u32 %p1, %r9, 24;            TILE: setp.ge.u32 %p1, %r9, 24;
 *     @%p1 bra END;                              @%p1 bra END;
 *                                                x = %r9 / 6;  y = %r9 % 6;  t = y * 4 + x;
 *     div.u32 %r10, %r9, 4;                      div.u32 %r10, t, 4;
 *     ...                                        ...
 *     add.u32 %r9, %r9, %nctaid.x; bra TILE;     add.u32 %r9, %r9, %nctaid.x; bra TILE;
 *
 * CTAs go on counting as they did; whoever uses a number gets its place in the order, which takes each
 * of 0 to T-1 to another of them, and every other number to itself. CTAs may do their tiles in any order
 * where tiles do not depend on each other: turns.c follows values, a marked run of the launch follows
 * memory (PASS_SURVEY_TILES, engine/tune/tiles.c). */
#include "engine/pass/pass_int.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/opt_schedule.h"
#include "engine/rewrites/cluster_int.h"
#include "engine/rewrites/tiles/tiles_int.h"

#include <stdio.h>
#include <stdlib.h>

#define TAG "tile_order"

static bool asked(const struct options *o)
{
    return opt_schedule(o)->tile_order.kind != TILES_OFF;
}

static bool idle(const struct pass_ctx *c)
{
    return opt_schedule(c->opt)->tile_order.kind == TILES_ROW && c->survey != PASS_SURVEY_TILES;
}

static bool by_rows(const struct pass_ctx *c)
{
    int kind = opt_schedule(c->opt)->tile_order.kind;
    return kind == TILES_COLUMN || kind == TILES_TILE;
}

/* ---- legality ---- */
enum { NAME = 128 }; /* of a register that goes into code, with its end */

static enum status check_names(struct pass_ctx *c, const struct tile_counter *t)
{
    bool fits = t->total->len < NAME && (!t->across || t->across->len < NAME);
    for (uint32_t r = 0; r < c->f->nregs; r++)
        fits = fits && (!t->counter[r] || c->f->regs[r].name.n < NAME);
    if (fits)
        return ST_OK;
    return pass_refuse(c, NO_SPAN, NULL,
                       "a register that counts tiles has a name of %d characters or more", NAME);
}

/* A register has one value, and has it here. */
static bool has_value(const struct tile_counter *t, const struct ptx_operand *o,
                      const struct ptx_inst *i)
{
    const struct ptx_cfg *g = t->fl->cfg;
    if (!o || o->kind != OPND_REG)
        return true;
    if (g->regs[o->index].ndefs != 1)
        return false;
    uint32_t at = g->regs[o->index].defs[0];
    if (t->fl->f->insts[at].guarded)
        return false;
    uint32_t a = g->block_of[at], b = g->block_of[i->index];
    return a == b ? at < i->index : ptx_dominates(g, a, b);
}

static enum status check_sites(struct pass_ctx *c, const struct tile_counter *t)
{
    const struct ptx_operand *across =
        by_rows(c) && !opt_schedule(c->opt)->tile_width ? t->across : NULL;
    for (uint32_t k = 0; k < t->fl->f->ninsts; k++) {
        const struct ptx_inst *i = &t->fl->f->insts[k];
        bool several;
        if (t->role[k] != TILE_COMPARES && t->role[k] != TILE_USES)
            continue;
        if (tile_counter_read(t, i, &several) != PTX_NO_INDEX && several)
            return pass_refuse(c, i->at, NULL, "two numbers of tiles are used here at once");
        if (tile_loop_of(t, t->fl->cfg->block_of[k]) != PTX_NO_INDEX &&
            (!has_value(t, t->total, i) || !has_value(t, across, i)))
            return pass_refuse(c, i->at, "--tile-width N gives the width as a number",
                               "the number of tiles, or of tiles in a row, is not known here");
    }
    return ST_OK;
}

static enum status check_width(struct pass_ctx *c, const struct tile_counter *t)
{
    if (!by_rows(c) || opt_schedule(c->opt)->tile_width || t->across)
        return ST_OK;
    return pass_refuse(c, NO_SPAN, "--tile-width N says how many tiles a row has",
                       "the kernel divides the number of a tile by no number, so it is not known how "
                       "many tiles a row has");
}

static enum status check(struct pass_ctx *c)
{
    struct pass_flow fl;
    struct tile_counter t = { 0 };
    struct dim3u g = c->out->grid;
    if (!c->in->launch)
        return pass_refuse(c, NO_SPAN, "give the launch with --launch",
                           "whether tiles are independent is found in a launch; there is no launch "
                           "description");
    if (g.y != 1 || g.z != 1)
        return pass_refuse(c, NO_SPAN, NULL,
                           "the grid has more than one dimension; tiles are counted along x alone");
    if (c->f->reqnctapercluster.x || c->f->explicitcluster || launch_cluster(c->in->launch).x)
        return pass_refuse(
            c, NO_SPAN, NULL,
            "the kernel is launched in hardware CTA clusters, whose CTAs do tiles together");
    if (!pass_flow_make_grid(c->f, &fl))
        return ST_NOMEM;
    enum status s = tile_counter_find(c, &fl, &t);
    if (s == ST_OK)
        s = tile_turns_check(c, &t);
    if (s == ST_OK)
        s = check_width(c, &t);
    if (s == ST_OK)
        s = check_names(c, &t);
    if (s == ST_OK)
        s = check_sites(c, &t);
    tile_counter_free(&t);
    return s;
}

/* ---- code ---- */
struct writer {
    struct pass_ctx *c;
    const struct tile_counter *t;
    char total[NAME], across[NAME]; /* operands: registers or numbers */
    char now[24];                   /* the register that gets a tile's place */
    bool *read;                     /* by register: the instruction at work reads it; nregs + 1 */
    uint32_t block, reg;            /* where and of which register it was made last */
};

static void operand_text(const struct pass_ctx *c, const struct ptx_operand *o, char *to, size_t room)
{
    snprintf(to, room, "%.*s", (int)o->len, c->m->text.s + o->off);
}

static bool numbers(const struct writer *w, uint64_t *total, uint64_t *across)
{
    char *end, *stop;
    *total = strtoull(w->total, &end, 0);
    *across = strtoull(w->across, &stop, 0);
    return w->total[0] && !*end && w->across[0] && !*stop && *across;
}

/* Rows of the tiles into h, tiles in them into n; both texts. */
static void rows_code(const struct writer *w, char h[24], char n[24], struct buf *out)
{
    const char *t = w->c->tag;
    uint64_t total, across;
    if (numbers(w, &total, &across)) {
        snprintf(h, 24, "%llu", (unsigned long long)(total / across));
        snprintf(n, 24, "%llu", (unsigned long long)(total / across * across));
        return;
    }
    snprintf(h, 24, "%%%sh", t);
    snprintf(n, 24, "%%%sn", t);
    buf_printf(out, "div.u32 \t%s, %s, %s;\nmul.lo.u32 \t%s, %s, %s;\n", h, w->total, w->across, n, h,
               w->across);
}

/* The place of tile `reg` in the order. */
static void place_code(const struct writer *w, const char *reg, struct buf *out)
{
    const struct opt_schedule *o = opt_schedule(w->c->opt);
    const char *t = w->c->tag;
    char h[24], n[24], x[24], y[24], v[24];
    snprintf(v, sizeof v, "%%%sv", t);
    snprintf(x, sizeof x, "%%%sx", t);
    snprintf(y, sizeof y, "%%%sy", t);
    if (o->tile_order.kind == TILES_ROW) {
        buf_printf(out, "mov.u32 \t%s, %s;\n", w->now, reg);
        return;
    }
    if (o->tile_order.kind == TILES_REVERSE) {
        pass_code(out, t, "sub.u32 \t%s, %s, %s;\nsub.u32 \t%s, %s, 1;\nsetp.lt.u32 \t%%#p, %s, %s;\n",
                  v, w->total, reg, v, v, reg, w->total);
    } else {
        struct order_code code = { t, v, w->across, h, x, y, NULL };
        rows_code(w, h, n, out);
        pass_code(out, t, "mov.u32 \t%s, %s;\nsetp.lt.u32 \t%%#p, %s, %s;\n", v, reg, reg, n);
        if (o->tile_order.kind == TILES_TILE)
            order_decode_tile(&code, o->tile_order.tx, o->tile_order.ty, out);
        else
            order_decode_column(&code, out);
        buf_printf(out, "mad.lo.u32 \t%s, %s, %s, %s;\n", v, y, w->across, x);
    }
    pass_code(out, t, "selp.b32 \t%s, %s, %s, %%#p;\n", w->now, v, reg);
}

/* Which tile this warp is at from here on. */
static void mark_code(const struct writer *w, const char *reg, struct buf *out)
{
    const char *t = w->c->tag;
    pass_code(out, t,
              "setp.lt.u32 \t%%#p, %s, %s;\nmin.u32 \t%%#v, %s, %u;\n"
              "selp.b32 \t%%#v, %%#v, %u, %%#p;\n",
              reg, w->total, w->now, PASS_TILES_MOST - 1, PASS_TILES_MOST);
    pass_code(out, t,
              "cvt.u64.u32 \t%%#l, %%#v;\nmov.u64 \t%%#m, " PASS_TILES_SYMBOL ";\n"
              "add.s64 \t%%#m, %%#m, %%#l;\nmov.u16 \t%%#z, 0;\nst.global.u8 \t[%%#m], %%#z;\n");
}

/* ---- places in an instruction ---- */
static struct str name_of(const struct writer *w, uint32_t reg)
{
    return w->c->f->regs[reg].name;
}

static unsigned reg_bits(const struct pass_ctx *c, uint32_t reg)
{
    return ptx_type_bits((enum ptx_type)c->f->regs[reg].type);
}

/* Another text for a counter or a derived register. */
static bool renamed(void *ctx, struct str name, struct buf *out)
{
    const struct writer *w = ctx;
    for (uint32_t r = 0; r < w->c->f->nregs; r++) {
        if (!w->read[r] || !str_eq(name, name_of(w, r)))
            continue;
        if (w->t->counter[r])
            buf_puts(out, w->now);
        else
            pass_code(out, w->c->tag, "%%#r%u", r);
        return true;
    }
    return false;
}

/* A derived register as if the counter held the tile's place. */
static void put_derived(const struct writer *w, uint32_t reg, struct buf *out)
{
    struct str name = name_of(w, reg);
    bool wide = reg_bits(w->c, reg) == 64;
    pass_code(out, w->c->tag, "mad.%s.s32 \t%%#r%u, %%#d, %lld, %.*s;\n", wide ? "wide" : "lo", reg,
              (long long)w->t->scale[reg], (int)name.n, name.s);
}

static void put_text(struct writer *w, const struct ptx_inst *i)
{
    struct buf text = { 0 };
    for (struct ptx_regs r = ptx_regs_of(i, PTX_READ | PTX_WRITE); ptx_next_reg(&r);)
        w->read[r.reg] = (r.access & PTX_READ) && (w->t->counter[r.reg] || w->t->scale[r.reg]);
    pass_rename(ptx_text(w->c->m, i->at), renamed, w, &text);
    for (struct ptx_regs r = ptx_regs_of(i, PTX_READ | PTX_WRITE); ptx_next_reg(&r);)
        w->read[r.reg] = false;
    if (text.s && !text.oom)
        ptx_edit_replace(w->c->edit, w->c->f, i->stmt, TAG, "%s", text.s);
    w->c->oom |= text.oom;
    buf_free(&text);
}

static void write_site(struct writer *w, const struct ptx_inst *i)
{
    struct pass_ctx *c = w->c;
    uint32_t block = w->t->fl->cfg->block_of[i->index], loop = tile_loop_of(w->t, block);
    bool uses = w->t->role[i->index] == TILE_USES, marks = c->survey == PASS_SURVEY_TILES;
    if (loop == PTX_NO_INDEX || (!uses && !marks))
        return;
    struct buf code = { 0 };
    char reg[NAME];
    bool several;
    uint32_t read = tile_counter_read(w->t, i, &several),
             counter = read == PTX_NO_INDEX ? w->t->current[loop] : read;
    snprintf(reg, sizeof reg, "%.*s", (int)name_of(w, counter).n, name_of(w, counter).s);
    if (w->block != block || w->reg != counter) {
        place_code(w, reg, &code);
        pass_code(&code, c->tag, "sub.s32 \t%%#d, %s, %s;\n", w->now, reg);
    }
    w->block = block;
    w->reg = counter;
    if (uses)
        for (struct ptx_regs r = ptx_regs_of(i, PTX_READ); ptx_next_reg(&r);)
            if (w->t->scale[r.reg])
                put_derived(w, r.reg, &code);
    if (marks)
        mark_code(w, reg, &code);
    c->oom |= code.oom;
    if (code.s)
        ptx_edit_before(c->edit, c->f, i->stmt, TAG, "%s", code.s);
    if (uses)
        put_text(w, i);
    buf_free(&code);
}

static void declare(struct pass_ctx *c, const struct tile_counter *counter)
{
    const char *t = c->tag;
    struct buf b = { 0 };
    pass_code(&b, t, ".reg .b32 \t%%#t, %%#v, %%#x, %%#y, %%#h, %%#n, %%#d;\n.reg .pred \t%%#p;\n");
    for (uint32_t r = 0; r < c->f->nregs; r++)
        if (counter->scale[r])
            pass_code(&b, t, ".reg .b%u \t%%#r%u;\n", reg_bits(c, r), r);
    if (c->survey == PASS_SURVEY_TILES) {
        pass_code(&b, t, ".reg .b64 \t%%#l, %%#m;\n.reg .b16 \t%%#z;\n");
        ptx_edit_global(c->edit, TAG, ".global .align 16 .b8 " PASS_TILES_SYMBOL "[%u];",
                        PASS_TILES_MOST + 1);
    }
    order_declare(t, &b);
    c->oom |= b.oom;
    if (b.s)
        ptx_edit_declare(c->edit, c->f, TAG, "%s", b.s);
    buf_free(&b);
}

static enum status run(struct pass_ctx *c)
{
    struct pass_flow fl;
    struct tile_counter t = { 0 };
    struct writer w = { .c = c, .t = &t };
    if (!pass_flow_make_grid(c->f, &fl))
        return ST_NOMEM;
    w.read = base_alloc(c->f->nregs + 1);
    enum status s = w.read ? tile_counter_find(c, &fl, &t) : ST_NOMEM;
    if (s == ST_OK) {
        snprintf(w.now, sizeof w.now, "%%%st", c->tag);
        operand_text(c, t.total, w.total, sizeof w.total);
        if (opt_schedule(c->opt)->tile_width)
            snprintf(w.across, sizeof w.across, "%d", opt_schedule(c->opt)->tile_width);
        else if (t.across)
            operand_text(c, t.across, w.across, sizeof w.across);
        declare(c, &t);
        w.block = PTX_NO_INDEX;
        for (uint32_t k = 0; k < c->f->ninsts; k++) {
            if (t.role[k] == TILE_COMPARES || t.role[k] == TILE_USES)
                write_site(&w, &c->f->insts[k]);
            if (t.role[k] == TILE_COUNTS)
                w.block = PTX_NO_INDEX;
        }
        c->out->extra_regs += 4;
        c->out->tiles = true;
        if (c->survey != PASS_SURVEY_TILES)
            pass_note(
                c, NO_SPAN,
                "tiles are done in another order: that they are independent is shown by two launches "
                "on a simulated device, for the size of this launch");
    }
    base_free(w.read);
    tile_counter_free(&t);
    return s == ST_OK && c->oom ? ST_NOMEM : s;
}

static const char *const knobs[] = { "tile-order", "tile-width", NULL };
const struct pass_row pass_row_tile_order = { { "tile_order",
                                                "the order in which persistent CTAs take their tiles" },
                                              knobs,
                                              asked,
                                              check,
                                              run,
                                              idle,
                                              NULL };
