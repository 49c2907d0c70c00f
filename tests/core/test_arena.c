/* Layout of buffers, and red zones that notice every stray byte and name its buffer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "error.h"

typedef struct fixture {
    ako_ops *ops;
    ako_arena arena;
    char *base;
} fixture;

/* x filled with zeros, y and an empty z poisoned, and one that lies elsewhere. */
static int set_up(void **state)
{
    static fixture f;
    f = (fixture){0};
    assert_int_equal(ako_ops_new(&f.ops, AKO_CPU), AKO_OK);
    assert_int_equal(ako_arena_add(&f.arena, "x", AKO_F32, 1001, true), AKO_OK);
    assert_int_equal(ako_arena_add_absent(&f.arena, "elsewhere"), AKO_OK);
    assert_int_equal(ako_arena_add(&f.arena, "y", AKO_F16, 300000, false), AKO_OK);
    assert_int_equal(ako_arena_add(&f.arena, "z", AKO_F64, 0, false), AKO_OK);
    f.base = aligned_alloc(4096, (f.arena.bytes + 4095) / 4096 * 4096);
    assert_non_null(f.base);
    memset(f.base, 0, f.arena.bytes);
    assert_int_equal(ako_arena_poison(&f.arena, f.ops, f.base), AKO_OK);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    free(f->base);
    ako_arena_free(&f->arena);
    ako_ops_free(f->ops);
    return 0;
}

static void test_layout(void **state)
{
    const fixture *f = *state;
    uint64_t end = 0;
    for (int i = 0; i < f->arena.n; i++) {
        const ako_span *span = &f->arena.spans[i];
        if (!span->present)
            continue;
        assert_int_equal(span->offset % 256, 0);
        assert_true(span->offset >= end + 4096);
        assert_int_equal(span->bytes, span->count * ako_dtype_size(span->dtype));
        end = span->offset + span->bytes;
    }
    assert_true(f->arena.bytes >= end + 4096);
    /* The zone of a large buffer grows with it. */
    assert_true(f->arena.spans[2].offset - f->arena.spans[0].offset - f->arena.spans[0].bytes >= 4096 + 600000 / 64);
}

static void test_poison_spares_what_is_filled(void **state)
{
    const fixture *f = *state;
    const ako_span *x = &f->arena.spans[0];
    for (uint64_t i = 0; i < f->arena.bytes; i++) {
        bool inside = i >= x->offset && i < x->offset + x->bytes;
        if ((f->base[i] == 0) != inside)
            fail_msg("byte %llu is %d", (unsigned long long)i, f->base[i]);
    }
}

static ako_overrun check(const fixture *f)
{
    ako_overrun overrun;
    assert_int_equal(ako_arena_check(&overrun, &f->arena, f->ops, f->base), AKO_OK);
    return overrun;
}

static void test_intact(void **state)
{
    const fixture *f = *state;
    memset(ako_arena_address(&f->arena, 0, f->base), 7, f->arena.spans[0].bytes);
    memset(ako_arena_address(&f->arena, 2, f->base), 7, f->arena.spans[2].bytes);
    assert_null(check(f).name);
}

/* Writes one byte at `distance` behind the end or before the start of a buffer. */
static void assert_noticed(const fixture *f, int span, bool before, uint64_t distance)
{
    const ako_span *s = &f->arena.spans[span];
    char *at = f->base + (before ? s->offset - distance : s->offset + s->bytes + distance), kept = *at;
    *at = 1;
    ako_overrun overrun = check(f);
    *at = kept;
    assert_non_null(overrun.name);
    assert_string_equal(overrun.name, s->name);
    assert_int_equal(overrun.before, before);
    assert_int_equal(overrun.distance, distance);
}

static void test_overruns(void **state)
{
    const fixture *f = *state;
    static const int spans[] = {0, 2, 3};
    static const uint64_t distances[] = {1, 2, 3, 8, 100, 4095};
    for (size_t s = 0; s < sizeof spans / sizeof *spans; s++) {
        assert_noticed(f, spans[s], false, 0);
        for (size_t d = 0; d < sizeof distances / sizeof *distances; d++) {
            assert_noticed(f, spans[s], false, distances[d]);
            assert_noticed(f, spans[s], true, distances[d]);
        }
    }
    f->base[f->arena.bytes - 1] = 0;
    assert_string_equal(check(f).name, "z");
    f->base[0] = 0;
    assert_string_equal(check(f).name, "x");
}

/* What a kernel finds behind an input must be noticed behind an output, also after arithmetic that keeps NaNs. */
static void test_copied_zones(void **state)
{
    const fixture *f = *state;
    const ako_span *x = &f->arena.spans[0], *y = &f->arena.spans[2];
    char *from = f->base + x->offset + x->bytes, *to = f->base + y->offset + y->bytes;
    for (size_t size = 1; size <= 8; size *= 2) {
        memcpy(to, from, size);
        assert_string_equal(check(f).name, "y");
        assert_int_equal(ako_arena_poison(&f->arena, f->ops, f->base), AKO_OK);
        memcpy(from, to, size);
        assert_string_equal(check(f).name, "x");
        assert_int_equal(ako_arena_poison(&f->arena, f->ops, f->base), AKO_OK);
    }
    float value;
    memcpy(&value, from, sizeof value);
    value = value * 2 + 1;
    memcpy(to, &value, sizeof value);
    assert_string_equal(check(f).name, "y");
}

/* Each byte once, whatever the layout. */
static void test_nothing_is_left_unset(void **state)
{
    const fixture *f = *state;
    memset(f->base, 0, f->arena.bytes);
    assert_int_equal(ako_arena_poison(&f->arena, f->ops, f->base), AKO_OK);
    for (uint64_t i = f->arena.spans[2].offset; i < f->arena.bytes; i++)
        assert_int_not_equal(f->base[i], 0);
}

static void test_too_large(void **state)
{
    (void)state;
    ako_arena arena = {0};
    assert_int_equal(ako_arena_add(&arena, "huge", AKO_F64, UINT64_MAX / 8, true), AKO_LIMIT);
    assert_string_equal(ako_error_last()->message, "'huge' has too many elements");
    assert_int_equal(arena.n, 0);
    ako_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_layout, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_poison_spares_what_is_filled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_intact, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_overruns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_copied_zones, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nothing_is_left_unset, set_up, tear_down),
        cmocka_unit_test(test_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
