#include "noise.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "philox.h"

/* Deviations in log time, and how many launches have a spike. */
typedef struct strength {
    const char *name;
    double white, drift, steps, spikes;
} strength;

static const strength models[AKO_NOISE_MODELS] = {
    {"quiet", 0.004, 0, 0, 0.02},
    {"drift", 0.004, 0.006, 0, 0.02},
    {"shared", 0.01, 0.015, 0.02, 0.05},
    {"noisy", 0.03, 0.03, 0.05, 0.15},
};

#define DRIFT_MEMORY 0.98 /* of the drift from one launch to the next: 1/e is left after 50 launches */
#define STEP_CHANCE 0.01  /* that other tenants come or go before a launch */
#define SPIKE_MEAN 5.0    /* in deviations of the white noise; exponentially distributed */

/* Words of a stream: four for each launch, and a second range of groups for what is rare. */
#define RARE ((uint64_t)1 << 63)

int ako_noise_parse(ako_noise_model *out, const char *name)
{
    for (size_t i = 0; i < AKO_NOISE_MODELS; i++) {
        if (strcmp(models[i].name, name) == 0) {
            *out = (ako_noise_model)i;
            return AKO_OK;
        }
    }
    return ako_fail(AKO_INVALID, "noise", "unknown noise '%s': quiet, drift, shared or noisy", name);
}

const char *ako_noise_name(ako_noise_model model)
{
    return models[model].name;
}

static double normal(uint32_t word)
{
    return (double)ako_normal_f32(word);
}

static bool happens(uint32_t word, double chance)
{
    return word * 0x1p-32 < chance;
}

void ako_noise_start(ako_noise *noise, ako_noise_model model, uint64_t seed, uint32_t stream)
{
    uint32_t words[4];
    *noise = (ako_noise){.model = model, .seed = seed, .stream = stream};
    ako_random_words(words, seed, stream, ~(uint64_t)0);
    noise->drift = models[model].drift * normal(words[0]);
    noise->level = models[model].steps * normal(words[1]);
}

double ako_noise_next(ako_noise *noise)
{
    const strength *s = &models[noise->model];
    uint32_t words[4], rare[4];
    ako_random_words(words, noise->seed, noise->stream, noise->launch);
    bool steps = s->steps > 0 && happens(words[2], STEP_CHANCE), spikes = happens(words[3], s->spikes);
    if (steps || spikes)
        ako_random_words(rare, noise->seed, noise->stream, noise->launch | RARE);
    noise->launch++;
    noise->drift = DRIFT_MEMORY * noise->drift + sqrt(1 - DRIFT_MEMORY * DRIFT_MEMORY) * s->drift * normal(words[1]);
    if (steps)
        noise->level = s->steps * normal(rare[0]);
    double off = s->white * normal(words[0]) + noise->drift + noise->level;
    if (spikes)
        off += SPIKE_MEAN * s->white * (double)ako_minus_log(1.0f - ako_uniform_f32(rare[1]));
    return off;
}

static int64_t next_ns(ako_noise *noise, int64_t base_ns)
{
    int64_t ns = llround((double)base_ns * exp(ako_noise_next(noise)));
    return ns < 1 ? 1 : ns;
}

void ako_noise_launches(ako_noise *noise, int64_t base_ns, int64_t *ns, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ns[i] = next_ns(noise, base_ns);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t sample(ako_noise *noise, int64_t base_ns, int launches)
{
    int64_t ns[AKO_NOISE_SAMPLE];
    ako_noise_launches(noise, base_ns, ns, (size_t)launches);
    qsort(ns, (size_t)launches, sizeof *ns, by_value);
    int64_t low = ns[(launches - 1) / 2], high = ns[launches / 2];
    return low + (high - low) / 2;
}

int ako_noise_pairs(ako_noise *noise, int64_t a_base_ns, int64_t b_base_ns, int launches, int64_t *a_ns, int64_t *b_ns,
                    size_t n)
{
    if (launches < 1 || launches > AKO_NOISE_SAMPLE)
        return ako_fail(AKO_INVALID, "noise", "%d launches a sample: there are 1 to %d", launches, AKO_NOISE_SAMPLE);
    for (size_t i = 0; i < n; i++) {
        if (i % 2 == 0)
            a_ns[i] = sample(noise, a_base_ns, launches);
        b_ns[i] = sample(noise, b_base_ns, launches);
        if (i % 2 == 1)
            a_ns[i] = sample(noise, a_base_ns, launches);
    }
    return AKO_OK;
}
