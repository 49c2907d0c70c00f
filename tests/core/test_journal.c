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
#include <sys/wait.h>
#include <unistd.h>

#include "error.h"
#include "fs.h"
#include "journal.h"

static char folder[256], path[512];

static int make_folder(void **state)
{
    (void)state;
    if (ako_fs_temp_dir(folder, sizeof folder, "ako-test") != AKO_OK)
        return -1;
    snprintf(path, sizeof path, "%s/deep/er/journal.jsonl", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return ako_fs_remove_tree(folder);
}

static ako_json *parse(const char *text)
{
    ako_json *value;
    assert_int_equal(ako_json_parse(&value, text, strlen(text)), AKO_OK);
    return value;
}

static int append(ako_journal *journal, const char *text)
{
    ako_json *record = parse(text);
    int status = ako_journal_append(journal, record);
    ako_json_free(record);
    return status;
}

static ako_journal *open_journal(int64_t want_torn)
{
    ako_journal *journal;
    int64_t torn = -1;
    assert_int_equal(ako_journal_open(&journal, path, &torn), AKO_OK);
    assert_int_equal(torn, want_torn);
    return journal;
}

static void write_file(const void *data, size_t size)
{
    char parent[512];
    snprintf(parent, sizeof parent, "%s/deep/er", folder);
    assert_int_equal(ako_fs_mkdirs(parent), AKO_OK);
    assert_int_equal(ako_fs_write(path, data, size, false), AKO_OK);
}

static void assert_content(const char *want)
{
    ako_buf got = {0};
    assert_int_equal(ako_fs_read(&got, path, 0), AKO_OK);
    assert_string_equal(got.data, want);
    ako_buf_free(&got);
}

/* Reads all; gives the last status and, at the end of the file, what was torn. */
static int read_all(int *records, int64_t *torn)
{
    ako_journal_reader *reader;
    int status = ako_journal_reader_open(&reader, path);
    ako_json *record;
    *records = 0;
    while (status == AKO_OK && (status = ako_journal_next(reader, &record)) == AKO_OK) {
        assert_int_equal(ako_json_integer(ako_json_get(record, "n")), *records);
        ako_json_free(record);
        (*records)++;
    }
    *torn = status == AKO_EOF ? ako_journal_torn_bytes(reader) : -1;
    ako_journal_reader_close(reader);
    return status;
}

static void assert_reads(int want_status, int want_records, int64_t want_torn)
{
    int records;
    int64_t torn;
    assert_int_equal(read_all(&records, &torn), want_status);
    assert_int_equal(records, want_records);
    assert_int_equal(torn, want_torn);
}

static void appends_and_reads_back(void **state)
{
    (void)state;
    ako_journal *journal = open_journal(0);
    assert_string_equal(ako_journal_path(journal), path);
    assert_int_equal(append(journal, "{\"v\":1,\"n\":0,\"t_ns\":9223372036854775807}"), AKO_OK);
    assert_int_equal(append(journal, "{\"v\":1,\"n\":1,\"text\":\"two\\nlines\"}"), AKO_OK);
    assert_reads(AKO_EOF, 2, 0); /* also while it is open */
    ako_journal_close(journal);
    journal = open_journal(0);
    ako_json *two[] = {parse("{\"n\":2}"), parse("{\"n\":3}")};
    assert_int_equal(ako_journal_append_many(journal, (const ako_json *const *)two, 2), AKO_OK);
    assert_int_equal(ako_journal_append_many(journal, NULL, 0), AKO_OK);
    ako_json_free(two[0]);
    ako_json_free(two[1]);
    ako_journal_close(journal);
    assert_content("{\"v\":1,\"n\":0,\"t_ns\":9223372036854775807}\n{\"v\":1,\"n\":1,\"text\":\"two\\nlines\"}\n"
                   "{\"n\":2}\n{\"n\":3}\n");
    assert_reads(AKO_EOF, 4, 0);
}

static void takes_objects_only(void **state)
{
    (void)state;
    ako_journal *journal = open_journal(0);
    assert_int_equal(append(journal, "[1]"), AKO_INVALID);
    assert_int_equal(append(journal, "7"), AKO_INVALID);
    ako_journal_close(journal);
    assert_content("");
}

static void is_written_by_one_process_at_a_time(void **state)
{
    (void)state;
    char want[700];
    ako_journal *journal = open_journal(0), *second;
    snprintf(want, sizeof want, "%s is being written by process %ld: wait for it, or stop it", path, (long)getpid());
    assert_int_equal(ako_journal_open(&second, path, NULL), AKO_BUSY);
    assert_null(second);
    assert_string_equal(ako_error_last()->message, want);
    ako_journal_close(journal);
    ako_journal_close(open_journal(0));
}

/* A killed holder leaves no lock. */
static void is_free_again_after_a_kill(void **state)
{
    (void)state;
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        ako_journal *journal;
        byte = ako_journal_open(&journal, path, NULL) == AKO_OK ? 'y' : 'n';
        if (write(ready[1], &byte, 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    ako_journal *journal;
    assert_int_equal(ako_journal_open(&journal, path, NULL), AKO_BUSY);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    ako_journal_close(open_journal(0));
    close(ready[0]);
    close(ready[1]);
}

static const char sample[] = "{\"v\":1,\"n\":0}\n{\"n\":1,\"s\":\"\xc3\xa9\"}\n{\"n\":2,\"a\":[1,2,{}]}\n";

/* Cut anywhere: what was whole is there, the rest is torn; the next open cuts it off and goes on. */
static void survives_truncation_at_every_byte(void **state)
{
    (void)state;
    for (size_t size = 0; size < sizeof sample; size++) {
        int whole = 0;
        size_t end = 0;
        for (size_t i = 0; i < size; i++)
            if (sample[i] == '\n')
                whole++, end = i + 1;
        write_file(sample, size);
        assert_reads(AKO_EOF, whole, (int64_t)(size - end));
        ako_journal *journal = open_journal((int64_t)(size - end));
        char next[32];
        snprintf(next, sizeof next, "{\"n\":%d}", whole);
        assert_int_equal(append(journal, next), AKO_OK);
        ako_journal_close(journal);
        assert_reads(AKO_EOF, whole + 1, 0);
    }
}

static void cuts_off_a_last_line_that_is_not_json(void **state)
{
    (void)state;
    static const char zeros[] = "{\"n\":0}\n\0\0\0\0\n"; /* what a file system may leave of a block it did not write */
    write_file(zeros, sizeof zeros - 1);
    assert_reads(AKO_EOF, 1, 5);
    ako_journal_close(open_journal(5));
    assert_content("{\"n\":0}\n");
    write_file("7\n", 2);
    assert_reads(AKO_EOF, 0, 2);
    ako_journal_close(open_journal(2));
    assert_content("");
}

static void assert_damaged(const char *text, int line, int records)
{
    char want[700];
    snprintf(want, sizeof want, "%s:%d: damaged", path, line);
    write_file(text, strlen(text));
    assert_reads(AKO_CORRUPT, records, -1);
    assert_memory_equal(ako_error_last()->message, want, strlen(want));
}

static void refuses_damage_elsewhere(void **state)
{
    (void)state;
    assert_damaged("{\"n\":0}\n{\"n\":1\n{\"n\":2}\n", 2, 1);
    assert_damaged("\n{\"n\":0}\n", 1, 0);
    assert_damaged("{\"n\":0}\n[]\n{\"n\"", 2, 1);
    assert_damaged("x\ny\n", 1, 0);
    /* Opening it again and again may not eat it line by line. */
    ako_journal *journal;
    assert_int_equal(ako_journal_open(&journal, path, NULL), AKO_CORRUPT);
    assert_non_null(strstr(ako_error_last()->message, ":1: damaged"));
    assert_content("x\ny\n");
}

static void finds_the_last_line_however_long(void **state)
{
    (void)state;
    size_t size = 50000;
    char *text = malloc(size);
    memset(text, 'x', size);
    memcpy(text, "{\"n\":0}\n{\"n\":1,\"s\":\"", 20);
    memcpy(text + size - 3, "\"}\n", 3);
    write_file(text, size);
    assert_reads(AKO_EOF, 2, 0);
    ako_journal_close(open_journal(0));
    write_file(text, size - 1);
    ako_journal_close(open_journal((int64_t)size - 9));
    assert_content("{\"n\":0}\n");
    free(text);
}

static void set_file_limit(rlim_t bytes)
{
    struct rlimit limit = {bytes, RLIM_INFINITY};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A write that ends in the middle, as on a full disk. */
static void takes_a_short_write_back(void **state)
{
    (void)state;
    ako_journal *journal = open_journal(0);
    assert_int_equal(append(journal, "{\"n\":0}"), AKO_OK);
    signal(SIGXFSZ, SIG_IGN);
    set_file_limit(12);
    assert_int_equal(append(journal, "{\"n\":1,\"text\":\"does not fit\"}"), AKO_IO);
    assert_non_null(strstr(ako_error_last()->message, "File too large"));
    set_file_limit(RLIM_INFINITY);
    signal(SIGXFSZ, SIG_DFL);
    assert_content("{\"n\":0}\n");
    assert_int_equal(append(journal, "{\"n\":1}"), AKO_OK);
    ako_journal_close(journal);
    assert_reads(AKO_EOF, 2, 0);
}

static void says_what_it_cannot_open(void **state)
{
    (void)state;
    ako_journal_reader *reader;
    ako_journal *journal;
    assert_int_equal(ako_journal_reader_open(&reader, path), AKO_NOTFOUND);
    write_file("", 0);
    snprintf(path, sizeof path, "%s/deep/er/journal.jsonl/below", folder);
    assert_int_not_equal(ako_journal_open(&journal, path, NULL), AKO_OK);
    assert_null(journal);
}

/* Random bytes, and random damage to a good journal: never a crash, and never a record that was not written. */
static void survives_random_damage(void **state)
{
    (void)state;
    unsigned seed = 7;
    for (int round = 0; round < 500; round++) {
        char text[sizeof sample];
        memcpy(text, sample, sizeof sample);
        for (int n = rand_r(&seed) % 4; n >= 0; n--)
            text[(size_t)rand_r(&seed) % (sizeof sample - 1)] = (char)rand_r(&seed);
        write_file(text, sizeof sample - 1);
        ako_journal_reader *reader;
        assert_int_equal(ako_journal_reader_open(&reader, path), AKO_OK);
        ako_json *record;
        int status, records = 0;
        while ((status = ako_journal_next(reader, &record)) == AKO_OK) {
            assert_int_equal(ako_json_type_of(record), AKO_JSON_OBJECT);
            ako_json_free(record);
            assert_in_range(++records, 1, 8);
        }
        assert_true(status == AKO_EOF || status == AKO_CORRUPT);
        ako_journal_reader_close(reader);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(appends_and_reads_back),
        TEST(takes_objects_only),
        TEST(is_written_by_one_process_at_a_time),
        TEST(is_free_again_after_a_kill),
        TEST(survives_truncation_at_every_byte),
        TEST(cuts_off_a_last_line_that_is_not_json),
        TEST(refuses_damage_elsewhere),
        TEST(finds_the_last_line_however_long),
        TEST(takes_a_short_write_back),
        TEST(says_what_it_cannot_open),
        TEST(survives_random_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
