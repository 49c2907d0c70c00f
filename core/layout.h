/* How the elements of a tensor lie in memory; shared by CPU and GPU. */
#ifndef AKO_LAYOUT_H
#define AKO_LAYOUT_H

#include "dtype_bits.h"

#define AKO_LAYOUT_DIMS 16

typedef struct ako_layout {
    int64_t element; /* bytes */
    int64_t n_dims;
    int64_t size[AKO_LAYOUT_DIMS], stride[AKO_LAYOUT_DIMS]; /* in elements */
} ako_layout;

/* How many elements lie before the one of this index, counted with the last dimension first. */
AKO_SHARED int64_t ako_layout_place(const ako_layout *layout, int64_t index)
{
    int64_t place = 0;
    for (int64_t d = layout->n_dims - 1; d >= 0; d--) {
        place += index % layout->size[d] * layout->stride[d];
        index /= layout->size[d];
    }
    return place;
}

#endif
