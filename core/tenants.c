#include "tenants.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
