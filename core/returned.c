#include "returned.h"

#include <string.h>

#include "error.h"
#include "gpu.h"
#include "planes.h"
#include "signals.h"

int64_t ako_layout_count(const ako_layout *layout)
{
    int64_t n = 1;
    for (int64_t d = 0; d < layout->n_dims; d++)
        n *= layout->size[d];
    return n;
}

bool ako_layout_is_contiguous(const ako_layout *layout)
{
    int64_t n = 1;
    for (int64_t d = layout->n_dims - 1; d >= 0; d--) {
        if (layout->size[d] != 1 && layout->stride[d] != n)
            return false;
        n *= layout->size[d];
    }
    return true;
}

/* The dimensions of a layout, the first one last; those that are one walk are joined. Returns their number. */
static int walks_of(ako_walk walks[AKO_LAYOUT_DIMS], const ako_layout *layout)
{
    int n = 0;
    int64_t to = 1;
    for (int64_t d = layout->n_dims - 1; d >= 0; d--) {
        ako_walk walk = {.size = layout->size[d], .from = layout->stride[d], .to = to};
        to *= walk.size;
        if (walk.size == 1)
            continue;
        ako_walk *before = n > 0 ? &walks[n - 1] : NULL;
        if (before && walk.from == before->from * before->size)
            before->size *= walk.size;
        else
            walks[n++] = walk;
    }
    return n;
}

/* The one, other than the first, along which elements lie closest; 0: there is no other. */
static int closest(const ako_walk *walks, int n)
{
    int found = n > 1 ? 1 : 0;
    for (int i = 2; i < n; i++)
        if (walks[i].from < walks[found].from)
            found = i;
    return found;
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void ako_planes_make(ako_planes *out, const ako_layout *layout)
{
    const ako_walk one = {.size = 1};
    ako_walk walks[AKO_LAYOUT_DIMS];
    int n = walks_of(walks, layout), column = closest(walks, n);
    *out = (ako_planes){.element = layout->element};
    if (ako_layout_count(layout) == 0)
        return;
    out->line = n > 0 ? walks[0] : one;
    out->column = column > 0 ? walks[column] : one;
    out->tile_cells = lesser(out->line.size, AKO_TILE_CELLS / lesser(out->column.size, AKO_TILE) - 1);
    out->tile_lines = lesser(out->column.size, AKO_TILE_CELLS / (out->tile_cells | 1));
    out->n_tiles =
        ako_tiles_along(out->line.size, out->tile_cells) * ako_tiles_along(out->column.size, out->tile_lines);
    for (int i = n - 1; i > 0; i--)
        if (i != column) {
            out->rest[out->n_rest++] = walks[i];
            out->n_tiles *= walks[i].size;
        }
}

static inline void copy_element(char *to, const char *from, int64_t bytes)
{
    switch (bytes) {
    case 4:
        memcpy(to, from, 4);
        break;
    case 2:
        memcpy(to, from, 2);
        break;
    case 8:
        memcpy(to, from, 8);
        break;
    default:
        *to = *from;
    }
}

static void copy_tile(char *to, const char *from, const ako_planes *p, const ako_tile *tile)
{
    int64_t size = p->element;
    to += tile->to * size;
    from += tile->from * size;
    for (int i = 0; i < tile->n_lines; i++, to += p->column.to * size, from += p->column.from * size)
        if (p->line.from == 1)
            memcpy(to, from, (size_t)(tile->n_cells * size));
        else
            for (int64_t j = 0; j < tile->n_cells; j++)
                copy_element(to + j * p->line.to * size, from + j * p->line.from * size, size);
}

static void copy_planes(char *to, const char *from, const ako_layout *layout)
{
    ako_planes planes;
    ako_planes_make(&planes, layout);
    for (int64_t i = 0; i < planes.n_tiles; i++) {
        ako_tile tile = ako_tile_of(&planes, i);
        copy_tile(to, from, &planes, &tile);
    }
}

static int copy(ako_collector *collector, void *to, const ako_returned *returned)
{
    const ako_layout *layout = &returned->layout;
    if (collector)
        return ako_collector_copy(collector, to, returned);
    if (ako_layout_is_contiguous(layout))
        memcpy(to, returned->address, (size_t)(ako_layout_count(layout) * layout->element));
    else
        copy_planes(to, returned->address, layout);
    return AKO_OK;
}

/* No handler shall work out a result while it is copied, of a timer or of the faults that reading it may have. */
static int copy_unhandled(ako_collector *collector, void *to, const ako_returned *returned)
{
    sigset_t before;
    ako_signals_hold(&before);
    int status = copy(collector, to, returned);
    ako_signals_let(&before);
    return status;
}

int ako_returned_copy(ako_collector *collector, void *to, const ako_returned *returned)
{
    const ako_layout *layout = &returned->layout;
    if (layout->n_dims < 0 || layout->n_dims > AKO_LAYOUT_DIMS)
        return ako_fail(AKO_INVALID, "python", "a result of %d dimensions", (int)layout->n_dims);
    if (!returned->address)
        return ako_fail(AKO_SHAPE, "python", "the result has no memory");
    if (returned->address == to && ako_layout_is_contiguous(layout)) /* the call has written it there itself */
        return AKO_OK;
    return copy_unhandled(collector, to, returned);
}
