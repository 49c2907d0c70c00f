#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "regex.h"

static ako_regex *compile(const char *pattern, const char *letters)
{
    ako_regex *regex;
    unsigned flags;
    assert_int_equal(ako_regex_parse_flags(&flags, letters), AKO_OK);
    assert_int_equal(ako_regex_new(&regex, pattern, strlen(pattern), flags, NULL), AKO_OK);
    return regex;
}

/* All matches of a pattern, each in brackets. */
static void assert_matches(const char *pattern, const char *letters, const char *text, const char *want)
{
    ako_regex *regex = compile(pattern, letters);
    ako_regex_cursor cursor = {0};
    ako_buf got = {0};
    while (ako_regex_next(regex, text, strlen(text), &cursor) == AKO_OK) {
        ako_span span = ako_regex_span(regex, 0);
        ako_buf_printf(&got, "[%.*s]", (int)(span.end - span.start), text + span.start);
        assert_in_range(got.size, 0, 4096);
    }
    assert_string_equal(got.data ? got.data : "", want);
    ako_buf_free(&got);
    ako_regex_free(regex);
}

static void finds_spans_and_named_groups(void **state)
{
    (void)state;
    const char *text = "line 12: error 7";
    ako_regex *regex = compile("(?<kind>error|warning)(?: (?<code>\\d+))?(x)?", "");
    assert_int_equal(ako_regex_find(regex, text, strlen(text), 0), AKO_OK);
    assert_int_equal(ako_regex_group_count(regex), 3);
    assert_string_equal(ako_regex_group_name(regex, 2), "code");
    assert_null(ako_regex_group_name(regex, 3));
    assert_null(ako_regex_group_name(regex, 0));
    assert_int_equal(ako_regex_span(regex, 1).start, 9);
    assert_int_equal(ako_regex_span(regex, 2).end, 16);
    assert_true(ako_regex_span(regex, 3).start == AKO_REGEX_UNSET);
    assert_true(ako_regex_span(regex, 4).start == AKO_REGEX_UNSET);
    assert_int_equal(ako_regex_find(regex, text, strlen(text), 10), AKO_NOTFOUND);
    assert_int_equal(ako_regex_find(regex, text, strlen(text), strlen(text) + 1), AKO_NOTFOUND);
    ako_regex_free(regex);
}

static void sees_what_is_before_the_start(void **state)
{
    (void)state;
    ako_regex *regex = compile("(?<=a)b", "");
    assert_int_equal(ako_regex_find(regex, "ab", 2, 1), AKO_OK);
    ako_regex_free(regex);
}

static void walks_over_empty_matches(void **state)
{
    (void)state;
    assert_matches("x*", "", "abxxd", "[][][xx][][]");
    assert_matches("\\b", "", "ab cd", "[][][][]");
    assert_matches("$", "m", "a\nb", "[][]");
    assert_matches("", "", "", "[]");
    assert_matches("a|(?=b)", "", "ab", "[a][]");
    assert_matches("", "u", "\xc3\xa9z", "[][][]");
    assert_matches("a\\Kb", "", "abab", "[b][b]");
}

static void honours_flags(void **state)
{
    (void)state;
    assert_matches("a.", "is", "A\n", "[A\n]");
    assert_matches("a b # c", "x", "ab", "[ab]");
    assert_matches("a.b*", "l", "a.b* axb", "[a.b*]");
    assert_matches("A.b*", "lumsxi", "a.b* axb", "[a.b*]");
    assert_matches(".", "", "\xc3\xa9", "[\xc3][\xa9]");
    assert_matches(".", "u", "\xc3\xa9", "[\xc3\xa9]");
    assert_matches("\\w", "u",
                   "\xff"
                   "a\xff",
                   "[a]"); /* invalid text is skipped, not an error */
    unsigned flags;
    assert_int_equal(ako_regex_parse_flags(&flags, "iq"), AKO_INVALID);
    assert_string_equal(ako_error_last()->message, "unknown flag 'q': there are i, m, s, x, u and l");
}

static void refuses(const char *pattern, const char *message)
{
    ako_regex *regex;
    assert_int_equal(ako_regex_new(&regex, pattern, strlen(pattern), 0, NULL), AKO_INVALID);
    assert_null(regex);
    assert_string_equal(ako_error_last()->message, message);
}

static void names_the_offset_of_a_fault(void **state)
{
    (void)state;
    refuses("ab(c", "bad pattern at offset 4: missing closing parenthesis");
    ako_regex *regex;
    const char *utf = "(*UTF)a", *byte = "\\C";
    assert_int_equal(ako_regex_new(&regex, utf, strlen(utf), 0, NULL), AKO_INVALID);
    assert_int_equal(ako_regex_new(&regex, byte, strlen(byte), AKO_REGEX_UTF, NULL), AKO_INVALID);
    char *longest = calloc(1, 1 << 17);
    memset(longest, 'a', (1 << 17) - 1);
    refuses(longest, "the pattern is longer than 65536 bytes");
    free(longest);
}

static void stops_catastrophic_patterns(void **state)
{
    (void)state;
    char text[64];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = 'b';
    const char *const patterns[] = {"(a+)+$", "(a|aa)+$", "^(([a-z])+.)+[A-Z]([a-z])+$", "(*NO_JIT)(a+)+$"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        ako_regex *regex = compile(patterns[i], "");
        assert_int_equal(ako_regex_find(regex, text, sizeof text, 0), AKO_LIMIT);
        ako_regex_free(regex);
    }
}

static void takes_limits(void **state)
{
    (void)state;
    const char *pattern = "(*NO_JIT)(?:a|b)*c";
    char *text = malloc(1 << 20);
    memset(text, 'a', 1 << 20);
    ako_regex_limits limits = ako_regex_default_limits;
    for (int i = 0; i < 3; i++) {
        limits = (ako_regex_limits){i == 0 ? 10 : UINT32_MAX, i == 1 ? 10 : UINT32_MAX, i == 2 ? 30 : 1u << 20};
        ako_regex *regex;
        assert_int_equal(ako_regex_new(&regex, pattern, strlen(pattern), 0, &limits), AKO_OK);
        text[(1 << 20) - 1] = 'c'; /* or the search would end before it began */
        assert_int_equal(ako_regex_find(regex, text, 1 << 20, 0), AKO_LIMIT);
        ako_regex_free(regex);
    }
    free(text);
}

/* A place to go back to for each byte: as many as a source file has are fine, more than the JIT's stack holds are not.
 */
static void has_room_to_backtrack_over_large_texts(void **state)
{
    (void)state;
    size_t size = 8 << 20;
    char *text = malloc(size);
    memset(text, 'a', size);
    ako_regex *regex = compile("(?:a|(b))*c", "");
    text[200000] = 'c';
    assert_int_equal(ako_regex_find(regex, text, 300000, 0), AKO_OK);
    assert_int_equal(ako_regex_span(regex, 0).end, 200001);
    text[200000] = 'a';
    text[size - 1] = 'c';
    assert_int_equal(ako_regex_find(regex, text, size, 0), AKO_LIMIT);
    ako_regex_free(regex);
    free(text);
}

static void assert_expands(const char *replacement, int status, const char *want)
{
    ako_regex *regex = compile("(?<name>\\w+)=(\\w+)(x)?", "");
    const char *text = "key=value";
    ako_buf out = {0};
    assert_int_equal(ako_regex_expand(&out, regex, NULL, replacement, strlen(replacement)), status);
    assert_int_equal(out.size, 0);
    if (status == AKO_OK) {
        assert_int_equal(ako_regex_find(regex, text, strlen(text), 0), AKO_OK);
        assert_int_equal(ako_regex_expand(&out, regex, text, replacement, strlen(replacement)), AKO_OK);
        assert_string_equal(out.data, want);
    } else {
        assert_string_equal(ako_error_last()->message, want);
    }
    ako_buf_free(&out);
    ako_regex_free(regex);
}

static void expands_templates(void **state)
{
    (void)state;
    assert_expands("$2 = ${name}, $0, $$1, ${2}0[$3]", AKO_OK, "value = key, key=value, $1, value0[]");
    assert_expands("plain", AKO_OK, "plain");
    assert_expands("a$4", AKO_INVALID, "bad replacement at offset 1: the pattern has no group '4'");
    assert_expands("${no}", AKO_INVALID, "bad replacement at offset 0: the pattern has no group 'no'");
    assert_expands("$", AKO_INVALID, "bad replacement at offset 0: write $1, ${name} or $$");
    assert_expands("ab${name", AKO_INVALID, "bad replacement at offset 2: write $1, ${name} or $$");
    assert_expands("${}", AKO_INVALID, "bad replacement at offset 0: the pattern has no group ''");
}

/* Random patterns out of what has a meaning, over random text: nothing crashes, hangs or goes backwards. */
static void survives_random_patterns(void **state)
{
    (void)state;
    static const char *const parts[] = {"a",    "b",   "(",    ")",    "*",       "+",    "?",   "|",    "[",
                                        "]",    "^",   "$",    ".",    "\\K",     "\\b",  "(?=", "(?<!", "(?<n>",
                                        "{2,}", "\\1", "(?R)", "(*F)", "\\x{e9}", "\xff", "\\"};
    static const char *const letters[] = {"", "i", "mu", "xs", "u", "l"};
    unsigned seed = 20240607;
    int compiled = 0;
    for (int round = 0; round < 3000; round++) {
        ako_buf pattern = {0};
        for (int n = rand_r(&seed) % 9; n >= 0; n--)
            ako_buf_puts(&pattern, parts[(size_t)rand_r(&seed) % (sizeof parts / sizeof *parts)]);
        char text[24];
        for (size_t i = 0; i < sizeof text; i++)
            text[i] = "ab\n\xc3\xa9\xff"[rand_r(&seed) % 6];
        unsigned flags;
        ako_regex_parse_flags(&flags, letters[rand_r(&seed) % 6]);
        ako_regex *regex;
        ako_regex_limits limits = {.match = 10000, .depth = 1000, .heap_kib = 1000};
        if (ako_regex_new(&regex, pattern.data, pattern.size, flags, &limits) == AKO_OK) {
            ako_regex_cursor cursor = {0};
            int matches = 0, status;
            while ((status = ako_regex_next(regex, text, sizeof text, &cursor)) == AKO_OK) {
                ako_span span = ako_regex_span(regex, 0);
                assert_true(span.start <= span.end && span.end <= sizeof text);
                assert_in_range(++matches, 1, 2 * sizeof text + 2);
            }
            assert_true(status == AKO_NOTFOUND || status == AKO_LIMIT || status == AKO_INVALID);
            compiled++;
        }
        ako_regex_free(regex);
        ako_buf_free(&pattern);
    }
    assert_in_range(compiled, 300, 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_spans_and_named_groups),
        cmocka_unit_test(sees_what_is_before_the_start),
        cmocka_unit_test(walks_over_empty_matches),
        cmocka_unit_test(honours_flags),
        cmocka_unit_test(names_the_offset_of_a_fault),
        cmocka_unit_test(stops_catastrophic_patterns),
        cmocka_unit_test(takes_limits),
        cmocka_unit_test(has_room_to_backtrack_over_large_texts),
        cmocka_unit_test(expands_templates),
        cmocka_unit_test(survives_random_patterns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
