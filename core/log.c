#include "log.h"

#include <stdarg.h>
#include <stdio.h>

static ako_log_level threshold = AKO_LOG_WARN;
static ako_log_sink sink;
static void *sink_payload;

void ako_log_set_level(ako_log_level level)
{
    threshold = level;
}

ako_log_level ako_log_get_level(void)
{
    return threshold;
}

void ako_log_set_sink(ako_log_sink new_sink, void *payload)
{
    sink = new_sink;
    sink_payload = payload;
}

void ako_log(ako_log_level level, const char *format, ...)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    if (level > threshold)
        return;
    char line[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (sink)
        sink(sink_payload, level, line);
    else
        fprintf(stderr, "ako: %s: %s\n", names[level], line);
}
