#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "buf.h"

static _Thread_local ako_error last;

/* `reason` (may be "") goes behind the formatted text, which is cut when both do not fit. */
static void store(int status, const char *domain, const char *reason, const char *format, va_list args)
{
    /* The arguments may point into the old message, so the new one is finished before it replaces that. */
    char text[sizeof last.message];
    size_t tail = strlen(reason), room = sizeof text - tail;
    int n = vsnprintf(text, room, format, args);
    size_t used = n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
    memcpy(text + used, reason, tail + 1);
    /* File names may be any bytes, and a cut may split a character; messages travel as JSON and fill one line. */
    ako_text_clean(text, used + tail);
    last.status = status;
    snprintf(last.domain, sizeof last.domain, "%s", domain);
    memcpy(last.message, text, used + tail + 1);
}

int ako_fail(int status, const char *domain, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    store(status, domain, "", format, args);
    va_end(args);
    return status;
}

static int status_of_errno(int code)
{
    switch (code) {
    case ENOENT:
    case ENOTDIR:
        return AKO_NOTFOUND;
    case ENAMETOOLONG:
    case ELOOP:
        return AKO_INVALID;
    case EEXIST:
        return AKO_EXISTS;
    case ENOMEM:
        return AKO_NOMEM;
    case ETIMEDOUT:
        return AKO_TIMEOUT;
    default:
        return AKO_IO;
    }
}

int ako_fail_errno(const char *domain, const char *format, ...)
{
    char reason[128];
    snprintf(reason, sizeof reason, ": %s", strerror(errno));
    int status = status_of_errno(errno);
    va_list args;
    va_start(args, format);
    store(status, domain, reason, format, args);
    va_end(args);
    return status;
}

const ako_error *ako_error_last(void)
{
    return &last;
}

void ako_error_clear(void)
{
    last.status = AKO_OK;
    last.domain[0] = last.message[0] = '\0';
}

const char *ako_status_name(int status)
{
    switch (status) {
#define AKO_STATUS_NAME(name, value, text) \
    case (value):                          \
        return #name;
        AKO_STATUS_LIST(AKO_STATUS_NAME)
#undef AKO_STATUS_NAME
    default:
        return "ERROR";
    }
}
