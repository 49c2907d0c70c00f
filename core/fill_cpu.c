/* Fills of host memory. */
#include <string.h>

#include "error.h"
#include "ops_backend.h"
#include "parallel.h"

#define BATCH_ELEMENTS (4u * AKO_BATCH)

typedef struct fill_job {
    unsigned char *base;
    uint64_t count;
    const ako_fill_plan *plan;
} fill_job;

FOR_ONE_DTYPE void put(unsigned char *base, uint64_t index, uint64_t bits, size_t size)
{
    memcpy(base + index * size, &bits, size);
}

FOR_ONE_DTYPE void fill_narrow(const fill_job *job, const ako_fill_plan *plan, size_t size, uint64_t begin,
                               uint64_t end)
{
    for (uint64_t group = begin; group < end; group += AKO_BATCH) {
        uint32_t elements[BATCH_ELEMENTS];
        uint64_t first = 4 * group, stop = 4 * end < job->count ? 4 * end : job->count;
        uint64_t n = stop - first < BATCH_ELEMENTS ? stop - first : BATCH_ELEMENTS;
        ako_narrow_groups(elements, plan, group, AKO_BATCH);
        for (uint64_t i = 0; i < n; i++)
            put(job->base, first + i, elements[i], size);
    }
}

FOR_ONE_DTYPE void fill_wide(const fill_job *job, const ako_fill_plan *plan, size_t size, uint64_t begin, uint64_t end)
{
    for (uint64_t group = begin; group < end; group++) {
        uint64_t elements[2];
        uint64_t left = job->count - 2 * group;
        ako_wide_group(elements, plan, group);
        for (uint64_t i = 0; i < (left < 2 ? left : 2); i++)
            put(job->base, 2 * group + i, elements[i], size);
    }
}

FOR_ONE_DTYPE void fill_random(const fill_job *job, ako_dtype dtype, int kind, size_t size, uint64_t begin,
                               uint64_t end)
{
    ako_fill_plan plan = *job->plan;
    plan.dtype = dtype;
    plan.kind = kind;
    if (ako_is_wide(dtype))
        fill_wide(job, &plan, size, begin, end);
    else
        fill_narrow(job, &plan, size, begin, end);
}

static void fill_random_part(void *payload, int slot, uint64_t begin, uint64_t end)
{
    const fill_job *job = payload;
    (void)slot;
    switch (job->plan->dtype) {
#define FILL_CASE(id, name, size, letter)                                   \
    case AKO_##id:                                                          \
        if (job->plan->kind == AKO_PLAN_NORMAL)                             \
            fill_random(job, AKO_##id, AKO_PLAN_NORMAL, size, begin, end);  \
        else                                                                \
            fill_random(job, AKO_##id, AKO_PLAN_UNIFORM, size, begin, end); \
        break;
        AKO_DTYPE_LIST(FILL_CASE)
#undef FILL_CASE
    case AKO_DTYPE_COUNT:
        break;
    }
}

FOR_ONE_DTYPE void fill_plain(const fill_job *job, size_t size, uint64_t begin, uint64_t end)
{
    const ako_fill_plan plan = *job->plan;
    for (uint64_t i = begin; i < end; i++)
        put(job->base, i, ako_plain_element(&plan, i), size);
}

static void fill_plain_part(void *payload, int slot, uint64_t begin, uint64_t end)
{
    const fill_job *job = payload;
    (void)slot;
    switch (ako_dtype_size(job->plan->dtype)) {
    case 1:
        fill_plain(job, 1, begin, end);
        break;
    case 2:
        fill_plain(job, 2, begin, end);
        break;
    case 4:
        fill_plain(job, 4, begin, end);
        break;
    default:
        fill_plain(job, 8, begin, end);
    }
}

int ako_fill_cpu(void *state, void *base, uint64_t count, const ako_fill_plan *plan)
{
    fill_job job = {.base = base, .count = count, .plan = plan};
    uint64_t per_group = ako_is_wide(plan->dtype) ? 2 : 4;
    uint64_t grain = AKO_GRAIN_BYTES / ako_dtype_size(plan->dtype);
    (void)state;
    if (plan->kind == AKO_PLAN_CONSTANT || plan->kind == AKO_PLAN_LINEAR)
        ako_parallel_run(count, grain, fill_plain_part, &job);
    else
        ako_parallel_run((count + per_group - 1) / per_group, grain / per_group, fill_random_part, &job);
    return AKO_OK;
}
