/* What a compiler's log says: the first error, and what ptxas -v tells of each kernel. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build_parts.h"

typedef struct span {
    const char *at, *end;
} span;

/* The line at *at without its newline; *at moves to the next. */
static span next_line(const char **at)
{
    span line = {*at, *at + strcspn(*at, "\n")};
    *at = line.end + (*line.end == '\n');
    return line;
}

static const char *find_in_line(span line, const char *text)
{
    return memmem(line.at, (size_t)(line.end - line.at), text, strlen(text));
}

static void set_text(ako_build_output *out, const char *at, const char *end)
{
    while (at < end && isspace((unsigned char)*at))
        at++;
    snprintf(out->error_text, sizeof out->error_text, "%.*s", (int)(end - at), at);
}

/* Takes a number that ends at *end off the end of a span, with the character before it. */
static bool take_number(span *s, char before, int *number)
{
    const char *p = s->end;
    while (p > s->at && isdigit((unsigned char)p[-1]))
        p--;
    if (p == s->end || p == s->at || p[-1] != before)
        return false;
    *number = (int)strtol(p, NULL, 10);
    s->end = p - 1;
    return true;
}

/* "kernel.cu(12)" or "file.c:12:5" or "file.c:12". */
static bool parse_place(ako_build_output *out, span place)
{
    int line = 0, column = 0;
    if (place.end > place.at && place.end[-1] == ')') {
        place.end--;
        if (!take_number(&place, '(', &line))
            return false;
    } else {
        if (!take_number(&place, ':', &column))
            return false;
        if (!take_number(&place, ':', &line)) {
            line = column;
            column = 0;
        }
    }
    snprintf(out->error_file, sizeof out->error_file, "%.*s", (int)(place.end - place.at), place.at);
    out->error_line = line;
    out->error_column = column;
    return true;
}

/* "PLACE: error: TEXT" and its kin; EDG may put a number behind the word: "error #20: TEXT". */
static bool parse_error_line(ako_build_output *out, span line)
{
    static const char *const words[] = {": error", ": fatal error", ": catastrophic error", ": internal error"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *word = find_in_line(line, words[i]);
        const char *colon = word ? memchr(word + 1, ':', (size_t)(line.end - word - 1)) : NULL;
        if (!colon || !parse_place(out, (span){line.at, word}))
            continue;
        set_text(out, colon + 1, line.end);
        return true;
    }
    return false;
}

/* Under the error come the source line and a caret, both two columns to the right. */
static int caret_column(const char *at)
{
    for (int i = 0; i < 4 && *at; i++) {
        span line = next_line(&at);
        const char *caret = line.at + strspn(line.at, " ");
        if (caret < line.end && *caret == '^' && caret - line.at >= 2)
            return (int)(caret - line.at) - 1;
    }
    return 0;
}

/* Errors with no place in the sources: of the linker, of ptxas, of the options. */
static bool parse_placeless_line(ako_build_output *out, span line)
{
    static const char *const words[] = {"undefined reference", "multiple definition", "error", "fatal", "Fatal"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *word = find_in_line(line, words[i]);
        if (!word)
            continue;
        set_text(out, i < 2 ? word : line.at, line.end);
        return true;
    }
    return false;
}

static void parse_first_error(ako_build_output *out, bool carets)
{
    const char *at = out->log.data ? out->log.data : "";
    while (*at) {
        if (!parse_error_line(out, next_line(&at)))
            continue;
        if (carets && out->error_column == 0)
            out->error_column = caret_column(at);
        return;
    }
    for (at = out->log.data ? out->log.data : ""; *at;)
        if (parse_placeless_line(out, next_line(&at)))
            return;
    if (!out->error_text[0])
        snprintf(out->error_text, sizeof out->error_text, "the compiler failed without saying why");
}

static void take_largest(int *largest, span line, const char *unit)
{
    const char *p = find_in_line(line, unit);
    if (!p)
        return;
    span before = {line.at, p};
    int number;
    if (take_number(&before, ' ', &number) && number > *largest)
        *largest = number;
}

static void parse_resources(ako_build_output *out)
{
    for (const char *at = out->log.data ? out->log.data : ""; *at;) {
        span line = next_line(&at);
        if (find_in_line(line, "ptxas info") && find_in_line(line, ": Used ")) {
            take_largest(&out->registers, line, " registers");
            take_largest(&out->shared_bytes, line, " bytes smem");
            out->shared_bytes = out->shared_bytes < 0 ? 0 : out->shared_bytes; /* not named when there is none */
        }
        take_largest(&out->spill_bytes, line, " bytes spill stores");
        take_largest(&out->spill_bytes, line, " bytes spill loads");
    }
}

void ako_build_log_parse(ako_build_output *out, bool carets)
{
    parse_resources(out);
    if (!out->ok && !out->timed_out && !out->error_text[0])
        parse_first_error(out, carets);
}

void ako_build_reject(ako_build_output *out, const char *file, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(out->error_text, sizeof out->error_text, format, args);
    va_end(args);
    snprintf(out->error_file, sizeof out->error_file, "%s", file);
    out->error_line = out->error_column = 0;
    out->ok = false;
    ako_buf_printf(&out->log, "%s: error: %s\n", file, out->error_text);
}
