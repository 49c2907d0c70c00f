#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "json.h"

static ako_json *parse(const char *text)
{
    ako_json *value;
    assert_int_equal(ako_json_parse(&value, text, strlen(text)), AKO_OK);
    return value;
}

static void assert_dumps(const ako_json *value, const char *want)
{
    char *text;
    assert_int_equal(ako_json_dump(&text, value), AKO_OK);
    assert_string_equal(text, want);
    free(text);
}

/* Text that is written as it was read. */
static void assert_same(const char *text)
{
    ako_json *value = parse(text);
    assert_dumps(value, text);
    ako_json_free(value);
}

static void keeps_what_it_reads(void **state)
{
    (void)state;
    assert_same("{\"z\":1,\"a\":[true,false,null,{}],\"\":\"\"}"); /* in insertion order */
    assert_same("9223372036854775807");
    assert_same("-9223372036854775808");
    assert_same("\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001 / \xc3\xa9\"");
    assert_same("[]");
    assert_same("\"a\\u0000b\"");
}

static void writes_reals_in_few_digits(void **state)
{
    (void)state;
    assert_same("0.1");
    assert_same("1e-06");
    assert_same("2.87");
    assert_same("1.0"); /* not an integer */
    assert_same("-0.0");
    assert_same("1e+300");
    assert_same("0.30000000000000004");
    unsigned seed = 1;
    for (int i = 0; i < 1000; i++) {
        double value = ldexp((double)rand_r(&seed) + 1.0 / (1 + rand_r(&seed)), rand_r(&seed) % 200 - 100);
        ako_json *real = ako_json_new_real(value);
        char *text;
        assert_int_equal(ako_json_dump(&text, real), AKO_OK);
        assert_true(strtod(text, NULL) == value);
        free(text);
        ako_json_free(real);
    }
}

static void assert_refused(const char *text, size_t size, const char *message)
{
    ako_json *value;
    assert_int_equal(ako_json_parse(&value, text, size), AKO_INVALID);
    assert_null(value);
    if (!strstr(ako_error_last()->message, message))
        fail_msg("got \"%s\", wanted \"%s\"", ako_error_last()->message, message);
}

static void says_where_a_fault_is(void **state)
{
    (void)state;
    assert_refused("{\"a\":1,\n\"b\" 2}", 14, "line 2 column");
    assert_refused("", 0, "line 1");
    assert_refused("1 2", 3, "end of file expected");
    assert_refused("{\"a\":1,\"a\":2}", 13, "duplicate");
    assert_refused("9223372036854775808", 19, "too big integer");
    assert_refused("\"\xff\"", 3, "unable to decode byte 0xff");
    assert_refused("1e999", 5, "overflow");
    char deep[3000];
    memset(deep, '[', sizeof deep);
    assert_refused(deep, sizeof deep, "depth");
}

static void walks_values(void **state)
{
    (void)state;
    ako_json *value = parse("{\"i\":7,\"r\":2.5,\"s\":\"text\",\"b\":true,\"a\":[1,2],\"n\":null}");
    assert_int_equal(ako_json_type_of(value), AKO_JSON_OBJECT);
    assert_int_equal(ako_json_count(value), 6);
    assert_int_equal(ako_json_integer(ako_json_get(value, "i")), 7);
    assert_true(ako_json_real(ako_json_get(value, "i")) == 7.0);
    assert_true(ako_json_real(ako_json_get(value, "r")) == 2.5);
    size_t size;
    assert_string_equal(ako_json_string(ako_json_get(value, "s"), &size), "text");
    assert_int_equal(size, 4);
    assert_true(ako_json_bool(ako_json_get(value, "b")));
    assert_int_equal(ako_json_count(ako_json_get(value, "a")), 2);
    assert_int_equal(ako_json_integer(ako_json_at(ako_json_get(value, "a"), 1)), 2);
    assert_null(ako_json_at(ako_json_get(value, "a"), 2));
    assert_int_equal(ako_json_type_of(ako_json_get(value, "n")), AKO_JSON_NULL);
    assert_null(ako_json_get(value, "none"));
    void *first = ako_json_next(value, NULL);
    assert_string_equal(ako_json_key(first, NULL), "i");
    assert_string_equal(ako_json_key(ako_json_next(value, first), NULL), "r");
    ako_json_free(value);
    ako_json_free(NULL);
}

static void builds_values(void **state)
{
    (void)state;
    ako_json *object = ako_json_new(AKO_JSON_OBJECT), *array = ako_json_new(AKO_JSON_ARRAY);
    assert_int_equal(ako_json_append(array, ako_json_new_integer(-1)), AKO_OK);
    assert_int_equal(ako_json_append(array, ako_json_new_real(0.5)), AKO_OK);
    assert_int_equal(ako_json_append(array, ako_json_new_bool(false)), AKO_OK);
    assert_int_equal(ako_json_append(array, ako_json_new(AKO_JSON_NULL)), AKO_OK);
    assert_int_equal(ako_json_set(object, "list", 4, array), AKO_OK);
    assert_int_equal(ako_json_set(object, "text", 4, ako_json_new_string("a\0b", 3)), AKO_OK);
    assert_int_equal(ako_json_set(object, "\xff", 1, ako_json_new(AKO_JSON_NULL)), AKO_INVALID);
    assert_dumps(object, "{\"list\":[-1,0.5,false,null],\"text\":\"a\\u0000b\"}");
    ako_json_free(object);
    assert_null(ako_json_new_string("\xff", 1));
    assert_null(ako_json_new_real(NAN));
    assert_null(ako_json_new_real(INFINITY));
}

/* Random edits of a document: what is accepted is written, read and written again the same. */
static void survives_random_text(void **state)
{
    (void)state;
    static const char sample[] = "{\"a\":[1,2.5e3,\"x\\u00e9\\n\"],\"b\":{\"c\":null,\"d\":true}}";
    static const char alphabet[] = "{}[]\",:0123456789.eE+-\\u\x80\xff\x01 truefalsn";
    unsigned seed = 99;
    int accepted = 0;
    for (int round = 0; round < 20000; round++) {
        char text[sizeof sample];
        memcpy(text, sample, sizeof sample);
        for (int n = rand_r(&seed) % 3; n >= 0; n--)
            text[(size_t)rand_r(&seed) % (sizeof sample - 1)] = alphabet[(size_t)rand_r(&seed) % (sizeof alphabet - 1)];
        ako_json *value;
        if (ako_json_parse(&value, text, sizeof sample - 1) != AKO_OK)
            continue;
        char *dumped;
        assert_int_equal(ako_json_dump(&dumped, value), AKO_OK);
        assert_null(strchr(dumped, '\n'));
        ako_json_free(value);
        assert_same(dumped);
        free(dumped);
        accepted++;
    }
    assert_in_range(accepted, 100, 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_what_it_reads),   cmocka_unit_test(writes_reals_in_few_digits),
        cmocka_unit_test(says_where_a_fault_is), cmocka_unit_test(walks_values),
        cmocka_unit_test(builds_values),         cmocka_unit_test(survives_random_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
