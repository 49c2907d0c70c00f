#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "activity.h"
#include "cancel.h"
#include "clock.h"
#include "cudart.h"
#include "error.h"
#include "gpu.h"
#include "probe.h"

/* Launches that are enqueued before the host waits: enough to hide the waiting, few enough not to fill the queue. */
#define BATCH 32
#define MOST_BATCH_NS INT64_C(100000000) /* of launches known to be long, so that a wish to stop is heard */
#define GATE_NS INT64_C(100000)          /* beyond four times what a call takes to launch: launching may be slow once */
#define STREAM                                                                                            \
    NULL /* the legacy default stream: all that user code launches on blocking streams is ordered with it \
          */

struct ako_gpu_timer {
    const ako_cudart_api *cuda;
    ako_timer_kind kind; /* what the timer can do */
    ako_timer_kind used; /* in the last plan */
    char setup_note[512], note[600];
    int device;
    void *flush;
    size_t flush_bytes;
    int flush_count;
    ako_probe *probe;
    size_t carve_out; /* of the L2, before any user code */
    cudaEvent_t start[BATCH], stop[BATCH];
};

/* One plan while it runs. */
typedef struct run {
    ako_gpu_timer *timer;
    ako_runner *runner;
    void *const *const *sets;
    int n_sets;
    const ako_time_plan *plan;
    ako_time_result *out;
    int64_t *spans_ns;   /* CUPTI's values beside the events' in out->samples_ns; NULL when not asked for */
    int64_t estimate_ns; /* of one call with its flush; 0 unknown */
    ako_timer_kind kind; /* of this plan */
} run;

static int enqueue_flush(ako_gpu_timer *t)
{
    /* Persisting lines survive a memset. Chips without them refuse the reset, which is as good. */
    if (t->cuda->cudaCtxResetPersistingL2Cache() != cudaSuccess)
        t->cuda->cudaGetLastError();
    int value = t->flush_count++ % 2 ? 0x5a : 0xa5;
    cudaError_t error = t->cuda->cudaMemsetAsync(t->flush, value, t->flush_bytes, STREAM);
    return error == cudaSuccess ? AKO_OK : ako_cudart_fail(t->cuda, error, "cannot flush the L2 cache");
}

static int record(ako_gpu_timer *t, cudaEvent_t event)
{
    cudaError_t error = t->cuda->cudaEventRecord(event, STREAM);
    return error == cudaSuccess ? AKO_OK : ako_cudart_fail(t->cuda, error, "cannot record an event");
}

static int elapsed_ns(ako_gpu_timer *t, int64_t *out, int i)
{
    float ms = 0;
    cudaError_t error = t->cuda->cudaEventElapsedTime(&ms, t->start[i], t->stop[i]);
    *out = llround((double)ms * 1e6);
    return error == cudaSuccess ? AKO_OK : ako_cudart_fail(t->cuda, error, "cannot read an event");
}

static int create_flush(ako_gpu_timer *t)
{
    int l2 = 0;
    cudaError_t error = t->cuda->cudaGetDevice(&t->device);
    if (error == cudaSuccess)
        error = t->cuda->cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, t->device);
    t->flush_bytes = 2 * (size_t)(l2 > 0 ? l2 : 1 << 20);
    if (error == cudaSuccess)
        error = t->cuda->cudaMalloc(&t->flush, t->flush_bytes);
    return error == cudaSuccess ? AKO_OK : ako_cudart_fail(t->cuda, error, "cannot set up the L2 flush");
}

static int create_events(ako_gpu_timer *t)
{
    for (int i = 0; i < BATCH; i++) {
        cudaError_t error = t->cuda->cudaEventCreate(&t->start[i]);
        if (error == cudaSuccess)
            error = t->cuda->cudaEventCreate(&t->stop[i]);
        if (error != cudaSuccess)
            return ako_cudart_fail(t->cuda, error, "cannot create events");
    }
    return AKO_OK;
}

/* The first pair of events of a process reads some ten microseconds too high; this pair is thrown away. */
static int use_events_once(ako_gpu_timer *t)
{
    int64_t ns;
    int status = record(t, t->start[0]);
    if (status == AKO_OK)
        status = enqueue_flush(t);
    if (status == AKO_OK)
        status = record(t, t->stop[0]);
    if (status == AKO_OK)
        status = ako_gpu_sync();
    return status == AKO_OK ? elapsed_ns(t, &ns, 0) : status;
}

static int start_activity(ako_gpu_timer *t)
{
    if (t->kind != AKO_TIMER_AUTO && t->kind != AKO_TIMER_CUPTI)
        return AKO_OK;
    int status = ako_activity_start();
    if (status == AKO_OK)
        t->kind = AKO_TIMER_CUPTI;
    if (status == AKO_OK || t->kind == AKO_TIMER_CUPTI)
        return status;
    snprintf(t->setup_note, sizeof t->setup_note, "events, since CUPTI cannot be used: %.400s",
             ako_error_last()->message);
    t->kind = AKO_TIMER_EVENTS;
    return AKO_OK;
}

/* What is set aside of the L2 for persisting lines, which a flush leaves alone. 0 on chips without. */
static size_t carve_out(const ako_gpu_timer *t)
{
    size_t bytes = 0;
    if (t->cuda->cudaDeviceGetLimit(&bytes, cudaLimitPersistingL2CacheSize) != cudaSuccess)
        t->cuda->cudaGetLastError();
    return bytes;
}

static void forbid_carve_out(ako_gpu_timer *t)
{
    if (carve_out(t) > 0 && t->cuda->cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0) != cudaSuccess)
        t->cuda->cudaGetLastError();
    t->carve_out = carve_out(t); /* some drivers round up what they are asked for */
}

/* What user code has set aside since. */
static int64_t take_back_carve_out(ako_gpu_timer *t)
{
    size_t found = carve_out(t), before = t->carve_out;
    if (found > before)
        forbid_carve_out(t);
    return found > before ? (int64_t)found : 0;
}

int ako_gpu_timer_new(ako_gpu_timer **out, ako_timer_kind kind)
{
    const ako_cudart_api *cuda;
    int status = ako_cudart(&cuda);
    *out = NULL;
    if (status != AKO_OK)
        return status;
    ako_gpu_timer *t = calloc(1, sizeof *t);
    if (!t)
        return ako_fail(AKO_NOMEM, "timing", "out of memory");
    t->cuda = cuda;
    t->kind = kind;
    status = start_activity(t);
    if (status != AKO_OK) {
        free(t);
        return status;
    }
    status = create_flush(t);
    if (status == AKO_OK)
        status = create_events(t);
    if (status == AKO_OK)
        status = use_events_once(t);
    if (status == AKO_OK)
        status = ako_probe_new(&t->probe, cuda);
    if (status == AKO_OK)
        forbid_carve_out(t);
    if (status != AKO_OK) {
        ako_gpu_timer_free(t);
        return status;
    }
    t->used = t->kind;
    memcpy(t->note, t->setup_note, sizeof t->setup_note);
    *out = t;
    return AKO_OK;
}

void ako_gpu_timer_free(ako_gpu_timer *t)
{
    if (!t)
        return;
    if (t->kind == AKO_TIMER_CUPTI)
        ako_activity_stop();
    for (int i = 0; i < BATCH; i++) {
        if (t->start[i])
            t->cuda->cudaEventDestroy(t->start[i]);
        if (t->stop[i])
            t->cuda->cudaEventDestroy(t->stop[i]);
    }
    if (t->flush)
        t->cuda->cudaFree(t->flush);
    ako_probe_free(t->probe);
    t->cuda->cudaGetLastError();
    free(t);
}

ako_timer_kind ako_gpu_timer_used(const ako_gpu_timer *t)
{
    return t->used;
}

const char *ako_gpu_timer_note(const ako_gpu_timer *t)
{
    return t->note;
}

static void *const *addresses_of(const run *r, int call)
{
    return r->sets[call % r->n_sets];
}

/* One call alone, by the host's clock from its launch to an idle device: an upper bound of its time on the GPU. */
static int call_by_host(run *r, int call, int64_t *ns)
{
    int status = ako_runner_stage(r->runner, addresses_of(r, call));
    if (status == AKO_OK && r->plan->flush)
        status = enqueue_flush(r->timer);
    if (status == AKO_OK)
        status = ako_gpu_sync();
    if (status != AKO_OK)
        return status;
    int64_t start = ako_clock_ns();
    status = ako_runner_launch(r->runner, addresses_of(r, call));
    if (status == AKO_OK)
        status = ako_runner_sync(r->runner);
    *ns = ako_clock_ns() - start;
    if (status == AKO_OK)
        status = ako_runner_collect(r->runner, addresses_of(r, call));
    if (status == AKO_OK)
        status = ako_runner_release(r->runner, addresses_of(r, call));
    if (r->out->wall_min_ns == 0 || *ns < r->out->wall_min_ns)
        r->out->wall_min_ns = *ns;
    return status;
}

static int enqueue_ours(run *r, int (*enqueue)(ako_probe *, int), int which)
{
    if (r->spans_ns)
        ako_activity_enter(AKO_ACTIVITY_OURS);
    int status = enqueue(r->timer->probe, which);
    if (r->spans_ns)
        ako_activity_leave();
    return status;
}

/* What is passed is made ready before the flush, what is returned goes to its buffers behind the event that ends the
 * sample: neither belongs to the call. */
static int hand_over(run *r, int (*step)(ako_runner *, void *const *), int call)
{
    if (r->spans_ns)
        ako_activity_enter(AKO_ACTIVITY_OURS);
    int status = step(r->runner, addresses_of(r, call));
    if (r->spans_ns)
        ako_activity_leave();
    return status;
}

static int pause_device(ako_probe *probe, int ns)
{
    return ako_probe_pause(probe, (uint64_t)ns);
}

/* While the device is busy with something that is not timed, a flush or a pause, the call is enqueued behind it: the
 * cost of its launch does not show in events. */
static int enqueue_call(run *r, int slot, int call)
{
    ako_gpu_timer *t = r->timer;
    int status = hand_over(r, ako_runner_stage, r->plan->warmup + call);
    if (status == AKO_OK)
        status = r->plan->flush ? enqueue_flush(t) : enqueue_ours(r, pause_device, AKO_PAUSE_NS);
    if (status == AKO_OK)
        status = record(t, t->start[slot]);
    if (status != AKO_OK)
        return status;
    if (r->spans_ns)
        ako_activity_enter(slot);
    status = ako_runner_launch(r->runner, addresses_of(r, r->plan->warmup + call));
    if (r->spans_ns)
        ako_activity_leave();
    if (status == AKO_OK)
        status = record(t, t->stop[slot]);
    if (status == AKO_OK && r->plan->watch)
        status = hand_over(r, ako_runner_collect, r->plan->warmup + call);
    if (status == AKO_OK)
        status = enqueue_ours(r, ako_probe_look, call);
    return status == AKO_OK ? hand_over(r, ako_runner_release, r->plan->warmup + call) : status;
}

/* Without a full set of records the whole plan keeps to its events. */
static void give_up_activity(run *r)
{
    snprintf(r->timer->note, sizeof r->timer->note, "events for this plan: %.500s", ako_error_last()->message);
    free(r->spans_ns);
    r->spans_ns = NULL;
}

static int run_batch(run *r, int n)
{
    int done = r->out->n;
    if (r->spans_ns && ako_activity_begin(n) != AKO_OK)
        give_up_activity(r);
    int status = AKO_OK;
    for (int i = 0; i < n && status == AKO_OK; i++)
        status = enqueue_call(r, i, done + i);
    if (status == AKO_OK)
        status = ako_runner_sync(r->runner);
    for (int i = 0; i < n && status == AKO_OK; i++)
        status = elapsed_ns(r->timer, &r->out->samples_ns[done + i], i);
    if (status != AKO_OK)
        return status;
    if (r->spans_ns && ako_activity_collect(r->spans_ns + done, ako_runner_kernels(r->runner)) != AKO_OK)
        give_up_activity(r);
    r->out->n += n;
    return AKO_OK;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Calls for the next batch; 0 when the plan is done or its time is up. */
static int next_batch(const run *r, int64_t spent_ns)
{
    int64_t n = least(r->plan->launches - r->out->n, BATCH), limit = MOST_BATCH_NS;
    if (r->plan->budget_ns > 0) {
        int64_t owed = (r->plan->least > 1 ? r->plan->least : 1) - r->out->n;
        limit = least(limit, r->plan->budget_ns - spent_ns);
        if (limit <= 0)
            return owed > 0 ? (int)least(n, owed) : 0;
        if (r->estimate_ns == 0)
            return n > 0;
    }
    if (r->estimate_ns > 0 && n > 1)
        n = least(n, limit / r->estimate_ns + 1);
    return (int)n;
}

static int run_batches(run *r)
{
    int64_t start = ako_clock_ns(), before = start;
    int status = AKO_OK, n;
    while (status == AKO_OK && (n = next_batch(r, before - start)) > 0) {
        status = ako_cancel_requested() ? ako_fail(AKO_CANCELLED, "timing", "interrupted") : run_batch(r, n);
        int64_t now = ako_clock_ns();
        r->estimate_ns = (now - before) / n;
        before = now;
    }
    r->out->wall_ns = before - start;
    return status;
}

static int run_by_host(run *r)
{
    int64_t start = ako_clock_ns();
    int status = AKO_OK;
    for (int i = 0; i < r->plan->launches && status == AKO_OK; i++) {
        if (i > 0 && i >= r->plan->least && r->plan->budget_ns > 0 && ako_clock_ns() - start >= r->plan->budget_ns)
            break;
        status = ako_cancel_requested() ? ako_fail(AKO_CANCELLED, "timing", "interrupted")
                                        : call_by_host(r, r->plan->warmup + i, &r->out->samples_ns[i]);
        if (status == AKO_OK)
            status = enqueue_ours(r, ako_probe_look, i);
        r->out->n = i + 1;
    }
    r->out->wall_ns = ako_clock_ns() - start;
    return status;
}

static int warm_up(run *r)
{
    int status = AKO_OK;
    for (int i = 0; i < r->plan->warmup && status == AKO_OK; i++)
        status = ako_cancel_requested() ? ako_fail(AKO_CANCELLED, "timing", "interrupted")
                                        : call_by_host(r, i, &r->estimate_ns);
    return status;
}

static ako_timer_kind kind_of(const ako_gpu_timer *t, ako_timer_kind wanted)
{
    bool possible = wanted == AKO_TIMER_EVENTS || wanted == AKO_TIMER_WALL;
    return possible ? wanted : t->kind;
}

/* The first call, by the host's clock: how long its launching takes, and the whole. */
static int launch_alone(run *r, int64_t *launch_ns, int64_t *whole_ns)
{
    int64_t start = 0;
    int status = hand_over(r, ako_runner_stage, 0);
    if (status == AKO_OK)
        status = ako_gpu_sync();
    if (status == AKO_OK) {
        start = ako_clock_ns();
        status = ako_runner_launch(r->runner, addresses_of(r, 0));
    }
    *launch_ns = ako_clock_ns() - start;
    if (status == AKO_OK)
        status = ako_gpu_sync();
    *whole_ns = ako_clock_ns() - start;
    return status == AKO_OK ? hand_over(r, ako_runner_release, 0) : status;
}

/* The same with the device kept busy in front of it until all of it is enqueued: what does not wait for the stream runs
 * in that time, what the stream does not wait for runs beside the pause behind it. By its results alone such work is
 * not told when launching takes longer than running. */
static int launch_gated(run *r, int gate_ns)
{
    int status = hand_over(r, ako_runner_stage, 0);
    if (status == AKO_OK)
        status = enqueue_ours(r, pause_device, gate_ns);
    if (status != AKO_OK)
        return status;
    ako_activity_enter(0);
    status = ako_runner_launch(r->runner, addresses_of(r, 0));
    ako_activity_leave();
    if (status == AKO_OK)
        status = enqueue_ours(r, pause_device, AKO_PAUSE_NS);
    if (status == AKO_OK)
        status = ako_gpu_sync();
    return status == AKO_OK ? hand_over(r, ako_runner_release, 0) : status;
}

static int look_for_loose_work(run *r)
{
    int64_t span, launch_ns, whole_ns;
    int status = launch_alone(r, &launch_ns, &whole_ns);
    if (status != AKO_OK || whole_ns > AKO_LOOSE_NS || ako_activity_begin(1) != AKO_OK)
        return status;
    status = launch_gated(r, (int)(4 * launch_ns + GATE_NS));
    if (status == AKO_OK && ako_activity_collect(&span, ako_runner_kernels(r->runner)) == AKO_OK)
        r->out->loose_ns = ako_activity_loose();
    return status;
}

static int prepare_run(run *r)
{
    if (r->plan->kind == AKO_TIMER_CUPTI && r->timer->kind != AKO_TIMER_CUPTI)
        return ako_fail(AKO_UNAVAILABLE, "timing", "CUPTI was asked for: %s", r->timer->setup_note);
    int status = ako_probe_begin(r->timer->probe, r->plan->watch, r->plan->launches);
    if (status == AKO_OK)
        status = warm_up(r);
    if (status == AKO_OK && r->kind == AKO_TIMER_CUPTI) {
        r->spans_ns = calloc((size_t)r->plan->launches, sizeof *r->spans_ns);
        if (!r->spans_ns)
            status = ako_fail(AKO_NOMEM, "timing", "out of memory for %d samples", r->plan->launches);
    }
    if (status == AKO_OK && r->plan->loose && r->spans_ns)
        status = look_for_loose_work(r);
    return status == AKO_OK ? enqueue_ours(r, ako_probe_clock, 0) : status;
}

static int finish_run(run *r)
{
    int status = enqueue_ours(r, ako_probe_clock, 1);
    if (status == AKO_OK)
        status = ako_gpu_sync();
    return status == AKO_OK ? ako_probe_end(r->timer->probe, &r->out->sm_clock_mhz, r->out->n) : status;
}

int ako_gpu_timer_run(ako_gpu_timer *timer, ako_runner *runner, void *const *const *sets, int n_sets,
                      const ako_time_plan *plan, ako_time_result *out)
{
    run r = {.timer = timer, .runner = runner, .sets = sets, .n_sets = n_sets, .plan = plan, .out = out};
    r.kind = kind_of(timer, plan->kind);
    memcpy(timer->note, timer->setup_note, sizeof timer->setup_note);
    int status = prepare_run(&r);
    if (status == AKO_OK)
        status = r.kind == AKO_TIMER_WALL ? run_by_host(&r) : run_batches(&r);
    timer->used = r.kind == AKO_TIMER_CUPTI && !r.spans_ns ? AKO_TIMER_EVENTS : r.kind;
    for (int i = 0; status == AKO_OK && r.spans_ns && i < out->n; i++)
        out->events_ns += out->samples_ns[i];
    if (status == AKO_OK && r.spans_ns)
        memcpy(out->samples_ns, r.spans_ns, (size_t)out->n * sizeof *out->samples_ns);
    if (status == AKO_OK)
        status = finish_run(&r);
    free(r.spans_ns);
    out->carve_out = take_back_carve_out(timer);
    return status;
}
