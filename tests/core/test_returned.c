/* What Python's calls return, copied from any layout: as the layout itself says where each element lies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "error.h"
#include "returned.h"

#define ROOM 262144

static unsigned char from[ROOM], to[ROOM];

static int64_t place_of(const ako_layout *layout, int64_t index)
{
    int64_t place = 0;
    for (int64_t d = layout->n_dims - 1; d >= 0; d--) {
        place += index % layout->size[d] * layout->stride[d];
        index /= layout->size[d];
    }
    return place;
}

static void check_copy(const ako_layout *layout)
{
    ako_returned returned = {.address = from, .layout = *layout};
    int64_t n = ako_layout_count(layout), element = layout->element;
    memset(to, 0, sizeof to);
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (unsigned char)(1 + i * 7 % 251);
    assert_int_equal(ako_returned_copy(NULL, to, &returned), AKO_OK);
    for (int64_t i = 0; i < n; i++)
        assert_memory_equal(to + i * element, from + place_of(layout, i) * element, (size_t)element);
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

/* Beyond one tile in each direction, with few lines and with short ones. */
static void test_many_tiles(void **state)
{
    (void)state;
    check_copy(&(ako_layout){.element = 4, .n_dims = 2, .size = {190, 300}, .stride = {1, 190}});
    check_copy(&(ako_layout){.element = 1, .n_dims = 2, .size = {20000, 3}, .stride = {1, 20000}});
    check_copy(&(ako_layout){.element = 2, .n_dims = 2, .size = {3, 20000}, .stride = {1, 3}});
    check_copy(&(ako_layout){.element = 4, .n_dims = 1, .size = {20000}, .stride = {3}});
    check_copy(&(ako_layout){.element = 8, .n_dims = 4, .size = {2, 70, 9, 10}, .stride = {6300, 1, 700, 70}});
    check_copy(&(ako_layout){.element = 4, .n_dims = 3, .size = {70, 80, 5}, .stride = {5, 0, 1}});
}

static void expect_planes(const ako_layout *layout, int64_t n_rest, int64_t lines, int64_t cells, int64_t n_tiles)
{
    ako_planes planes;
    ako_planes_make(&planes, layout);
    assert_int_equal(planes.n_rest, n_rest);
    assert_int_equal(planes.tile_lines, lines);
    assert_int_equal(planes.tile_cells, cells);
    assert_int_equal(planes.n_tiles, n_tiles);
    assert_true(planes.tile_lines * (planes.tile_cells | 1) <= AKO_TILE_CELLS);
}

/* Dimensions are joined where they can be, and a tile has what fits into a GPU's shared memory, of more than 2^32
 * elements, too. */
static void test_planes(void **state)
{
    (void)state;
    const ako_layout channels_last = {
        .element = 4, .n_dims = 4, .size = {128, 64, 1024, 1024}, .stride = {67108864, 1, 65536, 64}};
    expect_planes(&channels_last, 1, 64, 64, INT64_C(128) * 16384);
    expect_planes(&(ako_layout){.element = 4, .n_dims = 2, .size = {6000, 3}, .stride = {1, 6000}}, 0, 1386, 3, 5);
    expect_planes(&(ako_layout){.element = 4, .n_dims = 1, .size = {10000}, .stride = {2}}, 0, 1, 4159, 3);
    expect_planes(&(ako_layout){.element = 4, .n_dims = 2, .size = {0, 3}, .stride = {1, 5}}, 0, 0, 0, 0);
    ako_planes planes;
    ako_planes_make(&planes, &channels_last);
    ako_tile last = ako_tile_of(&planes, planes.n_tiles - 1);
    assert_int_equal(last.to, INT64_C(8589934592) - 63 * 1048576 - 64);
    assert_int_equal(last.from, INT64_C(8589934592) - 64 * 64);
}

static void test_nothing(void **state)
{
    (void)state;
    ako_returned nowhere = {.layout = {.element = 4, .n_dims = 1, .size = {3}, .stride = {1}}};
    ako_returned too_deep = {.address = from, .layout = {.element = 4, .n_dims = AKO_LAYOUT_DIMS + 1}};
    assert_int_equal(ako_returned_copy(NULL, to, &nowhere), AKO_SHAPE);
    assert_int_equal(ako_returned_copy(NULL, to, &too_deep), AKO_INVALID);
    ako_returned in_place = {.address = to, .layout = {.element = 4, .n_dims = 1, .size = {3}, .stride = {1}}};
    assert_int_equal(ako_returned_copy(NULL, to, &in_place), AKO_OK);
}

static void *closed;

static void open_it(int number)
{
    (void)number;
    mprotect(closed, 4096, PROT_READ | PROT_WRITE);
}

/* What is not there when it is copied, no handler may bring. */
static void test_no_handler_works_while_it_is_copied(void **state)
{
    (void)state;
    int how;
    pid_t pid = fork();
    if (pid == 0) {
        closed = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        signal(SIGSEGV, open_it);
        ako_returned lazy = {.address = closed, .layout = {.element = 4, .n_dims = 1, .size = {3}, .stride = {1}}};
        _exit(ako_returned_copy(NULL, to, &lazy) == AKO_OK);
    }
    assert_int_equal(waitpid(pid, &how, 0), pid);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGSEGV);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contiguous), cmocka_unit_test(test_any_strides),
        cmocka_unit_test(test_many_tiles), cmocka_unit_test(test_planes),
        cmocka_unit_test(test_nothing),    cmocka_unit_test(test_no_handler_works_while_it_is_copied)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
