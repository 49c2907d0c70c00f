/* What Python's calls return, copied from any layout: as the layout itself says where each element lies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "returned.h"

#define ROOM 65536

static unsigned char from[ROOM], to[ROOM];

static void check_copy(const ako_layout *layout)
{
    ako_returned returned = {.address = from, .layout = *layout};
    int64_t n = ako_layout_count(layout), element = layout->element;
    memset(to, 0, sizeof to);
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (unsigned char)(1 + i * 7 % 251);
    assert_int_equal(ako_returned_copy(NULL, to, &returned), AKO_OK);
    for (int64_t i = 0; i < n; i++)
        assert_memory_equal(to + i * element, from + ako_layout_place(layout, i) * element, (size_t)element);
    assert_int_equal(to[n * element], 0);
}

static void test_contiguous(void **state)
{
    (void)state;
    check_copy(&(ako_layout){.element = 4});
    check_copy(&(ako_layout){.element = 2, .n_dims = 2, .size = {7, 9}, .stride = {9, 1}});
    check_copy(&(ako_layout){.element = 8, .n_dims = 3, .size = {1, 9, 1}, .stride = {5, 1, 77}});
    assert_true(ako_layout_is_contiguous(&(ako_layout){.n_dims = 3, .size = {1, 9, 1}, .stride = {5, 1, 77}}));
    assert_false(ako_layout_is_contiguous(&(ako_layout){.n_dims = 2, .size = {2, 9}, .stride = {10, 1}}));
}

static void test_any_strides(void **state)
{
    (void)state;
    check_copy(&(ako_layout){.element = 4, .n_dims = 2, .size = {45, 33}, .stride = {1, 45}}); /* transposed */
    check_copy(&(ako_layout){.element = 4, .n_dims = 2, .size = {20, 33}, .stride = {40, 1}}); /* padded rows */
    check_copy(&(ako_layout){.element = 1, .n_dims = 1, .size = {100}, .stride = {3}});        /* every third */
    check_copy(&(ako_layout){.element = 2, .n_dims = 2, .size = {9, 17}, .stride = {0, 1}});   /* one row */
    check_copy(&(ako_layout){.element = 8, .n_dims = 2, .size = {9, 17}, .stride = {1, 0}});   /* one column */
    check_copy(&(ako_layout){.element = 4, .n_dims = 4, .size = {2, 3, 18, 19}, .stride = {1026, 1, 57, 3}}); /* NHWC */
    check_copy(&(ako_layout){.element = 4, .n_dims = 3, .size = {17, 1, 40}, .stride = {1, 1, 17}});
    check_copy(&(ako_layout){.element = 4, .n_dims = 3, .size = {5, 6, 7}, .stride = {1, 5, 30}}); /* reversed */
}

static void test_nothing(void **state)
{
    (void)state;
    ako_returned nowhere = {.layout = {.element = 4, .n_dims = 1, .size = {3}, .stride = {1}}};
    ako_returned too_deep = {.address = from, .layout = {.element = 4, .n_dims = AKO_LAYOUT_DIMS + 1}};
    assert_int_equal(ako_returned_copy(NULL, to, &nowhere), AKO_SHAPE);
    assert_int_equal(ako_returned_copy(NULL, to, &too_deep), AKO_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_contiguous), cmocka_unit_test(test_any_strides),
                                       cmocka_unit_test(test_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
