#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache.h"
#include "clock.h"
#include "error.h"
#include "fs.h"
#include "hash.h"

#define MINUTE_NS INT64_C(60000000000)

static char folder[4096];

static int new_folder(void **state)
{
    (void)state;
    return ako_fs_temp_dir(folder, sizeof folder, "test-cache");
}

static int remove_folder(void **state)
{
    (void)state;
    return ako_fs_remove_tree(folder);
}

static int store(const char *key, const char *code)
{
    char first[] = "_Z1fPf", second[] = "g", *lowered[] = {first, second};
    ako_build_output out = {.ok = true,
                            .registers = 40,
                            .shared_bytes = 0,
                            .spill_bytes = 8,
                            .lowered = lowered,
                            .n_lowered = 2,
                            .hash = "abc"};
    ako_buf bytes = {0};
    ako_buf_puts(&out.log, "a log\n");
    ako_buf_puts(&bytes, code);
    int status = ako_cache_store(&out, folder, key, AKO_LANE_CUDA, &bytes);
    if (status == AKO_OK)
        assert_true(ako_fs_exists(out.path));
    ako_buf_free(&bytes);
    ako_buf_free(&out.log);
    return status;
}

static bool has(const char *key)
{
    ako_build_output out;
    int status = ako_cache_find(&out, folder, key, AKO_LANE_CUDA);
    if (status == AKO_OK)
        ako_build_output_free(&out);
    else
        assert_int_equal(status, AKO_NOTFOUND);
    return status == AKO_OK;
}

static void check_code(const char *key, const char *want)
{
    ako_build_output out;
    ako_buf code = {0};
    assert_int_equal(ako_cache_find(&out, folder, key, AKO_LANE_CUDA), AKO_OK);
    assert_int_equal(ako_fs_read(&code, out.path, 0), AKO_OK);
    assert_string_equal(code.data, want);
    ako_buf_free(&code);
    ako_build_output_free(&out);
}

static void test_an_entry_comes_back_whole(void **state)
{
    (void)state;
    assert_false(has("k"));
    assert_int_equal(store("k", "machine code"), AKO_OK);
    ako_build_output out;
    assert_int_equal(ako_cache_find(&out, folder, "k", AKO_LANE_CUDA), AKO_OK);
    assert_true(out.ok && out.cached);
    assert_string_equal(out.hash, "abc");
    assert_string_equal(out.log.data, "a log\n");
    assert_int_equal(out.registers, 40);
    assert_int_equal(out.shared_bytes, 0);
    assert_int_equal(out.spill_bytes, 8);
    assert_int_equal(out.n_lowered, 2);
    assert_string_equal(out.lowered[0], "_Z1fPf");
    assert_string_equal(out.lowered[1], "g");
    ako_build_output_free(&out);
    check_code("k", "machine code");
}

static void test_a_whole_entry_is_kept(void **state)
{
    (void)state;
    assert_int_equal(store("k", "first"), AKO_OK);
    assert_int_equal(store("k", "second"), AKO_OK);
    check_code("k", "first");
}

static void damage(const char *file, void (*how)(const char *path))
{
    char path[5000];
    assert_int_equal(store("k", "machine code"), AKO_OK);
    assert_true(has("k"));
    snprintf(path, sizeof path, "%s/k/%s", folder, file);
    how(path);
    assert_false(has("k"));
    assert_int_equal(store("k", "built again"), AKO_OK);
    check_code("k", "built again");
    snprintf(path, sizeof path, "%s/k", folder);
    assert_int_equal(ako_fs_remove_tree(path), AKO_OK);
}

static void truncate_to_5(const char *path)
{
    assert_int_equal(truncate(path, 5), 0);
}

static void truncate_to_0(const char *path)
{
    assert_int_equal(truncate(path, 0), 0);
}

static void flip_a_bit(const char *path)
{
    int fd = open(path, O_RDWR);
    char c;
    assert_int_equal(pread(fd, &c, 1, 3), 1);
    c ^= 1;
    assert_int_equal(pwrite(fd, &c, 1, 3), 1);
    close(fd);
}

static void delete_file(const char *path)
{
    assert_int_equal(unlink(path), 0);
}

static void put_other_json(const char *path)
{
    const char *text = "{\"version\":1,\"content\":[],\"hash\":7}";
    assert_int_equal(ako_fs_write(path, text, strlen(text), false), AKO_OK);
}

static void test_damaged_entries_are_ignored_and_replaced(void **state)
{
    (void)state;
    damage("code.cubin", truncate_to_5);
    damage("code.cubin", truncate_to_0);
    damage("code.cubin", flip_a_bit);
    damage("code.cubin", delete_file);
    damage("meta.json", truncate_to_5);
    damage("meta.json", truncate_to_0);
    damage("meta.json", delete_file);
    damage("meta.json", put_other_json);
    damage("log", delete_file);
}

static void test_a_file_in_the_way_is_replaced(void **state)
{
    (void)state;
    char path[5000];
    snprintf(path, sizeof path, "%s/k", folder);
    assert_int_equal(ako_fs_write(path, "x", 1, false), AKO_OK);
    assert_false(has("k"));
    assert_int_equal(store("k", "code"), AKO_OK);
    check_code("k", "code");
}

static void test_many_processes_store_one_key(void **state)
{
    (void)state;
    for (int round = 0; round < 10; round++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", round);
        for (int i = 0; i < 4; i++)
            if (fork() == 0)
                _exit(store(key, "same code") == AKO_OK && has(key) ? 0 : 1);
        for (int i = 0; i < 4; i++) {
            int how;
            wait(&how);
            assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
        }
        check_code(key, "same code");
    }
}

static void test_an_unwritable_folder_is_an_error(void **state)
{
    (void)state;
    char kept[sizeof folder];
    memcpy(kept, folder, sizeof kept);
    snprintf(folder, sizeof folder, "/proc/self");
    int status = store("k", "code");
    memcpy(folder, kept, sizeof kept);
    assert_true(status < 0);
}

static void set_age(const char *key, int64_t minutes)
{
    static const char *const files[] = {"code.cubin", "log", "meta.json", ""};
    time_t then = (time_t)((ako_clock_wall_ns() - minutes * MINUTE_NS) / 1000000000);
    const struct timespec times[2] = {{.tv_sec = then}, {.tv_sec = then}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[5000];
        snprintf(path, sizeof path, "%s/%s/%s", folder, key, files[i]);
        assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    }
}

static void test_sweep_removes_the_longest_unused_first(void **state)
{
    (void)state;
    char code[10001];
    memset(code, 'x', sizeof code - 1);
    code[sizeof code - 1] = '\0';
    const char *const keys[] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(store(keys[i], code), AKO_OK);
        set_age(keys[i], 100 - 20 * i);
    }
    assert_int_equal(ako_cache_sweep(folder, 1000000, 10 * MINUTE_NS), AKO_OK);
    assert_true(has("a")); /* and is marked as used by that */
    assert_int_equal(ako_cache_sweep(folder, 25000, 10 * MINUTE_NS), AKO_OK);
    assert_true(has("a"));
    assert_false(has("b"));
    assert_false(has("c"));
    assert_true(has("d"));
    assert_int_equal(ako_cache_sweep(folder, 0, 10 * MINUTE_NS), AKO_OK);
    assert_true(has("a") && has("d")); /* used just now */
    assert_int_equal(ako_cache_sweep(folder, 0, 0), AKO_OK);
    assert_false(has("a") || has("d"));
}

static void test_sweep_removes_what_a_killed_process_left(void **state)
{
    (void)state;
    char path[5000];
    snprintf(path, sizeof path, "%s/.new-abcdef/entry", folder);
    assert_int_equal(ako_fs_mkdirs(path), AKO_OK);
    *strrchr(path, '/') = '\0';
    assert_int_equal(ako_cache_sweep(folder, 1000000, 10 * MINUTE_NS), AKO_OK);
    assert_true(ako_fs_exists(path));
    assert_int_equal(ako_cache_sweep(folder, 1000000, 0), AKO_OK);
    assert_false(ako_fs_exists(path));
}

static void test_hash_is_the_one_of_git(void **state)
{
    (void)state;
    char hash[65];
    assert_int_equal(ako_hash(hash, "hello\n", 6), AKO_OK);
    assert_string_equal(hash, "ce013625030ba8dba906f756967f9e9ca394464a");
}

int main(void)
{
#define CACHE_TEST(f) cmocka_unit_test_setup_teardown(f, new_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        CACHE_TEST(test_an_entry_comes_back_whole),
        CACHE_TEST(test_a_whole_entry_is_kept),
        CACHE_TEST(test_damaged_entries_are_ignored_and_replaced),
        CACHE_TEST(test_a_file_in_the_way_is_replaced),
        CACHE_TEST(test_many_processes_store_one_key),
        CACHE_TEST(test_an_unwritable_folder_is_an_error),
        CACHE_TEST(test_sweep_removes_the_longest_unused_first),
        CACHE_TEST(test_sweep_removes_what_a_killed_process_left),
        cmocka_unit_test(test_hash_is_the_one_of_git),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
