#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cancel.h"
#include "clock.h"
#include "error.h"
#include "wire.h"

#define SECOND INT64_C(1000000000)

typedef struct ends {
    ako_wire *a, *b;
} ends;

static ends open_pair(void)
{
    int fds[2];
    ends e;
    assert_int_equal(ako_wire_pair(fds), AKO_OK);
    assert_int_equal(ako_wire_new(&e.a, fds[0]), AKO_OK);
    assert_int_equal(ako_wire_new(&e.b, fds[1]), AKO_OK);
    return e;
}

static void close_pair(ends e)
{
    ako_wire_free(e.a);
    ako_wire_free(e.b);
}

static void write_raw(ako_wire *wire, const char *text)
{
    assert_int_equal(send(ako_wire_fd(wire), text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

static int64_t receive_integer(ako_wire *wire)
{
    ako_json *message;
    assert_int_equal(ako_wire_receive(wire, &message, 0), AKO_OK);
    int64_t value = ako_json_integer(message);
    ako_json_free(message);
    return value;
}

static int send_integer(ako_wire *wire, int64_t value, const int *fds, int n_fds)
{
    ako_json *message = ako_json_new_integer(value);
    int status = ako_wire_send(wire, message, fds, n_fds);
    ako_json_free(message);
    return status;
}

static ako_json *long_message(size_t size)
{
    char *text = malloc(size);
    memset(text, 'k', size);
    ako_json *message = ako_json_new_string(text, size);
    free(text);
    return message;
}

static void test_several_messages_in_one_read(void **state)
{
    (void)state;
    ends e = open_pair();
    write_raw(e.a, "1\n2\n{\"x\":3}\n4");
    assert_int_equal(ako_wire_pending(e.b), 0);
    assert_int_equal(receive_integer(e.b), 1);
    assert_int_equal(ako_wire_pending(e.b), 1);
    assert_int_equal(receive_integer(e.b), 2);
    ako_json *message;
    assert_int_equal(ako_wire_receive(e.b, &message, 0), AKO_OK);
    assert_int_equal(ako_json_integer(ako_json_get(message, "x")), 3);
    ako_json_free(message);
    assert_int_equal(ako_wire_pending(e.b), 0);
    assert_int_equal(ako_wire_receive(e.b, &message, 1), AKO_TIMEOUT);
    write_raw(e.a, "2\n");
    assert_int_equal(receive_integer(e.b), 42);
    close_pair(e);
}

static void test_garbage_names_its_start_and_is_skipped(void **state)
{
    (void)state;
    ends e = open_pair();
    ako_json *message;
    write_raw(e.a, "Segmentation\tfault\n\n7\n");
    assert_int_equal(ako_wire_receive(e.b, &message, 0), AKO_CORRUPT);
    assert_string_equal(ako_error_last()->message, "not a message: \"Segmentation?fault\"");
    assert_null(message);
    assert_int_equal(ako_wire_receive(e.b, &message, 0), AKO_CORRUPT);
    assert_int_equal(receive_integer(e.b), 7);
    close_pair(e);
}

static void test_end_of_stream(void **state)
{
    (void)state;
    ends e = open_pair();
    ako_json *message;
    write_raw(e.a, "1\n{\"cut");
    ako_wire_free(e.a);
    assert_int_equal(receive_integer(e.b), 1);
    assert_int_equal(ako_wire_receive(e.b, &message, 0), AKO_EOF);
    assert_int_equal(send_integer(e.b, 1, NULL, 0), AKO_EOF);
    ako_wire_free(e.b);
}

static void test_descriptors_travel_in_order(void **state)
{
    (void)state;
    ends e = open_pair();
    int first[2], second[2];
    assert_int_equal(pipe2(first, O_CLOEXEC), 0);
    assert_int_equal(pipe2(second, O_CLOEXEC), 0);
    const int both[] = {first[1], second[1]};
    assert_int_equal(send_integer(e.a, 1, both, 2), AKO_OK);
    assert_int_equal(receive_integer(e.b), 1);
    int got[2] = {ako_wire_take_fd(e.b), ako_wire_take_fd(e.b)};
    assert_int_equal(ako_wire_take_fd(e.b), -1);
    assert_true(fcntl(got[0], F_GETFD) & FD_CLOEXEC);
    char c;
    assert_int_equal(write(got[0], "x", 1), 1);
    assert_int_equal(write(got[1], "y", 1), 1);
    assert_int_equal(read(first[0], &c, 1), 1);
    assert_int_equal(c, 'x');
    assert_int_equal(read(second[0], &c, 1), 1);
    assert_int_equal(c, 'y');
    const int all[] = {first[0], first[1], second[0], second[1], got[0], got[1]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        close(all[i]);
    close_pair(e);
}

static int highest_descriptor(void)
{
    int fd = dup(0);
    close(fd);
    return fd;
}

static void test_flood_of_descriptors_is_refused(void **state)
{
    (void)state;
    int before = highest_descriptor();
    ends e = open_pair();
    const int many[17] = {0};
    assert_int_equal(send_integer(e.a, 1, many, 17), AKO_INVALID);
    for (int i = 0; i < 5; i++)
        assert_int_equal(send_integer(e.a, i, many, 16), AKO_OK);
    ako_json *message;
    int status = AKO_OK;
    for (int i = 0; i < 5 && status == AKO_OK; i++) {
        status = ako_wire_receive(e.b, &message, 0);
        ako_json_free(message);
    }
    assert_int_equal(status, AKO_CORRUPT);
    close_pair(e);
    assert_int_equal(highest_descriptor(), before);
}

static void test_large_message(void **state)
{
    (void)state;
    const size_t size = 100000000;
    ends e = open_pair();
    pid_t child = fork();
    if (child == 0) {
        ako_wire_free(e.b);
        ako_json *message = long_message(size);
        int status = ako_wire_send(e.a, message, NULL, 0);
        _exit(status == AKO_OK ? 0 : 1);
    }
    ako_wire_free(e.a);
    ako_json *message;
    assert_int_equal(ako_wire_receive(e.b, &message, 0), AKO_OK);
    size_t got;
    assert_int_equal(ako_json_string(message, &got)[size - 1], 'k');
    assert_int_equal(got, size);
    ako_json_free(message);
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ako_wire_free(e.b);
}

static void test_a_message_without_end_is_refused(void **state)
{
    (void)state;
    ends e = open_pair();
    ako_json *message;
    char text[5001];
    memset(text, 'x', 5000);
    text[5000] = '\0';
    ako_wire_limit(e.b, 4000);
    write_raw(e.a, "1\n");
    assert_int_equal(receive_integer(e.b), 1);
    write_raw(e.a, text);
    assert_int_equal(ako_wire_receive(e.b, &message, ako_clock_ns() + 60 * SECOND), AKO_LIMIT);
    assert_string_equal(ako_error_last()->message, "a message is larger than 4000 bytes");
    close_pair(e);
}

static void test_both_sides_send_at_once(void **state)
{
    (void)state;
    const size_t size = 5000000;
    ends e = open_pair();
    pid_t child = fork();
    ako_wire *mine = child == 0 ? e.a : e.b;
    ako_wire_free(child == 0 ? e.b : e.a);
    ako_json *message = long_message(size), *answer = NULL;
    int status = ako_wire_send(mine, message, NULL, 0);
    if (status == AKO_OK)
        status = ako_wire_receive(mine, &answer, 0);
    size_t got = 0;
    if (status == AKO_OK)
        ako_json_string(answer, &got);
    if (child == 0)
        _exit(status == AKO_OK && got == size ? 0 : 1);
    assert_int_equal(status, AKO_OK);
    assert_int_equal(got, size);
    int how;
    waitpid(child, &how, 0);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    ako_json_free(message);
    ako_json_free(answer);
    ako_wire_free(mine);
}

static void test_a_message_cut_by_the_deadline_is_finished_later(void **state)
{
    (void)state;
    ends e = open_pair();
    ako_json *message = long_message(1000000), *got;
    int64_t soon = ako_clock_ns() + SECOND / 100;
    assert_int_equal(ako_wire_send_by(e.a, message, NULL, 0, soon), AKO_TIMEOUT);
    ako_json_free(message);
    assert_int_equal(ako_wire_receive(e.b, &got, soon), AKO_TIMEOUT);
    pid_t child = fork();
    if (child == 0)
        _exit(send_integer(e.a, 5, NULL, 0) == AKO_OK ? 0 : 1);
    assert_int_equal(ako_wire_receive(e.b, &got, 0), AKO_OK);
    size_t size;
    ako_json_string(got, &size);
    assert_int_equal(size, 1000000);
    ako_json_free(got);
    assert_int_equal(receive_integer(e.b), 5);
    waitpid(child, NULL, 0);
    close_pair(e);
}

static void test_cancel_stops_only_what_would_wait(void **state)
{
    (void)state;
    ends e = open_pair();
    ako_json *message;
    ako_cancel_request();
    int sent = send_integer(e.a, 1, NULL, 0), first = ako_wire_receive(e.b, &message, 0);
    ako_json_free(message);
    int second = ako_wire_receive(e.b, &message, 0);
    ako_cancel_clear();
    assert_int_equal(sent, AKO_OK);
    assert_int_equal(first, AKO_OK);
    assert_int_equal(second, AKO_CANCELLED);
    close_pair(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_several_messages_in_one_read),
        cmocka_unit_test(test_garbage_names_its_start_and_is_skipped),
        cmocka_unit_test(test_end_of_stream),
        cmocka_unit_test(test_descriptors_travel_in_order),
        cmocka_unit_test(test_flood_of_descriptors_is_refused),
        cmocka_unit_test(test_large_message),
        cmocka_unit_test(test_a_message_without_end_is_refused),
        cmocka_unit_test(test_both_sides_send_at_once),
        cmocka_unit_test(test_a_message_cut_by_the_deadline_is_finished_later),
        cmocka_unit_test(test_cancel_stops_only_what_would_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
