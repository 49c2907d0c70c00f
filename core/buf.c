#include "buf.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *ako_buf_reserve(ako_buf *buf, size_t n)
{
    size_t need = buf->size + n + 1;
    if (n > PTRDIFF_MAX || need > PTRDIFF_MAX) /* also what overflowed */
        return buf->oom = true, NULL;
    if (need > buf->capacity) {
        size_t capacity = buf->capacity ? buf->capacity : 64;
        while (capacity < need)
            capacity += capacity / 2 + 16;
        char *data = realloc(buf->data, capacity);
        if (!data)
            return buf->oom = true, NULL;
        buf->data = data;
        buf->capacity = capacity;
    }
    buf->data[buf->size] = '\0';
    return buf->data + buf->size;
}

void ako_buf_put(ako_buf *buf, const void *bytes, size_t n)
{
    char *end = ako_buf_reserve(buf, n);
    if (!end)
        return;
    if (n > 0)
        memcpy(end, bytes, n);
    buf->size += n;
    buf->data[buf->size] = '\0';
}

void ako_buf_puts(ako_buf *buf, const char *text)
{
    ako_buf_put(buf, text, strlen(text));
}

void ako_buf_printf(ako_buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *end = n < 0 ? NULL : ako_buf_reserve(buf, (size_t)n);
    if (!end)
        return;
    va_start(args, format);
    vsnprintf(end, (size_t)n + 1, format, args);
    va_end(args);
    buf->size += (size_t)n;
}

void ako_buf_clear(ako_buf *buf)
{
    buf->size = 0;
    buf->oom = false;
    if (buf->data)
        buf->data[0] = '\0';
}

void ako_buf_drop(ako_buf *buf, size_t n)
{
    if (n == 0 || !buf->data)
        return;
    memmove(buf->data, buf->data + n, buf->size - n + 1);
    buf->size -= n;
}

void ako_buf_free(ako_buf *buf)
{
    free(buf->data);
    *buf = (ako_buf){0};
}

char *ako_buf_take(ako_buf *buf)
{
    char *data = NULL;
    if (!buf->oom && ako_buf_reserve(buf, 0)) {
        data = buf->data;
        buf->data = NULL;
    }
    ako_buf_free(buf);
    return data;
}

size_t ako_utf8_length(const char *text, size_t size)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    if (n == 0 || n > size)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    bool outside = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f);
    return overlong || outside ? 0 : n;
}

void ako_text_clean(char *text, size_t size)
{
    unsigned char *s = (unsigned char *)text;
    for (size_t i = 0; i < size;) {
        size_t n = ako_utf8_length(text + i, size - i);
        if (n == 1 && isspace(s[i]))
            s[i] = ' ';
        else if (n == 0 || s[i] < 0x20 || s[i] == 0x7f)
            s[i] = '?';
        i += n ? n : 1;
    }
}
