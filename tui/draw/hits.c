/* hits: which part of the screen a click meets. */
#include "tui/draw/panel.h"

void screen_hit(struct screen *map, enum hit_kind kind, struct rect r, int id)
{
    if (map && map->nhits < HITS_MAX)
        map->hit[map->nhits++] = (struct hit){ kind, r, id };
}
