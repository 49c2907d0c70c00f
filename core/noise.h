/* Synthetic noise of launches, to try rules of decision on: models of machines, not data of any. In log time a launch
 * is off by white noise, now and then a positive spike (an interrupt), a slow AR(1) drift (heat, clocks) and the level
 * that other tenants of the machine set, which steps at random times. */
#ifndef AKO_NOISE_H
#define AKO_NOISE_H

#include <stddef.h>
#include <stdint.h>

/* Deviations of white noise, drift and steps in log time: quiet 0.4 %, 0, 0; drift 0.4 %, 0.6 %, 0; shared 1 %, 1.5 %,
 * 2 %; noisy 3 %, 3 %, 5 %. */
typedef enum ako_noise_model { AKO_NOISE_QUIET, AKO_NOISE_DRIFT, AKO_NOISE_SHARED, AKO_NOISE_NOISY } ako_noise_model;
#define AKO_NOISE_MODELS 4
int ako_noise_parse(ako_noise_model *out, const char *name); /* "quiet", ...; AKO_INVALID names the known ones */
const char *ako_noise_name(ako_noise_model model);

/* A machine, one launch after another. The same seed and stream give the same launches; streams of a seed are
 * independent machines, or one at times so far apart that nothing of the earlier one is left. */
typedef struct ako_noise {
    ako_noise_model model;
    uint64_t seed;
    uint32_t stream;
    uint64_t launch;
    double drift, level;
} ako_noise;

void ako_noise_start(ako_noise *noise, ako_noise_model model, uint64_t seed, uint32_t stream);

/* How far the next launch is off, in log time: 0.01 is 1 % slower. */
double ako_noise_next(ako_noise *noise);

/* `n` launches of a kernel that takes `base_ns` in the quiet; each at least 1. */
void ako_noise_launches(ako_noise *noise, int64_t base_ns, int64_t *ns, size_t n);

/* `n` pairs of samples, each the median of `launches` (1 to AKO_NOISE_SAMPLE) launches, of two arms in turn: A first in
 * pair 0, B first in pair 1, ... AKO_INVALID for another number of launches. */
#define AKO_NOISE_SAMPLE 64
int ako_noise_pairs(ako_noise *noise, int64_t a_base_ns, int64_t b_base_ns, int launches, int64_t *a_ns, int64_t *b_ns,
                    size_t n);

#endif
