#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "fs.h"
#include "small_disk.h"

static char root[256];

static int set_up(void **state)
{
    (void)state;
    return ako_fs_temp_dir(root, sizeof root, "ako-test");
}

static int tear_down(void **state)
{
    (void)state;
    return ako_fs_remove_tree(root);
}

static const char *in_root(const char *name)
{
    static char full[4][1024];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(full[turn], sizeof full[turn], "%s/%s", root, name);
    return full[turn];
}

static void write_text(const char *name, const char *text)
{
    assert_int_equal(ako_fs_write(in_root(name), text, strlen(text), true), AKO_OK);
}

static void assert_text(const char *name, const char *want)
{
    ako_buf got = {0};
    assert_int_equal(ako_fs_read(&got, in_root(name), 0), AKO_OK);
    assert_string_equal(got.data, want);
    ako_buf_free(&got);
}

static unsigned mode_of(const char *name)
{
    struct stat st;
    assert_int_equal(stat(in_root(name), &st), 0);
    return st.st_mode & 07777u;
}

static int count_name(void *payload, const char *name)
{
    ako_buf_printf(payload, "%s ", name);
    return 0;
}

static void assert_names(const char *folder, const char *want)
{
    ako_buf got = {0};
    assert_int_equal(ako_fs_list(in_root(folder), count_name, &got), AKO_OK);
    assert_string_equal(got.data ? got.data : "", want);
    ako_buf_free(&got);
}

static void reads_and_limits(void **state)
{
    (void)state;
    char *large = calloc(1, 200000);
    assert_int_equal(ako_fs_write(in_root("large"), large, 200000, false), AKO_OK);
    ako_buf got = {0};
    ako_buf_puts(&got, "before");
    assert_int_equal(ako_fs_read(&got, in_root("large"), 200000), AKO_OK);
    assert_int_equal(got.size, 200006);
    assert_int_equal(ako_fs_read(&got, in_root("large"), 199999), AKO_LIMIT);
    assert_int_equal(ako_fs_read(&got, in_root("none"), 0), AKO_NOTFOUND);
    assert_int_equal(ako_fs_read(&got, root, 0), AKO_IO);
    ako_buf_free(&got);
    free(large);
}

static void replaces_atomically(void **state)
{
    (void)state;
    write_text("f", "one");
    assert_int_equal(chmod(in_root("f"), 0640), 0);
    assert_int_equal(symlink("f", in_root("link")), 0);
    write_text("link", "two"); /* follows, keeps the mode */
    assert_text("f", "two");
    assert_int_equal(mode_of("f"), 0640);
    assert_int_equal(ako_fs_replace(in_root("link"), "3", 1, 0755, false), AKO_OK); /* does not follow */
    assert_text("f", "two");
    assert_text("link", "3");
    assert_int_equal(mode_of("link"), 0755);
    char longest[256];
    memset(longest, 'n', 255);
    longest[255] = '\0';
    write_text(longest, "fits");
    char want[300];
    snprintf(want, sizeof want, "f link %s ", longest);
    assert_names(".", want);
}

static void leaves_the_old_file_when_the_disk_is_full(void **state)
{
    (void)state;
    write_text("f", "old");
    struct rlimit limit = {10, RLIM_INFINITY}, none = {RLIM_INFINITY, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    int status = ako_fs_write(in_root("f"), "much longer than ten bytes", 26, true);
    setrlimit(RLIMIT_FSIZE, &none);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(status, AKO_IO);
    assert_text("f", "old");
    assert_names(".", "f "); /* nothing is left behind */
}

/* 0 when all is as it should be. */
static int put_back_on_a_full_disk(void)
{
    static char large[300000];
    write_text("f", "candidate of some length");
    fill_disk(root, 0);
    bool full = ako_fs_replace(in_root("f"), "best", 4, 0644, false) == AKO_IO;
    bool back = ako_fs_put_back(in_root("f"), "best", 4, 0640) == AKO_OK && mode_of("f") == 0640;
    assert_text("f", "best");
    bool refused = ako_fs_put_back(in_root("f"), large, sizeof large, 0644) == AKO_IO;
    bool none = ako_fs_put_back(in_root("new"), "x", 1, 0644) == AKO_IO;
    assert_text("f", "best");
    assert_names(".", "f filler ");
    return !(full && back && refused && none);
}

static void puts_back_on_a_full_disk(void **state)
{
    (void)state;
    assert_true(with_small_disk(root, put_back_on_a_full_disk));
}

static void locks_folders(void **state)
{
    (void)state;
    int first, second;
    assert_int_equal(ako_fs_lock_dir(&first, root), AKO_OK);
    assert_int_equal(ako_fs_lock_dir(&second, root), AKO_BUSY);
    assert_int_equal(second, -1);
    close(first);
    assert_int_equal(ako_fs_lock_dir(&second, root), AKO_OK);
    close(second);
    assert_int_equal(ako_fs_lock_dir(&first, in_root("none")), AKO_NOTFOUND);
    assert_names(".", "");
}

static void says_what_it_cannot_write(void **state)
{
    (void)state;
    assert_int_equal(ako_fs_write(in_root("no/such/folder"), "x", 1, false), AKO_NOTFOUND);
    assert_int_equal(ako_fs_mkdirs(in_root("dir")), AKO_OK);
    assert_int_not_equal(ako_fs_write(in_root("dir"), "x", 1, false), AKO_OK);
    assert_names(".", "dir ");
}

static void copies(void **state)
{
    (void)state;
    write_text("from", "content");
    assert_int_equal(chmod(in_root("from"), 0750), 0);
    assert_int_equal(ako_fs_copy(in_root("to"), in_root("from")), AKO_OK);
    assert_text("to", "content");
    assert_int_equal(mode_of("to"), 0750);
    assert_int_equal(ako_fs_copy(in_root("to"), in_root("none")), AKO_NOTFOUND);
    assert_int_equal(ako_fs_copy(in_root("to"), root), AKO_IO);
    assert_text("to", "content");
}

static void looks_at_files(void **state)
{
    (void)state;
    ako_fs_stat st;
    write_text("f", "12345");
    assert_int_equal(symlink("f", in_root("l")), 0);
    assert_int_equal(mkfifo(in_root("o"), 0600), 0);
    assert_int_equal(ako_fs_stat_get(&st, in_root("f")), AKO_OK);
    assert_int_equal(st.type, 'f');
    assert_int_equal(st.size, 5);
    assert_true(st.mtime_ns > INT64_C(1000000000000000000));
    assert_int_equal(ako_fs_stat_get(&st, in_root("l")), AKO_OK);
    assert_int_equal(st.type, 'l');
    assert_int_equal(ako_fs_stat_get(&st, in_root("o")), AKO_OK);
    assert_int_equal(st.type, 'o');
    assert_int_equal(ako_fs_stat_get(&st, root), AKO_OK);
    assert_int_equal(st.type, 'd');
    assert_int_equal(ako_fs_stat_get(&st, in_root("none")), AKO_NOTFOUND);
    assert_true(ako_fs_exists(in_root("l")) && !ako_fs_exists(in_root("none")));
    assert_true(ako_fs_is_dir(root) && !ako_fs_is_dir(in_root("f")));
    assert_true(ako_fs_is_file(in_root("f")) && ako_fs_is_file(in_root("l")));
    assert_false(ako_fs_is_file(in_root("o")) || ako_fs_is_file(root) || ako_fs_is_file(in_root("none")));
    assert_false(ako_fs_is_executable(in_root("f")));
    assert_int_equal(chmod(in_root("f"), 0755), 0);
    assert_true(ako_fs_is_executable(in_root("f")) && !ako_fs_is_executable(root));
}

static void knows_the_room_on_a_disk(void **state)
{
    (void)state;
    int64_t available = -1, total = -1;
    assert_int_equal(ako_fs_space(&available, &total, root), AKO_OK);
    assert_true(available >= 0 && total > 0 && available <= total);
    assert_int_equal(ako_fs_space(&available, &total, in_root("none")), AKO_NOTFOUND);
    assert_true(ako_fs_is_writable(root));
    assert_false(ako_fs_is_writable(in_root("none")));
}

static void makes_and_removes_folders(void **state)
{
    (void)state;
    assert_int_equal(ako_fs_mkdirs(in_root("a/b//c/")), AKO_OK);
    assert_int_equal(ako_fs_mkdirs(in_root("a/b/c")), AKO_OK);
    assert_int_equal(ako_fs_mkdirs(""), AKO_INVALID);
    write_text("a/file", "x");
    assert_int_equal(ako_fs_mkdirs(in_root("a/file")), AKO_EXISTS);
    assert_int_equal(ako_fs_mkdirs(in_root("a/file/below")), AKO_NOTFOUND);
    write_text("outside", "stays");
    assert_int_equal(symlink("../outside", in_root("a/link")), 0);
    assert_names("a", "b file link ");
    assert_int_equal(ako_fs_remove_tree(in_root("a")), AKO_OK);
    assert_int_equal(ako_fs_remove_tree(in_root("a")), AKO_OK);
    assert_names(".", "outside ");
}

static int stop_at_b(void *payload, const char *name)
{
    (void)payload;
    return *name == 'b' ? 42 : 0;
}

static void lists_in_byte_order(void **state)
{
    (void)state;
    write_text("b", "");
    write_text("a", "");
    write_text(".hidden", "");
    write_text("caf\xe9", "");
    assert_names(".", ".hidden a b caf\xe9 ");
    assert_int_equal(ako_fs_list(root, stop_at_b, NULL), 42);
    assert_int_equal(ako_fs_list(in_root("none"), stop_at_b, NULL), AKO_NOTFOUND);
}

static void resolves(void **state)
{
    (void)state;
    char *path;
    assert_int_equal(ako_fs_mkdirs(in_root("a/b")), AKO_OK);
    assert_int_equal(ako_fs_absolute(&path, in_root("a/./b/../b")), AKO_OK);
    assert_string_equal(path, in_root("a/b"));
    free(path);
    assert_int_equal(ako_fs_absolute(&path, in_root("none")), AKO_NOTFOUND);
    assert_null(path);
    assert_int_equal(ako_fs_program_dir(&path), AKO_OK);
    assert_true(ako_fs_is_dir(path));
    free(path);
}

static void assert_user_dir(const char *kind, const char *want)
{
    char *path;
    assert_int_equal(ako_fs_user_dir(&path, kind), AKO_OK);
    assert_string_equal(path, want);
    assert_true(ako_fs_is_dir(path));
    free(path);
}

static void finds_the_users_folders(void **state)
{
    (void)state;
    setenv("HOME", in_root("home"), 1);
    setenv("XDG_CACHE_HOME", in_root("cache"), 1);
    unsetenv("XDG_STATE_HOME");
    setenv("XDG_RUNTIME_DIR", in_root("run"), 1);
    assert_user_dir("cache", in_root("cache/ako-lua"));
    assert_user_dir("state", in_root("home/.local/state/ako-lua"));
    assert_user_dir("runtime", in_root("run/ako-lua"));
    setenv("XDG_CACHE_HOME", "relative/is/ignored", 1);
    assert_user_dir("cache", in_root("home/.cache/ako-lua"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_and_limits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(replaces_atomically, set_up, tear_down),
        cmocka_unit_test_setup_teardown(leaves_the_old_file_when_the_disk_is_full, set_up, tear_down),
        cmocka_unit_test_setup_teardown(puts_back_on_a_full_disk, set_up, tear_down),
        cmocka_unit_test_setup_teardown(locks_folders, set_up, tear_down),
        cmocka_unit_test_setup_teardown(says_what_it_cannot_write, set_up, tear_down),
        cmocka_unit_test_setup_teardown(copies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(looks_at_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(knows_the_room_on_a_disk, set_up, tear_down),
        cmocka_unit_test_setup_teardown(makes_and_removes_folders, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lists_in_byte_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(resolves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(finds_the_users_folders, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
