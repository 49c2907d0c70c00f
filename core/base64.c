#include "base64.h"

#include <stdint.h>
#include <string.h>

#include "error.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void ako_base64_encode(ako_buf *out, const void *data, size_t size)
{
    const unsigned char *p = data;
    char *end = ako_buf_reserve(out, (size + 2) / 3 * 4);
    if (!end)
        return;
    for (size_t i = 0; i < size; i += 3) {
        size_t n = size - i < 3 ? size - i : 3;
        uint32_t group = (uint32_t)p[i] << 16 | (n > 1 ? (uint32_t)p[i + 1] << 8 : 0) | (n > 2 ? p[i + 2] : 0U);
        for (size_t k = 0; k < 4; k++)
            *end++ = k <= n ? alphabet[group >> (18 - 6 * k) & 63] : '=';
    }
    *end = '\0';
    out->size += (size + 2) / 3 * 4;
}

static void fill_values(signed char values[256])
{
    memset(values, -1, 256);
    for (int i = 0; i < 64; i++)
        values[(unsigned char)alphabet[i]] = (signed char)i;
}

/* One group of four characters; returns how many bytes it holds, or -1. */
static int decode_group(char bytes[3], const char *text, const signed char values[256])
{
    int n = text[3] != '=' ? 3 : text[2] != '=' ? 2 : 1;
    uint32_t group = 0;
    for (int k = 0; k < 4; k++) {
        int value = k <= n ? values[(unsigned char)text[k]] : text[k] == '=' ? 0 : -1;
        if (value < 0)
            return -1;
        group = group << 6 | (uint32_t)value;
    }
    for (int k = 0; k < 3; k++)
        bytes[k] = (char)(group >> (16 - 8 * k) & 255);
    return n;
}

int ako_base64_decode(ako_buf *out, const char *text, size_t size)
{
    signed char values[256];
    fill_values(values);
    char *end = size % 4 ? NULL : ako_buf_reserve(out, size / 4 * 3);
    if (!end)
        return size % 4 ? ako_fail(AKO_INVALID, "base64", "%zu characters are no whole groups of four", size)
                        : ako_fail(AKO_NOMEM, "base64", "out of memory");
    for (size_t i = 0; i < size; i += 4) {
        int n = decode_group(end, text + i, values);
        if (n < 0 || (n < 3 && i + 4 < size))
            return ako_fail(AKO_INVALID, "base64", "bad characters at %zu", i);
        end += n;
        out->size += (size_t)n;
    }
    *end = '\0';
    return AKO_OK;
}
