/* The kernels of ops.cu as a library of the current device; its context is created beside the build. */
#ifndef AKO_OPS_LIBRARY_H
#define AKO_OPS_LIBRARY_H

#include "cudart.h"

int ako_ops_library_load(cudaLibrary_t *out, const ako_cudart_api *cuda);

#endif
