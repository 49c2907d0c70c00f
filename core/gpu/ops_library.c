/* The machine code of ops.cu: embedded as text, compiled once a chip, loaded by whoever needs kernels of ours. */
#include "ops_library.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "embed.h"
#include "error.h"
#include "fs.h"
#include "ops_backend.h"

AKO_EMBED(ako_text_ops_cu, "core/gpu/ops.cu");
AKO_EMBED(ako_text_ops_kernels_h, "core/gpu/ops_kernels.h");
AKO_EMBED(ako_text_dtype_bits_h, "core/dtype_bits.h");
AKO_EMBED(ako_text_philox_h, "core/philox.h");
AKO_EMBED(ako_text_fill_h, "core/fill.h");
AKO_EMBED(ako_text_judge_h, "core/judge.h");
AKO_EMBED(ako_text_layout_h, "core/layout.h");
AKO_EMBED(ako_text_planes_h, "core/planes.h");
AKO_EMBED(ako_text_words_h, "core/words.h");

typedef struct context_wish {
    const ako_cudart_api *cuda;
    int device;
} context_wish;

static int check(const ako_cudart_api *cuda, cudaError_t error, const char *what)
{
    return error == cudaSuccess ? AKO_OK : ako_cudart_fail(cuda, error, "%s failed", what);
}

static int current_arch(const ako_cudart_api *cuda, char arch[16])
{
    int device = 0, major = 0, minor = 0;
    int status = check(cuda, cuda->cudaGetDevice(&device), "finding the current CUDA device");
    if (status == AKO_OK)
        status = check(cuda, cuda->cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
                       "reading the compute capability");
    if (status == AKO_OK)
        status = check(cuda, cuda->cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
                       "reading the compute capability");
    snprintf(arch, 16, "sm_%d%d", major, minor);
    return status;
}

int ako_ops_gpu_build(ako_buf *cubin, const char *arch)
{
    static const char *const names[] = {
        "ako_fill_narrow",    "ako_fill_wide", "ako_fill_plain", "ako_hash",    "ako_find_other",
        "ako_count_poisoned", "ako_compare",   "ako_gather",     "ako_collect", "ako_spin"};
    const ako_source sources[] = {{"ops.cu", ako_text_ops_cu, strlen(ako_text_ops_cu)},
                                  {"ops_kernels.h", ako_text_ops_kernels_h, strlen(ako_text_ops_kernels_h)},
                                  {"dtype_bits.h", ako_text_dtype_bits_h, strlen(ako_text_dtype_bits_h)},
                                  {"philox.h", ako_text_philox_h, strlen(ako_text_philox_h)},
                                  {"fill.h", ako_text_fill_h, strlen(ako_text_fill_h)},
                                  {"judge.h", ako_text_judge_h, strlen(ako_text_judge_h)},
                                  {"layout.h", ako_text_layout_h, strlen(ako_text_layout_h)},
                                  {"planes.h", ako_text_planes_h, strlen(ako_text_planes_h)},
                                  {"words.h", ako_text_words_h, strlen(ako_text_words_h)}};
    static const char *const options[] = {"--fmad=false"}; /* the same bits as the CPU's */
    const ako_build_input input = {.lane = AKO_LANE_CUDA,
                                   .sources = sources,
                                   .n_sources = sizeof sources / sizeof *sources,
                                   .names = names,
                                   .n_names = sizeof names / sizeof *names,
                                   .options = options,
                                   .n_options = 1,
                                   .arch = arch};
    ako_build_output *output = calloc(1, sizeof *output);
    if (!output)
        return ako_fail(AKO_NOMEM, "ops", "out of memory");
    int status = ako_build(output, &input);
    if (status == AKO_OK && !output->ok)
        status = ako_fail(AKO_COMPILE, "ops", "the kernels of core/gpu/%s do not compile for %s: line %d: %s",
                          output->error_file, arch, output->error_line, output->error_text);
    if (status == AKO_OK)
        status = ako_fs_read(cubin, output->path, 0);
    ako_build_output_free(output);
    free(output);
    return status;
}

/* Whatever goes wrong here is met again, and said, by the first call that needs the context. */
static void *create_context(void *payload)
{
    const context_wish *wish = payload;
    if (wish->cuda->cudaSetDevice(wish->device) == cudaSuccess)
        wish->cuda->cudaFree(NULL);
    return NULL;
}

/* A context takes as long to create as our kernels to compile, when they are not in the cache: both at once. */
static int build_beside_context(const ako_cudart_api *cuda, ako_buf *cubin, const char *arch)
{
    context_wish wish = {.cuda = cuda};
    pthread_t thread;
    int status = check(cuda, cuda->cudaGetDevice(&wish.device), "finding the current CUDA device");
    if (status != AKO_OK)
        return status;
    bool beside = pthread_create(&thread, NULL, create_context, &wish) == 0;
    status = ako_ops_gpu_build(cubin, arch);
    if (beside)
        pthread_join(thread, NULL);
    return status;
}

int ako_ops_library_load(cudaLibrary_t *out, const ako_cudart_api *cuda)
{
    static ako_buf cubin; /* kept: a candidate that has left home finds no cache any more */
    char arch[16];
    int status = cubin.size ? AKO_OK : current_arch(cuda, arch);
    if (status == AKO_OK && !cubin.size)
        status = build_beside_context(cuda, &cubin, arch);
    return status == AKO_OK ? check(cuda, cuda->cudaLibraryLoadData(out, cubin.data, NULL, NULL, 0, NULL, NULL, 0),
                                    "loading our kernels")
                            : status;
}
