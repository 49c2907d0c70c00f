#include "ops.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "ops_backend.h"
#include "words.h"

struct ako_ops {
    const ako_ops_backend *backend;
    void *state;
};

int ako_ops_new(ako_ops **out, ako_place place)
{
    ako_ops *ops = calloc(1, sizeof *ops);
    *out = NULL;
    if (!ops)
        return ako_fail(AKO_NOMEM, "ops", "out of memory");
    int status = AKO_OK;
    if (place == AKO_GPU)
        status = ako_ops_gpu_open(&ops->backend, &ops->state);
    else
        ops->backend = &ako_ops_cpu;
    if (status != AKO_OK) {
        free(ops);
        return status;
    }
    *out = ops;
    return AKO_OK;
}

void ako_ops_free(ako_ops *ops)
{
    if (!ops)
        return;
    ops->backend->close(ops->state);
    free(ops);
}

int ako_ops_fill(ako_ops *ops, void *base, ako_dtype dtype, size_t count, const ako_fill *fill)
{
    ako_fill_plan plan;
    int status = ako_fill_plan_make(&plan, dtype, fill);
    if (status != AKO_OK || count == 0)
        return status;
    return ops->backend->fill(ops->state, base, count, &plan);
}

int ako_ops_set(ako_ops *ops, void *base, unsigned char byte, size_t bytes)
{
    return bytes ? ops->backend->set(ops->state, base, byte, bytes) : AKO_OK;
}

int ako_ops_poison(ako_ops *ops, void *base, size_t bytes)
{
    return ako_ops_set(ops, base, AKO_POISON, bytes);
}

int ako_ops_hash(ako_ops *ops, uint64_t *out, const void *base, size_t bytes)
{
    uint64_t sum = 0;
    int status = bytes ? ops->backend->hash_sum(ops->state, &sum, base, bytes) : AKO_OK;
    *out = ako_hash_finish(sum, bytes);
    return status;
}

int ako_ops_find_other(ako_ops *ops, int64_t *offset, const void *base, unsigned char byte, size_t bytes)
{
    uint64_t first = UINT64_MAX;
    int status = bytes ? ops->backend->find_other(ops->state, &first, base, byte, bytes) : AKO_OK;
    *offset = first == UINT64_MAX ? -1 : (int64_t)first;
    return status;
}

int ako_ops_count_poisoned(ako_ops *ops, uint64_t *count, const void *base, size_t count_elements, size_t size)
{
    *count = 0;
    if (size != 1 && size != 2 && size != 4 && size != 8)
        return ako_fail(AKO_INVALID, "ops", "no dtype has elements of %zu bytes", size);
    return count_elements ? ops->backend->count_poisoned(ops->state, count, base, count_elements, size) : AKO_OK;
}

int ako_ops_upload(ako_ops *ops, void *base, const void *host, size_t bytes)
{
    return bytes ? ops->backend->upload(ops->state, base, host, bytes) : AKO_OK;
}

int ako_ops_download(ako_ops *ops, void *host, const void *base, size_t bytes)
{
    return bytes ? ops->backend->download(ops->state, host, base, bytes) : AKO_OK;
}

int ako_ops_copy(ako_ops *ops, void *to, const void *from, size_t bytes)
{
    return bytes ? ops->backend->copy(ops->state, to, from, bytes) : AKO_OK;
}

int ako_ops_gather(ako_ops *ops, uint64_t *out, const uint64_t *places, int n)
{
    return n > 0 ? ops->backend->gather(ops->state, out, places, n) : AKO_OK;
}

uint64_t ako_load_place(uint64_t place)
{
    uint64_t bits = 0;
    memcpy(&bits, (const void *)(uintptr_t)(place & ((UINT64_C(1) << 56) - 1)), (size_t)(place >> 56));
    return bits;
}

int ako_ops_compare(ako_ops *ops, ako_comparison *out, const void *got, const void *expected, ako_dtype dtype,
                    size_t count, const ako_tolerance *tolerance)
{
    ako_judge judge;
    ako_found found = {0};
    int status = ako_judge_make(&judge, dtype, tolerance);
    if (status == AKO_OK && count > 0)
        status = ops->backend->compare(ops->state, &found, got, expected, count, &judge);
    if (status == AKO_OK)
        ako_comparison_make(out, &found, count, dtype, tolerance);
    return status;
}
