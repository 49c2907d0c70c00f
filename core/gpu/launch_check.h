/* What can be known to be wrong with a launch before it is made, in the words of the one who wrote the launch line. */
#ifndef AKO_LAUNCH_CHECK_H
#define AKO_LAUNCH_CHECK_H

#include <stdbool.h>

#include "cudart.h"
#include "runner.h"

typedef struct ako_launch_limits {
    int grid[3], block[3];
    int shared_optin; /* bytes a block, static and dynamic together */
    int has_clusters;
} ako_launch_limits;

/* The limits of the current device. */
int ako_launch_limits_get(ako_launch_limits *out, const ako_cudart_api *cuda);

/* "launch line 3: kernel softmax<4>", or without the line when there is none. */
void ako_launch_place(char *out, size_t size, const ako_call *call);

bool ako_call_has_cluster(const ako_call *call);

/* Checks arguments, grid, block, cluster and shared memory against the compiled kernel and the device, and raises the
 * kernel's own limits (dynamic shared memory, cluster size) to what the call needs. AKO_INVALID says what is wrong. */
int ako_launch_check(const ako_cudart_api *cuda, const ako_launch_limits *limits, const void *kernel,
                     const struct cudaFuncAttributes *attributes, const ako_call *call);

#endif
