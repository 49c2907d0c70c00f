#include "lock_holder.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static int parent_of(int pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = '\0';
    const char *end = strrchr(text, ')'); /* of the program's name, which may hold anything */
    int parent = 0;
    return end && sscanf(end + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

static bool is_below_us(int pid)
{
    for (int p = pid > 0 ? parent_of(pid) : 0; p > 0; p = parent_of(p))
        if (p == getpid())
            return true;
    return false;
}

/* A line of proc_locks(5): "1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF". Lines of waiters have "->" before the
 * kind and do not fit. */
static bool is_held_below(const char *line, const struct stat *file)
{
    int pid;
    unsigned device_major, device_minor;
    unsigned long inode;
    if (sscanf(line, "%*d: FLOCK %*s %*s %d %x:%x:%lu", &pid, &device_major, &device_minor, &inode) != 4)
        return false;
    return inode == file->st_ino && device_major == major(file->st_dev) && device_minor == minor(file->st_dev) &&
           is_below_us(pid);
}

bool ako_lock_is_held_below(const char *name)
{
    char path[300], line[256];
    struct stat file;
    bool held = false;
    snprintf(path, sizeof path, "/tmp/ako-lua-locks/%s.lock", name);
    FILE *locks = stat(path, &file) == 0 ? fopen("/proc/locks", "re") : NULL;
    while (locks && !held && fgets(line, sizeof line, locks))
        held = is_held_below(line, &file);
    if (locks)
        fclose(locks);
    return held;
}
