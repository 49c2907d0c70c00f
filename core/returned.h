/* Tensors as Python's calls return them, brought to our buffers: bytes are copied, in any layout, by us. No operator of
 * PyTorch has part in it, since whoever is called behind a timed call could do the call's work there. */
#ifndef AKO_RETURNED_H
#define AKO_RETURNED_H

#include <stdbool.h>

#include "gpu.h"
#include "hooks.h"
#include "planes.h"

int64_t ako_layout_count(const ako_layout *layout); /* elements */
bool ako_layout_is_contiguous(const ako_layout *layout);

void ako_planes_make(ako_planes *out, const ako_layout *layout); /* no tile: there is nothing to copy */

/* To a buffer of as many elements, one after another. `collector` NULL: within the memory of the CPU; else enqueued on
 * the default stream. AKO_SHAPE where there is nothing to copy. */
int ako_returned_copy(ako_collector *collector, void *to, const ako_returned *returned);

#endif
