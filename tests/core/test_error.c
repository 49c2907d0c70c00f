/* error, clock, log and buf: what all other modules stand on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "cancel.h"
#include "clock.h"
#include "error.h"
#include "log.h"

/* ---- error ---- */

static void keeps_the_last_failure(void **state)
{
    (void)state;
    ako_error_clear();
    assert_int_equal(ako_error_last()->status, AKO_OK);
    assert_string_equal(ako_error_last()->message, "");
    assert_int_equal(ako_fail(AKO_BUSY, "git", "%s is %d", "it", 7), AKO_BUSY);
    assert_int_equal(ako_error_last()->status, AKO_BUSY);
    assert_string_equal(ako_error_last()->domain, "git");
    assert_string_equal(ako_error_last()->message, "it is 7");
    ako_fail(AKO_IO, "fs", "wrapped: %s", ako_error_last()->message); /* may point into the old one */
    assert_string_equal(ako_error_last()->message, "wrapped: it is 7");
}

static void maps_errno(void **state)
{
    (void)state;
    errno = ENOENT;
    assert_int_equal(ako_fail_errno("fs", "cannot read %s", "x"), AKO_NOTFOUND);
    assert_string_equal(ako_error_last()->message, "cannot read x: No such file or directory");
    errno = ENOTDIR;
    assert_int_equal(ako_fail_errno("fs", "x"), AKO_NOTFOUND);
    errno = ENAMETOOLONG;
    assert_int_equal(ako_fail_errno("fs", "x"), AKO_INVALID);
    errno = EEXIST;
    assert_int_equal(ako_fail_errno("fs", "x"), AKO_EXISTS);
    errno = ENOMEM;
    assert_int_equal(ako_fail_errno("fs", "x"), AKO_NOMEM);
    errno = ETIMEDOUT;
    assert_int_equal(ako_fail_errno("fs", "x"), AKO_TIMEOUT);
    errno = EACCES;
    assert_int_equal(ako_fail_errno("fs", "x"), AKO_IO);
}

static void is_one_line_of_utf8_that_fits(void **state)
{
    (void)state;
    char longest[3000];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    errno = ENOENT;
    ako_fail_errno("fs", "cannot read %s", longest); /* the reason survives a long name */
    const char *message = ako_error_last()->message;
    assert_int_equal(strlen(message), sizeof ako_error_last()->message - 1);
    assert_string_equal(message + strlen(message) - 27, ": No such file or directory");
    ako_fail(AKO_IO, "fs", "caf\xe9 caf\xc3\xa9\n\x1b[31m");
    assert_string_equal(ako_error_last()->message, "caf? caf\xc3\xa9 ?[31m");
    memset(longest, '\xc3', 1022);
    for (size_t i = 0; i < 1600; i += 2)
        memcpy(longest + i, "\xc3\xa9", 2);
    ako_fail(AKO_IO, "fs", "%s", longest); /* cut in the middle of a character */
    assert_string_equal(message + 1020, "\xc3\xa9?");
}

static void *fail_elsewhere(void *payload)
{
    (void)payload;
    ako_fail(AKO_NOMEM, "x", "elsewhere");
    return NULL;
}

static void belongs_to_its_thread(void **state)
{
    (void)state;
    pthread_t thread;
    ako_fail(AKO_IO, "fs", "here");
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, NULL), 0);
    pthread_join(thread, NULL);
    assert_string_equal(ako_error_last()->message, "here");
}

static void names_statuses(void **state)
{
    (void)state;
    assert_string_equal(ako_status_name(AKO_OK), "OK");
    assert_string_equal(ako_status_name(AKO_NOTFOUND), "NOTFOUND");
    assert_string_equal(ako_status_name(AKO_COMPILE), "COMPILE");
    assert_string_equal(ako_status_name(-1000), "ERROR");
}

static void cleans_text(void **state)
{
    (void)state;
    /* valid; overlong; surrogate; beyond U+10FFFF; lone continuation; cut; control */
    char text[] = "\xf0\x9f\x98\x80 \xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \x80 \xe2\x82 \x7f\t";
    ako_text_clean(text, sizeof text - 1);
    assert_string_equal(text, "\xf0\x9f\x98\x80 ?? ??? ???? ? ?? ? ");
}

/* ---- clock ---- */

static void clocks_go_forward(void **state)
{
    (void)state;
    int64_t start = ako_clock_ns(), cpu = ako_clock_cpu_ns();
    ako_clock_sleep_ns(2000000);
    assert_true(ako_clock_ns() - start >= 2000000);
    assert_true(ako_clock_cpu_ns() >= cpu);
    assert_true(ako_clock_wall_ns() > INT64_C(1700000000000000000));
    ako_clock_sleep_ns(-1);
}

static void poll_time_rounds_up(void **state)
{
    (void)state;
    assert_int_equal(ako_clock_poll_ms(0), -1);
    assert_int_equal(ako_clock_poll_ms(1), 0);
    assert_int_equal(ako_clock_poll_ms(ako_clock_ns() - 1), 0);
    int ms = ako_clock_poll_ms(ako_clock_ns() + INT64_C(3600000000000));
    assert_in_range(ms, 3500000, 3600000);
    assert_int_equal(ako_clock_poll_ms(INT64_MAX), INT32_MAX);
}

static void dates_are_iso_8601(void **state)
{
    (void)state;
    char text[AKO_DATE_SIZE];
    ako_clock_date(text, 0);
    assert_string_equal(text, "1970-01-01T00:00:00.000Z");
    ako_clock_date(text, INT64_C(1709251199999999999));
    assert_string_equal(text, "2024-02-29T23:59:59.999Z");
    ako_clock_date(text, -1);
    assert_string_equal(text, "1969-12-31T23:59:59.999Z");
    ako_clock_date(text, -1000000000);
    assert_string_equal(text, "1969-12-31T23:59:59.000Z");
    ako_clock_date(text, INT64_MAX);
    assert_string_equal(text, "2262-04-11T23:47:16.854Z");
}

/* ---- log ---- */

static void keep_line(void *payload, ako_log_level level, const char *line)
{
    ako_buf_printf(payload, "%d %s\n", (int)level, line);
}

static void logs_what_is_wanted(void **state)
{
    (void)state;
    ako_buf got = {0};
    assert_int_equal(ako_log_get_level(), AKO_LOG_WARN);
    ako_log_set_sink(keep_line, &got);
    ako_log(AKO_LOG_ERROR, "one %d", 1);
    ako_log(AKO_LOG_INFO, "not this");
    ako_log_set_level(AKO_LOG_DEBUG);
    ako_log(AKO_LOG_DEBUG, "two");
    ako_log_set_level(AKO_LOG_WARN);
    ako_log_set_sink(NULL, NULL);
    assert_string_equal(got.data, "0 one 1\n3 two\n");
    ako_buf_free(&got);
}

/* ---- buf ---- */

static void buffers_grow(void **state)
{
    (void)state;
    ako_buf buf = {0};
    for (int i = 0; i < 1000; i++)
        ako_buf_printf(&buf, "%d,", i);
    assert_int_equal(buf.size, 3890);
    assert_int_equal(buf.data[buf.size], '\0');
    ako_buf_drop(&buf, 3886);
    assert_string_equal(buf.data, "999,");
    ako_buf_put(&buf, "a\0b", 3);
    assert_int_equal(buf.size, 7);
    ako_buf_clear(&buf);
    assert_string_equal(buf.data, "");
    ako_buf_puts(&buf, "taken");
    char *text = ako_buf_take(&buf);
    assert_string_equal(text, "taken");
    assert_null(buf.data);
    free(text);
    text = ako_buf_take(&buf);
    assert_string_equal(text, "");
    free(text);
}

static void buffers_remember_that_memory_ran_out(void **state)
{
    (void)state;
    ako_buf buf = {0};
    ako_buf_puts(&buf, "x");
    assert_null(ako_buf_reserve(&buf, SIZE_MAX - 1));
    assert_null(ako_buf_reserve(&buf, PTRDIFF_MAX));
    assert_true(buf.oom);
    assert_string_equal(buf.data, "x");
    assert_null(ako_buf_take(&buf));
    assert_null(buf.data);
}

static void cancelling_is_a_wish(void **state)
{
    (void)state;
    assert_false(ako_cancel_requested());
    ako_cancel_request();
    assert_true(ako_cancel_requested());
    ako_cancel_clear();
    assert_false(ako_cancel_requested());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_the_last_failure),
        cmocka_unit_test(maps_errno),
        cmocka_unit_test(is_one_line_of_utf8_that_fits),
        cmocka_unit_test(belongs_to_its_thread),
        cmocka_unit_test(names_statuses),
        cmocka_unit_test(cleans_text),
        cmocka_unit_test(clocks_go_forward),
        cmocka_unit_test(poll_time_rounds_up),
        cmocka_unit_test(dates_are_iso_8601),
        cmocka_unit_test(logs_what_is_wanted),
        cmocka_unit_test(buffers_grow),
        cmocka_unit_test(buffers_remember_that_memory_ran_out),
        cmocka_unit_test(cancelling_is_a_wish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
