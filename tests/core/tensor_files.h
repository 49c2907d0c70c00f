/* A folder for tensor files, and tensors to put there. */
#ifndef AKO_TEST_TENSOR_FILES_H
#define AKO_TEST_TENSOR_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "error.h"
#include "fs.h"
#include "tensor.h"

static char folder[256];

static int make_folder(void **state)
{
    (void)state;
    return ako_fs_temp_dir(folder, sizeof folder, "ako-test-tensor");
}

static int remove_folder(void **state)
{
    (void)state;
    return ako_fs_remove_tree(folder);
}

static const char *in_folder(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* A tensor whose bytes count up. */
static ako_tensor counting(ako_dtype dtype, int ndim, int64_t a, int64_t b)
{
    ako_tensor t;
    const int64_t shape[] = {a, b};
    assert_int_equal(ako_tensor_describe(&t, dtype, shape, ndim), AKO_OK);
    t.data = calloc(1, t.bytes + 1);
    for (uint64_t i = 0; i < t.bytes; i++)
        ((unsigned char *)t.data)[i] = (unsigned char)(dtype == AKO_BOOL ? i % 2 : i);
    return t;
}

#endif
