#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "confine_parts.h"

#define FOLDER_MIB 64
#define FOLDER_FILES 4096
#define MOST_DESCRIPTORS 4096
#define SPARE_TASKS 1024 /* beside those that the machine runs already */

/* What each place can bear is decided here and in confine_parts.h's two files, by `place`. The processes of CUDA find
 * each other by abstract sockets and by user id, so on a GPU there are no namespaces of networks and users. */
static int namespaces_for(ako_place place)
{
    return place == AKO_GPU ? CLONE_NEWNS : CLONE_NEWNET | CLONE_NEWNS;
}

void ako_confine_unavailable(char *report, size_t size, const char *what)
{
    int code = errno;
    snprintf(report, size, "unavailable: %s: %s", what, strerror(code));
}

static bool write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));
    if (fd >= 0)
        close(fd);
    return n == (ssize_t)strlen(text);
}

/* A user namespace makes the other namespaces possible without privileges. Ids keep their numbers in it; should the
 * maps not be taken, only the names of owners look odd. */
static int unshare_as_user(int namespaces)
{
    char map[64];
    uid_t user = geteuid();
    gid_t group = getegid();
    if (unshare(CLONE_NEWUSER | namespaces) != 0)
        return -1;
    write_text("/proc/self/setgroups", "deny");
    snprintf(map, sizeof map, "%u %u 1", (unsigned)user, (unsigned)user);
    write_text("/proc/self/uid_map", map);
    snprintf(map, sizeof map, "%u %u 1", (unsigned)group, (unsigned)group);
    write_text("/proc/self/gid_map", map);
    return 0;
}

/* Returns the namespaces that are new. */
static int enter_namespaces(ako_place place)
{
    int wanted = namespaces_for(place);
    if (unshare(wanted) == 0)
        return wanted;
    return place == AKO_CPU && unshare_as_user(wanted) == 0 ? wanted : 0;
}

/* A file system of its own in a mount namespace of its own: full is full, and it goes with the process. */
static bool mount_folder(const char *folder)
{
    char options[96];
    snprintf(options, sizeof options, "size=%dm,nr_inodes=%d,mode=0700", FOLDER_MIB, FOLDER_FILES);
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NODEV, options) == 0;
}

static void confine_folder(ako_confinement *out, int namespaces, const char *folder)
{
    if ((namespaces & CLONE_NEWNS) && mount_folder(folder))
        snprintf(out->folder, sizeof out->folder, "%d MiB, its own file system", FOLDER_MIB);
    else
        ako_confine_unavailable(out->folder, sizeof out->folder, "a file system of its own");
    if (chdir(folder) != 0)
        ako_confine_unavailable(out->folder, sizeof out->folder, "the folder");
}

/* Also out of reach of what later gains: the bounding set is the most that a process can ever get. */
static void drop_capabilities(ako_confinement *out)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct held[2], none[2] = {{0}, {0}};
    bool had_none = syscall(SYS_capget, &header, held) == 0 && !held[0].permitted && !held[1].permitted;
    for (int c = 0; !had_none && c < 64 && prctl(PR_CAPBSET_READ, c, 0, 0, 0) >= 0; c++)
        prctl(PR_CAPBSET_DROP, c, 0, 0, 0);
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (syscall(SYS_capset, &header, none) != 0)
        ako_confine_unavailable(out->capabilities, sizeof out->capabilities, "capset");
    else
        snprintf(out->capabilities, sizeof out->capabilities, had_none ? "none were held" : "dropped");
}

/* When memory ends the kernel is to end this process before any other. */
static void volunteer(void)
{
    write_text("/proc/self/oom_score_adj", "1000");
}

void ako_confine_process(ako_confinement *out, ako_place place, const char *folder)
{
    *out = (ako_confinement){.no_new_privs = false};
    volunteer();
    int namespaces = enter_namespaces(place);
    snprintf(out->network, sizeof out->network, namespaces & CLONE_NEWNET ? "namespace" : "unavailable: no namespace");
    confine_folder(out, namespaces, folder);
    out->no_new_privs = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    drop_capabilities(out);
    ako_confine_files(out->landlock, sizeof out->landlock, place, folder);
}

static bool lower(int resource, rlim_t most)
{
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)resource, &limit) != 0)
        return false;
    limit.rlim_max = limit.rlim_max < most ? limit.rlim_max : most;
    limit.rlim_cur = limit.rlim_cur < limit.rlim_max ? limit.rlim_cur : limit.rlim_max;
    return setrlimit((__rlimit_resource_t)resource, &limit) == 0;
}

/* The limit counts all that the user runs, which this process cannot see cheaply; all that the machine runs is no less.
 * Root is exempt. */
static rlim_t most_tasks(void)
{
    char text[128];
    long tasks = 0;
    int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return sscanf(text, "%*s %*s %*s %*d/%ld", &tasks) == 1 && tasks > 0 ? (rlim_t)tasks + SPARE_TASKS : RLIM_INFINITY;
}

/* Three quarters of the machine. 0: no limit, for a sanitizer maps far more than it uses. */
static uint64_t most_memory(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return 0;
#else
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / 4 * 3 : 0;
#endif
}

static void limit_resources(ako_confinement *out, ako_place place)
{
    rlim_t tasks = most_tasks();
    uint64_t memory = place == AKO_CPU ? most_memory() : 0; /* CUDA reserves addresses by the terabyte */
    bool all = lower(RLIMIT_CORE, 0) && lower(RLIMIT_FSIZE, (rlim_t)FOLDER_MIB << 20) &&
               lower(RLIMIT_NOFILE, MOST_DESCRIPTORS) && lower(RLIMIT_NPROC, tasks) && lower(RLIMIT_MSGQUEUE, 0);
    if (memory)
        all = lower(RLIMIT_DATA, (rlim_t)memory) && all;
    if (!all)
        ako_confine_unavailable(out->limits, sizeof out->limits, "setrlimit");
    else if (memory)
        snprintf(out->limits, sizeof out->limits, "core 0, file %d MiB, descriptors %d, tasks, memory %" PRIu64 " MiB",
                 FOLDER_MIB, MOST_DESCRIPTORS, memory >> 20);
    else
        snprintf(out->limits, sizeof out->limits, "core 0, file %d MiB, descriptors %d, tasks", FOLDER_MIB,
                 MOST_DESCRIPTORS);
}

int ako_confine_settle(char *report, size_t size, ako_place place)
{
    return ako_confine_calls(report, size, place, true);
}

void ako_confine_code(ako_confinement *out, ako_place place, bool programs)
{
    limit_resources(out, place);
    if (!ako_confine_calls(out->seccomp, sizeof out->seccomp, place, !programs))
        return;
    if (strncmp(out->network, "unavailable", strlen("unavailable")) == 0)
        snprintf(out->network, sizeof out->network, "seccomp");
    else
        snprintf(out->network, sizeof out->network, "namespace and seccomp");
}

bool ako_confine_compiler(const char *folder)
{
    ako_confinement report = {0};
    volunteer();
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    drop_capabilities(&report);
    return ako_confine_files(report.landlock, sizeof report.landlock, AKO_CPU, folder);
}

void ako_confine_memory(void)
{
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
