/* Landlock: a process gives up rights below a list of paths. Reading stays as it is. Called directly, since neither C
 * libraries nor older kernel headers know all of it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "confine_parts.h"

/* The same numbers on every architecture. */
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { VERSION_FLAG = 1, RULE_PATH_BENEATH = 1 };

/* From <linux/landlock.h>; the comment says with which ABI a right came. */
enum {
    WRITE_FILE = 1 << 1,
    REMOVE_DIR = 1 << 4,
    REMOVE_FILE = 1 << 5,
    MAKE_CHAR = 1 << 6,
    MAKE_DIR = 1 << 7,
    MAKE_REG = 1 << 8,
    MAKE_SOCK = 1 << 9,
    MAKE_FIFO = 1 << 10,
    MAKE_BLOCK = 1 << 11,
    MAKE_SYM = 1 << 12,
    REFER = 1 << 13,    /* 2: move and link between folders, always refused before */
    TRUNCATE = 1 << 14, /* 3 */
};
enum { BIND_TCP = 1 << 0, CONNECT_TCP = 1 << 1 };        /* 4 */
enum { ABSTRACT_UNIX_SOCKET = 1 << 0, SIGNAL = 1 << 1 }; /* 6: to processes outside */

typedef struct ruleset_attr {
    uint64_t files, network, scoped;
} ruleset_attr;

typedef struct __attribute__((packed)) path_attr {
    uint64_t allowed;
    int32_t folder;
} path_attr;

static ruleset_attr rights_of(int abi, ako_place place)
{
    ruleset_attr all = {.files = WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_CHAR | MAKE_DIR | MAKE_REG | MAKE_SOCK |
                                 MAKE_FIFO | MAKE_BLOCK | MAKE_SYM};
    if (abi >= 2)
        all.files |= REFER;
    if (abi >= 3)
        all.files |= TRUNCATE;
    if (abi >= 4)
        all.network = BIND_TCP | CONNECT_TCP;
    if (abi >= 6) /* the processes of CUDA pass each other descriptors through abstract sockets */
        all.scoped = place == AKO_GPU ? SIGNAL : SIGNAL | ABSTRACT_UNIX_SOCKET;
    return all;
}

/* Older kernels refuse members that they do not know. */
static size_t size_for(int abi)
{
    return abi >= 6 ? sizeof(ruleset_attr) : abi >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
}

/* Something that is not there needs no rule. */
static int allow(int ruleset, const char *path, uint64_t rights)
{
    int fd = open(path, O_PATH | O_CLOEXEC);
    struct stat st;
    if (fd < 0)
        return 0;
    if (fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode))
        rights &= WRITE_FILE | TRUNCATE;
    path_attr attr = {.allowed = rights, .folder = fd};
    long result = syscall(ADD_RULE, ruleset, RULE_PATH_BENEATH, &attr, 0);
    close(fd);
    return result == 0 ? 0 : -1;
}

/* The driver's nodes: of PCIe cards and of the folders for their capabilities, of integrated GPUs, of Windows. */
static bool is_gpu_node(const char *name)
{
    static const char *const prefixes[] = {"nvidia", "nvhost", "nvmap", "nvgpu", "nvsciipc", "gdrdrv", "dxg"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static int allow_gpu(int ruleset, uint64_t handled)
{
    char path[300];
    int result = 0;
    DIR *dev = opendir("/dev");
    for (struct dirent *d; result == 0 && dev && (d = readdir(dev)) != NULL;) {
        snprintf(path, sizeof path, "/dev/%s", d->d_name);
        if (is_gpu_node(d->d_name))
            result = allow(ruleset, path, handled & (WRITE_FILE | TRUNCATE));
    }
    if (dev)
        closedir(dev);
    /* It names its threads there, and starts no context when it cannot. */
    if (result == 0)
        result = allow(ruleset, "/proc/self", handled & (WRITE_FILE | TRUNCATE));
    /* CUDA keeps what its processes share for IPC in files there. */
    return result == 0 ? allow(ruleset, "/dev/shm", handled & (WRITE_FILE | TRUNCATE | MAKE_REG | REMOVE_FILE))
                       : result;
}

static int allow_all(int ruleset, uint64_t handled, ako_place place, const char *folder)
{
    static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full"};
    int result = allow(ruleset, folder, handled);
    for (size_t i = 0; result == 0 && i < sizeof devices / sizeof *devices; i++)
        result = allow(ruleset, devices[i], handled);
    return result == 0 && place == AKO_GPU ? allow_gpu(ruleset, handled) : result;
}

bool ako_confine_files(char *report, size_t size, ako_place place, const char *folder)
{
    int abi = (int)syscall(CREATE_RULESET, NULL, 0, VERSION_FLAG);
    if (abi < 1) {
        ako_confine_unavailable(report, size, "Landlock");
        return false;
    }
    ruleset_attr rights = rights_of(abi, place);
    int ruleset = (int)syscall(CREATE_RULESET, &rights, size_for(abi), 0);
    bool is_done =
        ruleset >= 0 && allow_all(ruleset, rights.files, place, folder) == 0 && syscall(RESTRICT_SELF, ruleset, 0) == 0;
    if (is_done)
        snprintf(report, size, "abi %d", abi);
    else
        ako_confine_unavailable(report, size, "Landlock");
    if (ruleset >= 0)
        close(ruleset);
    return is_done;
}
