/* A seccomp filter: system calls that no kernel needs fail with EPERM, on all threads and for ever. It is a list of
 * what is refused, not of what is allowed: CUDA and the C library may use what they like beside. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "confine_parts.h"

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#else
#define NATIVE 0
#endif

#define MOST 512 /* instructions */
#define X32_BIT 0x40000000

/* Newer than some headers; from 424 on a number is the same on every architecture. */
enum {
    NR_IO_URING_SETUP = 425,
    NR_IO_URING_ENTER = 426,
    NR_IO_URING_REGISTER = 427,
    NR_OPEN_TREE = 428,
    NR_MOVE_MOUNT = 429,
    NR_FSOPEN = 430,
    NR_FSCONFIG = 431,
    NR_FSMOUNT = 432,
    NR_FSPICK = 433,
    NR_PIDFD_SEND_SIGNAL = 424,
    NR_PIDFD_OPEN = 434,
    NR_CLONE3 = 435,
    NR_PIDFD_GETFD = 438,
    NR_PROCESS_MADVISE = 440,
    NR_MOUNT_SETATTR = 442,
    NR_PROCESS_MRELEASE = 448,
    NR_FCHMODAT2 = 452,
    NR_SETXATTRAT = 463,
    NR_REMOVEXATTRAT = 466,
    NR_FILE_SETATTR = 469,
};

/* clang-format off */
static const int refused[] = {
    /* Hands off other processes; a lock would stall those who wait for it. */
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, NR_PIDFD_OPEN, NR_PIDFD_GETFD,
    NR_PIDFD_SEND_SIGNAL, NR_PROCESS_MADVISE, NR_PROCESS_MRELEASE, SYS_tkill, SYS_setsid, SYS_setpgid,
    SYS_setpriority, SYS_ioprio_set, SYS_flock,
    /* Nothing that outlives the process. */
    SYS_shmget, SYS_msgget, SYS_semget, SYS_mq_open, SYS_mq_unlink, SYS_add_key, SYS_keyctl, SYS_request_key,
    /* Properties of files, which Landlock leaves open. */
#ifdef SYS_chmod
    SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat,
#endif
    SYS_fchmodat, NR_FCHMODAT2, SYS_fchown, SYS_fchownat, SYS_utimensat, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr,
    SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr, NR_SETXATTRAT, NR_REMOVEXATTRAT, NR_FILE_SETATTR,
    SYS_open_by_handle_at,
    /* No other world. */
    SYS_unshare, SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, NR_OPEN_TREE, NR_MOVE_MOUNT, NR_FSOPEN,
    NR_FSCONFIG, NR_FSMOUNT, NR_FSPICK, NR_MOUNT_SETATTR,
    /* Doors into the kernel. */
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, NR_IO_URING_SETUP, NR_IO_URING_ENTER, NR_IO_URING_REGISTER,
    SYS_fanotify_init, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot, SYS_swapon,
    SYS_swapoff, SYS_acct, SYS_quotactl, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime,
    SYS_sethostname, SYS_setdomainname,
#ifdef SYS_iopl
    SYS_iopl, SYS_ioperm,
#endif
};

/* No other program. */
static const int programs[] = {
#ifdef SYS_fork
    SYS_fork, SYS_vfork,
#endif
    SYS_execve, SYS_execveat,
};

/* Allowed on the process itself alone: the first argument must be its pid (or 0 for "this one"). */
static const int own_only[] = {SYS_kill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo};
static const int own_or_zero[] = {SYS_prlimit64, SYS_sched_setaffinity, SYS_sched_setscheduler, SYS_sched_setparam,
                                  SYS_sched_setattr, SYS_move_pages, SYS_migrate_pages};
/* clang-format on */

typedef struct program {
    struct sock_filter code[MOST];
    unsigned short n;
} program;

static void put(program *p, unsigned short code, uint32_t k, uint8_t yes, uint8_t no)
{
    if (p->n < MOST)
        p->code[p->n++] = (struct sock_filter){.code = code, .jt = yes, .jf = no, .k = k};
}

static void put_load(program *p, size_t offset)
{
    put(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* Arguments are 64 bits wide, and the kernel looks at the lower half of those tested here. */
static void put_load_argument(program *p, size_t index)
{
    put_load(p, offsetof(struct seccomp_data, args) + index * sizeof(uint64_t));
}

static void put_return(program *p, uint32_t action)
{
    put(p, BPF_RET | BPF_K, action, 0, 0);
}

static void put_equal(program *p, uint32_t k, uint8_t yes, uint8_t no)
{
    put(p, BPF_JMP | BPF_JEQ | BPF_K, k, yes, no);
}

#define FAIL(code) (SECCOMP_RET_ERRNO | (code))

/* `nr` with an argument that is one of the values fails where `refuse`, and passes where not; with others it does the
 * opposite. The number of the call is loaded before. */
static void put_argument_rule(program *p, int nr, size_t argument, const uint32_t *values, uint8_t n, bool refuse)
{
    put_equal(p, (uint32_t)nr, 0, (uint8_t)(n + 3));
    put_load_argument(p, argument);
    for (uint8_t i = 0; i < n; i++)
        put_equal(p, values[i], (uint8_t)(n - i), 0);
    put_return(p, refuse ? SECCOMP_RET_ALLOW : FAIL(EPERM));
    put_return(p, refuse ? FAIL(EPERM) : SECCOMP_RET_ALLOW);
}

static void put_refusals(program *p, const int *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        put_equal(p, (uint32_t)numbers[i], 0, 1);
        put_return(p, FAIL(EPERM));
    }
}

/* Threads are welcome, processes are not. The flags of clone3 lie in memory, out of a filter's sight: the C library
 * takes clone when it is not there. */
static void put_threads_only(program *p)
{
    put_equal(p, NR_CLONE3, 0, 1);
    put_return(p, FAIL(ENOSYS));
    put_refusals(p, programs, sizeof programs / sizeof *programs);
    put_equal(p, SYS_clone, 0, 4);
    put_load_argument(p, 0);
    put(p, BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0);
    put_return(p, FAIL(EPERM));
    put_return(p, SECCOMP_RET_ALLOW);
}

/* The processes of CUDA speak through sockets on this machine, and CUDA sets the mode of files it has just made. */
static void put_sockets(program *p, ako_place place)
{
    static const int on_cpu[] = {SYS_socket, SYS_socketpair, SYS_fchmod};
    const uint32_t unix_only = AF_UNIX;
    if (place == AKO_CPU)
        put_refusals(p, on_cpu, sizeof on_cpu / sizeof *on_cpu);
    else
        put_argument_rule(p, SYS_socket, 0, &unix_only, 1, false);
}

static void put_own_process(program *p)
{
    const uint32_t own[] = {(uint32_t)getpid(), 0};
    for (size_t i = 0; i < sizeof own_only / sizeof *own_only; i++)
        put_argument_rule(p, own_only[i], 0, own, 1, false);
    for (size_t i = 0; i < sizeof own_or_zero / sizeof *own_or_zero; i++)
        put_argument_rule(p, own_or_zero[i], 0, own, 2, false);
}

/* Signals by way of a descriptor's owner, leases that stall whoever opens the file; outliving the evaluator. */
static void put_side_doors(program *p)
{
    const uint32_t commands[] = {8 /* F_SETOWN */, 15 /* F_SETOWN_EX */, 1024 /* F_SETLEASE */};
    const uint32_t options[] = {PR_SET_PDEATHSIG};
    put_argument_rule(p, SYS_fcntl, 1, commands, 3, true);
    put_argument_rule(p, SYS_prctl, 0, options, 1, true);
}

/* Pages taken out of the block that both arms share would be faults for the rival. On a GPU there are none. */
static void put_shared_pages(program *p)
{
    static const int calls[] = {SYS_fallocate};
    const uint32_t advice[] = {9 /* MADV_REMOVE */, 20 /* MADV_COLD */, 21 /* MADV_PAGEOUT */};
    put_refusals(p, calls, 1);
    put_argument_rule(p, SYS_madvise, 2, advice, 3, true);
}

static void write_program(program *p, ako_place place, bool threads_only)
{
    put_load(p, offsetof(struct seccomp_data, arch));
    put_equal(p, NATIVE, 1, 0);
    put_return(p, SECCOMP_RET_KILL_PROCESS);
    put_load(p, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
    put(p, BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1);
    put_return(p, FAIL(EPERM));
#endif
    if (threads_only)
        put_threads_only(p);
    put_sockets(p, place);
    put_refusals(p, refused, sizeof refused / sizeof *refused);
    put_own_process(p);
    if (place == AKO_CPU)
        put_shared_pages(p);
    put_side_doors(p);
    put_return(p, SECCOMP_RET_ALLOW);
}

/* SPEC_ALLOW: without it older kernels switch off speculation past stores, and the code under test would be slower
 * than the reference for it. */
static long install(const struct sock_fprog *code)
{
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW,
                   code);
}

int ako_confine_calls(char *report, size_t size, ako_place place, bool threads_only)
{
    program p = {.n = 0};
    if (NATIVE == 0) {
        snprintf(report, size, "unavailable: not written for this architecture");
        return 0;
    }
    write_program(&p, place, threads_only);
    const struct sock_fprog code = {.len = p.n, .filter = p.code};
    long result = p.n < MOST ? install(&code) : -1;
    if (result == 0)
        snprintf(report, size, "%s", threads_only ? "filter" : "filter, programs allowed until timing");
    else if (result > 0)
        snprintf(report, size, "unavailable: thread %ld has a filter of its own", result);
    else
        ako_confine_unavailable(report, size, "seccomp");
    return result == 0;
}
