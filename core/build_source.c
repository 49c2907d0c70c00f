/* What a build reads and changes in source text: the head of a file, and the kernels in it. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "build_parts.h"
#include "fs.h"

/* A place in a text, and its line. */
typedef struct cursor {
    const char *at, *end;
    int line;
} cursor;

typedef struct head {
    const char *insert; /* behind the last include, at the start of a line */
    int line;           /* of that place */
    bool has_includes;
} head;

bool ako_source_name_is_fine(const char *name)
{
    if (*name == '/' || *name == '\0' || *name == '-' || strlen(name) > 200)
        return false;
    for (const char *p = name; *p; p++)
        if (iscntrl((unsigned char)*p) || strchr("\"\\'<>|&;$`*?", *p))
            return false;
    for (const char *p = name; p; p = strchr(p, '/'), p = p ? p + 1 : NULL)
        if (strncmp(p, "..", 2) == 0 && (p[2] == '/' || p[2] == '\0'))
            return false;
    return true;
}

static void advance(cursor *c)
{
    c->line += *c->at++ == '\n';
}

static bool starts(const cursor *c, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(c->end - c->at) >= n && memcmp(c->at, text, n) == 0;
}

static bool is_of_word(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_';
}

/* Past white space and comments. */
static void skip_blank(cursor *c)
{
    while (c->at < c->end) {
        if (isspace((unsigned char)*c->at)) {
            advance(c);
        } else if (starts(c, "//")) {
            while (c->at < c->end && *c->at != '\n')
                advance(c);
        } else if (starts(c, "/*")) {
            while (c->at < c->end && !starts(c, "*/"))
                advance(c);
            for (int i = 0; i < 2 && c->at < c->end; i++)
                advance(c);
        } else {
            return;
        }
    }
}

/* Past the end of a directive, which a backslash carries on to the next line. */
static void skip_line(cursor *c)
{
    while (c->at < c->end) {
        bool carried = *c->at == '\\' && c->end - c->at > 1;
        if (carried)
            advance(c);
        bool last = !carried && *c->at == '\n';
        advance(c);
        if (last)
            return;
    }
}

static const char *skip_spaces(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    return p;
}

static bool is_word(const char *p, const char *end, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(end - p) >= n && memcmp(p, word, n) == 0 && ((size_t)(end - p) == n || !is_of_word(p[n]));
}

/* NAME of an #include whose argument is at p: "NAME" or <NAME>; "" when it is neither. */
static void read_include_name(char *name, size_t size, const char *p, const char *end)
{
    size_t n = 0;
    p = skip_spaces(p, end);
    if (p < end && (*p == '"' || *p == '<'))
        for (p++; p < end && n + 1 < size && !strchr("\">\n", *p); p++)
            name[n++] = *p;
    name[n] = '\0';
}

static bool is_source(const ako_build_input *input, const char *name)
{
    for (int i = 0; i < input->n_sources; i++)
        if (strcmp(input->sources[i].name, name) == 0)
            return true;
    return false;
}

static bool lies_in(const char *folder, const char *name)
{
    char path[PATH_MAX];
    return *name && *name != '/' && !strstr(name, "..") &&
           snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path && ako_fs_exists(path);
}

static bool ends_head(const ako_build_input *input, const char *stable, const char *p, const char *end)
{
    char name[256];
    read_include_name(name, sizeof name, p, end);
    return is_source(input, name) || (stable && !lies_in(stable, name));
}

/* Walks the directives and comments that a file begins with, up to the first line of code. */
static head find_head(const ako_build_input *input, const char *stable, const char *text, size_t size)
{
    cursor c = {text, text + size, 1};
    if (starts(&c, "\xEF\xBB\xBF"))
        c.at += 3;
    head h = {.insert = c.at, .line = 1};
    bool pending = false; /* an include inside an #if that is not closed yet */
    for (int depth = 0;;) {
        skip_blank(&c);
        if (c.at == c.end || *c.at != '#')
            return h;
        const char *word = skip_spaces(c.at + 1, c.end);
        bool include = is_word(word, c.end, "include");
        if (include && ends_head(input, stable, word + strlen("include"), c.end))
            return h;
        depth += is_word(word, c.end, "if") || is_word(word, c.end, "ifdef") || is_word(word, c.end, "ifndef");
        depth -= is_word(word, c.end, "endif");
        pending = pending || include;
        skip_line(&c);
        if (depth == 0 && pending) {
            h = (head){.insert = c.at, .line = c.line, .has_includes = true};
            pending = false;
        }
    }
}

bool ako_source_put(ako_buf *out, const ako_build_input *input, int index, const char *stable)
{
    const ako_source *s = &input->sources[index];
    head h = find_head(input, stable, s->text, s->size);
    bool stop = stable && h.has_includes;
    if (input->n_defines == 0 && !stop) {
        ako_buf_put(out, s->text, s->size);
        return false;
    }
    size_t before = (size_t)(h.insert - s->text);
    ako_buf_put(out, s->text, before);
    if (h.has_includes && s->text[before - 1] != '\n')
        ako_buf_puts(out, "\n");
    if (stop)
        ako_buf_puts(out, "#pragma nv_hdrstop\n");
    for (int i = 0; i + 1 < input->n_defines; i += 2)
        ako_buf_printf(out, "#define %s %s\n", input->defines[i], input->defines[i + 1]);
    ako_buf_printf(out, "#line %d \"%s\"\n", h.line, s->name);
    ako_buf_put(out, h.insert, s->size - before);
    return stop;
}

static void skip_balanced(cursor *c)
{
    int depth = 0;
    do {
        depth += *c->at == '(';
        depth -= *c->at == ')';
        advance(c);
    } while (c->at < c->end && depth > 0);
}

/* From behind __global__ to the name: the last word before an argument list that is no attribute's. */
static bool find_kernel_name(cursor *c, const char **name, size_t *length)
{
    *length = 0;
    while (c->at < c->end) {
        skip_blank(c);
        if (c->at < c->end && *c->at == '(') {
            bool attribute = *length >= 2 && memcmp(*name, "__", 2) == 0;
            if (!attribute)
                return *length > 0;
            skip_balanced(c);
        } else if (c->at < c->end && is_of_word(*c->at)) {
            for (*name = c->at; c->at < c->end && is_of_word(*c->at);)
                advance(c);
            *length = (size_t)(c->at - *name);
        } else if (c->at < c->end && strchr(";{}", *c->at)) {
            return false;
        } else if (c->at < c->end) {
            advance(c);
        }
    }
    return false;
}

static void skip_string(cursor *c)
{
    do {
        bool escaped = *c->at == '\\' && c->end - c->at > 1;
        if (escaped)
            advance(c);
        advance(c);
    } while (c->at < c->end && *c->at != '"' && *c->at != '\n');
    if (c->at < c->end)
        advance(c);
}

static void list_kernels_of(ako_buf *out, const ako_source *source)
{
    cursor c = {source->text, source->text + source->size, 1};
    for (skip_blank(&c); c.at < c.end; skip_blank(&c)) {
        const char *name = NULL;
        size_t length;
        if (*c.at == '"') {
            skip_string(&c);
            continue;
        }
        if (!is_word(c.at, c.end, "__global__")) {
            bool word = is_of_word(*c.at);
            do {
                advance(&c);
            } while (word && c.at < c.end && is_of_word(*c.at));
            continue;
        }
        c.at += strlen("__global__");
        if (find_kernel_name(&c, &name, &length))
            ako_buf_printf(out, "%s%.*s", out->size ? ", " : "", (int)length, name);
    }
}

void ako_source_list_kernels(ako_buf *out, const ako_build_input *input)
{
    for (int i = 0; i < input->n_sources; i++)
        list_kernels_of(out, &input->sources[i]);
}
