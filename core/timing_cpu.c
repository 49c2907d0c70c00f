#include "timing_cpu.h"

#include <stdlib.h>

#include "cancel.h"
#include "clock.h"
#include "cpu.h"
#include "error.h"
#include "ops.h"
#include "signals.h"

#define LINE_BYTES 64
#define LEAST_FLUSH (INT64_C(8) << 20)
#define MOST_FLUSH (INT64_C(64) << 20) /* servers report caches that a walk takes too long through */

struct ako_cpu_timer {
    volatile unsigned char *flush;
    size_t flush_bytes;
};

int ako_cpu_timer_new(ako_cpu_timer **out)
{
    ako_cpu_timer *timer = calloc(1, sizeof *timer);
    int64_t bytes = 2 * ako_cpu_last_level_cache();
    if (timer) {
        timer->flush_bytes = (size_t)(bytes < LEAST_FLUSH ? LEAST_FLUSH : bytes > MOST_FLUSH ? MOST_FLUSH : bytes);
        timer->flush = calloc(1, timer->flush_bytes);
    }
    if (!timer || !timer->flush) {
        ako_cpu_timer_free(timer);
        return ako_fail(AKO_NOMEM, "timing", "out of memory");
    }
    *out = timer;
    return AKO_OK;
}

void ako_cpu_timer_free(ako_cpu_timer *timer)
{
    if (!timer)
        return;
    free((void *)(uintptr_t)timer->flush);
    free(timer);
}

/* Takes every line of the cache for itself, by writing to twice as many. */
static void flush_cache(ako_cpu_timer *timer)
{
    for (size_t i = 0; i < timer->flush_bytes; i += LINE_BYTES)
        timer->flush[i]++;
}

static void look(const ako_watch *watch, int call)
{
    for (int i = 0; watch && i < watch->n; i++)
        watch->seen[call * watch->n + i] = ako_load_place(watch->places[call * watch->n + i]);
}

/* The outputs as the call has left them: no code of others runs before they are seen. */
static int see(ako_runner *runner, void *const *addresses, const ako_watch *watch, int call)
{
    sigset_t before;
    ako_signals_hold(&before);
    int status = ako_runner_collect(runner, addresses);
    if (status == AKO_OK)
        look(watch, call);
    ako_signals_let(&before);
    return status == AKO_OK ? ako_runner_release(runner, addresses) : status;
}

/* `watch` NULL: a warm-up, behind which nobody looks. */
static int call_once(ako_cpu_timer *timer, ako_runner *runner, void *const *addresses, bool flush,
                     const ako_watch *watch, int call, int64_t *ns)
{
    if (ako_cancel_requested())
        return ako_fail(AKO_CANCELLED, "timing", "interrupted");
    int status = ako_runner_stage(runner, addresses);
    if (status != AKO_OK)
        return status;
    if (flush)
        flush_cache(timer);
    int64_t start = ako_clock_ns();
    status = ako_runner_launch(runner, addresses);
    *ns = ako_clock_ns() - start;
    return status == AKO_OK ? see(runner, addresses, watch, call) : status;
}

static bool is_over(const ako_time_plan *plan, int done, int64_t start)
{
    return plan->budget_ns > 0 && done > 0 && done >= plan->least && ako_clock_ns() - start >= plan->budget_ns;
}

int ako_cpu_timer_run(ako_cpu_timer *timer, ako_runner *runner, void *const *const *sets, int n_sets,
                      const ako_time_plan *plan, ako_time_result *out)
{
    int64_t ns = 0, least = INT64_MAX;
    int status = AKO_OK;
    for (int i = 0; i < plan->warmup && status == AKO_OK; i++) {
        status = call_once(timer, runner, sets[i % n_sets], plan->flush, NULL, 0, &ns);
        least = ns < least ? ns : least;
    }
    int64_t start = ako_clock_ns();
    for (int i = 0; i < plan->launches && status == AKO_OK && !is_over(plan, i, start); i++) {
        status = call_once(timer, runner, sets[(plan->warmup + i) % n_sets], plan->flush, plan->watch, i, &ns);
        least = ns < least ? ns : least;
        out->samples_ns[i] = ns;
        out->n = i + 1;
    }
    out->wall_ns = ako_clock_ns() - start;
    out->wall_min_ns = least;
    return status;
}
