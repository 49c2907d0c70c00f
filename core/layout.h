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

#endif
