/* roof: the roofline as a picture: what arithmetic and memory leave at most, and where the launch stands. */
#pragma once

struct app;
struct page;
struct roofline;

/* Adds the picture to a page of w columns, `rows` high without its axis, in braille dots: both axes
 * logarithmic with a tick each power of ten. Nothing where it is not known or has no room. */
void roof_put(struct app *a, struct page *p, const struct roofline *f, unsigned w, unsigned rows);
