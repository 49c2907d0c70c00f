/* Which children this process started itself, so that adopted orphans can be told from them. Internal to core. */
#ifndef AKO_PROCESS_TREE_H
#define AKO_PROCESS_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Time between TERM and KILL wherever no caller names another. */
#define AKO_KILL_GRACE_NS INT64_C(1000000000)

/* How long a wait sleeps at most before it looks at ako_cancel_requested, in ms. */
#define AKO_WAIT_SLICE_MS 50

int ako_tree_register(pid_t pid); /* AKO_NOMEM */
void ako_tree_forget(pid_t pid);  /* it has been reaped */

/* A descriptor that becomes readable when the process ends, for poll(); -1 on kernels before 5.3. */
int ako_process_watch(pid_t pid);

/* poll() timeout of one slice of a wait until `deadline_ns` (0: none), shorter where ends cannot be watched. */
int ako_process_slice_ms(int64_t deadline_ns, bool watched);

#endif
