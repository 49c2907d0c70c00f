/* How much memory Lua may hold and how long it may run.
 *
 * The count hook raises when the time is over and, from then on, at every instruction, so that pcall and coroutines
 * cannot swallow it. C functions of Lua never reach the hook: a timer on the thread's CPU time ends the program when
 * one of those overruns the limit by the grace. */
#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

#define HOOK_INSTRUCTIONS 10000
#define NS_PER_S INT64_C(1000000000)
#define GRACE_NS (2 * NS_PER_S)
#define WATCH_PERIOD_NS (NS_PER_S / 4)

void *akh_allocate(void *ud, void *block, size_t old_size, size_t new_size)
{
    akh_memory *memory = ud;
    size_t held = block ? old_size : 0; /* without a block, old_size is a type tag */
    if (new_size == 0) {
        free(block);
        memory->used -= held;
        return NULL;
    }
    size_t room = memory->used < memory->limit ? memory->limit - memory->used : 0;
    if (new_size > held && new_size - held > room && !memory->lifted)
        return NULL;
    void *moved = realloc(block, new_size);
    if (!moved)
        return new_size <= held ? block : NULL;
    memory->used += new_size - held;
    return moved;
}

int64_t akh_used_ns(const akh_clock *clock)
{
    return clock->used_ns + (clock->stopped ? 0 : ako_clock_cpu_ns() - clock->mark_ns);
}

/* Each step leaves a state that the watchdog may see: it reads used_ns alone while the clock is stopped. */
void akl_clock_stop(lua_State *L)
{
    akh_clock *clock = &akh_of(L)->clock;
    if (clock->stopped++ == 0)
        clock->used_ns += ako_clock_cpu_ns() - clock->mark_ns;
}

void akl_clock_start(lua_State *L)
{
    akh_clock *clock = &akh_of(L)->clock;
    if (clock->stopped == 1)
        clock->mark_ns = ako_clock_cpu_ns();
    clock->stopped--;
}

/* The limit that `used` has passed in seconds, 0 for none, and what to say about it. */
static int64_t passed_limit(const akh_clock *clock, int64_t used, const char **option)
{
    int64_t call_end = clock->call_end_ns, total = clock->total_ns;
    *option = "";
    if (call_end && used > call_end && !(total && total < call_end))
        return AKH_CALL_LIMIT_S * NS_PER_S;
    *option = " (--time-limit)";
    return total && used > total ? total : 0;
}

static int describe_limit(char *out, size_t size, int64_t limit_ns, const char *option)
{
    return snprintf(out, size, "time budget of %g s exceeded%s", (double)limit_ns / (double)NS_PER_S, option);
}

/* [-0, +1, e] "policies/x.lua:3: " of the innermost user code on the stack, or of `ar` when all of it is ours. */
static const char *push_place(lua_State *L, lua_Debug *ar)
{
    lua_Debug frame;
    lua_getinfo(L, "Sl", ar);
    for (int level = 0; lua_getstack(L, level, &frame); level++) {
        lua_getinfo(L, "Sl", &frame);
        if (frame.currentline > 0 && strncmp(frame.source, "@stdlib/", 8) != 0)
            return lua_pushfstring(L, "%s:%d: ", frame.short_src, frame.currentline);
    }
    return lua_pushfstring(L, "%s:%d: ", ar->short_src, ar->currentline);
}

/* [-0, +1, e] What is raised at a limit: made once, so that it names the place where the limit was first met. */
static void push_expiry(lua_State *L, lua_Debug *ar, int64_t limit, const char *option)
{
    static const char expiry; /* a registry key */
    akh_clock *clock = &akh_of(L)->clock;
    if (!clock->expired) {
        char text[80];
        describe_limit(text, sizeof text, limit, option);
        akh_push_leave(L, AKH_EXIT_POLICY, lua_pushfstring(L, "%s%s", push_place(L, ar), text));
        lua_rawsetp(L, LUA_REGISTRYINDEX, &expiry);
        clock->expired = true;
    }
    lua_rawgetp(L, LUA_REGISTRYINDEX, &expiry);
}

static void hook(lua_State *L, lua_Debug *ar)
{
    const akh_clock *clock = &akh_of(L)->clock;
    const char *option;
    if (akh_take_interrupt()) {
        akh_push_leave(L, AKH_EXIT_INTERRUPTED, "interrupted");
        lua_error(L);
    }
    int64_t limit = passed_limit(clock, akh_used_ns(clock), &option);
    lua_sethook(L, hook, LUA_MASKCOUNT, limit ? 1 : HOOK_INSTRUCTIONS);
    if (limit) {
        push_expiry(L, ar, limit, option);
        lua_error(L);
    }
}

int64_t akh_begin_call(akh_clock *clock)
{
    int64_t before = clock->call_end_ns, end = akh_used_ns(clock) + AKH_CALL_LIMIT_S * NS_PER_S;
    clock->call_end_ns = before && before < end ? before : end;
    return before;
}

void akh_end_call(lua_State *L, int64_t before)
{
    akh_clock *clock = &akh_of(L)->clock;
    clock->call_end_ns = before;
    clock->expired = false;
    if (lua_gethookcount(L) !=
        HOOK_INSTRUCTIONS) /* setting it starts the count anew: many short calls would never see it */
        lua_sethook(L, hook, LUA_MASKCOUNT, HOOK_INSTRUCTIONS);
}

/* The watchdog: everything it calls is safe in a signal handler but snprintf, which glibc's is for these formats; the
 * process ends here anyway. */
static akh_host *watched;
static timer_t watchdog;

static void bark(int signal_number)
{
    (void)signal_number;
    const akh_host *host = watched;
    const char *option;
    if (!host || host->clock.stopped)
        return;
    int64_t limit = passed_limit(&host->clock, akh_used_ns(&host->clock) - GRACE_NS, &option);
    if (limit == 0)
        return;
    char text[80], line[512];
    describe_limit(text, sizeof text, limit, option);
    const char *subject = host->subject ? host->subject : "";
    int n = snprintf(line, sizeof line, "ako-lua: %.400s%s%s\n", subject, *subject ? ": " : "", text);
    ssize_t written = write(STDERR_FILENO, line, (size_t)n);
    (void)written;
    _exit(AKH_EXIT_POLICY);
}

void akh_watch(akh_host *host)
{
    struct sigaction action = {.sa_handler = bark, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGVTALRM};
    struct itimerspec period = {{0, WATCH_PERIOD_NS}, {0, WATCH_PERIOD_NS}};
    event._sigev_un._tid = gettid(); /* glibc has no public name for it: this thread's clock is what bark reads */
    watched = host;
    host->clock.mark_ns = ako_clock_cpu_ns();
    lua_sethook(host->L, hook, LUA_MASKCOUNT, HOOK_INSTRUCTIONS);
    sigaction(SIGVTALRM, &action, NULL);
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &watchdog) == 0)
        timer_settime(watchdog, 0, &period, NULL);
    else
        watched = NULL;
}

void akh_unwatch(void)
{
    if (watched)
        timer_delete(watchdog);
    watched = NULL;
}
