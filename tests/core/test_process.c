#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cancel.h"
#include "clock.h"
#include "error.h"
#include "process.h"

#define SECOND INT64_C(1000000000)
#define LONG_GRACE (20 * SECOND)

static ako_spawn script(const char *const *argv)
{
    return (ako_spawn){.argv = argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1, .channel_fd = -1};
}

/* Starts `sh -c text` with its stdout on a pipe whose read end comes back. */
static int start(pid_t *pid, const char *text)
{
    const char *argv[] = {"sh", "-c", text, NULL};
    ako_spawn s = script(argv);
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    s.stdout_fd = ends[1];
    assert_int_equal(ako_process_spawn(pid, &s), AKO_OK);
    close(ends[1]);
    return ends[0];
}

/* A line of the script: its way of saying that it has come so far. */
static int read_number(int fd)
{
    char text[32] = "";
    for (size_t n = 0; n < sizeof text - 1 && read(fd, text + n, 1) == 1 && text[n] != '\n'; n++)
        ;
    return (int)strtol(text, NULL, 10);
}

static bool is_gone(int pid)
{
    return kill(pid, 0) != 0 && errno == ESRCH;
}

static bool has_children(void)
{
    return waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD;
}

static int run_text(ako_capture *out, const char *text, int64_t limit_ns, size_t cap)
{
    const char *argv[] = {"sh", "-c", text, NULL};
    ako_spawn s = script(argv);
    return ako_process_run(out, &s, NULL, 0, limit_ns, cap);
}

static void test_run_catches_output_and_status(void **state)
{
    (void)state;
    ako_capture c;
    assert_int_equal(run_text(&c, "echo out; echo err >&2; exit 3", 0, 0), AKO_OK);
    assert_string_equal(c.out.data, "out\n");
    assert_string_equal(c.err.data, "err\n");
    char how[64];
    ako_process_describe(how, sizeof how, c.status);
    assert_string_equal(how, "exit 3");
    assert_false(c.timed_out);
    assert_true(c.wall_ns > 0);
    ako_capture_free(&c);
}

static void test_run_feeds_input_larger_than_a_pipe(void **state)
{
    (void)state;
    const char *argv[] = {"wc", "-c", NULL};
    ako_spawn s = script(argv);
    size_t size = 3000000;
    char *input = malloc(size);
    memset(input, 'x', size);
    ako_capture c;
    assert_int_equal(ako_process_run(&c, &s, input, size, 0, 0), AKO_OK);
    assert_string_equal(c.out.data, "3000000\n");
    ako_capture_free(&c);
    free(input);
}

static void test_run_keeps_head_and_tail_of_long_output(void **state)
{
    (void)state;
    ako_capture c;
    assert_int_equal(run_text(&c, "echo first; head -c 5000000 /dev/zero | tr '\\0' x; echo; echo last", 0, 1000),
                     AKO_OK);
    assert_true(c.out.size < 1100);
    assert_memory_equal(c.out.data, "first\nxxx", 9);
    assert_string_equal(c.out.data + c.out.size - 7, "x\nlast\n");
    assert_non_null(strstr(c.out.data, "[... 4999012 bytes of output dropped here ...]"));
    ako_capture_free(&c);
}

/* Doubles the limit until the program has come as far as its output, however slow the machine. */
static void test_run_kills_at_the_limit(void **state)
{
    (void)state;
    ako_capture c = {0};
    for (int64_t limit = SECOND / 10; c.out.size == 0 && limit < 60 * SECOND; limit *= 2) {
        ako_capture_free(&c);
        assert_int_equal(run_text(&c, "echo begun; sleep 1000 & sleep 1000", limit, 0), AKO_OK);
        assert_true(c.timed_out);
        assert_true(WIFSIGNALED(c.status));
        assert_false(has_children());
    }
    assert_string_equal(c.out.data, "begun\n");
    ako_capture_free(&c);
}

static void test_run_leaves_nothing_in_the_background(void **state)
{
    (void)state;
    ako_capture c;
    assert_int_equal(
        run_text(&c, "setsid sh -c 'echo $$; exec sleep 1000' & sleep 1000 & read x < /dev/null; exit 0", 0, 0),
        AKO_OK);
    assert_true(WIFEXITED(c.status));
    assert_false(has_children());
    ako_capture_free(&c);
}

static void test_missing_program_and_folder(void **state)
{
    (void)state;
    const char *argv[] = {"no-such-compiler", NULL}, *slash[] = {"./no-such-compiler", NULL}, *sh[] = {"sh", NULL};
    ako_spawn s = script(argv);
    pid_t pid;
    assert_int_equal(ako_process_spawn(&pid, &s), AKO_NOTFOUND);
    assert_string_equal(ako_error_last()->message, "no such program: no-such-compiler");
    s.argv = slash;
    assert_int_equal(ako_process_spawn(&pid, &s), AKO_NOTFOUND);
    assert_string_equal(ako_error_last()->message, "no such program: ./no-such-compiler");
    s.argv = sh;
    s.cwd = "/no/such/folder";
    assert_int_equal(ako_process_spawn(&pid, &s), AKO_NOTFOUND);
    assert_non_null(strstr(ako_error_last()->message, "/no/such/folder"));
    assert_false(has_children());
}

static void test_environment_and_folder(void **state)
{
    (void)state;
    const char *argv[] = {"sh", "-c", "pwd; echo $AKO_TEST", NULL}, *env[] = {"AKO_TEST=yes", NULL};
    ako_spawn s = script(argv);
    s.env = env;
    s.cwd = "/usr";
    ako_capture c;
    assert_int_equal(ako_process_run(&c, &s, NULL, 0, 0, 0), AKO_OK);
    assert_string_equal(c.out.data, "/usr\nyes\n");
    ako_capture_free(&c);
}

static void test_child_inherits_the_channel_and_nothing_else(void **state)
{
    (void)state;
    const char *argv[] = {"sh", "-c", "exec ls /proc/self/fd", NULL};
    ako_spawn s = script(argv);
    int leaked = fcntl(0, F_DUPFD, 50), channel = fcntl(0, F_DUPFD_CLOEXEC, 60);
    s.channel_fd = channel;
    ako_capture c;
    assert_int_equal(ako_process_run(&c, &s, NULL, 0, 0, 0), AKO_OK);
    char want[64];
    snprintf(want, sizeof want, "0\n1\n2\n3\n%d\n", channel); /* 3 is ls's own */
    assert_string_equal(c.out.data, want);
    ako_capture_free(&c);
    close(leaked);
    close(channel);
}

static void test_child_has_default_signals(void **state)
{
    (void)state;
    sigset_t block, before;
    sigemptyset(&block);
    sigaddset(&block, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &block, &before);
    signal(SIGPIPE, SIG_IGN);
    ako_capture c;
    assert_int_equal(run_text(&c, "grep -E 'Sig(Blk|Ign)' /proc/self/status", 0, 0), AKO_OK);
    signal(SIGPIPE, SIG_DFL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    unsigned long long blocked = 1, ignored = 1,
                       libc = 3ULL << 31; /* 32 and 33 are the C library's own: it resets none */
    assert_int_equal(sscanf(c.out.data, "SigBlk: %llx SigIgn: %llx", &blocked, &ignored), 2);
    assert_int_equal(blocked & ~libc, 0);
    assert_int_equal(ignored & ~libc, 0);
    ako_capture_free(&c);
}

static void test_wait_times_out_and_then_reaps(void **state)
{
    (void)state;
    pid_t pid;
    int fd = start(&pid, "echo 1; exec sleep 1000"), status;
    read_number(fd);
    assert_int_equal(ako_process_wait(pid, &status, 1), AKO_TIMEOUT);
    kill(pid, SIGSEGV);
    assert_int_equal(ako_process_wait(pid, &status, 0), AKO_OK);
    char how[64];
    ako_process_describe(how, sizeof how, status);
    assert_string_equal(how, "killed by SIGSEGV (segmentation fault)");
    assert_int_equal(ako_process_wait(pid, &status, 0), AKO_NOTFOUND);
    close(fd);
}

static void test_kill_lets_a_polite_child_end_itself(void **state)
{
    (void)state;
    pid_t pid;
    int fd = start(&pid, "trap 'exit 7' TERM; echo 1; while :; do sleep 1000 & wait; done"), status;
    read_number(fd);
    assert_int_equal(ako_process_kill_tree_status(pid, LONG_GRACE, &status), AKO_OK);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_false(has_children());
    close(fd);
}

static void test_kill_ends_a_child_that_ignores_term(void **state)
{
    (void)state;
    pid_t pid;
    int fd = start(&pid, "trap '' TERM; echo 1; sh -c 'sleep 1000 & wait'; sleep 1000"), status;
    read_number(fd);
    assert_int_equal(ako_process_kill_tree_status(pid, SECOND / 20, &status), AKO_OK);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_false(has_children());
    close(fd);
}

static void test_kill_reaches_a_daemon(void **state)
{
    (void)state;
    pid_t pid;
    int fd =
        start(&pid, "(setsid sh -c 'trap \"\" TERM; (setsid sh -c \"echo \\$\\$; sleep 1000\" &) ; sleep 1000' &); "
                    "sleep 1000");
    int daemon = read_number(fd);
    assert_true(daemon > 1);
    assert_int_equal(ako_process_kill_tree(pid, SECOND / 20), AKO_OK);
    assert_true(is_gone(daemon));
    assert_false(has_children());
    close(fd);
}

static void test_kill_reaches_a_daemon_that_outlived_its_parent(void **state)
{
    (void)state;
    pid_t pid;
    int fd = start(&pid, "setsid sh -c 'echo $$; exec sleep 1000' & read x < /dev/null; exit 0"), status;
    int daemon = read_number(fd);
    assert_int_equal(ako_process_wait(pid, &status, 0), AKO_OK);
    assert_false(is_gone(daemon));
    assert_int_equal(ako_process_kill_tree_status(pid, LONG_GRACE, &status), AKO_OK);
    assert_int_equal(status, -1);
    assert_true(is_gone(daemon));
    assert_false(has_children());
    close(fd);
}

static void test_kill_spares_other_children(void **state)
{
    (void)state;
    pid_t pid, other, foreign = fork();
    if (foreign == 0) {
        pause();
        _exit(0);
    }
    int other_fd = start(&other, "(sleep 1000 & echo 1) ; exec sleep 1000"),
        fd = start(&pid, "echo 1; exec sleep 1000");
    read_number(fd);
    read_number(other_fd);
    assert_int_equal(ako_process_kill_tree(pid, LONG_GRACE), AKO_OK);
    assert_false(is_gone(other));
    assert_false(is_gone(foreign));
    int status;
    assert_int_equal(waitpid(foreign, &status, WNOHANG), 0);
    assert_int_equal(ako_process_kill_tree(other, LONG_GRACE), AKO_OK);
    kill(foreign, SIGKILL);
    assert_int_equal(waitpid(foreign, &status, 0), foreign);
    close(fd);
    close(other_fd);
}

static void test_kill_outruns_a_process_that_keeps_forking(void **state)
{
    (void)state;
    pid_t pid;
    int fd = start(&pid, "trap '' TERM; echo 1; i=0; while :; do (trap '' TERM; sleep 1000) & i=$((i+1)); "
                         "[ $i -lt 200 ] || sleep 0.01; done");
    read_number(fd);
    assert_int_equal(ako_process_kill_tree(pid, 0), AKO_OK);
    assert_false(has_children());
    close(fd);
}

static void test_kill_refuses_what_is_no_process(void **state)
{
    (void)state;
    assert_int_equal(ako_process_kill_tree(0, 0), AKO_INVALID);
    assert_int_equal(ako_process_kill_tree(-1, 0), AKO_INVALID);
    assert_int_equal(ako_process_kill_tree(1, 0), AKO_INVALID);
}

static void test_dies_with_its_parent(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t parent = fork();
    if (parent == 0) {
        const char *argv[] = {"sh", "-c", "echo $$; exec sleep 1000", NULL};
        ako_spawn s = script(argv);
        s.stdout_fd = ends[1];
        s.die_with_parent = true;
        pid_t pid;
        _exit(ako_process_spawn(&pid, &s) == AKO_OK ? (pause(), 0) : 1);
    }
    close(ends[1]);
    int child = read_number(ends[0]);
    kill(parent, SIGKILL);
    waitpid(parent, NULL, 0);
    assert_int_equal(waitpid(child, NULL, 0), child); /* adopted by us; ends by the kernel's hand alone */
    close(ends[0]);
}

static void on_alarm(int signal)
{
    (void)signal;
    ako_cancel_request();
}

static void test_cancel_kills_what_runs(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &action, NULL);
    ako_capture c;
    ualarm(100000, 0);
    assert_int_equal(run_text(&c, "sleep 1000 & sleep 1000", 0, 0), AKO_CANCELLED);
    assert_false(has_children());
    pid_t pid;
    int fd = start(&pid, "exec sleep 1000"), status;
    assert_int_equal(ako_process_wait(pid, &status, 0), AKO_CANCELLED);
    ako_cancel_clear();
    assert_true(WIFSIGNALED(status));
    assert_false(has_children());
    close(fd);
}

int main(void)
{
    if (ako_process_adopt_orphans() != AKO_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_catches_output_and_status),
        cmocka_unit_test(test_run_feeds_input_larger_than_a_pipe),
        cmocka_unit_test(test_run_keeps_head_and_tail_of_long_output),
        cmocka_unit_test(test_run_kills_at_the_limit),
        cmocka_unit_test(test_run_leaves_nothing_in_the_background),
        cmocka_unit_test(test_missing_program_and_folder),
        cmocka_unit_test(test_environment_and_folder),
        cmocka_unit_test(test_child_inherits_the_channel_and_nothing_else),
        cmocka_unit_test(test_child_has_default_signals),
        cmocka_unit_test(test_wait_times_out_and_then_reaps),
        cmocka_unit_test(test_kill_lets_a_polite_child_end_itself),
        cmocka_unit_test(test_kill_ends_a_child_that_ignores_term),
        cmocka_unit_test(test_kill_reaches_a_daemon),
        cmocka_unit_test(test_kill_reaches_a_daemon_that_outlived_its_parent),
        cmocka_unit_test(test_kill_spares_other_children),
        cmocka_unit_test(test_kill_outruns_a_process_that_keeps_forking),
        cmocka_unit_test(test_kill_refuses_what_is_no_process),
        cmocka_unit_test(test_dies_with_its_parent),
        cmocka_unit_test(test_cancel_kills_what_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
