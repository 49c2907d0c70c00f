/* Diagnostics of core. One line a message, to stderr unless a sink is set. Results never go through here. */
#ifndef AKO_LOG_H
#define AKO_LOG_H

typedef enum ako_log_level { AKO_LOG_ERROR, AKO_LOG_WARN, AKO_LOG_INFO, AKO_LOG_DEBUG } ako_log_level;

typedef void (*ako_log_sink)(void *payload, ako_log_level level, const char *line);

void ako_log_set_level(ako_log_level level); /* default AKO_LOG_WARN */
ako_log_level ako_log_get_level(void);
void ako_log_set_sink(ako_log_sink sink, void *payload); /* NULL: stderr, as "ako: warning: ..." */
void ako_log(ako_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
