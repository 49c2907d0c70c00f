/* The worker's clock is a function in this process, found by name and overwritten: it then runs at a tenth of the
 * speed. x86-64 alone; elsewhere nothing happens. */
#ifndef CLOCK_H
#define CLOCK_H

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static int64_t true_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int64_t slow_ns(void)
{
    static int64_t start;
    if (!start)
        start = true_ns();
    return start + (true_ns() - start) / 10;
}

static void patch(const char *name, void *to)
{
#ifdef __x86_64__
    unsigned char jump[14] = {0xff, 0x25, 0, 0, 0, 0}; /* jmp *(%rip), and the address behind it */
    void *at = dlsym(RTLD_DEFAULT, name);
    uintptr_t page = (uintptr_t)at & ~(uintptr_t)4095;
    memcpy(jump + 6, &to, sizeof to);
    if (at && mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) == 0)
        memcpy(at, jump, sizeof jump);
#else
    (void)name, (void)to;
#endif
}

__attribute__((constructor)) static void slow_the_clock(void)
{
    patch("ako_clock_ns", (void *)slow_ns);
}

#endif
