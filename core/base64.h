/* Base64 (RFC 4648, with padding): bytes inside JSON. */
#ifndef AKO_BASE64_H
#define AKO_BASE64_H

#include "buf.h"

void ako_base64_encode(ako_buf *out, const void *data, size_t size); /* appends; see out->oom */

/* Appends the bytes. AKO_INVALID at anything that is not whole groups of four; AKO_NOMEM. */
int ako_base64_decode(ako_buf *out, const char *text, size_t size);

#endif
