#define PCRE2_CODE_UNIT_WIDTH 8
#include "regex.h"

#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

#define PATTERN_MAX                                                                                  \
    (64u << 10) /* a longer one is a mistake, and PCRE2 has no limit on the time a compilation takes \
                 */
#define JIT_STACK_MIN (32u << 10)
#define JIT_STACK_MAX (8u << 20) /* of address space; about 20 bytes for each point to go back to */

/* Generous for real work, and below 0.1 s for a pattern that backtracks without end. */
const ako_regex_limits ako_regex_default_limits = {.match = 5000000, .depth = 1000000, .heap_kib = 32768};

struct ako_regex {
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
    const char **names; /* by group number; point into the code's name table */
    int groups;
};

static const struct {
    char letter;
    unsigned flag;
    uint32_t option;
} flag_table[] = {
    {'i', AKO_REGEX_CASELESS, PCRE2_CASELESS},
    {'m', AKO_REGEX_MULTILINE, PCRE2_MULTILINE},
    {'s', AKO_REGEX_DOTALL, PCRE2_DOTALL},
    {'x', AKO_REGEX_EXTENDED, PCRE2_EXTENDED},
    {'u', AKO_REGEX_UTF, PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF},
    {'l', AKO_REGEX_LITERAL, PCRE2_LITERAL},
};
#define FLAGS (sizeof flag_table / sizeof *flag_table)

int ako_regex_parse_flags(unsigned *out, const char *letters)
{
    *out = 0;
    for (; *letters; letters++) {
        size_t i = 0;
        while (i < FLAGS && flag_table[i].letter != *letters)
            i++;
        if (i == FLAGS)
            return ako_fail(AKO_INVALID, "regex", "unknown flag '%c': there are i, m, s, x, u and l", *letters);
        *out |= flag_table[i].flag;
    }
    return AKO_OK;
}

static uint32_t compile_options(unsigned flags)
{
    uint32_t options = 0;
    for (size_t i = 0; i < FLAGS; i++)
        if (flags & flag_table[i].flag)
            options |= flag_table[i].option;
    if (flags & AKO_REGEX_LITERAL) /* PCRE2 refuses what plain text has no use for */
        return options & (PCRE2_LITERAL | PCRE2_CASELESS | PCRE2_UTF | PCRE2_MATCH_INVALID_UTF);
    if (!(flags & AKO_REGEX_UTF))
        options |= PCRE2_NEVER_UTF; /* or "(*UTF)" in the pattern would change what a text may hold */
    return options | PCRE2_NEVER_BACKSLASH_C;
}

static int fail_pcre(int status, int code, const char *what)
{
    char reason[256];
    if (pcre2_get_error_message(code, (PCRE2_UCHAR *)reason, sizeof reason) < 0)
        reason[0] = '\0';
    return ako_fail(status, "regex", "%s: %s", what, reason);
}

static int compile(ako_regex *regex, const char *pattern, size_t size, unsigned flags)
{
    if (size > PATTERN_MAX)
        return ako_fail(AKO_INVALID, "regex", "the pattern is longer than %u bytes", PATTERN_MAX);
    int code = 0;
    size_t offset = 0;
    regex->code = pcre2_compile((PCRE2_SPTR)pattern, size, compile_options(flags), &code, &offset, NULL);
    if (!regex->code) {
        char what[64];
        snprintf(what, sizeof what, "bad pattern at offset %zu", offset);
        return fail_pcre(AKO_INVALID, code, what);
    }
    if (pcre2_jit_compile(regex->code, PCRE2_JIT_COMPLETE) == 0)
        regex->stack = pcre2_jit_stack_create(JIT_STACK_MIN, JIT_STACK_MAX, NULL);
    return AKO_OK;
}

static int read_names(ako_regex *regex)
{
    uint32_t groups = 0, count = 0, entry_size = 0;
    PCRE2_SPTR table = NULL;
    pcre2_pattern_info(regex->code, PCRE2_INFO_CAPTURECOUNT, &groups);
    pcre2_pattern_info(regex->code, PCRE2_INFO_NAMECOUNT, &count);
    pcre2_pattern_info(regex->code, PCRE2_INFO_NAMEENTRYSIZE, &entry_size);
    pcre2_pattern_info(regex->code, PCRE2_INFO_NAMETABLE, &table);
    regex->groups = (int)groups;
    regex->names = calloc((size_t)groups + 1, sizeof *regex->names);
    if (!regex->names)
        return ako_fail(AKO_NOMEM, "regex", "out of memory");
    /* An entry is the group's number in two bytes, high one first, and then its name. */
    for (uint32_t i = 0; i < count; i++, table += entry_size)
        regex->names[table[0] << 8 | table[1]] = (const char *)table + 2;
    return AKO_OK;
}

static int make_context(ako_regex *regex, const ako_regex_limits *limits)
{
    regex->data = pcre2_match_data_create_from_pattern(regex->code, NULL);
    regex->context = pcre2_match_context_create(NULL);
    if (!regex->data || !regex->context)
        return ako_fail(AKO_NOMEM, "regex", "out of memory");
    pcre2_set_match_limit(regex->context, limits->match);
    pcre2_set_depth_limit(regex->context, limits->depth);
    pcre2_set_heap_limit(regex->context, limits->heap_kib);
    pcre2_jit_stack_assign(regex->context, NULL, regex->stack);
    return AKO_OK;
}

int ako_regex_new(ako_regex **out, const char *pattern, size_t size, unsigned flags, const ako_regex_limits *limits)
{
    *out = NULL;
    ako_regex *regex = calloc(1, sizeof *regex);
    if (!regex)
        return ako_fail(AKO_NOMEM, "regex", "out of memory");
    int status = compile(regex, pattern, size, flags);
    if (status == AKO_OK)
        status = read_names(regex);
    if (status == AKO_OK)
        status = make_context(regex, limits ? limits : &ako_regex_default_limits);
    if (status != AKO_OK) {
        ako_regex_free(regex);
        return status;
    }
    *out = regex;
    return AKO_OK;
}

void ako_regex_free(ako_regex *regex)
{
    if (!regex)
        return;
    pcre2_match_context_free(regex->context);
    pcre2_match_data_free(regex->data);
    pcre2_jit_stack_free(regex->stack);
    pcre2_code_free(regex->code);
    free(regex->names);
    free(regex);
}

int ako_regex_group_count(const ako_regex *regex)
{
    return regex->groups;
}

const char *ako_regex_group_name(const ako_regex *regex, int i)
{
    return i >= 1 && i <= regex->groups ? regex->names[i] : NULL;
}

static int search(ako_regex *regex, const char *text, size_t size, size_t from, uint32_t options)
{
    if (from > size)
        return AKO_NOTFOUND;
    PCRE2_SPTR subject = (PCRE2_SPTR)text;
    int n = pcre2_match(regex->code, subject, size, from, options, regex->data, regex->context);
    switch (n) {
    case PCRE2_ERROR_NOMATCH:
        return AKO_NOTFOUND;
    case PCRE2_ERROR_MATCHLIMIT:
    case PCRE2_ERROR_DEPTHLIMIT:
    case PCRE2_ERROR_HEAPLIMIT:
    case PCRE2_ERROR_JIT_STACKLIMIT:
        return fail_pcre(AKO_LIMIT, n, "the pattern needs too many steps on this text");
    case PCRE2_ERROR_NOMEMORY:
        return ako_fail(AKO_NOMEM, "regex", "out of memory");
    default:
        break;
    }
    if (n < 0)
        return fail_pcre(AKO_INVALID, n, "cannot search");
    const size_t *spans = pcre2_get_ovector_pointer(regex->data);
    if (spans[0] > spans[1] || spans[1] < from)
        return ako_fail(AKO_INVALID, "regex", "cannot search: \\K in a lookaround moved the match");
    return AKO_OK;
}

int ako_regex_find(ako_regex *regex, const char *text, size_t size, size_t from)
{
    return search(regex, text, size, from, 0);
}

ako_span ako_regex_span(const ako_regex *regex, int group)
{
    if (group < 0 || group > regex->groups)
        return (ako_span){AKO_REGEX_UNSET, AKO_REGEX_UNSET};
    const size_t *spans = pcre2_get_ovector_pointer(regex->data);
    return (ako_span){spans[2 * group], spans[2 * group + 1]};
}

int ako_regex_next(ako_regex *regex, const char *text, size_t size, ako_regex_cursor *cursor)
{
    int status = search(regex, text, size, cursor->at, cursor->after_empty ? PCRE2_NOTEMPTY_ATSTART : 0);
    if (status != AKO_OK)
        return status;
    ako_span whole = ako_regex_span(regex, 0);
    cursor->after_empty = whole.end == whole.start;
    cursor->at = whole.end;
    return AKO_OK;
}

/* The group that `name` (digits or a name) means, or -1. */
static int find_group(const ako_regex *regex, const char *name, size_t size)
{
    int number = 0;
    size_t digits = 0;
    while (digits < size && digits < 6 && name[digits] >= '0' && name[digits] <= '9')
        number = number * 10 + (name[digits++] - '0');
    if (size > 0 && digits == size)
        return number <= regex->groups ? number : -1;
    for (int i = 1; i <= regex->groups; i++)
        if (regex->names[i] && strlen(regex->names[i]) == size && memcmp(regex->names[i], name, size) == 0)
            return i;
    return -1;
}

/* Reads the reference behind a '$' at `at`: its name, and where the text goes on. False when it is not one. */
static bool read_reference(const char *text, size_t size, size_t at, ako_span *name, size_t *next)
{
    if (at < size && text[at] == '{') {
        const char *close = memchr(text + at, '}', size - at);
        if (!close)
            return false;
        *name = (ako_span){at + 1, (size_t)(close - text)};
        *next = name->end + 1;
        return true;
    }
    *name = (ako_span){at, at};
    while (name->end < size && name->end < at + 2 && text[name->end] >= '0' && text[name->end] <= '9')
        name->end++;
    *next = name->end;
    return name->end > at;
}

int ako_regex_expand(ako_buf *out, const ako_regex *regex, const char *text, const char *replacement, size_t size)
{
    for (size_t at = 0; at < size;) {
        const char *dollar = memchr(replacement + at, '$', size - at);
        size_t plain = dollar ? (size_t)(dollar - replacement) : size;
        if (text)
            ako_buf_put(out, replacement + at, plain - at);
        at = plain + 1;
        if (!dollar)
            break;
        if (at < size && replacement[at] == '$') {
            ako_buf_put(out, "$", text ? 1 : 0);
            at++;
            continue;
        }
        ako_span name;
        if (!read_reference(replacement, size, at, &name, &at))
            return ako_fail(AKO_INVALID, "regex", "bad replacement at offset %zu: write $1, ${name} or $$", plain);
        int group = find_group(regex, replacement + name.start, name.end - name.start);
        if (group < 0)
            return ako_fail(AKO_INVALID, "regex", "bad replacement at offset %zu: the pattern has no group '%.*s'",
                            plain, (int)(name.end - name.start), replacement + name.start);
        ako_span span = ako_regex_span(regex, group);
        if (text && span.start != AKO_REGEX_UNSET)
            ako_buf_put(out, text + span.start, span.end - span.start);
    }
    return out->oom ? ako_fail(AKO_NOMEM, "regex", "out of memory") : AKO_OK;
}
