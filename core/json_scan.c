#include "json_scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

/* What may come next. */
enum { VALUE, VALUE_OR_END, KEY, KEY_OR_END, COMMA_OR_END, NOTHING };

void ako_json_scan_start(ako_json_scan *scan, const char *text, size_t size, ako_buf *scratch)
{
    scan->text = scan->at = text;
    scan->end = text + size;
    scan->scratch = scratch;
    scan->expect = VALUE;
    scan->depth = 0;
}

int ako_json_scan_fail(const ako_json_scan *scan, const char *why)
{
    int line = 1;
    const char *start = scan->text;
    for (const char *p = start; p < scan->at; p++)
        if (*p == '\n')
            line++, start = p + 1;
    return ako_fail(AKO_INVALID, "json", "line %d column %d: %s", line, (int)(scan->at - start) + 1, why);
}

/* ---- strings ---- */

static int hex4(const char *p, const char *end)
{
    int value = 0;
    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = p[i] >= '0' && p[i] <= '9'                 ? p[i] - '0'
                    : (p[i] | 32) >= 'a' && (p[i] | 32) <= 'f' ? (p[i] | 32) - 'a' + 10
                                                               : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

static void put_utf8(ako_buf *out, int c)
{
    char bytes[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const int lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        bytes[i] = (char)(0x80 | (c & 0x3f));
    bytes[0] = (char)(lead[n] | c);
    ako_buf_put(out, bytes, n);
}

/* Behind "\u": one escape, or two that are the halves of a surrogate pair. */
static int scan_unicode(ako_json_scan *scan)
{
    int c = hex4(scan->at, scan->end);
    if (c < 0)
        return ako_json_scan_fail(scan, "\\u wants four hex digits");
    scan->at += 4;
    if (c >= 0xd800 && c < 0xe000) {
        int low = scan->end - scan->at >= 6 && memcmp(scan->at, "\\u", 2) == 0 ? hex4(scan->at + 2, scan->end) : -1;
        if (c >= 0xdc00 || low < 0xdc00 || low >= 0xe000)
            return ako_json_scan_fail(scan, "half a surrogate pair");
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        scan->at += 6;
    }
    put_utf8(scan->scratch, c);
    return AKO_OK;
}

static int scan_escape(ako_json_scan *scan)
{
    static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    scan->at++;
    char letter = scan->at < scan->end ? *scan->at : '\0';
    const char *known = letter ? strchr(letters, letter) : NULL;
    if (!known && letter != 'u')
        return ako_json_scan_fail(scan, "unknown escape");
    scan->at++;
    if (letter == 'u')
        return scan_unicode(scan);
    ako_buf_put(scan->scratch, &bytes[known - letters], 1);
    return AKO_OK;
}

/* Goes on to the next byte that ends a run of plain text: a quote or a backslash. */
static int scan_run(ako_json_scan *scan)
{
    for (;;) {
        const char *p = scan->at;
        while ((unsigned char)*p >= 0x20 && (unsigned char)*p < 0x80 && *p != '"' && *p != '\\')
            p++;
        scan->at = p;
        if (p == scan->end)
            return ako_json_scan_fail(scan, "the text ends in a string");
        if (*p == '"' || *p == '\\')
            return AKO_OK;
        size_t n = (unsigned char)*p < 0x20 ? 0 : ako_utf8_length(p, (size_t)(scan->end - p));
        if (n == 0)
            return ako_json_scan_fail(scan, (unsigned char)*p < 0x20 ? "a control character in a string" : "not UTF-8");
        scan->at = p + n;
    }
}

static int scan_string(ako_json_scan *scan)
{
    const char *start = ++scan->at;
    int status = scan_run(scan);
    if (status == AKO_OK && *scan->at == '"') { /* no escapes: as it stands in the text */
        scan->string = start;
        scan->size = (size_t)(scan->at++ - start);
        return AKO_OK;
    }
    ako_buf_clear(scan->scratch);
    while (status == AKO_OK) {
        ako_buf_put(scan->scratch, start, (size_t)(scan->at - start));
        if (*scan->at == '"')
            break;
        status = scan_escape(scan);
        start = scan->at;
        if (status == AKO_OK)
            status = scan_run(scan);
    }
    if (status == AKO_OK && scan->scratch->oom)
        status = ako_fail(AKO_NOMEM, "json", "out of memory");
    if (status != AKO_OK)
        return status;
    scan->at++;
    scan->string = scan->scratch->data;
    scan->size = scan->scratch->size;
    return AKO_OK;
}

/* ---- numbers ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *skip_digits(const char *p)
{
    while (is_digit(*p))
        p++;
    return p;
}

/* The end of a real behind its integer part, or NULL. */
static const char *skip_fraction(const char *p)
{
    if (*p == '.') {
        if (!is_digit(*++p))
            return NULL;
        p = skip_digits(p);
    }
    if (*p == 'e' || *p == 'E') {
        p++;
        p += *p == '+' || *p == '-';
        if (!is_digit(*p))
            return NULL;
        p = skip_digits(p);
    }
    return p;
}

/* strtod, or what gives the same much sooner: an integer that a double holds exactly, over a power of ten that it holds
 * exactly too, is rounded once (W. D. Clinger, "How to read floating point numbers accurately", 1990). */
static double read_real(const char *start, const char *end)
{
    static const double tens[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const char *p = start + (*start == '-'), *dot = NULL;
    int64_t mantissa = 0;
    for (int digits = 0; p < end && (is_digit(*p) || *p == '.') && digits <= 15; p++) {
        if (*p == '.') {
            dot = p;
            continue;
        }
        mantissa = mantissa * 10 + (*p - '0');
        digits++;
    }
    if (p < end || mantissa >= (INT64_C(1) << 53))
        return strtod(start, NULL);
    double value = (double)mantissa / tens[dot ? end - dot - 1 : 0];
    return *start == '-' ? -value : value;
}

/* False when the digits of [p, end) go over 64 bits. */
static bool read_integer(int64_t *out, const char *p, const char *end)
{
    bool negative = *p == '-';
    uint64_t value = 0, limit = (uint64_t)INT64_MAX + negative;
    for (p += negative; p < end; p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        if (value > (limit - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

static int scan_number(ako_json_scan *scan)
{
    const char *start = scan->at, *digits = start + (*start == '-');
    const char *end = *digits == '0' ? digits + 1 : skip_digits(digits);
    const char *real_end = end > digits ? skip_fraction(end) : NULL;
    if (!real_end || is_digit(*real_end))
        return ako_json_scan_fail(scan, "not a number");
    bool whole = real_end == end;
    if (whole && !read_integer(&scan->integer, start, end))
        return ako_json_scan_fail(scan, "an integer of more than 64 bits");
    if (!whole)
        scan->real = read_real(start, real_end);
    if (!whole && isinf(scan->real))
        return ako_json_scan_fail(scan, "a number too large for a double");
    scan->at = real_end;
    return whole ? AKO_JSON_TOKEN_INTEGER : AKO_JSON_TOKEN_REAL;
}

/* ---- structure ---- */

static int after_value(ako_json_scan *scan, int token)
{
    scan->expect = scan->depth ? COMMA_OR_END : NOTHING;
    return token;
}

static int open_container(ako_json_scan *scan, bool object)
{
    if (scan->depth == AKO_JSON_SCAN_DEPTH)
        return ako_json_scan_fail(scan, "maximum depth reached");
    scan->at++;
    scan->in_object[scan->depth++] = object;
    scan->expect = object ? KEY_OR_END : VALUE_OR_END;
    return object ? AKO_JSON_TOKEN_OBJECT : AKO_JSON_TOKEN_ARRAY;
}

static int close_container(ako_json_scan *scan)
{
    scan->at++;
    bool object = scan->in_object[--scan->depth];
    return after_value(scan, object ? AKO_JSON_TOKEN_OBJECT_END : AKO_JSON_TOKEN_ARRAY_END);
}

static void skip_space(ako_json_scan *scan)
{
    while (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\r' || *scan->at == '\t')
        scan->at++;
}

static int scan_word(ako_json_scan *scan, const char *word, int token)
{
    size_t n = strlen(word);
    if ((size_t)(scan->end - scan->at) < n || memcmp(scan->at, word, n) != 0)
        return ako_json_scan_fail(scan, "not a JSON value");
    scan->at += n;
    return after_value(scan, token);
}

static int scan_value(ako_json_scan *scan)
{
    int result;
    switch (*scan->at) {
    case '{':
        return open_container(scan, true);
    case '[':
        return open_container(scan, false);
    case '"':
        result = scan_string(scan);
        return result < 0 ? result : after_value(scan, AKO_JSON_TOKEN_STRING);
    case 't':
        return scan_word(scan, "true", AKO_JSON_TOKEN_TRUE);
    case 'f':
        return scan_word(scan, "false", AKO_JSON_TOKEN_FALSE);
    case 'n':
        return scan_word(scan, "null", AKO_JSON_TOKEN_NULL);
    default:
        if (*scan->at != '-' && !is_digit(*scan->at))
            return ako_json_scan_fail(scan, "not a JSON value");
        result = scan_number(scan);
        return result < 0 ? result : after_value(scan, result);
    }
}

static int scan_key(ako_json_scan *scan)
{
    if (*scan->at != '"')
        return ako_json_scan_fail(scan, "a key in quotes is missing");
    int status = scan_string(scan);
    if (status != AKO_OK)
        return status;
    if (memchr(scan->string, '\0', scan->size))
        return ako_json_scan_fail(scan, "a NUL in a key");
    skip_space(scan);
    if (*scan->at != ':')
        return ako_json_scan_fail(scan, "':' is missing");
    scan->at++;
    scan->expect = VALUE;
    return AKO_JSON_TOKEN_KEY;
}

int ako_json_scan_next(ako_json_scan *scan)
{
    skip_space(scan);
    if (scan->expect == NOTHING)
        return scan->at == scan->end ? AKO_JSON_TOKEN_END : ako_json_scan_fail(scan, "more behind the value");
    bool object = scan->depth > 0 && scan->in_object[scan->depth - 1];
    if (scan->expect != VALUE && scan->expect != KEY && *scan->at == (object ? '}' : ']'))
        return close_container(scan);
    if (scan->expect == COMMA_OR_END) {
        if (*scan->at != ',')
            return ako_json_scan_fail(scan, object ? "',' or '}' is missing" : "',' or ']' is missing");
        scan->at++;
        skip_space(scan);
        scan->expect = object ? KEY : VALUE;
    }
    return scan->expect == KEY || scan->expect == KEY_OR_END ? scan_key(scan) : scan_value(scan);
}
