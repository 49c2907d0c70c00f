/* A series as a whole: whether it can be believed, and what it says. */
#include <stdio.h>
#include <stdlib.h>

#include "error.h"
#include "pack.h"
#include "sample.h"
#include "stats.h"
#include "surroundings.h"

#define ENOUGH_GAPS 6     /* a machine that stands still for a moment lengthens one request, a fraud all of them */
#define CPU_SLACK_NS 10e6 /* what the scheduler of a busy machine may do to a request that has one thread */

/* The least counts: whatever else a machine is busy with can only make a request longer, a fraud is in every one. */
static double least_gap(const series *s)
{
    double least = s->gaps_ns[0];
    for (int i = 1; i < s->n_gaps; i++)
        least = s->gaps_ns[i] < least ? s->gaps_ns[i] : least;
    return least;
}

double series_mean(const series *s)
{
    double sum = 0;
    size_t n = json_array_size(s->samples);
    for (size_t i = 0; i < n; i++)
        sum += (double)json_integer_value(json_array_get(s->samples, i));
    return n ? sum / (double)n : 0;
}

#define PYTHON_NS 500e3  /* a call through the interpreter, beside what it enqueues */
#define COPY_OF_PEAK 0.5 /* of the device's bandwidth that a copy reaches at least */
#define COPY_ON_CPU 1e9  /* bytes a second of a copy, at least */

/* What Python's calls return is copied to the buffers behind each sample. */
static double collect_ns(const trial *t, int workload)
{
    const ako_task *task = t->ev->task;
    double bytes = 0, peak = t->ev->device.peak_dram_bytes_per_s;
    bool gpu = ako_lane_place(t->unit->lane) == AKO_GPU && peak > 0;
    for (int i = 0; i < task->n_tensors; i++)
        if (task->tensors[i].role != AKO_INPUT)
            bytes += (double)ako_shape_count(&task->workloads[workload].shapes[i]) *
                     (double)ako_dtype_size(task->tensors[i].dtype);
    return PYTHON_NS + (gpu ? 2 * bytes / (COPY_OF_PEAK * peak) : bytes / COPY_ON_CPU) * 1e9;
}

/* What a request may cost a call beyond what was calibrated. */
static double slack_ns(const trial *t, const series *s, int workload)
{
    bool gpu = ako_lane_place(t->unit->lane) == AKO_GPU;
    const calibration *c = &t->ev->calibration;
    double fixed = 3 * (double)c->fixed_ns / (s->calls_a_request ? s->calls_a_request : 1);
    /* a walk through a cache takes ms */
    double collect = ako_lane_is_python(t->unit->lane) ? collect_ns(t, workload) : 0;
    return fixed + collect + (gpu ? 3 * (double)c->each_ns : (double)c->each_ns + CPU_SLACK_NS);
}

/* The samples against the evaluator's clock. What requests cost beside their calls is calibrated; what is missing
 * well beyond that, and makes up more than a third of a call, was spent where the arm's clock did not look. */
static bool clocks_agree(const trial *t, const series *s, int workload)
{
    if (s->n_gaps == 0)
        return true;
    double gap = least_gap(s), mean = series_mean(s);
    return gap <= slack_ns(t, s, workload) || mean >= 0.7 * (mean + gap);
}

bool series_wants_more(const trial *t, const series *s, int workload)
{
    return s->n_gaps < ENOUGH_GAPS && !clocks_agree(t, s, workload);
}

/* Bytes that must be moved and cannot lie in the L2, at the device's peak bandwidth. 0: unknown. */
static double floor_ns(const trial *t, int workload)
{
    const ako_device_props *d = &t->ev->device;
    double bytes = t->ev->task->workloads[workload].bytes - (double)d->l2_bytes;
    bool known = ako_lane_place(t->unit->lane) == AKO_GPU && d->peak_dram_bytes_per_s > 0 && bytes > 0;
    return known ? bytes / d->peak_dram_bytes_per_s * 1e9 : 0;
}

static int summarize(ako_summary *out, const trial *t, const series *s)
{
    size_t n = json_array_size(s->samples);
    int64_t *samples = malloc((n + 1) * sizeof *samples);
    for (size_t i = 0; samples && i < n; i++)
        samples[i] = json_integer_value(json_array_get(s->samples, i));
    int status = samples ? ako_stats_summary(out, samples, n, t->timing.alpha)
                         : ako_fail(AKO_NOMEM, "evaluator", "out of memory");
    free(samples);
    return status;
}

int series_judge(trial *t, const series *s, int workload)
{
    char reason[200];
    ako_summary sum;
    int status = summarize(&sum, t, s);
    double least = floor_ns(t, workload);
    if (status != AKO_OK)
        return status;
    if (!clocks_agree(t, s, workload)) {
        snprintf(
            reason, sizeof reason,
            "calls take far longer by the evaluator's clock than their samples say: %.4g us more than their %.4g us,"
            " where %.4g us are usual",
            least_gap(s) / 1e3, series_mean(s) / 1e3, slack_ns(t, s, workload) / 1e3);
        return trial_end_workload(t, workload, "UNTRUSTED_TIMING", "T4", reason);
    }
    if (sum.median >= least)
        return AKO_OK;
    snprintf(reason, sizeof reason, "%.4g us is less than moving the task's bytes takes at the device's peak, %.4g us",
             sum.median / 1e3, least / 1e3);
    return trial_end_workload(t, workload, "UNTRUSTED_TIMING", "floor", reason);
}

/* A call by events, in the mean: on a stream's own clock, with the gaps between its launches. */
static json_t *pack_events(const series *s)
{
    size_t n = json_array_size(s->samples);
    return s->events_ns > 0 && n > 0 ? json_real((double)s->events_ns / (double)n) : NULL;
}

static json_t *pack(const trial *t, const series *s, const ako_summary *sum)
{
    json_t *ci = sum->has_ci ? json_pack("[I, I]", (json_int_t)sum->ci_low, (json_int_t)sum->ci_high) : json_null();
    return json_pack("{s:s, s:s, s:I, s:O, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:i, s:i, s:i, s:I, s:I, s:o*}",
                     "timer", s->timer, "note", s->note, "n", (json_int_t)sum->n, "samples_ns", s->samples, "min",
                     (json_int_t)sum->min, "max", (json_int_t)sum->max, "mean", pack_real(sum->mean), "std",
                     pack_real(sum->std), "median", pack_real(sum->median), "p95", pack_real(sum->p95), "ci", ci,
                     "wall_ns", (json_int_t)s->wall_ns, "sm_clock_mhz", s->sm_clock_mhz, "sets", t->n_sets, "verified",
                     s->verified, "request_ns", (json_int_t)s->timed_ns, "proof_ns", (json_int_t)s->proof_ns, "events",
                     pack_events(s));
}

double series_step_share(const trial *t, const series *s)
{
    ako_summary sum;
    bool has_one = json_array_size(s->samples) > 0 && summarize(&sum, t, s) == AKO_OK;
    return has_one && sum.median > 0 ? (double)sum.step / sum.median : 0;
}

int series_put(trial *t, const series *s, int workload, const char *key)
{
    ako_summary sum;
    int status = summarize(&sum, t, s);
    json_t *summary = status == AKO_OK ? pack(t, s, &sum) : NULL;
    if (status == AKO_OK &&
        (!summary || json_object_set_new(json_array_get(t->workloads, (size_t)workload), key, summary) != 0))
        status = ako_fail(AKO_NOMEM, "evaluator", "out of memory");
    return status == AKO_OK ? surroundings_put(summary, s, NULL) : status;
}

void series_free(series *s)
{
    json_decref(s->samples);
    *s = (series){0};
}
