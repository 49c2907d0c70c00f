#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "json.h"
#include "json_scan.h"

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

/* ---- token by token ---- */

/* Writes a text again out of its tokens, with a blank behind each. Gives a status. */
static int rewrite(ako_buf *out, const char *text, size_t size)
{
    static const char *const fixed[] = {"", "{", "}", "[", "]", "", "", "", "", "true", "false", "null"};
    ako_json_scan scan;
    ako_buf scratch = {0};
    int token;
    ako_json_scan_start(&scan, text, size, &scratch);
    while ((token = ako_json_scan_next(&scan)) > 0) {
        if (token == AKO_JSON_TOKEN_KEY || token == AKO_JSON_TOKEN_STRING)
            ako_buf_printf(out, "%.*s%s ", (int)scan.size, scan.string, token == AKO_JSON_TOKEN_KEY ? ":" : "");
        else if (token == AKO_JSON_TOKEN_INTEGER)
            ako_buf_printf(out, "%lld ", (long long)scan.integer);
        else if (token == AKO_JSON_TOKEN_REAL)
            ako_buf_printf(out, "%.17g ", scan.real);
        else
            ako_buf_printf(out, "%s ", fixed[token]);
    }
    ako_buf_free(&scratch);
    return token;
}

static void assert_tokens(const char *text, const char *want)
{
    ako_buf got = {0};
    assert_int_equal(rewrite(&got, text, strlen(text)), AKO_JSON_TOKEN_END);
    assert_string_equal(got.data, want);
    ako_buf_free(&got);
}

static void scans_tokens(void **state)
{
    (void)state;
    assert_tokens(" {\"a\" : [1,-2 , {}],\n\"b\":{\"c\":null}, \"d\":[true,false,[]]} ",
                  "{ a: [ 1 -2 { } ] b: { c: null } d: [ true false [ ] ] } ");
    assert_tokens("\"\\u00e9\\ud83d\\ude00\\n\\\"\xc3\xa9 \\/\"", "\xc3\xa9\xf0\x9f\x98\x80\n\"\xc3\xa9 / ");
    assert_tokens("-9223372036854775808", "-9223372036854775808 ");
    assert_tokens("9223372036854775807", "9223372036854775807 ");
}

static void assert_scan_refuses(const char *text, const char *message)
{
    ako_buf got = {0};
    assert_int_equal(rewrite(&got, text, strlen(text)), AKO_INVALID);
    assert_string_equal(ako_error_last()->message, message);
    ako_buf_free(&got);
}

static void scan_says_where_a_fault_is(void **state)
{
    (void)state;
    assert_scan_refuses("{\"a\":1,\n\"b\" 2}", "line 2 column 5: ':' is missing");
    assert_scan_refuses("[1 2]", "line 1 column 4: ',' or ']' is missing");
    assert_scan_refuses("[1,]", "line 1 column 4: not a JSON value");
    assert_scan_refuses("{\"a\":1,}", "line 1 column 8: a key in quotes is missing");
    assert_scan_refuses("1 2", "line 1 column 3: more behind the value");
    assert_scan_refuses("9223372036854775808", "line 1 column 1: an integer of more than 64 bits");
    assert_scan_refuses("-9223372036854775809", "line 1 column 1: an integer of more than 64 bits");
    assert_scan_refuses("1e999", "line 1 column 1: a number too large for a double");
    assert_scan_refuses("\"\\ud800\"", "line 1 column 8: half a surrogate pair");
    assert_scan_refuses("{\"\\u0000\":1}", "line 1 column 10: a NUL in a key");
    assert_scan_refuses("\"abc", "line 1 column 5: the text ends in a string");
    assert_scan_refuses("", "line 1 column 1: not a JSON value");
    char deep[600];
    memset(deep, '[', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    assert_scan_refuses(deep, "line 1 column 513: maximum depth reached");
}

static void scan_reads_reals_exactly(void **state)
{
    (void)state;
    unsigned seed = 5;
    for (int i = 0; i < 20000; i++) {
        char text[64];
        double value = ldexp((double)rand_r(&seed) * rand_r(&seed), rand_r(&seed) % 120 - 90);
        snprintf(text, sizeof text, i % 2 ? "%.*f" : "%.*e", 1 + (int)(rand_r(&seed) % 17), i % 3 ? value : -value);
        ako_json_scan scan;
        ako_json_scan_start(&scan, text, strlen(text), NULL);
        assert_int_equal(ako_json_scan_next(&scan), AKO_JSON_TOKEN_REAL);
        assert_true(scan.real == strtod(text, NULL));
    }
}

/* ---- random text ---- */

/* What the tokens are of a tree that jansson has read. */
static void write_tree(ako_buf *out, const ako_json *value)
{
    size_t size;
    switch (ako_json_type_of(value)) {
    case AKO_JSON_OBJECT:
        ako_buf_puts(out, "{ ");
        for (void *i = ako_json_next(value, NULL); i; i = ako_json_next(value, i)) {
            ako_buf_printf(out, "%s: ", ako_json_key(i, NULL));
            write_tree(out, ako_json_value(i));
        }
        ako_buf_puts(out, "} ");
        break;
    case AKO_JSON_ARRAY:
        ako_buf_puts(out, "[ ");
        for (size_t i = 0; i < ako_json_count(value); i++)
            write_tree(out, ako_json_at(value, i));
        ako_buf_puts(out, "] ");
        break;
    case AKO_JSON_STRING: {
        const char *text = ako_json_string(value, &size);
        ako_buf_printf(out, "%.*s ", (int)size, text);
        break;
    }
    case AKO_JSON_INTEGER:
        ako_buf_printf(out, "%lld ", (long long)ako_json_integer(value));
        break;
    case AKO_JSON_REAL:
        ako_buf_printf(out, "%.17g ", ako_json_real(value));
        break;
    case AKO_JSON_BOOL:
        ako_buf_puts(out, ako_json_bool(value) ? "true " : "false ");
        break;
    case AKO_JSON_NULL:
        ako_buf_puts(out, "null ");
        break;
    }
}

/* Both readers take and refuse the same, and read the same; duplicate keys, which only one looks for, aside. */
static void assert_readers_agree(const char *text, size_t size)
{
    ako_json *value;
    ako_buf tree = {0}, tokens = {0};
    int parsed = ako_json_parse(&value, text, size);
    bool duplicate = parsed != AKO_OK && strstr(ako_error_last()->message, "duplicate");
    int scanned = rewrite(&tokens, text, size);
    if (!duplicate && (parsed == AKO_OK) != (scanned == AKO_JSON_TOKEN_END))
        fail_msg("one of two readers refuses %.*s", (int)size, text);
    if (parsed == AKO_OK) {
        write_tree(&tree, value);
        assert_string_equal(tokens.data, tree.data);
    }
    ako_json_free(value);
    ako_buf_free(&tree);
    ako_buf_free(&tokens);
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
        assert_readers_agree(text, sizeof sample - 1);
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
        cmocka_unit_test(keeps_what_it_reads),
        cmocka_unit_test(writes_reals_in_few_digits),
        cmocka_unit_test(says_where_a_fault_is),
        cmocka_unit_test(walks_values),
        cmocka_unit_test(builds_values),
        cmocka_unit_test(scans_tokens),
        cmocka_unit_test(scan_says_where_a_fault_is),
        cmocka_unit_test(scan_reads_reals_exactly),
        cmocka_unit_test(survives_random_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
