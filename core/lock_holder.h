/* Who holds a device's lock by the kernel's word; what the lock file says is anybody's to write. Internal to core. */
#ifndef AKO_LOCK_HOLDER_H
#define AKO_LOCK_HOLDER_H

#include <stdbool.h>

/* Whether the lock `name` (process.h) is held by a process below this one. False also where that cannot be told: no
 * /proc, or the holder has died and left the lock to a child. */
bool ako_lock_is_held_below(const char *name);

#endif
