/* For CUDA Runtimes before 12.8, which cannot load a cubin: the driver's functions under the runtime's names. */
#ifndef AKO_CUDART_DRIVER_H
#define AKO_CUDART_DRIVER_H

#include "cudart.h"

/* Replaces the functions of the table that take a library or a kernel of one. Nothing is asked of the driver before
 * the first of them is called; without a driver each returns cudaErrorInsufficientDriver. */
void ako_cudart_use_driver(ako_cudart_api *cuda);

#endif
