/* A tensor in any layout, brought into order tile by tile: along the lines of a tile elements lie closest where they
 * are written, along its columns often where they are read. Shared by CPU and GPU. */
#ifndef AKO_PLANES_H
#define AKO_PLANES_H

#include "layout.h"

#define AKO_TILE 64 /* lines, and elements of one, where a plane has so many */
#define AKO_TILE_CELLS (AKO_TILE * (AKO_TILE + 1))

/* One dimension: how far apart its elements are where they are read and where they are written. */
typedef struct ako_walk {
    int64_t size, from, to;
} ako_walk;

typedef struct ako_planes {
    int64_t element; /* bytes */
    ako_walk line;   /* the dimension along which elements are written side by side */
    ako_walk column; /* another one, along which they lie closest where they are read */
    int64_t n_rest;
    ako_walk rest[AKO_LAYOUT_DIMS];
    int64_t tile_lines, tile_cells; /* of a whole tile */
    int64_t n_tiles;
} ako_planes;

typedef struct ako_tile {
    int64_t from, to;     /* its first element, here and there */
    int n_lines, n_cells; /* those at the ends of a plane are smaller */
} ako_tile;

AKO_SHARED int64_t ako_tiles_along(int64_t size, int64_t tile)
{
    return (size + tile - 1) / tile;
}

AKO_SHARED ako_tile ako_tile_of(const ako_planes *p, int64_t index)
{
    ako_tile tile;
    int64_t across = ako_tiles_along(p->line.size, p->tile_cells),
            down = ako_tiles_along(p->column.size, p->tile_lines);
    int64_t cell = index % across * p->tile_cells, line = index / across % down * p->tile_lines;
    int64_t plane = index / across / down;
    tile.from = cell * p->line.from + line * p->column.from;
    tile.to = cell * p->line.to + line * p->column.to;
    for (int64_t d = p->n_rest - 1; d >= 0; d--) {
        const ako_walk *walk = &p->rest[d];
        tile.from += plane % walk->size * walk->from;
        tile.to += plane % walk->size * walk->to;
        plane /= walk->size;
    }
    tile.n_cells = (int)(p->line.size - cell < p->tile_cells ? p->line.size - cell : p->tile_cells);
    tile.n_lines = (int)(p->column.size - line < p->tile_lines ? p->column.size - line : p->tile_lines);
    return tile;
}

/* Elements from one line of a tile to the next where it is kept: odd, so that those of a column lie in different banks
 * of a GPU's shared memory. */
AKO_SHARED int ako_tile_pitch(const ako_tile *tile)
{
    return tile->n_cells | 1;
}

#endif
