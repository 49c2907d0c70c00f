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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cancel.h"
#include "error.h"
#include "process.h"

#define ONCE 1 /* a deadline long past */

static char name[64], path[128];

static int new_name(void **state)
{
    (void)state;
    static int n;
    snprintf(name, sizeof name, "test-%d-%d", (int)getpid(), n++);
    snprintf(path, sizeof path, "/tmp/ako-lua-locks/%s.lock", name);
    return 0;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path) == 0 || errno == ENOENT ? 0 : -1;
}

/* A child that holds the lock from when this returns until it is killed, or gets a byte through *wake. */
static pid_t start_holder(int *wake)
{
    int ready[2], go[2];
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    assert_int_equal(pipe2(go, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        ako_lock *lock;
        char byte = ako_lock_take(&lock, name, ONCE) == AKO_OK ? 'y' : 'n';
        close(go[1]);
        if (write(ready[1], &byte, 1) == 1 && read(go[0], &byte, 1) == 1)
            ako_lock_release(lock);
        _exit(0);
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    close(ready[0]);
    close(ready[1]);
    close(go[0]);
    *wake = go[1];
    return pid;
}

static void test_busy_names_the_holder_and_a_killed_one_frees_it(void **state)
{
    (void)state;
    ako_lock *lock;
    int wake;
    pid_t holder = start_holder(&wake);
    assert_int_equal(ako_lock_take(&lock, name, ONCE), AKO_BUSY);
    assert_null(lock);
    char want[128];
    snprintf(want, sizeof want, "%s is held by pid %d (test_lock) since ", name, (int)holder);
    assert_memory_equal(ako_error_last()->message, want, strlen(want));
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
    close(wake);
    assert_int_equal(ako_lock_take(&lock, name, ONCE), AKO_OK);
    ako_lock_release(lock);
}

static void test_waits_until_released(void **state)
{
    (void)state;
    ako_lock *lock;
    int wake;
    pid_t holder = start_holder(&wake);
    assert_int_equal(write(wake, "x", 1), 1);
    assert_int_equal(ako_lock_take(&lock, name, 0), AKO_OK);
    ako_lock_release(lock);
    waitpid(holder, NULL, 0);
    close(wake);
}

static void test_same_process_twice_is_busy(void **state)
{
    (void)state;
    ako_lock *lock, *again;
    assert_int_equal(ako_lock_take(&lock, name, ONCE), AKO_OK);
    assert_int_equal(ako_lock_take(&again, name, ONCE), AKO_BUSY);
    ako_lock_release(lock);
    assert_int_equal(ako_lock_take(&again, name, ONCE), AKO_OK);
    ako_lock_release(again);
}

static int try_in_child(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        ako_lock *lock;
        int status = ako_lock_take(&lock, name, ONCE);
        ako_lock_release(lock);
        _exit(-status);
    }
    int how;
    waitpid(pid, &how, 0);
    return -WEXITSTATUS(how);
}

static void test_children_of_the_holder_are_nested(void **state)
{
    (void)state;
    ako_lock *lock, *again;
    assert_int_equal(ako_lock_take(&lock, name, ONCE), AKO_OK);
    assert_int_equal(try_in_child(), AKO_OK);
    assert_int_equal(ako_lock_take(&again, name, ONCE), AKO_BUSY); /* the child has released nothing of ours */
    char *token = strdup(getenv("AKO_LOCK_TOKEN"));
    unsetenv("AKO_LOCK_TOKEN");
    assert_int_equal(try_in_child(), AKO_BUSY);
    setenv("AKO_LOCK_TOKEN", token, 1);
    free(token);
    ako_lock_release(lock);
    assert_null(getenv("AKO_LOCK_TOKEN"));
}

static void test_token_of_a_stranger_opens_nothing(void **state)
{
    (void)state;
    int wake;
    pid_t holder = start_holder(&wake);
    char token[128];
    snprintf(token, sizeof token, "%s:%d", name, (int)holder);
    setenv("AKO_LOCK_TOKEN", token, 1);
    assert_int_equal(try_in_child(), AKO_BUSY);
    unsetenv("AKO_LOCK_TOKEN");
    close(wake);
    waitpid(holder, NULL, 0);
}

static void test_two_locks_at_once(void **state)
{
    (void)state;
    char second[80], list[200];
    snprintf(second, sizeof second, "%s-b", name);
    ako_lock *a, *b;
    assert_int_equal(ako_lock_take(&a, name, ONCE), AKO_OK);
    assert_int_equal(ako_lock_take(&b, second, ONCE), AKO_OK);
    ako_lock_release(a);
    snprintf(list, sizeof list, "%s:%d", second, (int)getpid());
    assert_string_equal(getenv("AKO_LOCK_TOKEN"), list);
    ako_lock_release(b);
    snprintf(list, sizeof list, "/tmp/ako-lua-locks/%s.lock", second);
    unlink(list);
}

static void test_links_are_not_followed(void **state)
{
    (void)state;
    char victim[] = "/tmp/ako-lua-locks/victim-XXXXXX";
    ako_lock *lock;
    assert_int_equal(ako_lock_take(&lock, name, ONCE), AKO_OK); /* makes the folder */
    ako_lock_release(lock);
    unlink(path);
    int fd = mkstemp(victim);
    assert_int_equal(write(fd, "precious", 8), 8);
    assert_int_equal(symlink(victim, path), 0);
    assert_int_equal(ako_lock_take(&lock, name, ONCE), AKO_UNAVAILABLE);
    unlink(path);
    assert_int_equal(link(victim, path), 0);
    assert_int_equal(ako_lock_take(&lock, name, ONCE), AKO_UNAVAILABLE);
    assert_non_null(strstr(ako_error_last()->message, path + strlen("/tmp/ako-lua-locks/")));
    unlink(path);
    assert_int_equal(mkfifo(path, 0666), 0);
    assert_int_equal(ako_lock_take(&lock, name, ONCE), AKO_UNAVAILABLE);
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_size, 8);
    close(fd);
    unlink(victim);
}

static void test_file_is_open_to_all_users(void **state)
{
    (void)state;
    mode_t mask = umask(077);
    ako_lock *lock;
    assert_int_equal(ako_lock_take(&lock, name, ONCE), AKO_OK);
    umask(mask);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0666);
    assert_int_equal(stat("/tmp/ako-lua-locks", &st), 0);
    assert_int_equal(st.st_mode & 07777, 01777);
    ako_lock_release(lock);
}

static void test_a_hostile_holder_text_is_only_shown(void **state)
{
    (void)state;
    int wake;
    pid_t holder = start_holder(&wake);
    FILE *f = fopen(path, "w");
    fputs("77 1700000000 \033[2Jevil\n", f);
    fclose(f);
    ako_lock *lock;
    assert_int_equal(ako_lock_take(&lock, name, ONCE), AKO_BUSY);
    assert_non_null(strstr(ako_error_last()->message, "held by pid 77 (?[2Jevil) since "));
    f = fopen(path, "w");
    fputs("99999999999999999999 x", f);
    fclose(f);
    assert_int_equal(ako_lock_take(&lock, name, ONCE), AKO_BUSY);
    close(wake);
    waitpid(holder, NULL, 0);
}

static void test_what_the_dead_have_written_holds_nobody_up(void **state)
{
    (void)state;
    ako_lock *lock;
    char text[128] = "", want[64];
    int wake;
    pid_t dead = start_holder(&wake);
    kill(dead, SIGKILL);
    waitpid(dead, NULL, 0);
    close(wake);
    FILE *f = fopen(path, "r");
    assert_non_null(fgets(text, sizeof text, f));
    fclose(f);
    assert_int_equal(atoi(text), (int)dead); /* it had no time to take its name out */
    assert_int_equal(ako_lock_take(&lock, name, ONCE), AKO_OK);
    f = fopen(path, "r");
    assert_non_null(fgets(text, sizeof text, f));
    fclose(f);
    snprintf(want, sizeof want, "%d ", (int)getpid());
    assert_memory_equal(text, want, strlen(want));
    ako_lock_release(lock);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 0);
}

static void test_bad_names(void **state)
{
    (void)state;
    ako_lock *lock;
    const char *const names[] = {"", "../etc/passwd", ".hidden", "a b", "a/b"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(ako_lock_take(&lock, names[i], ONCE), AKO_INVALID);
}

static void test_cancel_ends_the_wait(void **state)
{
    (void)state;
    int wake;
    pid_t holder = start_holder(&wake);
    ako_lock *lock;
    ako_cancel_request();
    int status = ako_lock_take(&lock, name, 0);
    ako_cancel_clear();
    assert_int_equal(status, AKO_CANCELLED);
    close(wake);
    waitpid(holder, NULL, 0);
}

int main(void)
{
#define LOCK_TEST(f) cmocka_unit_test_setup_teardown(f, new_name, remove_file)
    const struct CMUnitTest tests[] = {
        LOCK_TEST(test_busy_names_the_holder_and_a_killed_one_frees_it),
        LOCK_TEST(test_waits_until_released),
        LOCK_TEST(test_same_process_twice_is_busy),
        LOCK_TEST(test_children_of_the_holder_are_nested),
        LOCK_TEST(test_token_of_a_stranger_opens_nothing),
        LOCK_TEST(test_two_locks_at_once),
        LOCK_TEST(test_links_are_not_followed),
        LOCK_TEST(test_file_is_open_to_all_users),
        LOCK_TEST(test_a_hostile_holder_text_is_only_shown),
        LOCK_TEST(test_what_the_dead_have_written_holds_nobody_up),
        LOCK_TEST(test_bad_names),
        LOCK_TEST(test_cancel_ends_the_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
