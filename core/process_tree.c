#include "process_tree.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "error.h"
#include "process.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pid_t *started;
static size_t n_started, started_capacity;
static bool adopting;

int ako_process_adopt_orphans(void)
{
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        return ako_fail_errno("process", "cannot adopt orphaned processes");
    adopting = true;
    return AKO_OK;
}

int ako_tree_register(pid_t pid)
{
    int status = AKO_OK;
    pthread_mutex_lock(&mutex);
    if (n_started == started_capacity) {
        size_t capacity = started_capacity ? 2 * started_capacity : 16;
        pid_t *grown = realloc(started, capacity * sizeof *grown);
        if (grown) {
            started = grown;
            started_capacity = capacity;
        } else {
            status = ako_fail(AKO_NOMEM, "process", "out of memory starting a process");
        }
    }
    if (status == AKO_OK)
        started[n_started++] = pid;
    pthread_mutex_unlock(&mutex);
    return status;
}

void ako_tree_forget(pid_t pid)
{
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < n_started; i++)
        if (started[i] == pid)
            started[i--] = started[--n_started];
    pthread_mutex_unlock(&mutex);
}

static bool is_started(pid_t pid)
{
    bool found = false;
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < n_started; i++)
        found = found || started[i] == pid;
    pthread_mutex_unlock(&mutex);
    return found;
}

typedef struct entry {
    pid_t pid, parent, group, session;
    char state;
    unsigned long long start; /* clock ticks since boot: tells a reused pid from the process it was */
    bool victim;
} entry;

typedef struct entries {
    entry *items;
    size_t n, capacity;
} entries;

typedef struct hunt {
    pid_t root;
    bool unreaped;  /* the root is still our child; its pid is kept until the end, so that its session stays its own */
    entries now;    /* all processes, by pid */
    entries caught; /* every victim so far: their children stay victims when they are re-parented */
    int signal;
} hunt;

static int add_entry(entries *list, const entry *e)
{
    if (list->n == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 256;
        entry *grown = realloc(list->items, capacity * sizeof *grown);
        if (!grown)
            return ako_fail(AKO_NOMEM, "process", "out of memory listing processes");
        list->items = grown;
        list->capacity = capacity;
    }
    list->items[list->n++] = *e;
    return AKO_OK;
}

/* Fields of /proc/<pid>/stat by proc(5); the name before them may hold anything, so they count from the last ')'. */
static bool read_entry(entry *out, const char *name)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%.20s/stat", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    const char *end = strrchr(text, ')');
    *out = (entry){.pid = (pid_t)strtol(name, NULL, 10)};
    return end && sscanf(end + 1, " %c %d %d %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
                         &out->state, &out->parent, &out->group, &out->session, &out->start) == 5;
}

static int by_pid(const void *a, const void *b)
{
    pid_t x = ((const entry *)a)->pid, y = ((const entry *)b)->pid;
    return (x > y) - (x < y);
}

static int list_processes(entries *list)
{
    DIR *proc = opendir("/proc");
    if (!proc)
        return ako_fail_errno("process", "cannot list processes");
    list->n = 0;
    int status = AKO_OK;
    for (struct dirent *d; status == AKO_OK && (d = readdir(proc)) != NULL;) {
        entry e;
        if (isdigit((unsigned char)d->d_name[0]) && read_entry(&e, d->d_name))
            status = add_entry(list, &e);
    }
    closedir(proc);
    if (list->n > 0)
        qsort(list->items, list->n, sizeof *list->items, by_pid);
    return status;
}

static entry *find_entry(const entries *list, pid_t pid)
{
    entry key = {.pid = pid};
    return list->n ? bsearch(&key, list->items, list->n, sizeof key, by_pid) : NULL;
}

static bool was_caught(const hunt *h, const entry *e)
{
    for (size_t i = 0; i < h->caught.n; i++)
        if (h->caught.items[i].pid == e->pid && h->caught.items[i].start == e->start)
            return true;
    return false;
}

/* A child of ours that we did not start, out of a session that is not ours: it came to us when its parent died. One
 * that left its tree's session as well cannot be told from another tree's, and is nobody's to keep. */
static bool is_stray_orphan(const entry *e, pid_t self, pid_t own_session)
{
    return adopting && e->parent == self && e->session != own_session && !is_started(e->pid) && !is_started(e->session);
}

static void mark_victims(hunt *h)
{
    pid_t self = getpid(), own_session = getsid(0);
    /* With the root reaped its number may be somebody else's by now, which needs the old session to be empty. */
    bool session_counts = h->unreaped || !find_entry(&h->now, h->root);
    for (size_t i = 0; i < h->now.n; i++) {
        entry *e = &h->now.items[i];
        e->victim = (h->unreaped && e->pid == h->root) || (session_counts && e->session == h->root) ||
                    was_caught(h, e) || is_stray_orphan(e, self, own_session);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < h->now.n; i++) {
            entry *e = &h->now.items[i];
            const entry *parent = e->victim ? NULL : find_entry(&h->now, e->parent);
            if (parent && parent->victim)
                changed = e->victim = true;
        }
    }
}

static bool is_dead(const entry *e)
{
    return e->state == 'Z' || e->state == 'X' || e->state == 'x';
}

/* KILL goes to the whole group, at once and again and again; TERM once to each process. */
static int signal_victim(hunt *h, const entry *e)
{
    bool fresh = !was_caught(h, e);
    if (h->signal == SIGKILL && e->group != getpgrp())
        kill(-e->group, SIGKILL);
    if (fresh || h->signal == SIGKILL)
        kill(e->pid, h->signal);
    return fresh ? add_entry(&h->caught, e) : AKO_OK;
}

/* One look at all processes: signals the living victims, reaps the dead ones that are ours. */
static int sweep(hunt *h, size_t *living)
{
    *living = 0;
    int status = list_processes(&h->now);
    if (status != AKO_OK)
        return status;
    mark_victims(h);
    for (size_t i = 0; i < h->now.n && status == AKO_OK; i++) {
        const entry *e = &h->now.items[i];
        if (!e->victim)
            continue;
        if (is_dead(e)) {
            if (e->parent == getpid() && e->pid != h->root)
                waitpid(e->pid, NULL, WNOHANG);
            continue;
        }
        ++*living;
        status = signal_victim(h, e);
    }
    return status;
}

static int fail_unkillable(const hunt *h)
{
    for (size_t i = 0; i < h->now.n; i++)
        if (h->now.items[i].victim && !is_dead(&h->now.items[i]))
            return ako_fail(AKO_TIMEOUT, "process", "process %d cannot be killed (state %c)", (int)h->now.items[i].pid,
                            h->now.items[i].state);
    return AKO_OK;
}

static int hunt_down(hunt *h, int64_t grace_ns)
{
    const int64_t patience_ns = INT64_C(10000000000);
    int64_t kill_at = ako_clock_ns() + grace_ns;
    /* A list of processes is no snapshot: after victims were seen, two empty looks in a row end it. */
    for (int empty = 0, pause_ms = 1; empty < (h->caught.n ? 2 : 1);) {
        int64_t now = ako_clock_ns();
        h->signal = now >= kill_at ? SIGKILL : SIGTERM;
        size_t living;
        int status = sweep(h, &living);
        if (status != AKO_OK)
            return status;
        empty = living ? 0 : empty + 1;
        if (!living)
            continue;
        if (now >= kill_at + patience_ns)
            return fail_unkillable(h);
        ako_clock_sleep_ns((int64_t)pause_ms * 1000000);
        pause_ms = pause_ms < 16 ? 2 * pause_ms : pause_ms;
    }
    return AKO_OK;
}

int ako_process_kill_helpers(pid_t pid, int64_t deadline_ns)
{
    hunt h = {.root = pid, .unreaped = true, .signal = SIGKILL};
    int status = AKO_OK;
    for (size_t living = 1; status == AKO_OK && living > 0;) {
        living = 0;
        status = list_processes(&h.now);
        for (size_t i = 0; status == AKO_OK && i < h.now.n; i++) {
            const entry *e = &h.now.items[i];
            if (e->pid == pid || e->session != pid || is_dead(e))
                continue;
            living++;
            kill(e->pid, SIGKILL);
        }
        if (status == AKO_OK && living > 0 && ako_clock_ns() >= deadline_ns)
            status = ako_fail(AKO_TIMEOUT, "process", "helpers of process %d cannot be killed", (int)pid);
        if (living > 0)
            ako_clock_sleep_ns(1000000);
    }
    free(h.now.items);
    return status;
}

static bool is_unreaped_child(pid_t pid)
{
    siginfo_t info;
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

int ako_process_kill_tree_status(pid_t pid, int64_t grace_ns, int *status)
{
    if (status)
        *status = -1;
    if (pid <= 1)
        return ako_fail(AKO_INVALID, "process", "no process to kill: %d", (int)pid);
    hunt h = {.root = pid, .unreaped = is_unreaped_child(pid)};
    int result = hunt_down(&h, grace_ns);
    if (result != AKO_OK && h.unreaped)
        kill(-pid, SIGKILL); /* without a list of processes (no /proc, no memory) at least its group */
    int how;
    if (h.unreaped && waitpid(pid, &how, result == AKO_TIMEOUT ? WNOHANG : 0) == pid) {
        if (status)
            *status = how;
        ako_tree_forget(pid);
    }
    free(h.now.items);
    free(h.caught.items);
    return result;
}

int ako_process_kill_tree(pid_t pid, int64_t grace_ns)
{
    return ako_process_kill_tree_status(pid, grace_ns, NULL);
}
