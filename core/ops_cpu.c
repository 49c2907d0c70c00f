/* The operations on host memory, but for fills (fill_cpu.c). */
#include <string.h>

#include "error.h"
#include "ops_backend.h"
#include "parallel.h"
#include "words.h"

static void no_state(void *state)
{
    (void)state;
}

static int cpu_set(void *state, void *base, unsigned char byte, uint64_t bytes)
{
    (void)state;
    memset(base, byte, bytes);
    return AKO_OK;
}

typedef struct range_job {
    const unsigned char *base;
    uint64_t bytes;
    size_t size;
    uint64_t results[AKO_PARALLEL_PARTS];
} range_job;

static void hash_part(void *payload, int slot, uint64_t begin, uint64_t end)
{
    range_job *job = payload;
    uint64_t sum = 0;
    for (uint64_t i = begin; i < end; i++)
        sum += ako_hash_word(ako_word_at(job->base, job->bytes, i, 0), i);
    job->results[slot] = sum;
}

static int cpu_hash_sum(void *state, uint64_t *sum, const void *base, uint64_t bytes)
{
    range_job job = {.base = base, .bytes = bytes};
    int n = ako_parallel_run(bytes / 8 + (bytes % 8 != 0), AKO_GRAIN_BYTES / 8, hash_part, &job);
    (void)state;
    *sum = 0;
    for (int i = 0; i < n; i++)
        *sum += job.results[i];
    return AKO_OK;
}

static int cpu_find_other(void *state, uint64_t *offset, const void *base, unsigned char byte, uint64_t bytes)
{
    (void)state;
    *offset = UINT64_MAX;
    for (uint64_t i = 0; 8 * i < bytes; i++) {
        uint64_t word = ako_word_at(base, bytes, i, byte), wanted = ako_word_of(byte);
        if (word != wanted) {
            *offset = 8 * i + ako_first_difference(word, wanted);
            break;
        }
    }
    return AKO_OK;
}

static void count_part(void *payload, int slot, uint64_t begin, uint64_t end)
{
    range_job *job = payload;
    uint64_t n = 0, poison = ako_ones(job->size);
    for (uint64_t i = begin; i < end; i++) {
        uint64_t bits = 0;
        memcpy(&bits, job->base + i * job->size, job->size);
        n += bits == poison;
    }
    job->results[slot] = n;
}

static int cpu_count_poisoned(void *state, uint64_t *count, const void *base, uint64_t elements, size_t size)
{
    range_job job = {.base = base, .size = size};
    int n = ako_parallel_run(elements, AKO_GRAIN_BYTES / size, count_part, &job);
    (void)state;
    *count = 0;
    for (int i = 0; i < n; i++)
        *count += job.results[i];
    return AKO_OK;
}

typedef struct compare_job {
    const unsigned char *got, *expected;
    const ako_judge *judge;
    ako_found found[AKO_PARALLEL_PARTS];
} compare_job;

FOR_ONE_DTYPE void compare_range(const compare_job *job, ako_found *out, ako_dtype dtype, size_t size, uint64_t begin,
                                 uint64_t end)
{
    ako_judge judge = *job->judge;
    ako_tally tally = {0};
    judge.dtype = dtype;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t got = 0, expected = 0;
        memcpy(&got, job->got + i * size, size);
        memcpy(&expected, job->expected + i * size, size);
        if (!ako_judge_pair(&judge, &tally, got, expected))
            continue;
        tally.mismatches++;
        if (out->n_first < AKO_FIRST)
            out->first[out->n_first++] = (ako_mismatch){i, got, expected};
    }
    out->tally = tally;
}

static void compare_part(void *payload, int slot, uint64_t begin, uint64_t end)
{
    compare_job *job = payload;
    switch (job->judge->dtype) {
#define COMPARE_CASE(id, name, size, letter)                               \
    case AKO_##id:                                                         \
        compare_range(job, &job->found[slot], AKO_##id, size, begin, end); \
        break;
        AKO_DTYPE_LIST(COMPARE_CASE)
#undef COMPARE_CASE
    case AKO_DTYPE_COUNT:
        break;
    }
}

static void merge_found(ako_found *into, const ako_found *part)
{
    ako_tally *a = &into->tally;
    const ako_tally *b = &part->tally;
    a->mismatches += b->mismatches;
    a->nan_got += b->nan_got;
    a->nan_expected += b->nan_expected;
    a->inf_got += b->inf_got;
    a->inf_expected += b->inf_expected;
    a->nonzero_got += b->nonzero_got;
    a->nonzero_expected += b->nonzero_expected;
    a->max_abs = b->max_abs > a->max_abs ? b->max_abs : a->max_abs;
    a->max_rel = b->max_rel > a->max_rel ? b->max_rel : a->max_rel;
    for (int i = 0; i < part->n_first && into->n_first < AKO_FIRST; i++)
        into->first[into->n_first++] = part->first[i];
}

static int cpu_compare(void *state, ako_found *out, const void *got, const void *expected, uint64_t count,
                       const ako_judge *judge)
{
    compare_job job = {.got = got, .expected = expected, .judge = judge};
    int n = ako_parallel_run(count, AKO_GRAIN_BYTES / ako_dtype_size(judge->dtype), compare_part, &job);
    (void)state;
    *out = (ako_found){0};
    for (int i = 0; i < n; i++)
        merge_found(out, &job.found[i]);
    return AKO_OK;
}

static int cpu_copy(void *state, void *to, const void *from, uint64_t bytes)
{
    (void)state;
    memmove(to, from, bytes);
    return AKO_OK;
}

static int cpu_gather(void *state, uint64_t *out, const uint64_t *places, int n)
{
    (void)state;
    for (int i = 0; i < n; i++)
        out[i] = ako_load_place(places[i]);
    return AKO_OK;
}

const ako_ops_backend ako_ops_cpu = {.close = no_state,
                                     .fill = ako_fill_cpu,
                                     .set = cpu_set,
                                     .hash_sum = cpu_hash_sum,
                                     .find_other = cpu_find_other,
                                     .count_poisoned = cpu_count_poisoned,
                                     .compare = cpu_compare,
                                     .upload = cpu_copy,
                                     .download = cpu_copy,
                                     .copy = cpu_copy,
                                     .gather = cpu_gather};
