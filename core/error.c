#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local ako_error last;

static void store(int status, const char *domain, const char *format, va_list args)
{
    /* The arguments may point into the old message, so the new one is finished before it replaces that. */
    char text[sizeof last.message];
    vsnprintf(text, sizeof text, format, args);
    last.status = status;
    snprintf(last.domain, sizeof last.domain, "%s", domain);
    memcpy(last.message, text, sizeof text);
}

int ako_fail(int status, const char *domain, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    store(status, domain, format, args);
    va_end(args);
    return status;
}

static int status_of_errno(int code)
{
    switch (code) {
    case ENOENT:
        return AKO_NOTFOUND;
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
    int code = errno;
    va_list args;
    va_start(args, format);
    store(status_of_errno(code), domain, format, args);
    va_end(args);
    size_t used = strlen(last.message);
    snprintf(last.message + used, sizeof last.message - used, ": %s", strerror(code));
    return last.status;
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
