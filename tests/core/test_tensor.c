/* Tensor files: what is written is read back. */
#include "tensor_files.h"

static void check_same(const ako_tensor *a, const ako_tensor *b)
{
    assert_int_equal(a->dtype, b->dtype);
    assert_int_equal(a->ndim, b->ndim);
    assert_int_equal(a->bytes, b->bytes);
    for (int i = 0; i < a->ndim; i++)
        assert_int_equal(a->shape[i], b->shape[i]);
    if (a->bytes)
        assert_memory_equal(a->data, b->data, (size_t)a->bytes);
}

static void check_round_trip(const char *file, const char *member, const ako_tensor *t)
{
    ako_tensor back;
    const ako_tensor_member entry = {member ? member : "x", t};
    const char *path = in_folder(file);
    if (ako_tensor_file_write(path, &entry, 1) != AKO_OK || ako_tensor_file_read(&back, path, member) != AKO_OK)
        fail_msg("%s", ako_error_last()->message);
    check_same(&back, t);
    ako_tensor_free(&back);
}

static void test_every_dtype_comes_back(void **state)
{
    (void)state;
    for (int d = 0; d < AKO_DTYPE_COUNT; d++) {
        ako_dtype dtype = (ako_dtype)d;
        ako_tensor tensors[] = {counting(dtype, 2, 5, 7), counting(dtype, 1, 3, 0), counting(dtype, 0, 0, 0),
                                counting(dtype, 2, 0, 4)};
        bool in_npy = dtype != AKO_BF16 && dtype != AKO_F8E4M3 && dtype != AKO_F8E5M2;
        for (int i = 0; i < 4; i++) {
            check_round_trip("t.safetensors", "weights.0", &tensors[i]);
            check_round_trip("t.safetensors", NULL, &tensors[i]);
            if (in_npy) {
                check_round_trip("t.npy", NULL, &tensors[i]);
                check_round_trip("t.npz", "arr_0", &tensors[i]);
                check_round_trip("t.npz", NULL, &tensors[i]);
            }
            ako_tensor_free(&tensors[i]);
        }
    }
}

static void test_several_members(void **state)
{
    ako_tensor a = counting(AKO_F32, 1, 4, 0), b = counting(AKO_I8, 2, 3, 3), back;
    const ako_tensor_member members[] = {{"a", &a}, {"b", &b}};
    const char *const files[] = {"two.npz", "two.safetensors"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *path = in_folder(files[i]);
        assert_int_equal(ako_tensor_file_write(path, members, 2), AKO_OK);
        assert_int_equal(ako_tensor_file_read(&back, path, "b"), AKO_OK);
        check_same(&back, &b);
        ako_tensor_free(&back);
        assert_int_equal(ako_tensor_file_read(&back, path, "a"), AKO_OK);
        check_same(&back, &a);
        ako_tensor_free(&back);
        assert_int_equal(ako_tensor_file_read(&back, path, "c"), AKO_NOTFOUND);
        assert_int_equal(ako_tensor_file_read(&back, path, NULL), AKO_INVALID);
    }
    assert_int_equal(ako_tensor_file_write(in_folder("two.npy"), members, 2), AKO_INVALID);
    ako_tensor_free(&a);
    ako_tensor_free(&b);
}

static void test_raw_must_have_its_size(void **state)
{
    ako_tensor t = counting(AKO_F16, 2, 3, 5), back;
    const ako_tensor_member entry = {"x", &t};
    const int64_t longer[] = {3, 6};
    const char *path = in_folder("t.bin");
    (void)state;
    assert_int_equal(ako_tensor_file_write(path, &entry, 1), AKO_OK);
    assert_int_equal(ako_tensor_raw_read(&back, path, AKO_F16, t.shape, 2), AKO_OK);
    check_same(&back, &t);
    ako_tensor_free(&back);
    assert_int_equal(ako_tensor_raw_read(&back, path, AKO_F16, longer, 2), AKO_CORRUPT);
    assert_non_null(strstr(ako_error_last()->message, "has 30 bytes"));
    assert_non_null(strstr(ako_error_last()->message, "need 36"));
    assert_int_equal(ako_tensor_file_read(&back, path, NULL), AKO_INVALID);
    ako_tensor_free(&t);
}

static void test_description_leaves_the_elements_alone(void **state)
{
    static const struct {
        const char *file;
        ako_tensor_format format;
    } files[] = {{"d.npy", AKO_TENSOR_NPY}, {"d.npz", AKO_TENSOR_NPZ}, {"d.safetensors", AKO_TENSOR_SAFETENSORS}};
    ako_tensor t = counting(AKO_I16, 2, 3, 5), found;
    const ako_tensor_member entry = {"x", &t};
    (void)state;
    for (int i = 0; i < 3; i++) {
        const char *path = in_folder(files[i].file);
        assert_int_equal(ako_tensor_file_write(path, &entry, 1), AKO_OK);
        assert_int_equal(ako_tensor_file_describe(&found, path, files[i].format, "x"), AKO_OK);
        assert_true(found.dtype == AKO_I16 && found.ndim == 2 && found.bytes == 30 && !found.data);
    }
    assert_int_equal(ako_tensor_file_write(in_folder("d.raw"), &entry, 1), AKO_OK);
    assert_int_equal(ako_tensor_raw_describe(&found, in_folder("d.raw"), AKO_I16, t.shape, 2), AKO_OK);
    assert_null(found.data);
    assert_int_equal(ako_tensor_raw_describe(&found, in_folder("d.raw"), AKO_I32, t.shape, 2), AKO_CORRUPT);
    ako_tensor_free(&t);
}

static void test_names_and_missing_files(void **state)
{
    ako_tensor back;
    (void)state;
    assert_int_equal(ako_tensor_file_read(&back, in_folder("t.txt"), NULL), AKO_INVALID);
    assert_int_equal(ako_tensor_file_read(&back, in_folder("none.npy"), NULL), AKO_NOTFOUND);
    assert_int_equal(ako_fs_mkdirs(in_folder("folder.npy")), AKO_OK);
    assert_int_equal(ako_tensor_file_read(&back, in_folder("folder.npy"), NULL), AKO_INVALID);
}

static void test_impossible_shapes(void **state)
{
    ako_tensor t;
    const int64_t negative[] = {3, -1}, huge[] = {INT64_C(1) << 40, INT64_C(1) << 40};
    (void)state;
    assert_int_equal(ako_tensor_describe(&t, AKO_F32, negative, 2), AKO_INVALID);
    assert_int_equal(ako_tensor_describe(&t, AKO_F32, huge, 2), AKO_INVALID);
    assert_int_equal(ako_tensor_describe(&t, AKO_F32, huge, AKO_TENSOR_DIMS + 1), AKO_INVALID);
}

static void test_names_that_a_format_cannot_hold(void **state)
{
    ako_tensor t = counting(AKO_BF16, 1, 2, 0);
    const ako_tensor_member twice[] = {{"a", &t}, {"a", &t}}, odd[] = {{"\xff", &t}}, meta[] = {{"__metadata__", &t}};
    (void)state;
    assert_int_equal(ako_tensor_file_write(in_folder("n.safetensors"), twice, 2), AKO_INVALID);
    assert_int_equal(ako_tensor_file_write(in_folder("n.safetensors"), odd, 1), AKO_INVALID);
    assert_int_equal(ako_tensor_file_write(in_folder("n.safetensors"), meta, 1), AKO_INVALID);
    assert_int_equal(ako_tensor_file_write(in_folder("n.npz"), twice, 1), AKO_INVALID);
    assert_non_null(strstr(ako_error_last()->message, "bf16"));
    assert_false(ako_fs_exists(in_folder("n.npz")));
    ako_tensor_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_dtype_comes_back),
        cmocka_unit_test(test_several_members),
        cmocka_unit_test(test_raw_must_have_its_size),
        cmocka_unit_test(test_description_leaves_the_elements_alone),
        cmocka_unit_test(test_names_and_missing_files),
        cmocka_unit_test(test_impossible_shapes),
        cmocka_unit_test(test_names_that_a_format_cannot_hold),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
