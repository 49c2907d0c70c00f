/* The operations on the memory of the current CUDA device, by the kernels of ops.cu. All on the default stream, and
 * done when the call returns. */
#include <stdbool.h>
#include <stdlib.h>

#include "cudart.h"
#include "error.h"
#include "ops_backend.h"
#include "ops_kernels.h"
#include "ops_library.h"

#define KERNELS(X)    \
    X(fill_narrow)    \
    X(fill_wide)      \
    X(fill_plain)     \
    X(hash)           \
    X(find_other)     \
    X(count_poisoned) \
    X(compare)        \
    X(gather)

enum kernel_id {
#define KERNEL_ID(name) KERNEL_##name,
    KERNELS(KERNEL_ID)
#undef KERNEL_ID
        KERNEL_COUNT
};

static const char *const kernel_names[] = {
#define KERNEL_NAME(name) "ako_" #name,
    KERNELS(KERNEL_NAME)
#undef KERNEL_NAME
};

enum { PACK = 16 };         /* bytes that a thread of a comparison loads at once */
enum { MAX_PLACES = 1024 }; /* that one launch gathers */
enum { MAX_BLOCKS = 4096 }; /* enough for eight blocks on each of 512 multiprocessors */

/* Device memory for what kernels report. */
typedef struct scratch {
    ako_tally tally;
    uint64_t number;
    uint64_t bad[MAX_BLOCKS]; /* mismatches in each block's chunk of a comparison */
    uint64_t places[MAX_PLACES], gathered[MAX_PLACES];
} scratch;

typedef struct gpu_ops {
    const ako_cudart_api *cuda;
    cudaLibrary_t library;
    cudaKernel_t kernels[KERNEL_COUNT];
    scratch *device;
} gpu_ops;

static int check(const gpu_ops *ops, cudaError_t error, const char *what)
{
    return error == cudaSuccess ? AKO_OK : ako_cudart_fail(ops->cuda, error, "%s failed", what);
}

static void gpu_close(void *state)
{
    gpu_ops *ops = state;
    if (ops->device)
        ops->cuda->cudaFree(ops->device);
    if (ops->library)
        ops->cuda->cudaLibraryUnload(ops->library);
    free(ops);
}

static int load_kernels(gpu_ops *ops)
{
    int status = ako_ops_library_load(&ops->library, ops->cuda);
    for (int i = 0; i < KERNEL_COUNT && status == AKO_OK; i++)
        status = check(ops, ops->cuda->cudaLibraryGetKernel(&ops->kernels[i], ops->library, kernel_names[i]),
                       kernel_names[i]);
    return status;
}

static unsigned blocks_for(uint64_t items)
{
    uint64_t blocks = (items + AKO_BLOCK - 1) / AKO_BLOCK;
    return blocks < MAX_BLOCKS ? (unsigned)blocks : MAX_BLOCKS;
}

static int launch(const gpu_ops *ops, enum kernel_id kernel, unsigned blocks, void **arguments)
{
    dim3 grid = {blocks, 1, 1}, block = {AKO_BLOCK, 1, 1};
    const void *function = (const void *)ops->kernels[kernel];
    return check(ops, ops->cuda->cudaLaunchKernel(function, grid, block, arguments, 0, NULL), kernel_names[kernel]);
}

static int launch_and_wait(const gpu_ops *ops, enum kernel_id kernel, unsigned blocks, void **arguments)
{
    int status = launch(ops, kernel, blocks, arguments);
    return status == AKO_OK ? check(ops, ops->cuda->cudaStreamSynchronize(NULL), kernel_names[kernel]) : status;
}

static int gpu_fill(void *state, void *base, uint64_t count, const ako_fill_plan *plan)
{
    ako_fill_plan copy = *plan;
    int size = (int)ako_dtype_size(plan->dtype);
    void *arguments[] = {&base, &size, &count, &copy};
    if (plan->kind == AKO_PLAN_CONSTANT || plan->kind == AKO_PLAN_LINEAR)
        return launch_and_wait(state, KERNEL_fill_plain, blocks_for(count), arguments);
    if (ako_is_wide(plan->dtype))
        return launch_and_wait(state, KERNEL_fill_wide, blocks_for((count + 1) / 2), arguments);
    return launch_and_wait(state, KERNEL_fill_narrow, blocks_for((count + 3) / 4), arguments);
}

static int gpu_set(void *state, void *base, unsigned char byte, uint64_t bytes)
{
    gpu_ops *ops = state;
    int status = check(ops, ops->cuda->cudaMemset(base, byte, bytes), "setting device memory");
    return status == AKO_OK ? check(ops, ops->cuda->cudaStreamSynchronize(NULL), "setting device memory") : status;
}

/* Sets scratch.number to bytes of `start`, runs the kernel, which takes its address last, and reads it back. */
static int launch_for_number(gpu_ops *ops, uint64_t *number, int start, enum kernel_id kernel, unsigned blocks,
                             void **arguments)
{
    const char *name = kernel_names[kernel];
    int status = check(ops, ops->cuda->cudaMemset(&ops->device->number, start, sizeof *number), name);
    if (status == AKO_OK)
        status = launch(ops, kernel, blocks, arguments);
    if (status == AKO_OK)
        status = check(ops, ops->cuda->cudaMemcpy(number, &ops->device->number, sizeof *number, cudaMemcpyDeviceToHost),
                       name);
    return status;
}

static int gpu_hash_sum(void *state, uint64_t *sum, const void *base, uint64_t bytes)
{
    gpu_ops *ops = state;
    uint64_t *number = &ops->device->number;
    void *arguments[] = {&base, &bytes, &number};
    return launch_for_number(ops, sum, 0, KERNEL_hash, blocks_for(bytes / 8 + 1), arguments);
}

static int gpu_find_other(void *state, uint64_t *offset, const void *base, unsigned char byte, uint64_t bytes)
{
    gpu_ops *ops = state;
    uint64_t *number = &ops->device->number;
    void *arguments[] = {&base, &byte, &bytes, &number};
    return launch_for_number(ops, offset, 0xff, KERNEL_find_other, blocks_for(bytes / 8 + 1), arguments);
}

static int gpu_count_poisoned(void *state, uint64_t *n, const void *base, uint64_t count, size_t size)
{
    gpu_ops *ops = state;
    int element = (int)size;
    uint64_t *number = &ops->device->number;
    void *arguments[] = {&base, &count, &element, &number};
    return launch_for_number(ops, n, 0, KERNEL_count_poisoned, blocks_for(count), arguments);
}

static int transfer(const gpu_ops *ops, void *to, const void *from, uint64_t bytes, enum cudaMemcpyKind kind)
{
    int status = check(ops, ops->cuda->cudaMemcpy(to, from, bytes, kind), "copying device memory");
    return status == AKO_OK ? check(ops, ops->cuda->cudaStreamSynchronize(NULL), "copying device memory") : status;
}

typedef struct comparison {
    const void *got, *expected;
    uint64_t count, chunk; /* elements, and how many of them a block judges */
    ako_judge judge;
    int size;
} comparison;

/* The first pass: totals, and the number of mismatches in each chunk. */
static int count_mismatches(gpu_ops *ops, ako_tally *tally, uint64_t *bad, comparison *c, unsigned blocks)
{
    scratch *device = ops->device;
    ako_tally *device_tally = &device->tally;
    uint64_t *device_bad = device->bad;
    void *arguments[] = {&c->got, &c->expected, &c->size, &c->count, &c->chunk, &c->judge, &device_tally, &device_bad};
    int status = check(ops, ops->cuda->cudaMemset(device, 0, sizeof *device), "preparing a comparison");
    if (status == AKO_OK)
        status = launch(ops, KERNEL_compare, blocks, arguments);
    if (status == AKO_OK)
        status = check(ops, ops->cuda->cudaMemcpy(tally, &device->tally, sizeof *tally, cudaMemcpyDeviceToHost),
                       kernel_names[KERNEL_compare]);
    if (status == AKO_OK && tally->mismatches > 0)
        status = check(ops, ops->cuda->cudaMemcpy(bad, device->bad, blocks * sizeof *bad, cudaMemcpyDeviceToHost),
                       kernel_names[KERNEL_compare]);
    return status;
}

/* Appends the first mismatches of `n` elements that lie in host memory and begin at element `begin`. */
static void append_first(ako_found *out, const void *got, const void *expected, uint64_t begin, uint64_t n,
                         const ako_judge *judge)
{
    ako_found part;
    ako_ops_cpu.compare(NULL, &part, got, expected, n, judge);
    for (int i = 0; i < part.n_first && out->n_first < AKO_FIRST; i++) {
        part.first[i].index += begin;
        out->first[out->n_first++] = part.first[i];
    }
}

/* The second pass, over one chunk with mismatches: on the CPU, since it is small and few come this far. */
static int find_in_chunk(gpu_ops *ops, ako_found *out, const comparison *c, uint64_t chunk)
{
    uint64_t begin = chunk * c->chunk, left = c->count - begin, n = left < c->chunk ? left : c->chunk;
    size_t size = (size_t)c->size, bytes = (size_t)n * size;
    char *host = malloc(2 * bytes);
    if (!host)
        return ako_fail(AKO_NOMEM, "ops", "out of memory for %zu bytes of mismatches", 2 * bytes);
    int status = transfer(ops, host, (const char *)c->got + begin * size, bytes, cudaMemcpyDeviceToHost);
    if (status == AKO_OK)
        status = transfer(ops, host + bytes, (const char *)c->expected + begin * size, bytes, cudaMemcpyDeviceToHost);
    if (status == AKO_OK)
        append_first(out, host, host + bytes, begin, n, &c->judge);
    free(host);
    return status;
}

static int gpu_compare(void *state, ako_found *out, const void *got, const void *expected, uint64_t count,
                       const ako_judge *judge)
{
    uint64_t bad[MAX_BLOCKS];
    size_t size = ako_dtype_size(judge->dtype);
    unsigned blocks = blocks_for(count * size / PACK + 1);
    uint64_t share = (count + blocks - 1) / blocks, per_pack = PACK / size;
    comparison c = {.got = got,
                    .expected = expected,
                    .count = count,
                    .chunk = (share + per_pack - 1) / per_pack * per_pack,
                    .judge = *judge,
                    .size = (int)size};
    *out = (ako_found){0};
    int status = count_mismatches(state, &out->tally, bad, &c, blocks);
    if (out->tally.mismatches == 0)
        return status;
    for (unsigned chunk = 0; status == AKO_OK && chunk < blocks && out->n_first < AKO_FIRST; chunk++) {
        if (bad[chunk] > 0)
            status = find_in_chunk(state, out, &c, chunk);
    }
    return status;
}

static int gpu_upload(void *state, void *base, const void *host, uint64_t bytes)
{
    return transfer(state, base, host, bytes, cudaMemcpyHostToDevice);
}

static int gpu_download(void *state, void *host, const void *base, uint64_t bytes)
{
    return transfer(state, host, base, bytes, cudaMemcpyDeviceToHost);
}

static int gpu_copy(void *state, void *to, const void *from, uint64_t bytes)
{
    return transfer(state, to, from, bytes, cudaMemcpyDeviceToDevice);
}

static int gather_some(gpu_ops *ops, uint64_t *out, const uint64_t *places, int n)
{
    uint64_t *device_places = ops->device->places, *device_out = ops->device->gathered;
    void *arguments[] = {&device_places, &n, &device_out};
    size_t bytes = (size_t)n * sizeof *places;
    int status = check(ops, ops->cuda->cudaMemcpy(device_places, places, bytes, cudaMemcpyHostToDevice), "gathering");
    if (status == AKO_OK)
        status = launch(ops, KERNEL_gather, 1, arguments);
    if (status == AKO_OK)
        status = check(ops, ops->cuda->cudaMemcpy(out, device_out, bytes, cudaMemcpyDeviceToHost), "gathering");
    return status;
}

static int gpu_gather(void *state, uint64_t *out, const uint64_t *places, int n)
{
    int status = AKO_OK;
    for (int done = 0; status == AKO_OK && done < n; done += MAX_PLACES)
        status = gather_some(state, out + done, places + done, n - done < MAX_PLACES ? n - done : MAX_PLACES);
    return status;
}

static const ako_ops_backend gpu_backend = {.close = gpu_close,
                                            .fill = gpu_fill,
                                            .set = gpu_set,
                                            .hash_sum = gpu_hash_sum,
                                            .find_other = gpu_find_other,
                                            .count_poisoned = gpu_count_poisoned,
                                            .compare = gpu_compare,
                                            .upload = gpu_upload,
                                            .download = gpu_download,
                                            .copy = gpu_copy,
                                            .gather = gpu_gather};

int ako_ops_gpu_open(const ako_ops_backend **out, void **state)
{
    gpu_ops *ops = calloc(1, sizeof *ops);
    if (!ops)
        return ako_fail(AKO_NOMEM, "ops", "out of memory");
    int status = ako_cudart(&ops->cuda);
    if (status == AKO_OK)
        status = load_kernels(ops);
    if (status == AKO_OK)
        status = check(ops, ops->cuda->cudaMalloc((void **)&ops->device, sizeof *ops->device),
                       "allocating device memory for results");
    if (status != AKO_OK) {
        gpu_close(ops);
        return status;
    }
    *out = &gpu_backend;
    *state = ops;
    return AKO_OK;
}
