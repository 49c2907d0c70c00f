/* The CPU half of the device module. */
#ifndef AKO_CPU_H
#define AKO_CPU_H

#include "device.h"

/* Model, cores, caches and SIMD of this machine's CPU, from /proc and /sys. Never fails: unknown is 0 or "". */
void ako_cpu_props(ako_device_props *out);

/* Bytes of the last-level cache, or of the largest that is known; 0 when none is. */
int64_t ako_cpu_last_level_cache(void);

#endif
