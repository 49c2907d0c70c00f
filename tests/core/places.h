/* The two places that operations work on, for tests that run on both: a fixture each, which skips where there is none.
 */
#ifndef AKO_TEST_PLACES_H
#define AKO_TEST_PLACES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "error.h"
#include "memory.h"
#include "ops.h"

enum { ROOM = 1 << 20 };

/* One place under test: its operations and two blocks of its memory. */
typedef struct fixture {
    ako_ops *ops;
    ako_memory *memory[2];
} fixture;

static inline unsigned char *block(const fixture *f, int i)
{
    return ako_memory_base(f->memory[i]);
}

static inline int open_fixture(fixture *f, ako_place place)
{
    int status = ako_ops_new(&f->ops, place);
    for (int i = 0; i < 2 && status == AKO_OK; i++)
        status = ako_memory_new(&f->memory[i], place, ROOM);
    return status;
}

static inline void close_fixture(fixture *f)
{
    ako_memory_free(f->memory[0]);
    ako_memory_free(f->memory[1]);
    ako_ops_free(f->ops);
    *f = (fixture){0};
}

static fixture cpu, gpu;

static inline int setup_cpu(void **state)
{
    *state = &cpu;
    return open_fixture(&cpu, AKO_CPU);
}

static inline int teardown(void **state)
{
    close_fixture(*state);
    return 0;
}

static inline int setup_gpu(void **state)
{
    *state = &gpu;
    if (open_fixture(&gpu, AKO_GPU) == AKO_OK)
        return 0;
    print_message("no GPU: %s\n", ako_error_last()->message);
    assert_int_equal(ako_error_last()->status, AKO_UNAVAILABLE);
    close_fixture(&gpu);
    return 0;
}

static inline fixture *need(void **state)
{
    fixture *f = *state;
    if (!f->ops)
        skip();
    return f;
}

static inline void fill(const fixture *f, int i, ako_dtype dtype, size_t count, ako_fill what)
{
    assert_int_equal(ako_ops_fill(f->ops, block(f, i), dtype, count, &what), AKO_OK);
}

static inline void *host_copy(const fixture *f, int i, size_t bytes)
{
    void *host = malloc(bytes ? bytes : 1);
    assert_non_null(host);
    assert_int_equal(ako_ops_download(f->ops, host, block(f, i), bytes), AKO_OK);
    return host;
}

static inline uint64_t hash_of(const fixture *f, size_t start, size_t bytes)
{
    uint64_t hash;
    assert_int_equal(ako_ops_hash(f->ops, &hash, block(f, 0) + start, bytes), AKO_OK);
    return hash;
}

/* Runs the tests of one place after those of the other. */
#define RUN_ON_BOTH_PLACES(on_cpu, on_gpu)                             \
    (cmocka_run_group_tests_name("cpu", on_cpu, setup_cpu, teardown) + \
     cmocka_run_group_tests_name("gpu", on_gpu, setup_gpu, teardown))

#endif
