/* What the kernels of ops.cu and their launcher ops_gpu.c must agree on. */
#ifndef AKO_OPS_KERNELS_H
#define AKO_OPS_KERNELS_H

#define AKO_BLOCK 256 /* threads a block, of every launch */

#endif
