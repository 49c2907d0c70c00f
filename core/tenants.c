#include "tenants.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"

#define MAX_DEPTH 64

/* The parent of a process and the name of its program, from /proc/PID/stat: "pid (name) state ppid ...". The name may
 * itself hold blanks and parentheses. 0 when there is no such process. */
static int parent_of(int pid, char name[32])
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return 0;
    size_t n = fread(line, 1, sizeof line - 1, f);
    fclose(f);
    line[n] = '\0';
    char *open = strchr(line, '('), *close = strrchr(line, ')');
    int parent = 0;
    if (!open || !close || sscanf(close + 1, " %*c %d", &parent) != 1)
        return 0;
    snprintf(name, 32, "%.*s", (int)(close - open - 1), open + 1);
    return parent;
}

bool ako_pids_are_global(void)
{
    /* The kernel gives the first PID namespace a fixed number (PROC_PID_INIT_INO in include/linux/proc_ns.h). */
    char link[64];
    ssize_t n = readlink("/proc/self/ns/pid", link, sizeof link - 1);
    link[n > 0 ? n : 0] = '\0';
    return strcmp(link, "pid:[4026531836]") == 0;
}

/* This process or the highest program of ours in the unbroken line above it. */
static int root_of_ours(void)
{
    char name[32];
    int root = (int)getpid();
    for (int pid = (int)getppid(), depth = 0; pid > 1 && depth < MAX_DEPTH; depth++) {
        int parent = parent_of(pid, name);
        if (strncmp(name, "ako-", 4) != 0)
            break;
        root = pid;
        pid = parent;
    }
    return root;
}

/* Whether it is a process of some run of ours that uses a device: it does so under the lock alone. Candidates may
 * rename themselves, their evaluator does not. */
static bool takes_turns(int pid)
{
    char name[32];
    return parent_of(parent_of(pid, name), name) > 0 && strcmp(name, "ako-evaluator") == 0;
}

/* Through this one process the driver runs the work of all where MPS is on. */
static bool is_server_of_mps(int pid)
{
    char name[32];
    return parent_of(pid, name) > 0 && strncmp(name, "nvidia-cuda-mps", 15) == 0;
}

static bool is_below(int pid, int ancestor)
{
    char name[32];
    for (int depth = 0; pid > 0 && depth < MAX_DEPTH; depth++) {
        if (pid == ancestor)
            return true;
        pid = parent_of(pid, name);
    }
    return false;
}

bool ako_pid_is_ours(int pid)
{
    return is_below((int)getpid(), pid) || is_below(pid, root_of_ours());
}

static bool holds(const int *pids, int n, int pid)
{
    for (int i = 0; i < n; i++)
        if (pids[i] == pid)
            return true;
    return false;
}

static int count_of(const int *wanted, int n_wanted, const int *pids, int n)
{
    int found = 0;
    for (int i = 0; i < n_wanted; i++)
        found += holds(pids, n, wanted[i]);
    return found;
}

static bool is_stranger(int pid, const int *ours, int n_ours)
{
    return !holds(ours, n_ours, pid) && !ako_pid_is_ours(pid) && !takes_turns(pid) && !is_server_of_mps(pid);
}

/* Processes that may have a context, of other runs of ours that we can see. */
static int count_turn_takers(const int *ours, int n_ours)
{
    DIR *proc = opendir("/proc");
    int found = 0;
    for (struct dirent *entry; proc && (entry = readdir(proc));) {
        char name[32];
        int pid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;
        if (pid <= 0 || holds(ours, n_ours, pid) || parent_of(pid, name) == 0)
            continue;
        found += strcmp(name, "ako-referee") == 0 || strcmp(name, "ako-candidate") == 0;
    }
    if (proc)
        closedir(proc);
    return found;
}

static void judge_each(ako_device_tenants *out, const int *listed, int n, const int *ours, int n_ours)
{
    out->strangers = 0;
    for (int i = 0; i < n; i++)
        out->strangers += is_stranger(listed[i], ours, n_ours);
    if (!ako_pids_are_global())
        snprintf(out->note, sizeof out->note, "processes outside this container may be hidden from it");
}

static void count(ako_device_tenants *out, int n, const int *ours, int n_ours)
{
    int others = n - n_ours, taking_turns = others > 0 ? count_turn_takers(ours, n_ours) : 0;
    out->strangers = others > taking_turns ? others - taking_turns : 0;
    snprintf(out->note, sizeof out->note,
             "counted, since the driver's numbers are not those of this container: %d listed, %d of them ours%s", n,
             n_ours, taking_turns > 0 ? ", others may be of another ako-lua" : "");
}

int ako_tenants_judge(ako_device_tenants *out, const int *listed, int n, const int *ours, int n_ours)
{
    *out = (ako_device_tenants){.strangers = -1};
    bool all_of_ours = n_ours > 0 && count_of(ours, n_ours, listed, n) == n_ours;
    if (all_of_ours || (n_ours == 0 && ako_pids_are_global())) {
        judge_each(out, listed, n, ours, n_ours);
    } else if (n_ours > 0 && n >= n_ours) {
        count(out, n, ours, n_ours);
    } else {
        snprintf(out->note, sizeof out->note,
                 "strangers cannot be told: the driver lists %d here and leaves out ours, which are %d", n, n_ours);
        return ako_fail(AKO_UNAVAILABLE, "device", "%s", out->note);
    }
    return AKO_OK;
}
