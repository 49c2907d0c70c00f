#include "parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

typedef struct ako_parallel_job {
    ako_parallel_part part;
    void *payload;
    int slot;
    uint64_t begin, end;
    pthread_t thread;
    bool started;
} ako_parallel_job;

static void *run_job(void *payload)
{
    ako_parallel_job *job = payload;
    job->part(job->payload, job->slot, job->begin, job->end);
    return NULL;
}

static int usable_cpus(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

static int count_parts(uint64_t count, uint64_t grain)
{
    uint64_t parts = grain ? count / grain : count;
    uint64_t cpus = (uint64_t)usable_cpus();
    parts = parts < cpus ? parts : cpus;
    parts = parts < AKO_PARALLEL_PARTS ? parts : AKO_PARALLEL_PARTS;
    return parts ? (int)parts : 1;
}

int ako_parallel_run(uint64_t count, uint64_t grain, ako_parallel_part part, void *payload)
{
    ako_parallel_job jobs[AKO_PARALLEL_PARTS];
    int n = count_parts(count, grain);
    uint64_t length = count / (uint64_t)n;
    for (int i = 0; i < n; i++) {
        uint64_t begin = (uint64_t)i * length, end = i == n - 1 ? count : begin + length;
        jobs[i] = (ako_parallel_job){.part = part, .payload = payload, .slot = i, .begin = begin, .end = end};
        jobs[i].started = i > 0 && pthread_create(&jobs[i].thread, NULL, run_job, &jobs[i]) == 0;
    }
    for (int i = 0; i < n; i++) {
        if (!jobs[i].started)
            run_job(&jobs[i]);
    }
    for (int i = 1; i < n; i++) {
        if (jobs[i].started)
            pthread_join(jobs[i].thread, NULL);
    }
    return n;
}
