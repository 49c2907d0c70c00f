/* Confinement of a process: in children, each with what its report promises tried out. Run as root the same is done as
 * an ordinary user too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine.h"
#include "error.h"
#include "fs.h"
#include "lock_holder.h"
#include "process.h"

#define NOBODY 65534

static char folder[4096];

static int new_folder(void **state)
{
    (void)state;
    return ako_fs_temp_dir(folder, sizeof folder, "ako-test") != AKO_OK || chmod(folder, 0777) != 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return ako_fs_remove_tree(folder);
}

/* In a child a failed expectation is its exit code: the line. */
#define EXPECT(condition)               \
    do {                                \
        if (!(condition))               \
            _exit(__LINE__ % 200 + 20); \
    } while (0)

static int status_of(pid_t child)
{
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

typedef void (*body)(ako_place place);

static void run_as(body what, ako_place place, uid_t user)
{
    pid_t child = fork();
    if (child == 0) {
        if (user != geteuid())
            EXPECT(setgid(user) == 0 && setuid(user) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0);
        what(place);
        _exit(0);
    }
    int status = status_of(child);
    if (status != 0)
        fail_msg("as user %u: exit %d (the line, less 20, modulo 200), signal %d", (unsigned)user, WEXITSTATUS(status),
                 WTERMSIG(status));
}

static void run(body what, ako_place place)
{
    run_as(what, place, geteuid());
    if (geteuid() == 0)
        run_as(what, place, NOBODY);
}

static bool is_there(const char *report)
{
    return strncmp(report, "unavailable", strlen("unavailable")) != 0;
}

static bool can_write(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    close(fd);
    return true;
}

static bool fails(long result, int code)
{
    return result == -1 && errno == code;
}

/* The other end of a connection: a server of the test's own. */
static struct sockaddr_in address;

static int listen_on_loopback(void)
{
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 4), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    return fd;
}

static bool can_connect(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
}

static void *wait_for_byte(void *gate)
{
    char byte;
    return read(*(int *)gate, &byte, 1) == 1 ? gate : NULL;
}

/* CUDA names its threads, which goes through /proc/self/task, and starts no context when it cannot. */
static bool can_name_threads(void)
{
    pthread_t thread;
    int gate[2];
    if (pipe(gate) != 0 || pthread_create(&thread, NULL, wait_for_byte, &gate[0]) != 0)
        return false;
    bool named = pthread_setname_np(thread, "akotest") == 0;
    return write(gate[1], "x", 1) == 1 && pthread_join(thread, NULL) == 0 && named;
}

/* The first half alone. */
static void expect_process(ako_place place)
{
    ako_confinement c;
    char path[5000];
    pid_t parent = getppid();
    EXPECT(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && can_connect());
    ako_confine_process(&c, place, folder);
    int death = 0;
    EXPECT(prctl(PR_GET_PDEATHSIG, &death) == 0 && death == SIGKILL && getppid() == parent);
    EXPECT(c.no_new_privs == (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1));
    EXPECT(is_there(c.capabilities) && prctl(PR_CAPBSET_READ, 21 /* CAP_SYS_ADMIN */, 0, 0, 0) <= (geteuid() != 0));
    EXPECT(can_write("inside")); /* the folder is the current one */
    snprintf(path, sizeof path, "%s/inside", folder);
    EXPECT(can_write(path) && unlink(path) == 0);
    EXPECT(can_write("/dev/null"));
    snprintf(path, sizeof path, "/tmp/akostray-%d", (int)getpid());
    EXPECT(can_write(path) == !is_there(c.landlock));
    unlink(path);
    EXPECT(place == AKO_CPU || (!is_there(c.network) && can_name_threads()));
    EXPECT(can_connect() == !(is_there(c.network) || is_there(c.landlock)));
}

static void test_process(void **state)
{
    (void)state;
    int server = listen_on_loopback();
    run(expect_process, AKO_CPU);
    run(expect_process, AKO_GPU);
    close(server);
}

/* What a confined folder holds is capped, where the report says so, and is not there for others. */
static void expect_full(ako_place place)
{
    static char piece[1 << 20];
    ako_confinement c;
    size_t total = 0;
    ako_confine_process(&c, place, folder);
    if (!is_there(c.folder))
        return;
    for (int i = 0; i < 100; i++) {
        char name[32];
        snprintf(name, sizeof name, "%d", i);
        int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        ssize_t n = fd < 0 ? -1 : write(fd, piece, sizeof piece);
        total += n > 0 ? (size_t)n : 0;
        if (fd >= 0)
            close(fd);
    }
    EXPECT(total > (size_t)60 << 20 && total <= (size_t)64 << 20);
}

static int count_entry(void *payload, const char *name)
{
    (void)name;
    ++*(int *)payload;
    return 0;
}

static void test_full_folder(void **state)
{
    (void)state;
    int entries = 0;
    run(expect_full, AKO_CPU);
    run(expect_full, AKO_GPU);
    assert_int_equal(ako_fs_list(folder, count_entry, &entries), AKO_OK);
    assert_int_equal(entries, 0);
}

static void *try_fork(void *report)
{
    pid_t *child = report;
    *child = fork();
    if (*child == 0)
        _exit(0);
    return NULL;
}

static void *wait_and_fork(void *gate)
{
    static pid_t child;
    char byte;
    if (read(*(int *)gate, &byte, 1) == 1)
        try_fork(&child);
    return &child;
}

static void expect_refused(void)
{
    struct iovec local = {&(char){0}, 1}, remote = {(void *)(uintptr_t)&address, 1};
    EXPECT(fails(fork(), EPERM));
    EXPECT(fails(syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL), EPERM));
    EXPECT(fails(syscall(435 /* clone3 */, NULL, 0), ENOSYS));
    EXPECT(fails(execl("/bin/true", "true", (char *)NULL), EPERM));
    EXPECT(fails(kill(getppid(), 0), EPERM));
    EXPECT(fails(kill(-1, 0), EPERM) && fails(kill(0, 0), EPERM));
    EXPECT(fails(syscall(SYS_tgkill, getppid(), getppid(), 0), EPERM));
    EXPECT(fails(syscall(SYS_pidfd_open, getppid(), 0), EPERM));
    EXPECT(fails(syscall(SYS_ptrace, 16 /* PTRACE_ATTACH */, getppid(), NULL, NULL), EPERM));
    EXPECT(fails(process_vm_readv(getppid(), &local, 1, &remote, 1, 0), EPERM));
    EXPECT(fails(prlimit(getppid(), RLIMIT_CPU, NULL, &(struct rlimit){0}), EPERM));
    EXPECT(fails(setpriority(PRIO_PROCESS, (id_t)getppid(), 19), EPERM));
    EXPECT(fails(fcntl(0, F_SETOWN, getppid()), EPERM));
    EXPECT(fails(flock(0, LOCK_EX | LOCK_NB), EPERM));
    EXPECT(fails(chmod("/tmp", 0), EPERM));
    EXPECT(fails(prctl(PR_SET_PDEATHSIG, 0), EPERM));
    EXPECT(fails(syscall(SYS_shmget, 0, 4096, 0600), EPERM));
    EXPECT(fails(socket(AF_INET, SOCK_STREAM, 0), EPERM) && fails(socket(AF_NETLINK, SOCK_RAW, 0), EPERM));
}

static void expect_allowed(ako_place place)
{
    pthread_t thread;
    EXPECT(kill(getpid(), 0) == 0 && raise(0) == 0);
    EXPECT(prctl(PR_SET_NAME, "akotest") == 0);
    EXPECT(pthread_create(&thread, NULL, try_fork, &(pid_t){0}) == 0 && pthread_join(thread, NULL) == 0);
    EXPECT(place == AKO_GPU ? socket(AF_UNIX, SOCK_STREAM, 0) >= 0 : fails(socket(AF_UNIX, SOCK_STREAM, 0), EPERM));
}

/* Both halves, with a thread that was there before the second: it is confined too. */
static void expect_code(ako_place place)
{
    ako_confinement c;
    pthread_t thread;
    int gate[2];
    void *child = NULL;
    struct rlimit limit;
    ako_confine_process(&c, place, folder);
    EXPECT(pipe(gate) == 0 && pthread_create(&thread, NULL, wait_and_fork, &gate[0]) == 0);
    ako_confine_code(&c, place, false);
    EXPECT(write(gate[1], "x", 1) == 1 && pthread_join(thread, &child) == 0);
    EXPECT((*(pid_t *)child == -1) == is_there(c.seccomp));
    if (is_there(c.seccomp)) {
        expect_refused();
        expect_allowed(place);
        EXPECT(strstr(c.network, "seccomp") != NULL);
    }
    EXPECT(is_there(c.limits));
    EXPECT(getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_max == 0);
    EXPECT(getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_max == 64 << 20);
    EXPECT(getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_max != RLIM_INFINITY);
}

static void test_code(void **state)
{
    (void)state;
    run(expect_code, AKO_CPU);
    run(expect_code, AKO_GPU);
}

/* A kernel that has none of it: these calls fail as on old kernels and in strict containers. */
static void take_away(void)
{
    const struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 444 /* landlock_create_ruleset */, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof code / sizeof *code, (struct sock_filter *)(uintptr_t)code};
    EXPECT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    EXPECT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static void expect_said(ako_place place)
{
    ako_confinement c;
    take_away();
    ako_confine_process(&c, place, folder);
    ako_confine_code(&c, place, false);
    EXPECT(strcmp(c.landlock, "unavailable: Landlock: Function not implemented") == 0);
    EXPECT(strcmp(c.network, "unavailable: no namespace") == 0);
    EXPECT(strcmp(c.folder, "unavailable: a file system of its own: Operation not permitted") == 0);
    EXPECT(strcmp(c.seccomp, "unavailable: seccomp: Function not implemented") == 0);
    EXPECT(c.no_new_privs && is_there(c.limits) && can_write("inside"));
    EXPECT(unlink("inside") == 0);
}

static void test_nothing_to_be_had(void **state)
{
    (void)state;
    run(expect_said, AKO_CPU);
    run(expect_said, AKO_GPU);
}

/* An ordinary process looks into one of the same user: not after that one has said no. */
static void expect_memory_hidden(ako_place place)
{
    (void)place;
    static int secret = 7;
    int ready[2], copy = 0;
    char byte;
    EXPECT(pipe(ready) == 0);
    pid_t peer = fork();
    if (peer == 0) {
        ako_confine_memory();
        if (write(ready[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    EXPECT(read(ready[0], &byte, 1) == 1);
    struct iovec local = {&copy, sizeof copy}, remote = {&secret, sizeof secret};
    bool read_it = process_vm_readv(peer, &local, 1, &remote, 1, 0) == sizeof copy;
    kill(peer, SIGKILL);
    EXPECT(waitpid(peer, NULL, 0) == peer);
    EXPECT(read_it == (geteuid() == 0)); /* root may, until its capabilities are gone */
}

static void test_memory(void **state)
{
    (void)state;
    run(expect_memory_hidden, AKO_CPU);
}

/* A process that has hidden itself still starts its own program again, as the evaluator does, and CUDA, as the referee
 * does. */
static void expect_restart(ako_place place)
{
    (void)place;
    const char *argv[] = {"/proc/self/exe", "--only-start", NULL};
    ako_spawn spawn = {.argv = argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1, .channel_fd = -1};
    pid_t pid;
    int status;
    ako_confine_memory();
    EXPECT(can_name_threads());
    EXPECT(ako_process_spawn(&pid, &spawn) == 0);
    EXPECT(ako_process_wait(pid, &status, 0) == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 42);
}

static void test_restart(void **state)
{
    (void)state;
    run(expect_restart, AKO_CPU);
}

static void test_lock_holder(void **state)
{
    (void)state;
    char name[64];
    ako_lock *lock;
    int ready[2];
    char byte;
    snprintf(name, sizeof name, "test-confine-%d", (int)getpid());
    assert_false(ako_lock_is_held_below(name));
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        EXPECT(ako_lock_take(&lock, name, 1) == 0 && write(ready[1], "x", 1) == 1);
        pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_true(ako_lock_is_held_below(name));
    kill(child, SIGKILL);
    status_of(child);
    assert_false(ako_lock_is_held_below(name));
    assert_int_equal(ako_lock_take(&lock, name, 1), 0);
    assert_false(ako_lock_is_held_below(name)); /* ours */
    ako_lock_release(lock);
    char path[128];
    snprintf(path, sizeof path, "/tmp/ako-lua-locks/%s.lock", name);
    unlink(path);
}

/* A compiler may start programs, and writes where it builds. */
static void check_compiler(ako_place place)
{
    (void)place;
    bool safe = ako_confine_compiler(folder);
    EXPECT(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
    EXPECT(chdir(folder) == 0 && can_write("inside") && unlink("inside") == 0);
    EXPECT(system("echo > inside && rm inside") == 0);
    if (!safe)
        return;
    EXPECT(!can_write("/tmp/ako-test-outside") && errno == EACCES);
    EXPECT(system("(echo > /tmp/ako-test-outside) 2> /dev/null") != 0);
}

static void test_compiler(void **state)
{
    (void)state;
    run(check_compiler, AKO_CPU);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--only-start") == 0)
        return 42;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_process),           cmocka_unit_test(test_full_folder), cmocka_unit_test(test_code),
        cmocka_unit_test(test_nothing_to_be_had), cmocka_unit_test(test_memory),      cmocka_unit_test(test_restart),
        cmocka_unit_test(test_lock_holder),       cmocka_unit_test(test_compiler),
    };
    return cmocka_run_group_tests(tests, new_folder, remove_folder);
}
