#include "sample.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "error.h"
#include "pack.h"
#include "surroundings.h"
#include "timing.h"
#include "verdict.h"

/* The samples' sum in ns; -1 unless there are `n` and each is above zero and less than `took_ns`. */
static int64_t sum_of(const json_t *samples, int n, int64_t took_ns)
{
    int64_t sum = 0;
    if (json_array_size(samples) != (size_t)n)
        return -1;
    for (int i = 0; i < n; i++) {
        int64_t ns = json_integer_value(json_array_get(samples, (size_t)i));
        if (ns <= 0 || ns > took_ns)
            return -1;
        sum += ns;
    }
    return sum;
}

/* A time that the arm states; none is longer than the request took. */
static int64_t stated_ns(const json_t *reply, const char *key, int64_t took_ns)
{
    int64_t ns = json_integer_value(json_object_get(reply, key));
    return ns < 0 ? 0 : ns > took_ns ? took_ns : ns;
}

static int end_arm(trial *t, arm which, int workload, const char *status, const char *code, const char *reason)
{
    if (which == ARM_INCUMBENT)
        return trial_end(t, "UNSTABLE", "M7", "the best so far, timed in turn, is not what it was: %s (%s)", reason,
                         code);
    return trial_end_workload(t, workload, status, code, reason);
}

#define SYNC_SLACK_NS INT64_C(200000) /* several times what a launch and its sync cost beside the work */
#define ORDER_SLACK_NS INT64_C(5000)  /* more than clocks of streams and copies are apart */

/* What one answer alone can show: launches cannot take longer in sum than the whole request took, none takes no time,
 * none takes far less than a warm-up call, by the host's clock from launch to idle device (work on a stream that the
 * timer does not see), all of its work is in the order of the stream that its result is read on, and no part of the L2
 * is kept from the flush. */
static int distrust(trial *t, arm which, const json_t *reply, int n, int64_t took_ns, int workload)
{
    int64_t sum = sum_of(json_object_get(reply, "samples_ns"), n, took_ns), mean = sum / n;
    int64_t call = stated_ns(reply, "wall_min_ns", took_ns);
    if (sum < 0)
        return end_arm(t, which, workload, "UNTRUSTED_TIMING", "T4", "not every timed call gave a possible time");
    if (sum > took_ns)
        return end_arm(t, which, workload, "UNTRUSTED_TIMING", "T4",
                       "the samples add up to more than the time that passed outside");
    if (mean < call / 10 * 7 && call - mean > SYNC_SLACK_NS)
        return end_arm(t, which, workload, "UNTRUSTED_TIMING", "T1",
                       "a call keeps the device busy for far longer than its samples say");
    if (json_integer_value(json_object_get(reply, "loose_ns")) > ORDER_SLACK_NS)
        return end_arm(t, which, workload, "UNTRUSTED_TIMING", "T1",
                       "work of a call runs on a stream that does not wait for the stream it was called on, or that"
                       " nobody waits for when the call returns");
    if (json_integer_value(json_object_get(reply, "carve_out")) > 0)
        return end_arm(t, which, workload, "REWARD_HACK", "T10",
                       "set a part of the L2 cache aside, which no flush empties");
    return AKO_OK;
}

static int add(trial *t, series *s, const json_t *reply, int n, int warmup, int64_t took_ns)
{
    const json_t *samples = json_object_get(reply, "samples_ns");
    const char *timer = json_string_value(json_object_get(reply, "timer"));
    const char *note = json_string_value(json_object_get(reply, "note"));
    int mhz = (int)json_integer_value(json_object_get(reply, "sm_clock_mhz"));
    const calibration *c = &t->ev->calibration;
    snprintf(s->timer, sizeof s->timer, "%s", timer ? timer : "");
    snprintf(s->note, sizeof s->note, "%s", note ? note : "");
    s->wall_ns += stated_ns(reply, "wall_ns", took_ns);
    s->events_ns += stated_ns(reply, "events_ns", took_ns);
    s->timed_ns += took_ns;
    s->sm_clock_mhz = mhz > 0 ? mhz : s->sm_clock_mhz;
    s->calls_a_request = n > s->calls_a_request ? n : s->calls_a_request;
    if (s->n_gaps < GAPS && warmup == 0) /* what warm-up calls take is in no sample */
        s->gaps_ns[s->n_gaps++] = (double)(took_ns - c->fixed_ns - n * c->each_ns - sum_of(samples, n, took_ns)) / n;
    if (!s->samples)
        s->samples = json_array();
    if (!s->samples || json_array_extend(s->samples, (json_t *)(uintptr_t)samples) != 0)
        return ako_fail(AKO_NOMEM, "evaluator", "out of memory");
    return AKO_OK;
}

/* Outputs that were right in the check and are not in the timed calls. */
static int end_with_wrong_output(trial *t, arm which, const json_t *verdict, int workload)
{
    const char *status = json_string_value(json_object_get(verdict, "status"));
    const char *code = json_string_value(json_object_get(verdict, "code"));
    const char *found = json_string_value(json_object_get(verdict, "reason"));
    char reason[600];
    if (!status || !code || !found || strcmp(status, "INCORRECT_NUMERICAL") != 0)
        return end_arm(t, which, workload, status ? status : "INFRA", code ? code : "", found ? found : "");
    bool unwritten = strcmp(code, "unwritten") == 0;
    snprintf(reason, sizeof reason, "the outputs of timed calls are wrong: %.500s", found);
    return end_arm(t, which, workload, "REWARD_HACK", unwritten ? "T11" : "W2", reason);
}

/* Why nothing but the reference could say so. */
static void note_lack(trial *t, const json_t *verdict, int workload)
{
    json_t *exact = json_object_get(verdict, "exact");
    if (json_object_get(exact, "unavailable"))
        json_object_set(json_array_get(t->workloads, (size_t)workload), "exact", exact);
}

static int judge(trial *t, arm which, const json_t *verdict, int workload)
{
    if (verdict_has_passed(verdict))
        return AKO_OK;
    note_lack(t, verdict, workload);
    return end_with_wrong_output(t, which, verdict, workload);
}

/* How many of a sample's calls are compared in full. All where that costs little; else at random, so that the share of
 * the time is kept, the least number reached, and nobody can know which. */
static int choose_count(const trial *t, arm which, const series *s, int n, int64_t took_ns, int expected)
{
    const trial_timing *plan = &t->timing;
    int missing = plan->proof_least - s->verified;
    if (which == ARM_INCUMBENT) /* its outputs are held against the candidate's */
        return 0;
    if (s->verified == 0)
        return 1;
    if (t->slow_reference)
        return s->verified < 2 && random_bits() % (uint64_t)(expected + 1) == 0;
    double whole = (double)s->inspect_ns + (double)n * (double)s->verify_ns;
    double room = plan->proof_share * (double)(s->timed_ns + took_ns) - (double)s->proof_ns;
    double wanted = room / whole, forced = expected > 0 ? (double)missing / (double)(n * expected) : missing;
    double share = wanted > forced ? wanted : forced;
    if (share <= 0)
        return 0;
    if (share >= 1)
        return n;
    double coin = (double)(random_bits() >> 11) * 0x1p-53;
    return coin < share * n - (int)(share * n) ? (int)(share * n) + 1 : (int)(share * n);
}

/* `count` different calls out of n, in random order. */
static json_t *choose_calls(int n, int count)
{
    int order[EXCHANGE_SETS];
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = 0; i < count; i++) {
        int j = i + (int)(random_bits() % (uint64_t)(n - i)), chosen = order[j];
        order[j] = order[i];
        order[i] = chosen;
        json_array_append_new(list, json_integer(chosen));
    }
    return list;
}

/* The calls with what was seen behind each. Calls on one view have overwritten each other: the last one counts. */
static json_t *with_seen(const trial *t, const batch *b, const json_t *reply)
{
    json_t *calls = json_array();
    const json_t *seen = json_object_get(reply, "seen");
    for (int i = t->timing.flush ? 0 : b->n - 1; i < b->n; i++) {
        json_t *call = json_copy(json_array_get(b->calls, (size_t)i));
        json_t *places = json_array_get(seen, (size_t)i);
        if (call)
            json_object_set_new(call, "seen", places ? json_incref(places) : json_array());
        json_array_append_new(calls, call);
    }
    return calls;
}

/* One that differs from the reference may be right by the answer in fp64; then the rest is compared. */
static int ask_to_compare(trial *t, json_t **answer, const json_t *calls, json_t *full, int workload)
{
    bool is_left = true;
    int status = AKO_OK;
    *answer = NULL;
    while (status == AKO_OK && !t->ended && is_left) {
        json_decref(*answer);
        status =
            trial_ask_referee(t, answer, "inspect", json_pack("{s:O, s:O}", "calls", calls, "full", full), workload);
        if (status != AKO_OK || t->ended || verdict_has_passed(*answer))
            break;
        int n = (int)json_integer_value(json_object_get(*answer, "compared"));
        size_t last = (size_t)json_integer_value(json_array_get(full, n > 0 ? (size_t)n - 1 : 0));
        status = trial_judge_exactly(t, *answer, json_pack("{s:O}", "call", json_array_get(calls, last)));
        for (int i = 0; i < n; i++)
            json_array_remove(full, 0);
        is_left = verdict_has_passed(*answer) && json_array_size(full) > 0;
    }
    json_decref(full);
    return status;
}

static int inspect(trial *t, arm which, int workload, const batch *b, const json_t *reply, int expected, int64_t took,
                   series *s)
{
    json_t *calls = with_seen(t, b, reply), *answer = NULL;
    int n = (int)json_array_size(calls), count = choose_count(t, which, s, n, took, expected);
    if (count == 0) {
        json_decref(calls);
        return AKO_OK;
    }
    int64_t start = ako_clock_ns();
    int status = ask_to_compare(t, &answer, calls, choose_calls(n, count), workload);
    int64_t spent = ako_clock_ns() - start;
    if (status == AKO_OK && !t->ended) {
        s->proof_ns += spent;
        s->verify_ns = json_integer_value(json_object_get(answer, "verify_ns"));
        s->inspect_ns = spent - s->verify_ns * count;
        s->verified += count;
        t->slow_reference = t->slow_reference || s->verify_ns > SLOW_REFERENCE_NS;
        status = judge(t, which, answer, workload);
    }
    json_decref(answer);
    json_decref(calls);
    return status;
}

/* Tasks with inout tensors: what a call reads is gone after it, so one golden is made before. */
static int verify_proven(trial *t, arm which, int workload, const batch *b, series *s)
{
    json_t *answer = NULL;
    int status = trial_verify(t, &answer, b->proven, workload);
    if (status == AKO_OK && !t->ended) {
        s->verified++;
        status = judge(t, which, answer, workload);
    }
    json_decref(answer);
    return status;
}

static int make_contents(trial *t, int workload, const batch *b)
{
    int status = AKO_OK;
    for (int s = 0; status == AKO_OK && !t->ended && s < b->n; s++)
        if (s != b->proven)
            status = trial_prepare(t, workload, s, (int64_t)(b->seed + (uint64_t)s), false);
    return status == AKO_OK && !t->ended
               ? trial_prepare(t, workload, b->proven, (int64_t)(b->seed + (uint64_t)b->proven), true)
               : status;
}

static json_t *request_for(const trial *t, rotation *r, const batch *b, int workload, int *warmup, const char *timer)
{
    json_t *calls = json_array();
    batch warm = {0};
    *warmup = b->proven >= 0 || r->anew ? 0 : *warmup;
    if (*warmup > 0 && t->timing.flush)
        for (int i = 0; i < *warmup; i += warm.n, batch_free(&warm)) {
            int n = *warmup - i < r->n_sets ? *warmup - i : r->n_sets;
            if (batch_new(&warm, t, r, n) != AKO_OK || json_array_extend(calls, warm.calls) != 0)
                break;
            warm.n = n;
        }
    for (int i = 0; *warmup > 0 && !t->timing.flush && i < *warmup; i++)
        json_array_append(calls, json_array_get(b->calls, 0));
    json_array_extend(calls, b->calls);
    bool loose =
        b->proven < 0 && (b->discarded || *warmup > 0); /* a call made twice spoils what is passed in and out */
    return json_pack("{s:i, s:i, s:i, s:b, s:b, s:s, s:o}", "workload", workload, "warmup", *warmup, "launches", b->n,
                     "flush", t->timing.flush && !b->back_to_back, "loose", loose, "timer", timer, "calls", calls);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void take_median(sample *out, const json_t *reply, int n, int64_t took_ns)
{
    int64_t values[EXCHANGE_SETS] = {0}; /* a batch has a set for each call */
    const json_t *samples = json_object_get(reply, "samples_ns");
    out->sum_ns = 0;
    out->took_ns = took_ns;
    for (int i = 0; i < n; i++) {
        values[i] = json_integer_value(json_array_get(samples, (size_t)i));
        out->sum_ns += values[i];
    }
    qsort(values, (size_t)n, sizeof *values, by_value);
    out->median_ns = n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2] + 1) / 2;
    out->mhz = (int)json_integer_value(json_object_get(reply, "sm_clock_mhz"));
    if (out->keep_seen)
        out->seen = json_incref(json_object_get(reply, "seen"));
}

/* By how long one takes (ns): short ones jitter, long ones drift. */
#define SHORT_NS 10000
#define MIDDLE_NS 100000
#define LONG_NS 1000000

int sample_launches(const trial *t, int64_t ns)
{
    int wanted = ns < SHORT_NS ? 9 : ns < MIDDLE_NS ? 5 : ns < LONG_NS ? 3 : 1;
    return wanted < t->n_sets || !t->timing.flush ? wanted : t->n_sets;
}

/* Where a rival has just left the right answer, doing nothing would do. The incumbent has shown in such turns of its
 * own that it works. Calls without a flush share a view. */
static int wipe(trial *t, arm which, int workload, const batch *b)
{
    if (b->turns == 0 || which == ARM_INCUMBENT)
        return AKO_OK;
    json_t *reply = NULL, *calls = json_array();
    for (int i = t->timing.flush ? 0 : b->n - 1; i < b->n; i++)
        json_array_append(calls, json_array_get(b->calls, (size_t)i));
    int status = trial_ask_referee(t, &reply, "wipe", json_pack("{s:o}", "calls", calls), workload);
    json_decref(reply);
    return status;
}

int sample_take(trial *t, arm which, int workload, rotation *r, batch *b, int warmup, const char *timer, int expected,
                series *s, sample *out)
{
    json_t *reply = NULL;
    bool made_for_each_call = b->proven >= 0;
    int status = b->turns == 0 ? rotation_make(t, r, workload, b) : AKO_OK;
    if (status == AKO_OK && !t->ended)
        status = made_for_each_call ? make_contents(t, workload, b) : wipe(t, which, workload, b);
    if (status != AKO_OK || t->ended)
        return status;
    json_t *request = request_for(t, r, b, workload, &warmup, timer);
    b->turns++;
    turn_give(t->ev, which);
    int64_t start = ako_clock_ns();
    status = trial_ask_arm(t, which, &reply, "time", request, -1, workload);
    int64_t took = ako_clock_ns() - start;
    surroundings_glance(t, s); /* at once, before the verification is work for the device too */
    if (status == AKO_OK && !t->ended)
        status = distrust(t, which, reply, b->n, took, workload);
    if (status == AKO_OK && !t->ended)
        status = made_for_each_call ? verify_proven(t, which, workload, b, s)
                                    : inspect(t, which, workload, b, reply, expected, took, s);
    if (status == AKO_OK && !t->ended)
        status = add(t, s, reply, b->n, warmup, took);
    if (status == AKO_OK && !t->ended && out)
        take_median(out, reply, b->n, took);
    json_decref(reply);
    return status;
}

/* Red zones and inputs of a set. */
int sample_check_set(trial *t, int workload, int set)
{
    json_t *answer = NULL;
    int status = trial_ask_referee(t, &answer, "intact", json_pack("{s:i}", "set", set), workload);
    if (status == AKO_OK && !t->ended)
        status = judge(t, t->own, answer, workload);
    json_decref(answer);
    return status;
}

static bool is_left_to_see(const trial *t)
{
    return !task_has_inout(t->ev->task) && t->timing.flush;
}

int sample_look_back(json_t **verdict, trial *t, int workload, json_t *call)
{
    *verdict = NULL;
    if (!is_left_to_see(t)) {
        *verdict = json_pack("{s:s, s:s, s:s}", "status", "REWARD_HACK", "code", "W2", "reason",
                             "a timed call left other outputs than the best's did");
        return *verdict ? AKO_OK : ako_fail(AKO_NOMEM, "evaluator", "out of memory");
    }
    /* On changed inputs the arm that was honest would look like the one that was not. */
    int status = sample_check_set(t, workload, (int)json_integer_value(json_object_get(call, "set")));
    if (status != AKO_OK || t->ended)
        return status;
    return trial_ask_referee(t, verdict, "inspect", json_pack("{s:[O], s:[i]}", "calls", call, "full", 0), workload);
}

int sample_blame(trial *t, const two_turns *turns, const json_t *verdict)
{
    if (!verdict_has_passed(verdict))
        return judge(t, is_left_to_see(t) ? turns->last : t->own, verdict, turns->workload);
    note_lack(t, verdict, turns->workload);
    return end_arm(t, turns->first, turns->workload, "REWARD_HACK", "W2",
                   "the outputs of a timed call are not those of its inputs");
}

int sample_check_sets(trial *t, const rotation *r, int workload)
{
    int status = AKO_OK;
    for (int s = 0; status == AKO_OK && !t->ended && !task_has_inout(t->ev->task) && s < r->n_sets; s++)
        if (r->used[s] > 0)
            status = sample_check_set(t, workload, s);
    return status;
}
