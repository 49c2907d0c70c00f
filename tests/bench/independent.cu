// The same kernel timed by a program that has nothing of ako-lua in it: random data, an L2 flush before each launch,
// one CUPTI record a launch. Prints the median in ns. Under ncu (AKO_NO_CUPTI=1) it only launches. Where tensors lie
// shows in the time of a memory-bound kernel, so launches take turns on several places, as ako-lua's do: sets of both
// tensors behind one another in one block, shifted by a random multiple of 256 bytes.
//   independent N [launches]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cupti.h>
#include <vector>

#include "stream/stream.cu"

#define CHECK(call)                                                                     \
    do {                                                                                \
        if ((int)(call) != 0) {                                                         \
            fprintf(stderr, "%s:%d: %s gives %d\n", __FILE__, __LINE__, #call, (int)(call)); \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

static const size_t MOST_ZONE = 1 << 20, SLACK = 255 * 256, STEP = 2 << 20;
static std::vector<long long> durations;

static void CUPTIAPI request(uint8_t **buffer, size_t *size, size_t *most)
{
    *size = 1 << 20;
    *buffer = (uint8_t *)aligned_alloc(8, *size);
    *most = 0;
}

static void CUPTIAPI complete(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t valid)
{
    CUpti_Activity *record = nullptr;
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
        const CUpti_ActivityKernel9 *kernel = (const CUpti_ActivityKernel9 *)record;
        if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && strstr(kernel->name, "stream"))
            durations.push_back((long long)(kernel->end - kernel->start));
    }
    free(buffer);
}

// A fast generator is enough: what matters is that the bits are not all alike.
static __global__ void randomize(float *x, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        unsigned z = (unsigned)i * 2654435761u + (unsigned)(i >> 32);
        z = (z ^ z >> 16) * 2246822507u;
        float sum = 0; // of four uniform numbers: nearly normal, as ako-lua's
        for (int k = 0; k < 4; k++, z = (z ^ z >> 15) * 3266489917u)
            sum += (float)(z >> 8) / 8388608.0f - 1;
        x[i] = sum;
    }
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 65536, launches = argc > 2 ? atoi(argv[2]) : 100;
    const bool by_cupti = getenv("AKO_NO_CUPTI") == nullptr;
    int l2 = 0;
    char *block;
    void *flush;
    if (by_cupti) {
        CHECK(cuptiActivityRegisterCallbacks(request, complete));
        CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    }
    CHECK(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0));
    CHECK(cudaMalloc(&flush, 2 * (size_t)l2));
    const size_t bytes = (size_t)n * sizeof(float), zone = std::min(std::max(bytes / 64 / 256 * 256, (size_t)4096), MOST_ZONE);
    const size_t room = bytes + SLACK, set = (2 * (room + 2 * zone) + STEP - 1) / STEP * STEP;
    const int sets = (int)std::max((size_t)2, std::min((size_t)9, ((size_t)1 << 30) / set));
    CHECK(cudaMalloc(&block, sets * set));
    randomize<<<1024, 256>>>((float *)block, sets * set / sizeof(float));
    for (int i = 0; i < launches + 3; i++) {
        char *x = block + i % sets * set + zone + rand() % 256 * 256;
        char *y = block + i % sets * set + zone + room + 2 * zone + rand() % 256 * 256;
        CHECK(cudaMemsetAsync(flush, i, 2 * (size_t)l2));
        stream<<<(n + 4095) / 4096, 256>>>((const float4 *)x, (float4 *)y, n);
    }
    CHECK(cudaDeviceSynchronize());
    if (!by_cupti)
        return 0;
    CHECK(cuptiActivityFlushAll(1));
    durations.erase(durations.begin(), durations.begin() + 3);
    std::sort(durations.begin(), durations.end());
    printf("%lld\n", durations[durations.size() / 2]);
    return 0;
}
