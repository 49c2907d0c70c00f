/* Whole trials of candidates that cheat by native code: what they try is refused or without effect, and an honest
 * candidate passes right after. A cheat that comes through gives wrong results on purpose, which is what shows. Where
 * this machine cannot confine a process, the trial's record must say so, and the cheat is not let loose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <jansson.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "error.h"
#include "evaluator.h"
#include "fs.h"
#include "trials.h"

#define SIGNATURE "void twice(const float *x, float *y, int n)"
#define HONEST SIGNATURE "{ for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }\n"

#define HEADERS                                                                                                \
    "#define _GNU_SOURCE\n#include <dirent.h>\n#include <errno.h>\n#include <fcntl.h>\n#include <pthread.h>\n" \
    "#include <signal.h>\n#include <spawn.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"  \
    "#include <arpa/inet.h>\n#include <sys/file.h>\n#include <sys/prctl.h>\n#include <sys/ptrace.h>\n"         \
    "#include <sys/resource.h>\n#include <sys/socket.h>\n#include <sys/stat.h>\n#include <sys/syscall.h>\n"    \
    "#include <sys/uio.h>\n#include <sys/un.h>\n#include <sys/wait.h>\n#include <unistd.h>\n"

/* `body` returns how often the cheat came through; then all results are wrong. */
#define CHEAT(body)                                                                                                 \
    HEADERS "static int cheat(void) {" body "}\n" SIGNATURE "{ static int tried, won; if (!tried++) won = cheat();" \
            " for (int i = 0; i < n; i++) y[i] = won ? 3 * x[i] + 1 : 2 * x[i]; }\n"

/* The same before anything else of the candidate runs, with the result kept for later. */
#define CHEAT_WHILE_LOADING(body)                                                                         \
    HEADERS "static int won;\n__attribute__((constructor)) static void load(void) {" body "}\n" SIGNATURE \
            "{ for (int i = 0; i < n; i++) y[i] = won ? 3 * x[i] + 1 : 2 * x[i]; }\n"

static char folder[4096], source[16384];
static json_t *confinement; /* of an honest candidate */

static json_t *unit(const char *text)
{
    return json_pack("{s:s, s:[{s:s, s:s}], s:[{s:[{s:s, s:[{s:s}, {s:s}, {s:i, s:s}]}]}]}", "lane", "c", "sources",
                     "name", "kernel.c", "text", text, "workloads", "calls", "symbol", "twice", "args", "tensor", "x",
                     "tensor", "y", "i32", 1000, "name", "n");
}

static json_t *task(void)
{
    return json_pack("{s:s, s:[{s:s, s:s, s:s}, {s:s, s:s, s:s}], s:[{s:s, s:{s:[i], s:[i]}}], s:o}", "name", "twice",
                     "tensors", "name", "x", "dtype", "f32", "role", "input", "name", "y", "dtype", "f32", "role",
                     "output", "workloads", "id", "n=1000", "shapes", "x", 1000, "y", 1000, "reference", unit(HONEST));
}

/* A check alone: what a candidate may do does not depend on the clock. */
static json_t *try(ako_evaluator *e, const char *text, int64_t limit_ms)
{
    json_t *message = trial_message(unit(text), limit_ms);
    json_object_set_new(message, "steps", json_pack("[s, s]", "build", "check"));
    return request(e, message);
}

static void assert_status(ako_evaluator *e, const char *text, int64_t limit_ms, const char *status, const char *reason)
{
    json_t *answer = try(e, text, limit_ms);
    if (strcmp(text_of(answer, "status"), status) != 0)
        fail_msg("%s instead of %s: %s", text_of(answer, "status"), status, text_of(answer, "reason"));
    assert_text(text_of(answer, "reason"), reason);
    json_decref(answer);
}

static void assert_passes(ako_evaluator *e)
{
    assert_status(e, HONEST, 20000, "PASSED", "");
}

/* The text of a cheat with %s for the test's folder and %d for the test's pid or port. */
static const char *filled(const char *text, ...) __attribute__((format(printf, 1, 2)));
static const char *filled(const char *text, ...)
{
    va_list list;
    va_start(list, text);
    int n = vsnprintf(source, sizeof source, text, list);
    va_end(list);
    assert_in_range(n, 1, sizeof source - 1);
    return source;
}

static bool is_confined(const char *by)
{
    const char *text = text_of(confinement, by);
    if (strncmp(text, "unavailable: ", strlen("unavailable: ")) != 0)
        return true;
    print_message("%s is %s\n", by, text);
    return false;
}

/* The cheat comes to nothing, if that part of the confinement is in force. */
static void assert_in_vain(ako_evaluator *e, const char *text, const char *by)
{
    if (!is_confined(by))
        return;
    assert_status(e, text, 20000, "PASSED", "");
    assert_passes(e);
}

static int set_up(void **state)
{
    assert_int_equal(ako_fs_temp_dir(folder, sizeof folder, "ako-test"), AKO_OK);
    setenv("XDG_CACHE_HOME", folder, 1);
    setenv("HOME", folder, 1);
    setenv("AKO_TEST_SECRET", "12345", 1);
    ako_evaluator *e = start("cpu");
    set_task(e, task());
    json_t *answer = try(e, HONEST, 20000);
    confinement = json_incref(json_object_get(answer, "confinement"));
    json_decref(answer);
    *state = e;
    return 0;
}

static int tear_down(void **state)
{
    ako_evaluator_stop(*state);
    json_decref(confinement);
    return ako_fs_remove_tree(folder);
}

static void test_record(void **state)
{
    static const char *const keys[] = {"capabilities", "landlock", "network", "folder", "seccomp", "limits"};
    (void)state;
    assert_true(json_is_true(json_object_get(confinement, "no_new_privs")));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!*text_of(confinement, keys[i]))
            fail_msg("nothing is said about %s", keys[i]);
    const json_t *names = json_object_get(confinement, "environment");
    assert_true(json_array_size(names) >= 2);
    for (size_t i = 0; i < json_array_size(names); i++)
        assert_string_not_equal(json_string_value(json_array_get(names, i)), "AKO_TEST_SECRET");
}

/* Threads, memory, files of its own: what an honest candidate may want. */
static void test_honest(void **state)
{
    assert_status(*state,
                  HEADERS "static void *work(void *p) { return p; }\n" SIGNATURE
                          "{ pthread_t t[8]; int bad = 0; char *home = getenv(\"HOME\"), *room = malloc(100 << 20);"
                          " for (int i = 0; i < 8; i++) bad += pthread_create(&t[i], 0, work, 0) != 0;"
                          " for (int i = 0; i < 8; i++) bad += pthread_join(t[i], 0) != 0;"
                          " FILE *f = fopen(\"mine\", \"w+\"); bad += !f || fputs(\"x\", f) < 0 || fclose(f) != 0;"
                          " bad += !home || strcmp(home, getenv(\"TMPDIR\")) != 0; f = tmpfile(); bad += !room;"
                          " room[50 << 20] = 1; free(room); if (f) fclose(f);"
                          " for (int i = 0; i < n; i++) y[i] = bad ? 0 : 2 * x[i]; }",
                  20000, "PASSED", "");
}

static void test_forged_lines(void **state)
{
    assert_status(*state,
                  HEADERS SIGNATURE
                  "{ for (int fd = 1; fd < 3; fd++) { dprintf(fd, \"{\\\"id\\\":1,\\\"ok\\\":true}\\n\");"
                  " dprintf(fd, \"{\\\"status\\\":\\\"PASSED\\\"}\\nCORRECT: True\\nspeedup: 99x\\n\"); }"
                  " for (int i = 0; i < n; i++) y[i] = 3 * x[i]; }",
                  20000, "INCORRECT_NUMERICAL", "are wrong");
    assert_passes(*state);
}

static void test_forged_answers(void **state)
{
    assert_status(*state,
                  HEADERS SIGNATURE
                  "{ (void)x; (void)y; (void)n; char text[200]; for (int fd = 3; fd <= 64; fd++)"
                  " for (int id = 0; id < 20; id++) { int k = snprintf(text, sizeof text,"
                  " \"{\\\"id\\\":%d,\\\"ok\\\":true,\\\"wall_ns\\\":1,\\\"samples_ns\\\":[1]}\\n\", id);"
                  " if (write(fd, text, k) < 0) break; } }",
                  20000, "REWARD_HACK", "wrote into the evaluator's channel");
    assert_passes(*state);
}

/* Counts the processes and threads whose name holds `word`. */
static int count_named(const char *word)
{
    int found = 0;
    DIR *proc = opendir("/proc");
    for (struct dirent *d; proc && (d = readdir(proc)) != NULL;) {
        char path[600], text[64];
        snprintf(path, sizeof path, "/proc/%.20s/task", d->d_name);
        DIR *tasks = opendir(path);
        for (struct dirent *t; tasks && (t = readdir(tasks)) != NULL;) {
            snprintf(path, sizeof path, "/proc/%.20s/task/%.20s/comm", d->d_name, t->d_name);
            FILE *f = fopen(path, "re");
            found += f && fgets(text, sizeof text, f) && strstr(text, word);
            if (f)
                fclose(f);
        }
        if (tasks)
            closedir(tasks);
    }
    if (proc)
        closedir(proc);
    return found;
}

static void test_children(void **state)
{
    assert_in_vain(*state,
                   CHEAT("char *argv[] = {\"sleep\", \"1000\", 0}; int got = 0; pid_t pid = fork();"
                         " if (pid == 0) { prctl(PR_SET_NAME, \"akostray\"); setsid(); for (;;) pause(); }"
                         " got += pid > 0; got += posix_spawnp(&pid, \"sleep\", 0, 0, argv, argv + 2) == 0;"
                         " got += system(\"true\") == 0; got += popen(\"true\", \"r\") != 0; return got;"),
                   "seccomp");
    assert_int_equal(count_named("akostray"), 0);
}

static void test_fork_bomb(void **state)
{
    assert_in_vain(*state,
                   CHEAT("int got = 0; prctl(PR_SET_NAME, \"akostray\"); for (int i = 0; i < 3000; i++) {"
                         " pid_t pid = fork(); if (pid == 0) for (;;) pause(); got += pid > 0; } return got;"),
                   "seccomp");
    assert_int_equal(count_named("akostray"), 0);
}

static void test_deaf(void **state)
{
    assert_status(*state,
                  HEADERS SIGNATURE "{ (void)x; (void)y; for (int s = 1; s < 65; s++) signal(s, SIG_IGN);"
                                    " prctl(PR_SET_NAME, \"akostray\"); for (volatile int i = n; i;) ; }",
                  300, "TIMEOUT", "limit of 0.3 s");
    assert_int_equal(count_named("akostray"), 0);
    assert_passes(*state);
}

static int found_spoils;

/* Named for this run of the tests, as others may be running on the machine. */
static const char *spoils(void)
{
    static char name[32];
    snprintf(name, sizeof name, "akofill-%d", (int)getpid());
    return name;
}

static int look_for_spoils(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type;
    found_spoils += strncmp(path + ftw->base, spoils(), strlen(spoils())) == 0;
    return 0;
}

static int count_spoils(void)
{
    static const char *const places[] = {"/tmp", "/var/tmp", "/dev/shm", folder};
    found_spoils = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        nftw(places[i], look_for_spoils, 16, FTW_PHYS);
    return found_spoils;
}

/* Its own folder takes 64 MiB; no other takes anything. */
static void test_full_disk(void **state)
{
    const char *text = filled(
        CHEAT("static char mib[1 << 20]; char path[300]; long total = 0; const char *name = \"%s\";"
              " for (int i = 0; i < 100; i++) { snprintf(path, sizeof path, \"%%s-%%d\", name, i);"
              " int fd = open(path, O_WRONLY | O_CREAT, 0600); long k = fd < 0 ? 0 : write(fd, mib, sizeof mib);"
              " total += k > 0 ? k : 0; if (fd >= 0) close(fd); }"
              " int got = %d && total > 64 << 20; const char *there[] = {\"/tmp\", \"/var/tmp\", \"%s\", \"/dev/shm\"};"
              " for (int i = 0; i < 4; i++) { snprintf(path, sizeof path, \"%%s/%%s\", there[i], name);"
              " got += open(path, O_WRONLY | O_CREAT, 0600) >= 0; got += mkdir(path, 0700) == 0;"
              " got += symlink(\"/\", path) == 0; } return got;"),
        spoils(), is_confined("folder"), folder);
    assert_in_vain(*state, text, "landlock");
    assert_int_equal(count_spoils(), 0);
}

static void test_huge_file(void **state)
{
    const char *text =
        filled(CHEAT("int fd = open(\"%s\", O_WRONLY | O_CREAT, 0600); return ftruncate(fd, 1L << 40);"), spoils());
    assert_status(*state, text, 20000, "RUNTIME_ERROR", "killed by SIGXFSZ");
    assert_int_equal(count_spoils(), 0);
    assert_passes(*state);
}

/* The referee, whose memory holds the golden, the evaluator and the builders, by every way in. */
static void test_memory_of_ours(void **state)
{
    assert_in_vain(
        *state,
        CHEAT("int got = 0; char path[300], name[32], byte; DIR *proc = opendir(\"/proc\"); struct dirent *d;"
              " while (proc && (d = readdir(proc))) { int pid = atoi(d->d_name); if (pid <= 0) continue;"
              " snprintf(path, sizeof path, \"/proc/%d/comm\", pid); FILE *f = fopen(path, \"r\"); name[0] = 0;"
              " if (f) { if (!fgets(name, sizeof name, f)) name[0] = 0; fclose(f); }"
              " if (strncmp(name, \"ako-\", 4) || strncmp(name, \"ako-candidate\", 13) == 0) continue;"
              " snprintf(path, sizeof path, \"/proc/%d/mem\", pid); got += open(path, O_RDONLY) >= 0;"
              " snprintf(path, sizeof path, \"/proc/%d/maps\", pid); int fd = open(path, O_RDONLY);"
              " got += fd >= 0 && read(fd, &byte, 1) == 1;"
              " struct iovec here = {&byte, 1}, there = {(void *)&cheat, 1};"
              " got += process_vm_readv(pid, &here, 1, &there, 1, 0) >= 0 || errno == EFAULT;"
              " got += ptrace(PTRACE_SEIZE, pid, 0, 0) == 0; }"
              " got += !proc; return got;"),
        "capabilities");
}

/* The host, which may be any program, cannot be asked to hide: Landlock does it, or that root's rights are gone. */
static void test_memory_of_the_host(void **state)
{
    const char *text = filled(CHEAT("return open(\"/proc/%d/mem\", O_RDONLY) >= 0;"), (int)getpid());
    assert_in_vain(*state, text, geteuid() == 0 ? "capabilities" : "landlock");
}

static void test_secrets(void **state)
{
    const char *text = filled(CHEAT("static char all[1 << 20]; int whose[] = {getpid(), getppid(), %d}; char path[64];"
                                    " int got = getenv(\"AKO_TEST_SECRET\") != 0; for (int i = 0; i < 3; i++) {"
                                    " snprintf(path, sizeof path, \"/proc/%%d/environ\", whose[i]);"
                                    " int fd = open(path, O_RDONLY); long k = fd < 0 ? 0 : read(fd, all, sizeof all);"
                                    " got += k > 0 && memmem(all, k, \"AKO_TEST_SECRET\", 15); } return got;"),
                              (int)getpid());
    assert_in_vain(*state, text, geteuid() == 0 ? "capabilities" : "landlock");
}

static void test_network(void **state)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int server = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(server, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(server, 4), 0);
    assert_int_equal(getsockname(server, (struct sockaddr *)&address, &size), 0);
    const char *text = filled(CHEAT("struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(%d)};"
                                    " a.sin_addr.s_addr = htonl(INADDR_LOOPBACK); int got = 0;"
                                    " int tcp = socket(AF_INET, SOCK_STREAM, 0), udp = socket(AF_INET, SOCK_DGRAM, 0);"
                                    " got += connect(tcp, (void *)&a, sizeof a) == 0;"
                                    " got += sendto(udp, \"x\", 1, 0, (void *)&a, sizeof a) == 1; return got;"),
                              ntohs(address.sin_port));
    assert_in_vain(*state, text, "network");
    if (is_confined("network"))
        assert_int_equal(accept(server, NULL, NULL), -1);
    close(server);
}

/* Docker's socket and the like would be the way out of everything else. */
static void test_local_sockets(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%.80s/socket", folder);
    int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(server, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(server, 4), 0);
    const char *text = filled(CHEAT("struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = \"%s\"};"
                                    " int fd = socket(AF_UNIX, SOCK_STREAM, 0);"
                                    " return connect(fd, (void *)&a, sizeof a) == 0;"),
                              address.sun_path);
    assert_in_vain(*state, text, "seccomp");
    close(server);
}

/* Held by the candidate, the lock would never come free for the trial. That somebody else has it just now is luck. */
static void test_device_lock(void **state)
{
    assert_in_vain(
        *state,
        CHEAT_WHILE_LOADING(
            "DIR *d = opendir(\"/tmp/ako-lua-locks\"); struct dirent *f; char path[600];"
            " while (d && (f = readdir(d))) { if (!strstr(f->d_name, \".lock\")) continue;"
            " snprintf(path, sizeof path, \"/tmp/ako-lua-locks/%s\", f->d_name);"
            " int fd = open(path, O_RDONLY); won += flock(fd, LOCK_EX | LOCK_NB) == 0 || errno == EWOULDBLOCK;"
            " won += open(path, O_WRONLY) >= 0; }"),
        "seccomp");
}

/* From here on as on an old kernel in a strict container; for this process and all below it. */
static bool lose_confinement(void)
{
    const struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 444 /* landlock_create_ruleset */, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof code / sizeof *code, (struct sock_filter *)(uintptr_t)code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static bool is_said(const json_t *said)
{
    static const char *const parts[] = {"landlock", "network", "folder", "seccomp"};
    bool all = json_is_true(json_object_get(said, "no_new_privs"));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        all = all && strncmp(text_of(said, parts[i]), "unavailable: ", 13) == 0;
    return all;
}

/* The device's lock as above, for one that gets it: found out at once, and not waited for. */
static bool is_found_out(void)
{
    ako_evaluator *e = start("cpu");
    set_task(e, task());
    json_t *hello = request(e, json_pack("{s:s, s:i, s:s}", "op", "hello", "protocol", 1, "device", "cpu"));
    const char *text = filled(HEADERS "__attribute__((constructor)) static void load(void)"
                                      "{ flock(open(\"/tmp/ako-lua-locks/%s.lock\", O_RDONLY), LOCK_EX); }\n" HONEST,
                              text_of(json_object_get(hello, "device"), "uuid"));
    json_t *answer = try(e, text, 60000);
    bool found = strcmp(text_of(answer, "status"), "REWARD_HACK") == 0 && strcmp(text_of(answer, "code"), "lock") == 0;
    bool said = is_said(json_object_get(answer, "confinement"));
    if (!found || !said)
        print_message("%s: %s\n", text_of(answer, "status"), text_of(answer, "reason"));
    json_decref(answer);
    json_decref(hello);
    assert_passes(e);
    ako_evaluator_stop(e);
    return found && said;
}

static void test_unconfined(void **state)
{
    (void)state;
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(lose_confinement() && is_found_out() ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void test_signals(void **state)
{
    assert_in_vain(
        *state,
        CHEAT("int got = 0; pid_t p = getppid(); got += kill(p, SIGSTOP) == 0; got += kill(p, SIGKILL) == 0;"
              " got += syscall(SYS_tgkill, p, p, SIGKILL) == 0; int fds[2]; got += kill(-1, 0) == 0;"
              " if (pipe(fds) == 0) got += fcntl(fds[0], F_SETOWN, p) == 0;"
              " int handle = syscall(434, p, 0); got += handle >= 0 && syscall(424, handle, SIGKILL, 0, 0) == 0;"
              " struct rlimit none = {0}; got += prlimit(p, RLIMIT_CPU, &none, 0) == 0;"
              " got += setpriority(PRIO_PROCESS, p, 19) == 0; return got;"),
        "seccomp");
}

/* What is set in its own process changes no other. */
static void test_preload(void **state)
{
    const char *text =
        filled(CHEAT_WHILE_LOADING(
                   "setenv(\"LD_PRELOAD\", \"/nowhere/hook.so\", 1); setenv(\"AKO_WORKER\", \"/bin/false\", 1);"
                   " won += open(\"/etc/ld.so.preload\", O_WRONLY | O_CREAT, 0644) >= 0;"
                   " won += open(\"%s/.profile\", O_WRONLY | O_CREAT, 0644) >= 0;"
                   " won += rename(\"%s\", \"/tmp/%s\") == 0; won += chmod(\"%s\", 0) == 0;"),
               folder, folder, spoils(), folder);
    if (is_confined("seccomp"))
        assert_in_vain(*state, text, "landlock");
}

static void test_busy_thread(void **state)
{
    assert_status(*state,
                  HEADERS "static void *spin(void *p) { prctl(PR_SET_NAME, \"akospin\"); for (volatile int i = 1; i;) ;"
                          " return p; }\n" SIGNATURE
                          "{ pthread_t t; static int once; if (!once++) pthread_create(&t, 0, spin, 0);"
                          " for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }",
                  20000, "PASSED", "");
    assert_int_equal(count_named("akospin"), 0);
    assert_passes(*state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_record),
        cmocka_unit_test(test_honest),
        cmocka_unit_test(test_forged_lines),
        cmocka_unit_test(test_forged_answers),
        cmocka_unit_test(test_children),
        cmocka_unit_test(test_fork_bomb),
        cmocka_unit_test(test_deaf),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_huge_file),
        cmocka_unit_test(test_memory_of_ours),
        cmocka_unit_test(test_memory_of_the_host),
        cmocka_unit_test(test_secrets),
        cmocka_unit_test(test_network),
        cmocka_unit_test(test_local_sockets),
        cmocka_unit_test(test_device_lock),
        cmocka_unit_test(test_unconfined),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_preload),
        cmocka_unit_test(test_busy_thread),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
