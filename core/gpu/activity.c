#include "activity.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "cupti.h"
#include "error.h"

#define BUFFER_BYTES (1u << 20)
#define OUR_ID UINT64_MAX
#define STRAY (-2) /* of no call of this batch, nor the timer's own */
#define TAG CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0

/* The records grow with the releases, at their ends. These are the oldest forms that every accepted header has; the
 * fields read here lie where the newest forms have them. */
typedef CUpti_ActivityKernel9 kernel_record;
typedef CUpti_ActivityMemcpy5 copy_record;
typedef CUpti_ActivityMemset4 set_record;
#if CUPTI_API_VERSION >= 130000
#define SAME_PLACE(a, b, field) _Static_assert(offsetof(a, field) == offsetof(b, field), #a " differs from " #b)
SAME_PLACE(CUpti_ActivityKernel10, kernel_record, start);
SAME_PLACE(CUpti_ActivityKernel10, kernel_record, end);
SAME_PLACE(CUpti_ActivityKernel10, kernel_record, correlationId);
SAME_PLACE(CUpti_ActivityMemcpy6, copy_record, start);
SAME_PLACE(CUpti_ActivityMemcpy6, copy_record, end);
SAME_PLACE(CUpti_ActivityMemcpy6, copy_record, correlationId);
#endif

typedef struct work {
    uint64_t start, end; /* ns; 0: CUPTI could not tell */
    uint32_t correlation;
    bool is_kernel;
} work;

typedef struct tag {
    uint64_t id;
    uint32_t correlation;
} tag;

typedef struct span {
    uint64_t start, end;
    uint32_t first, last; /* correlations */
    int kernels, parts;
} span;

/* Buffers are completed on a thread of CUPTI's, hence the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const ako_cupti_api *cupti;
static int users;
static ako_buf works, tags; /* arrays of work and of tag */
static span *spans;
static size_t dropped; /* records lost by CUPTI */
static int batch;
static uint64_t first_id = 1; /* ids never repeat: a late record of an earlier batch is told by its id */

static void CUPTIAPI buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
    *buffer = aligned_alloc(8, BUFFER_BYTES);
    *size = *buffer ? BUFFER_BYTES : 0;
    *max_records = 0;
}

static void add_work(uint64_t start, uint64_t end, uint32_t correlation, bool is_kernel)
{
    const work w = {start, end, correlation, is_kernel};
    ako_buf_put(&works, &w, sizeof w);
}

static void add_tag(const CUpti_ActivityExternalCorrelation *record)
{
    const tag t = {record->externalId, record->correlationId};
    if (record->externalKind == TAG)
        ako_buf_put(&tags, &t, sizeof t);
}

static void add_record(const CUpti_Activity *record)
{
    const void *any = record;
    const kernel_record *kernel = any;
    const copy_record *copy = any;
    const set_record *set = any;
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_KERNEL:
        add_work(kernel->start, kernel->end, kernel->correlationId, true);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        add_work(copy->start, copy->end, copy->correlationId, false);
        break;
    case CUPTI_ACTIVITY_KIND_MEMSET:
        add_work(set->start, set->end, set->correlationId, false);
        break;
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
        add_tag(any);
        break;
    default:
        break;
    }
}

static void CUPTIAPI buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    CUpti_Activity *record = NULL;
    size_t more = 0;
    (void)size;
    pthread_mutex_lock(&lock);
    while (valid > 0 && cupti->cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
        add_record(record);
    if (cupti->cuptiActivityGetNumDroppedRecords(context, stream, &more) == CUPTI_SUCCESS)
        dropped += more;
    pthread_mutex_unlock(&lock);
    free(buffer);
}

/* The records of the API calls are not read, but without them CUPTI makes no external correlation records: of the
 * runtime for launches through it, of the driver for user code that launches through that. */
static const CUpti_ActivityKind kinds[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,    CUPTI_ACTIVITY_KIND_MEMCPY,  CUPTI_ACTIVITY_KIND_MEMSET,
    CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER,
};
#define N_KINDS (sizeof kinds / sizeof *kinds)

static void disable(size_t n)
{
    for (size_t i = 0; i < n; i++)
        cupti->cuptiActivityDisable(kinds[i]);
}

/* Once a process: the callbacks outlive the timers. */
static int register_callbacks(void)
{
    static bool registered;
    if (registered)
        return AKO_OK;
    CUptiResult result = cupti->cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed);
    registered = result == CUPTI_SUCCESS;
    return registered ? AKO_OK : ako_cupti_fail(cupti, result, "CUPTI accepts no callbacks");
}

static int enable(void)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        CUptiResult result = cupti->cuptiActivityEnable(kinds[i]);
        if (result != CUPTI_SUCCESS) {
            disable(i);
            return ako_cupti_fail(cupti, result, "CUPTI cannot record activity");
        }
    }
    return AKO_OK;
}

int ako_activity_start(void)
{
    int status = AKO_OK;
    if (users == 0)
        status = ako_cupti(&cupti);
    if (users == 0 && status == AKO_OK)
        status = register_callbacks();
    if (users == 0 && status == AKO_OK)
        status = enable();
    users += status == AKO_OK;
    return status;
}

void ako_activity_stop(void)
{
    if (users == 0 || --users > 0)
        return;
    disable(N_KINDS);
    cupti->cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    pthread_mutex_lock(&lock);
    ako_buf_free(&works);
    ako_buf_free(&tags);
    free(spans);
    spans = NULL;
    batch = 0;
    pthread_mutex_unlock(&lock);
}

int ako_activity_begin(int n_calls)
{
    pthread_mutex_lock(&lock);
    ako_buf_clear(&works);
    ako_buf_clear(&tags);
    dropped = 0;
    first_id += (uint64_t)batch;
    batch = 0;
    span *grown = realloc(spans, (size_t)n_calls * sizeof *spans);
    if (grown) {
        spans = grown;
        batch = n_calls;
    }
    pthread_mutex_unlock(&lock);
    return grown ? AKO_OK : ako_fail(AKO_NOMEM, "cupti", "out of memory");
}

void ako_activity_enter(int call)
{
    cupti->cuptiActivityPushExternalCorrelationId(TAG, call == AKO_ACTIVITY_OURS ? OUR_ID : first_id + (uint64_t)call);
}

void ako_activity_leave(void)
{
    uint64_t id;
    cupti->cuptiActivityPopExternalCorrelationId(TAG, &id);
}

static int by_correlation(const void *a, const void *b)
{
    uint32_t x = ((const tag *)a)->correlation, y = ((const tag *)b)->correlation;
    return (x > y) - (x < y);
}

/* The call of this batch that a piece of work belongs to, AKO_ACTIVITY_OURS or STRAY. */
static int call_of(const work *w)
{
    const tag key = {.correlation = w->correlation};
    const tag *t = tags.data ? bsearch(&key, tags.data, tags.size / sizeof *t, sizeof *t, by_correlation) : NULL;
    if (t && t->id == OUR_ID)
        return AKO_ACTIVITY_OURS;
    return t && t->id >= first_id && t->id - first_id < (uint64_t)batch ? (int)(t->id - first_id) : STRAY;
}

static void extend(span *s, const work *w)
{
    s->start = s->parts == 0 || w->start < s->start ? w->start : s->start;
    s->end = w->end > s->end ? w->end : s->end;
    s->first = s->parts == 0 || w->correlation < s->first ? w->correlation : s->first;
    s->last = w->correlation > s->last ? w->correlation : s->last;
    s->parts++;
    s->kernels += w->is_kernel;
}

/* Fills the spans. Kernels without a tag that were launched while the calls were being made come from threads of the
 * user's code: correlation ids count up over all threads. Returns their number. */
static int assign(void)
{
    const work *list = (const void *)works.data;
    size_t n = works.size / sizeof *list;
    uint32_t first = UINT32_MAX, last = 0;
    int strays = 0;
    if (tags.data)
        qsort(tags.data, tags.size / sizeof(tag), sizeof(tag), by_correlation);
    memset(spans, 0, (size_t)batch * sizeof *spans);
    for (size_t i = 0; i < n; i++) {
        int call = list[i].start && list[i].end >= list[i].start ? call_of(&list[i]) : STRAY;
        if (call < 0)
            continue;
        extend(&spans[call], &list[i]);
        first = list[i].correlation < first ? list[i].correlation : first;
        last = list[i].correlation > last ? list[i].correlation : last;
    }
    for (size_t i = 0; i < n; i++)
        strays += list[i].is_kernel && list[i].correlation > first && list[i].correlation < last &&
                  call_of(&list[i]) == STRAY;
    return strays;
}

static int count_incomplete(int kernels)
{
    int incomplete = 0;
    for (int i = 0; i < batch; i++)
        incomplete += kernels ? spans[i].kernels != kernels : spans[i].parts == 0;
    return incomplete;
}

static int judge(int kernels, bool forced)
{
    int strays = assign(), incomplete = count_incomplete(kernels);
    if (works.oom || tags.oom)
        return ako_fail(AKO_NOMEM, "cupti", "out of memory for CUPTI's records");
    if (dropped > 0)
        return ako_fail(AKO_ERROR, "cupti", "CUPTI dropped %zu records", dropped);
    if (incomplete > 0)
        return ako_fail(AKO_ERROR, "cupti", "CUPTI has no complete record of %d in %d calls%s", incomplete, batch,
                        forced ? "" : " yet");
    if (strays > 0)
        return ako_fail(AKO_ERROR, "cupti", "%d kernels were launched by other threads than the caller's", strays);
    return AKO_OK;
}

static int flush_and_judge(int kernels, bool forced)
{
    CUptiResult result = cupti->cuptiActivityFlushAll(forced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
    if (result != CUPTI_SUCCESS)
        return ako_cupti_fail(cupti, result, "CUPTI cannot flush its records");
    pthread_mutex_lock(&lock);
    int status = judge(kernels, forced);
    pthread_mutex_unlock(&lock);
    return status;
}

int ako_activity_collect(int64_t *spans_ns, int kernels)
{
    int status = flush_and_judge(kernels, false);
    if (status != AKO_OK)
        status = flush_and_judge(kernels, true);
    for (int i = 0; i < batch && status == AKO_OK; i++)
        spans_ns[i] = (int64_t)(spans[i].end - spans[i].start);
    return status;
}

/* Of the timer's own work the nearest to the call's: before its first, or behind its last. */
static const work *neighbour(const span *call, bool behind)
{
    const work *list = (const void *)works.data, *found = NULL;
    for (size_t i = 0; i < works.size / sizeof *list; i++) {
        uint32_t at = list[i].correlation;
        if (call_of(&list[i]) != AKO_ACTIVITY_OURS || (behind ? at <= call->last : at >= call->first))
            continue;
        if (!found || (behind ? at < found->correlation : at > found->correlation))
            found = &list[i];
    }
    return found;
}

int64_t ako_activity_loose(void)
{
    pthread_mutex_lock(&lock);
    const span *call = &spans[0];
    const work *before = neighbour(call, false), *behind = neighbour(call, true);
    int64_t early = before ? (int64_t)(before->end - call->start) : 0;
    int64_t late = behind ? (int64_t)(call->end - behind->start) : 0;
    pthread_mutex_unlock(&lock);
    return (early > 0 ? early : 0) + (late > 0 ? late : 0);
}
