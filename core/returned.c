#include "returned.h"

#include <string.h>

#include "error.h"
#include "gpu.h"

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

#define TILE 16

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

/* One of the two dimensions that are walked through together: how far apart its elements are, in bytes. */
typedef struct walk {
    int64_t size, from, to;
} walk;

static void copy_tile(char *to, const char *from, const walk *outer, const walk *inner, int64_t i, int64_t j,
                      int64_t element)
{
    int64_t i_end = i + TILE < outer->size ? i + TILE : outer->size;
    int64_t j_end = j + TILE < inner->size ? j + TILE : inner->size;
    for (; i < i_end; i++)
        for (int64_t k = j; k < j_end; k++)
            copy_element(to + i * outer->to + k * inner->to, from + i * outer->from + k * inner->from, element);
}

/* Rows where they lie in one piece; what is side by side here and far apart there in tiles, which stay in the cache. */
static void copy_plane(char *to, const char *from, const walk *outer, const walk *inner, int64_t element)
{
    if (inner->from == element) {
        for (int64_t i = 0; i < outer->size; i++)
            memcpy(to + i * outer->to, from + i * outer->from, (size_t)(inner->size * element));
        return;
    }
    for (int64_t i = 0; i < outer->size; i += TILE)
        for (int64_t j = 0; j < inner->size; j += TILE)
            copy_tile(to, from, outer, inner, i, j, element);
}

/* The dimension, other than the last, along which the elements lie closest together. */
static int64_t closest(const ako_layout *layout)
{
    int64_t found = 0;
    for (int64_t d = 1; d < layout->n_dims - 1; d++)
        if (layout->size[d] > 1 && (layout->size[found] <= 1 || layout->stride[d] <= layout->stride[found]))
            found = d;
    return found;
}

static walk walk_along(const ako_layout *layout, int64_t d)
{
    int64_t to = layout->element;
    for (int64_t i = d + 1; i < layout->n_dims; i++)
        to *= layout->size[i];
    return (walk){.size = layout->size[d], .from = layout->stride[d] * layout->element, .to = to};
}

/* Plane by plane of the last dimension and the one that lies closest. */
static void copy_planes(char *to, const char *from, const ako_layout *layout)
{
    int64_t last = layout->n_dims - 1, other = closest(layout), planes = 1;
    walk inner = walk_along(layout, last), outer = {.size = 1};
    if (other != last)
        outer = walk_along(layout, other);
    for (int64_t d = 0; d < last; d++)
        planes *= d == other ? 1 : layout->size[d];
    for (int64_t p = 0; p < planes; p++) {
        int64_t rest = p, from_at = 0, to_at = 0;
        for (int64_t d = last - 1; d >= 0; d--) {
            walk w = walk_along(layout, d);
            int64_t index = d == other ? 0 : rest % w.size;
            rest = d == other ? rest : rest / w.size;
            from_at += index * w.from;
            to_at += index * w.to;
        }
        copy_plane(to + to_at, from + from_at, &outer, &inner, layout->element);
    }
}

int ako_returned_copy(ako_collector *collector, void *to, const ako_returned *returned)
{
    const ako_layout *layout = &returned->layout;
    if (layout->n_dims < 0 || layout->n_dims > AKO_LAYOUT_DIMS)
        return ako_fail(AKO_INVALID, "python", "a result of %d dimensions", (int)layout->n_dims);
    if (!returned->address)
        return ako_fail(AKO_SHAPE, "python", "the result has no memory");
    if (collector)
        return ako_collector_copy(collector, to, returned);
    if (ako_layout_is_contiguous(layout))
        memcpy(to, returned->address, (size_t)(ako_layout_count(layout) * layout->element));
    else
        copy_planes(to, returned->address, layout);
    return AKO_OK;
}
