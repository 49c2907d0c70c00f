/* A CUDA Runtime and a CUPTI with one made-up GPU and a clock that only moves when the code under test makes it: built
 * by test_gpu_halves as libcudart.so.13 and, the same file, libcupti.so.13. A launch waits GAP ns and then takes as
 * long as its kernel says. The environment variable FAKE asks for mishaps: "lose", "stray", "fault", "early", "late".
 * Record layouts are those of CUDA 12.6 to 13.0. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GAP 500
#define MHZ 1710

typedef struct kernel {
    const char *name;
    int64_t duration;
    size_t sizes[8]; /* of the parameters; 0 ends them */
} kernel;

static const kernel kernels[] = {{"scale", 7000, {8, 8, 4, 4}},
                                 {"empty", 1000, {0}},
                                 {"ako_spin", 16000, {8, 8}},
                                 {"ako_gather", 2000, {8, 4, 8}},
                                 {"ako_collect", 4000, {8, 8, 8}}};

static int64_t now = 1000000;
static uint32_t correlation;
static uint64_t tag;
static int recording, n_allocations;

static int asked_for(const char *mishap)
{
    const char *fake = getenv("FAKE");
    return fake && strcmp(fake, mishap) == 0;
}

/* ---- CUPTI ---- */

#define RECORD 256
static void (*request)(uint8_t **, size_t *, size_t *);
static void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t);
static uint8_t *buffer;
static size_t capacity, used;

static void flush(void)
{
    uint8_t *full = buffer;
    buffer = NULL;
    if (full)
        complete(NULL, 0, full, capacity, used);
}

static uint8_t *new_record(uint32_t kind)
{
    size_t max;
    if (buffer && used + RECORD > capacity)
        flush();
    if (!buffer) {
        request(&buffer, &capacity, &max);
        used = 0;
    }
    uint8_t *record = buffer + used;
    memset(record, 0, RECORD);
    memcpy(record, &kind, 4);
    used += RECORD;
    return record;
}

static void record_work(uint32_t kind, size_t correlation_at, int64_t start, int64_t end, uint64_t id)
{
    const uint32_t custom = 3;
    correlation++;
    if (!recording)
        return;
    if (id) {
        uint8_t *t = new_record(39);
        memcpy(t + 4, &custom, 4);
        memcpy(t + 8, &id, 8);
        memcpy(t + 16, &correlation, 4);
    }
    uint8_t *w = new_record(kind);
    memcpy(w + 16, &start, 8);
    memcpy(w + 24, &end, 8);
    memcpy(w + correlation_at, &correlation, 4);
}

int cuptiGetVersion(uint32_t *version)
{
    *version = 130001;
    return 0;
}

int cuptiGetResultString(int result, const char **text)
{
    (void)result;
    *text = "CUPTI_ERROR_FAKE";
    return 0;
}

int cuptiActivityRegisterCallbacks(void (*r)(uint8_t **, size_t *, size_t *),
                                   void (*c)(void *, uint32_t, uint8_t *, size_t, size_t))
{
    request = r;
    complete = c;
    return 0;
}

int cuptiActivityEnable(int kind)
{
    recording |= kind == 10;
    return asked_for("occupied") ? 39 : 0;
}

int cuptiActivityDisable(int kind)
{
    recording &= kind != 10;
    return 0;
}

int cuptiActivityFlushAll(uint32_t flag)
{
    (void)flag;
    flush();
    return 0;
}

int cuptiActivityGetNextRecord(uint8_t *records, size_t valid, uint8_t **record)
{
    uint8_t *next = *record ? *record + RECORD : records;
    if (next >= records + valid)
        return 12;
    *record = next;
    return 0;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped)
{
    (void)context, (void)stream;
    *dropped = 0;
    return 0;
}

int cuptiActivityPushExternalCorrelationId(int kind, uint64_t id)
{
    (void)kind;
    tag = id;
    return 0;
}

int cuptiActivityPopExternalCorrelationId(int kind, uint64_t *id)
{
    (void)kind;
    *id = tag;
    tag = 0;
    return 0;
}

/* ---- the runtime ---- */

int cudaRuntimeGetVersion(int *version)
{
    *version = 13000;
    return 0;
}

int cudaGetDeviceCount(int *count)
{
    *count = 1;
    return 0;
}

int cudaGetDevice(int *device)
{
    *device = 0;
    return 0;
}

int cudaGetDeviceProperties(char *properties, int device)
{
    const size_t memory = (size_t)80 << 30;
    (void)device;
    strcpy(properties, "Fake H1");
    for (int i = 0; i < 16; i++)
        properties[256 + i] = (char)(i * 17);
    memcpy(properties + 288, &memory, sizeof memory);
    return 0;
}

int cudaDeviceGetAttribute(int *value, int which, int device)
{
    /* Numbers of enum cudaDeviceAttr: 2 to 4 are the block's limits, 5 to 7 the grid's. */
    static const struct {
        int which, value;
    } known[] = {{1, 1024},  {2, 1024},     {3, 1024},    {4, 64},       {5, 2147483647}, {6, 65535},     {7, 65535},
                 {8, 49152}, {13, 1980000}, {16, 132},    {36, 3201000}, {37, 6144},      {38, 60 << 20}, {39, 2048},
                 {75, 9},    {76, 0},       {81, 233472}, {82, 65536},   {97, 232448},    {120, 1}};
    (void)device;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].which == which) {
            *value = known[i].value;
            return 0;
        }
    }
    return 1;
}

int cudaMalloc(void **out, size_t size)
{
    if (size > (size_t)80 << 30)
        return 2;
    n_allocations++;
    *out = aligned_alloc(256, size < 1 << 20 ? (size + 255) / 256 * 256 : 256); /* more is never touched */
    return *out ? 0 : 2;
}

int cudaFree(void *p)
{
    n_allocations -= p != NULL;
    free(p);
    return 0;
}

int cudaMemGetInfo(size_t *available, size_t *total)
{
    *available = *total = (size_t)80 << 30;
    return 0;
}

int cudaIpcGetMemHandle(char handle[64], void *p)
{
    memset(handle, 0xab, 64);
    memcpy(handle, &p, sizeof p);
    return 0;
}

typedef struct handle {
    char bytes[64];
} handle;

int cudaIpcOpenMemHandle(void **out, handle h, unsigned flags)
{
    (void)flags;
    memcpy(out, h.bytes, sizeof *out);
    return 0;
}

int cudaIpcCloseMemHandle(void *p)
{
    (void)p;
    return 0;
}

int cudaMemsetAsync(void *p, int value, size_t size, void *stream)
{
    (void)p, (void)value, (void)size, (void)stream;
    record_work(2, 44, now, now + 2000, tag);
    now += 2000;
    return 0;
}

int cudaEventCreate(int64_t **event)
{
    n_allocations++;
    *event = calloc(1, sizeof **event);
    return 0;
}

int cudaEventDestroy(int64_t *event)
{
    n_allocations--;
    free(event);
    return 0;
}

int cudaEventRecord(int64_t *event, void *stream)
{
    (void)stream;
    correlation++;
    *event = now;
    return 0;
}

int cudaEventElapsedTime(float *ms, const int64_t *start, const int64_t *stop)
{
    *ms = (float)(*stop - *start) / 1e6f;
    return 0;
}

int cudaDeviceSynchronize(void)
{
    return asked_for("fault") ? 700 : 0;
}

int cudaLibraryLoadData(void **library, const void *code, void *a, void *b, unsigned n, void *c, void *d, unsigned m)
{
    (void)a, (void)b, (void)c, (void)d, (void)n, (void)m;
    n_allocations++;
    *library = malloc(1);
    return memcmp(code, "cubin", 5) == 0 || memcmp(code, "\177ELF", 4) == 0 ? 0 : 200;
}

int cudaLibraryUnload(void *library)
{
    n_allocations--;
    free(library);
    return 0;
}

int cudaLibraryGetKernel(const kernel **out, void *library, const char *name)
{
    (void)library;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        *out = &kernels[i];
        if (strcmp(kernels[i].name, name) == 0)
            return 0;
    }
    return 500;
}

int cudaFuncGetParamInfo(const kernel *k, size_t index, size_t *offset, size_t *size)
{
    *offset = 8 * index;
    *size = index < 8 ? k->sizes[index] : 0;
    return *size ? 0 : 1;
}

typedef struct attributes {
    size_t shared, constant, local;
    int max_threads, registers, ptx, binary, cache, max_dynamic;
} attributes;

int cudaFuncGetAttributes(attributes *out, const kernel *k)
{
    (void)k;
    out->shared = 1024;
    out->max_threads = 640;
    out->registers = 96;
    out->max_dynamic = 48128;
    return 0;
}

int cudaFuncSetAttribute(const kernel *k, int attribute, int value)
{
    (void)k, (void)attribute, (void)value;
    return 0;
}

int cudaLaunchKernelExC(const void *config, const kernel *k, void **arguments)
{
    (void)config;
    if (k->sizes[0])
        ++**(int **)arguments[0];
    if (asked_for("stray"))
        record_work(10, 92, now, now + 1, 0);
    now += GAP;
    int64_t early = asked_for("early") ? 9000 : 0, late = asked_for("late") ? 7000 : 0;
    record_work(asked_for("lose") ? 0 : 10, 92, now - early, now + k->duration + late, tag);
    now += k->duration;
    return 0;
}

/* The kernels of ours that run between timed calls; ako_collect says of how many blocks it is. */
int cudaLaunchKernel(const kernel *k, uint64_t grid_xy, uint32_t grid_z, uint64_t block_xy, uint32_t block_z,
                     void **arguments, size_t shared, void *stream)
{
    (void)grid_xy, (void)grid_z, (void)block_xy, (void)block_z, (void)shared, (void)stream;
    if (strcmp(k->name, "ako_spin") == 0) {
        uint64_t *out = *(uint64_t **)arguments[1];
        out[0] = 16000;
        out[1] = 16 * MHZ;
    } else if (strcmp(k->name, "ako_collect") == 0) {
        **(uint32_t **)arguments[0] = (uint32_t)grid_xy;
    } else {
        const uint64_t *places = *(const uint64_t **)arguments[0];
        uint64_t *out = *(uint64_t **)arguments[2];
        for (int i = 0; i < *(int *)arguments[1]; i++) {
            out[i] = 0;
            memcpy(&out[i], (const void *)(places[i] & ((UINT64_C(1) << 56) - 1)), places[i] >> 56);
        }
    }
    record_work(10, 92, now, now + k->duration, tag);
    now += k->duration;
    return 0;
}

int cudaMemcpy(void *to, const void *from, size_t size, int kind)
{
    (void)kind;
    memcpy(to, from, size);
    return 0;
}

int cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream)
{
    (void)stream;
    record_work(1, 44, now, now + 3000, tag);
    now += 3000;
    return cudaMemcpy(to, from, size, kind);
}

/* A part of the L2, set aside by whoever asks for it. */
static size_t carve_out = 3 << 20;

int cudaDeviceGetLimit(size_t *out, int limit)
{
    *out = carve_out;
    return limit == 6 ? 0 : 1;
}

int cudaDeviceSetLimit(int limit, size_t bytes)
{
    carve_out = bytes;
    return limit == 6 ? 0 : 1;
}

int cudaCtxResetPersistingL2Cache(void)
{
    return 0;
}

int cudaGetLastError(void)
{
    return 0;
}

const char *cudaGetErrorName(int error)
{
    return error == 700 ? "cudaErrorIllegalAddress" : "cudaErrorFake";
}

const char *cudaGetErrorString(int error)
{
    return error == 700 ? "an illegal memory access was encountered" : "fake error";
}

/* What is still allocated, for the tests. */
int fake_allocations(void)
{
    return n_allocations;
}

/* Asked for by the table and not by what is tested here. */
#define UNUSED(name) \
    int name(void)   \
    {                \
        return 999;  \
    }
UNUSED(cudaEventSynchronize)
UNUSED(cudaFreeHost)
UNUSED(cudaGetDriverEntryPointByVersion)
UNUSED(cudaHostAlloc)
UNUSED(cudaMemset)
UNUSED(cudaOccupancyMaxActiveBlocksPerMultiprocessor)
UNUSED(cudaSetDevice)
UNUSED(cudaStreamSynchronize)
