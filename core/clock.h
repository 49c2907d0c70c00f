/* Clocks in integer nanoseconds. */
#ifndef AKO_CLOCK_H
#define AKO_CLOCK_H

#include <stdint.h>

int64_t ako_clock_ns(void);          /* monotonic, arbitrary origin: for intervals and deadlines */
int64_t ako_clock_cpu_ns(void);      /* CPU time used by the calling thread */
int64_t ako_clock_wall_ns(void);     /* since 1970 UTC: for records */
void ako_clock_sleep_ns(int64_t ns); /* ends early after ako_cancel_request */

/* "2025-01-31T23:59:59.123Z" (UTC, ISO 8601) of nanoseconds since 1970. */
#define AKO_DATE_SIZE 32
void ako_clock_date(char out[AKO_DATE_SIZE], int64_t wall_ns);

/* Milliseconds from now to `deadline_ns` (monotonic) for poll(): at least 0, rounded up; -1 when the deadline is 0,
 * which means none. */
int ako_clock_poll_ms(int64_t deadline_ns);

#endif
