/* The host: one Lua state with its limits, and the door through which Lua is entered.
 *
 * main.c -> host.c (state, end of a run) -> stdlib/ako/cli.lua (what the command line means)
 *           limits.c (memory, time), interrupt.c (signals), sandbox.c (globals), require.c, hostlib.c (ako.host) */
#ifndef AKH_HOST_H
#define AKH_HOST_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "akl.h"

enum {
    AKH_EXIT_USAGE = 2,
    AKH_EXIT_POLICY = 4,
    AKH_EXIT_LACKING = 5,
    AKH_EXIT_INTERRUPTED = 130,
};

typedef struct akh_memory {
    size_t used, limit; /* bytes */
    bool lifted;        /* while the message about the limit is made */
} akh_memory;

/* Lua's own running time: CPU time of the thread, without core calls between akl_clock_stop and akl_clock_start.
 * Read by a signal handler, hence volatile. */
typedef struct akh_clock {
    volatile sig_atomic_t stopped; /* depth of core calls */
    volatile int64_t used_ns;      /* until mark_ns */
    volatile int64_t mark_ns;      /* CPU clock when Lua last went on */
    volatile int64_t total_ns;     /* limit of used_ns; 0: none */
    volatile int64_t call_end_ns;  /* used_ns at which the present call into a policy is over its limit; 0: none */
    bool expired;                  /* the hook has raised, and goes on doing so */
} akh_clock;

typedef struct akh_host {
    lua_State *L;
    akh_memory memory;
    akh_clock clock;
    char *home;    /* the folder that holds stdlib/, policies/ and examples/ */
    char *subject; /* the file given by the user, as typed; NULL before it is known */
    char *folder;  /* where it lies: its own modules are found there */
} akh_host;

/* Of any state or coroutine made by akh_run. */
akh_host *akh_of(lua_State *L);

/* Runs the command line in a fresh state; returns the exit code. What ends it early is said on stderr. */
int akh_run(int argc, char **argv);

/* [-0, +1, e] The leave that says that the memory limit was not enough. */
AKL_RAISES void akh_push_out_of_memory(lua_State *L);

/* home.c: the folder that holds the standard library, absolute; the caller frees *out. */
int akh_find_home(char **out);

/* limits.c */
#define AKH_CALL_LIMIT_S 5 /* of Lua's running time: one hook of a policy, or its loading */
#define AKH_DEFAULT_TIME_S 10
#define AKH_DEFAULT_MEMORY ((size_t)256 << 20)

void *akh_allocate(void *memory, void *block, size_t old_size, size_t new_size); /* a lua_Alloc */
void akh_watch(akh_host *host); /* arms the hook and the watchdog, starts the clock */
void akh_unwatch(void);
int64_t akh_used_ns(const akh_clock *clock);
int64_t akh_begin_call(akh_clock *clock); /* gives what akh_end_call takes */
void akh_end_call(lua_State *L, int64_t before);

/* interrupt.c */
void akh_catch_signals(void);
bool akh_interrupted(void);
bool akh_take_interrupt(void);  /* true once after each first Ctrl-C */
void akh_hold_interrupts(void); /* from now on the first one waits, until they have been released as often */
void akh_release_interrupts(void);

/* leave.c: an error object that ends the program with one line and an exit code, no traceback. */
AKL_RAISES void akh_push_leave(lua_State *L, int code, const char *message); /* [-0, +1, e] */
bool akh_is_leave(lua_State *L, int index);
int akh_message_handler(lua_State *L); /* a lua_CFunction: adds a traceback to a text that has none */

/* sandbox.c */
AKL_RAISES void akh_open_sandbox(lua_State *L);
void akh_push_environment(lua_State *L, bool internal);         /* [-0, +1, -] of stdlib (internal) or of user code */
AKL_RAISES void akh_set_global(lua_State *L, const char *name); /* [-1, +0, e] the value on top, for user code */

/* require.c */
AKL_RAISES void akh_push_require(lua_State *L, bool internal); /* [-0, +1, e] a `require` for that code */

/* [-0, +1, e] What messages call the file that this call of `require` loads; false and nothing when the frame is no
 * such call. Leaves more below it. */
AKL_RAISES bool akh_push_file_required(lua_State *L, lua_Debug *frame);

/* [-0, +1, e] The chunk in a file, text only, as a function; or nil, message, code as akl_fail. `name` is what
 * messages call it. */
AKL_RAISES int akh_load(lua_State *L, const char *path, const char *name, bool internal);

/* modules.c: [-0, +1, e] the opener of a C module, or nothing and false. */
bool akh_push_opener(lua_State *L, const char *name);

#endif
