#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "clock.h"
#include "error.h"
#include "pack.h"
#include "stats.h"
#include "trial.h"

#define MAX_ROUNDS 3
#define SYNC_SLACK_NS INT64_C(200000) /* several times what a launch and its sync cost beside the work */

/* Samples of one side of one workload, gathered over the rounds. */
typedef struct series {
    json_t *samples; /* owned */
    int64_t wall_ns;
    int sm_clock_mhz;
    char timer[16], note[400];
} series;

static int random_below(int n)
{
    uint32_t word = 0;
    if (getrandom(&word, sizeof word, 0) != (ssize_t)sizeof word)
        word = (uint32_t)ako_clock_ns();
    return (int)(word % (uint32_t)n);
}

/* Splits the launches at secret places. Every round starts with fresh inputs and poisoned outputs, so that a candidate
 * that stops working after some calls, or answers by address, is found out (W2, T9, T11). Without a flush each round
 * would begin with cold caches, calls on inout tensors build on each other, and a slow reference takes its time for
 * every round: there is one round then. */
static int split(int rounds[MAX_ROUNDS], const trial *t, bool stateful)
{
    int n = t->timing.launches;
    rounds[0] = n;
    if (stateful || !t->timing.flush || t->slow_reference || n < 4 * t->n_sets * MAX_ROUNDS)
        return 1;
    int each = n / MAX_ROUNDS, first = each / 2 + random_below(each), second = each / 2 + random_below(each);
    rounds[0] = first;
    rounds[1] = second;
    rounds[2] = n - first - second;
    return MAX_ROUNDS;
}

static bool has_inout(const ako_task *task)
{
    for (int i = 0; i < task->n_tensors; i++)
        if (task->tensors[i].role == AKO_INOUT)
            return true;
    return false;
}

static json_t *time_request(const trial *t, int workload, int warmup, int launches)
{
    return json_pack("{s:i, s:i, s:i, s:b, s:I}", "workload", workload, "warmup", warmup, "launches", launches, "flush",
                     t->timing.flush, "budget", (json_int_t)t->timing.budget_ns);
}

/* The samples' sum in ns; -1 unless there are at most `most` and each is above zero and less than `took_ns`. */
static int64_t sum_of(const json_t *samples, int most, int64_t took_ns)
{
    int64_t sum = 0;
    size_t n = json_array_size(samples);
    if (n == 0 || n > (size_t)most)
        return -1;
    for (size_t i = 0; i < n; i++) {
        int64_t ns = json_integer_value(json_array_get(samples, i));
        if (ns <= 0 || ns > took_ns)
            return -1;
        sum += ns;
    }
    return sum;
}

/* A time that the candidate states; none is longer than the request took. */
static int64_t stated_ns(const json_t *reply, const char *key, int64_t took_ns)
{
    int64_t ns = json_integer_value(json_object_get(reply, key));
    return ns < 0 ? 0 : ns > took_ns ? took_ns : ns;
}

static int add_samples(series *s, const json_t *reply, int64_t took_ns)
{
    const char *timer = json_string_value(json_object_get(reply, "timer"));
    const char *note = json_string_value(json_object_get(reply, "note"));
    int clock = (int)json_integer_value(json_object_get(reply, "sm_clock_mhz"));
    snprintf(s->timer, sizeof s->timer, "%s", timer ? timer : "");
    snprintf(s->note, sizeof s->note, "%s", note ? note : "");
    s->wall_ns += stated_ns(reply, "wall_ns", took_ns);
    s->sm_clock_mhz = clock > 0 ? clock : s->sm_clock_mhz;
    if (!s->samples)
        s->samples = json_array();
    if (!s->samples || json_array_extend(s->samples, json_object_get(reply, "samples_ns")) != 0)
        return ako_fail(AKO_NOMEM, "evaluator", "out of memory");
    return AKO_OK;
}

/* The candidate's own clock against ours: launches cannot take longer in sum than the whole request took, none takes
 * no time, and none takes far less than a call of its own by the host's clock, from launch to idle device (work on a
 * stream that the timer does not see). */
static int distrust(trial *t, const json_t *reply, int launches, int64_t took_ns, int workload)
{
    const json_t *samples = json_object_get(reply, "samples_ns");
    int64_t sum = sum_of(samples, launches, took_ns), call = stated_ns(reply, "wall_min_ns", took_ns);
    int64_t n = (int64_t)json_array_size(samples), mean = n > 0 ? sum / n : 0;
    if (sum < 0 || (n < launches && t->timing.budget_ns == 0))
        return trial_end_workload(t, workload, "UNTRUSTED_TIMING", "T4", "not every timed call gave a possible time");
    if (sum > took_ns)
        return trial_end_workload(t, workload, "UNTRUSTED_TIMING", "T4",
                                  "the samples add up to more than the time that passed outside");
    if (mean < call / 10 * 7 && call - mean > SYNC_SLACK_NS)
        return trial_end_workload(t, workload, "UNTRUSTED_TIMING", "T1",
                                  "a call keeps the device busy for far longer than its samples say");
    return AKO_OK;
}

/* Status and reason of outputs that were right in the check and are not in the timed calls. */
static int end_with_wrong_output(trial *t, const json_t *verdict, int workload)
{
    const char *status = json_string_value(json_object_get(verdict, "status"));
    const char *code = json_string_value(json_object_get(verdict, "code"));
    const char *found = json_string_value(json_object_get(verdict, "reason"));
    char reason[600];
    if (!status || !code || !found || strcmp(status, "INCORRECT_NUMERICAL") != 0)
        return trial_end_workload(t, workload, status ? status : "INFRA", code ? code : "", found ? found : "");
    bool unwritten = strcmp(code, "unwritten") == 0;
    snprintf(reason, sizeof reason, "the outputs of timed calls are wrong: %.500s", found);
    return trial_end_workload(t, workload, "REWARD_HACK", unwritten ? "T11" : "W2", reason);
}

static int verify_set(trial *t, int workload, int set)
{
    json_t *verdict;
    int status = trial_verify(t, &verdict, set, workload);
    const char *word = json_string_value(json_object_get(verdict, "status"));
    if (status == AKO_OK && !t->ended && (!word || strcmp(word, "PASSED") != 0))
        status = end_with_wrong_output(t, verdict, workload);
    json_decref(verdict);
    return status;
}

static int prepare_sets(trial *t, int workload, uint64_t *seed, bool golden)
{
    int status = AKO_OK;
    for (int s = 0; status == AKO_OK && !t->ended && s < t->n_sets; s++)
        status = trial_prepare(t, workload, s, (int64_t)(*seed)++, golden);
    return status;
}

static int run_once(trial *t, int workload)
{
    json_t *reply;
    int status = trial_ask_candidate(t, &reply, "run", json_pack("{s:i, s:i}", "workload", workload, "set", 0), NULL, 0,
                                     workload);
    json_decref(reply);
    return status;
}

/* What many calls make of an inout tensor has no golden; a single fresh call afterwards has. */
static int verify_round(trial *t, int workload, int calls, bool stateful, uint64_t *seed)
{
    int status = AKO_OK;
    if (stateful) {
        status = trial_prepare(t, workload, 0, (int64_t)(*seed)++, true);
        if (status == AKO_OK && !t->ended)
            status = run_once(t, workload);
        return status == AKO_OK && !t->ended ? verify_set(t, workload, 0) : status;
    }
    for (int s = 0; status == AKO_OK && !t->ended && s < t->n_sets && s < calls; s++)
        status = verify_set(t, workload, s);
    return status;
}

static int time_round(trial *t, series *out, int workload, int warmup, int launches, uint64_t *seed)
{
    json_t *reply;
    bool stateful = has_inout(t->ev->task);
    int status = prepare_sets(t, workload, seed, !stateful);
    if (status != AKO_OK || t->ended)
        return status;
    int64_t start = ako_clock_ns();
    status = trial_ask_candidate(t, &reply, "time", time_request(t, workload, warmup, launches), NULL, 0, workload);
    int64_t took = ako_clock_ns() - start;
    if (status == AKO_OK && !t->ended)
        status = distrust(t, reply, launches, took, workload);
    if (status == AKO_OK && !t->ended)
        status = verify_round(t, workload, (int)json_array_size(json_object_get(reply, "samples_ns")), stateful, seed);
    if (status == AKO_OK && !t->ended)
        status = add_samples(out, reply, took);
    json_decref(reply);
    return status;
}

static json_t *pack_summary(const trial *t, const series *s)
{
    size_t n = json_array_size(s->samples);
    int64_t *samples = malloc((n + 1) * sizeof *samples);
    ako_summary sum;
    for (size_t i = 0; samples && i < n; i++)
        samples[i] = json_integer_value(json_array_get(s->samples, i));
    int status = samples ? ako_stats_summary(&sum, samples, n, t->timing.alpha) : AKO_NOMEM;
    free(samples);
    if (status != AKO_OK)
        return NULL;
    json_t *ci = sum.has_ci ? json_pack("[I, I]", (json_int_t)sum.ci_low, (json_int_t)sum.ci_high) : json_null();
    return json_pack("{s:s, s:s, s:I, s:O, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:i, s:i}", "timer", s->timer,
                     "note", s->note, "n", (json_int_t)n, "samples_ns", s->samples, "min", (json_int_t)sum.min, "max",
                     (json_int_t)sum.max, "mean", pack_real(sum.mean), "std", pack_real(sum.std), "median",
                     pack_real(sum.median), "p95", pack_real(sum.p95), "ci", ci, "wall_ns", (json_int_t)s->wall_ns,
                     "sm_clock_mhz", s->sm_clock_mhz, "sets", t->n_sets);
}

static int put_summary(trial *t, int workload, const char *key, const series *s)
{
    json_t *summary = pack_summary(t, s);
    if (!summary || json_object_set_new(json_array_get(t->workloads, (size_t)workload), key, summary) != 0)
        return ako_fail(AKO_NOMEM, "evaluator", "out of memory");
    return AKO_OK;
}

static int time_solution(trial *t, int workload, uint64_t *seed)
{
    int rounds[MAX_ROUNDS], n = split(rounds, t, has_inout(t->ev->task)), status = AKO_OK;
    series gathered = {0};
    for (int r = 0; status == AKO_OK && !t->ended && r < n; r++)
        status = time_round(t, &gathered, workload, r == 0 ? t->timing.warmup : 0, rounds[r], seed);
    if (status == AKO_OK && !t->ended)
        status = put_summary(t, workload, "time", &gathered);
    json_decref(gathered.samples);
    if (status == AKO_OK && !t->ended && !t->wants_check)
        json_object_set_new(json_array_get(t->workloads, (size_t)workload), "status", json_string("PASSED"));
    return status;
}

static int time_reference(trial *t, int workload, uint64_t *seed)
{
    json_t *reply;
    series gathered = {0};
    int status = prepare_sets(t, workload, seed, false);
    if (status != AKO_OK || t->ended)
        return status;
    int64_t start = ako_clock_ns();
    status =
        trial_ask_referee(t, &reply, "time", time_request(t, workload, t->timing.warmup, t->timing.launches), workload);
    if (status == AKO_OK && !t->ended)
        status = add_samples(&gathered, reply, ako_clock_ns() - start);
    if (status == AKO_OK && !t->ended)
        status = put_summary(t, workload, "reference", &gathered);
    json_decref(reply);
    json_decref(gathered.samples);
    return status;
}

/* After the candidate's end, so that nothing it left running slows the reference down. Its timer is made meanwhile. */
static int time_references(trial *t, uint64_t *seed, int done, int total)
{
    json_t *reply;
    int status = child_send(&t->ev->referee, "timer", json_pack("{s:s}", "timer", t->timing.timer), NULL, 0);
    child_kill(&t->ev->candidate);
    if (status == AKO_OK)
        status = trial_settle_referee(t, &reply);
    if (status == AKO_OK)
        json_decref(reply);
    for (int w = 0; status == AKO_OK && !t->ended && w < t->ev->task->n_workloads; w++) {
        status = time_reference(t, w, seed);
        evaluator_progress(t->ev, "time", ++done, total);
    }
    return status;
}

int trial_time(trial *t)
{
    int n = t->ev->task->n_workloads, status = AKO_OK;
    bool reference = t->timing.reference && ako_lane_place(t->unit->lane) == ako_lane_place(t->ev->reference->lane);
    uint64_t seed = (uint64_t)t->timing.seed; /* counts on, and may wrap */
    trial_begin_step(t, "time", t->limits.time_ns);
    for (int w = 0; status == AKO_OK && !t->ended && w < n; w++) {
        status = time_solution(t, w, &seed);
        evaluator_progress(t->ev, "time", w + 1, reference ? 2 * n : n);
    }
    if (status == AKO_OK && !t->ended && reference)
        status = time_references(t, &seed, n, 2 * n);
    return status;
}
