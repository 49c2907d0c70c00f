/* Tensor files that lie are refused, and nothing that comes crashes the readers. */
#include "tensor_files.h"

/* An .npy of version 1 with this dictionary and `bytes` zero bytes behind it. */
static void make_npy(ako_buf *out, const char *dictionary, size_t bytes)
{
    size_t n = strlen(dictionary);
    ako_buf_put(out, "\x93NUMPY\x01\x00", 8);
    ako_buf_put(out, &(char){(char)(n & 0xff)}, 1);
    ako_buf_put(out, &(char){(char)(n >> 8)}, 1);
    ako_buf_puts(out, dictionary);
    for (size_t i = 0; i < bytes; i++)
        ako_buf_put(out, "", 1);
}

static void check_npy(const char *dictionary, size_t bytes, int status, const char *message)
{
    ako_buf file = {0};
    ako_tensor t;
    make_npy(&file, dictionary, bytes);
    int got = ako_tensor_memory_read(&t, AKO_TENSOR_NPY, file.data, file.size, "x.npy", NULL);
    if (got != status || (status != AKO_OK && !strstr(ako_error_last()->message, message)))
        fail_msg("%s: %d %s", dictionary, got, ako_error_last()->message);
    ako_tensor_free(&t);
    ako_buf_free(&file);
}

static void test_npy_heads(void **state)
{
    (void)state;
    check_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 24, AKO_OK, "");
    check_npy("{\"shape\":(2L,3L),\"fortran_order\":False,\"descr\":\"=f4\"}\n", 24, AKO_OK, "");
    check_npy("{'descr': '|b1', 'fortran_order': True, 'shape': (1, 3), }", 3, AKO_OK, "");
    check_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 23, AKO_CORRUPT,
              "claims 24 bytes of "
              "elements, but holds 23");
    check_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 25, AKO_CORRUPT, "holds 25");
    check_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,), }", 8, AKO_CORRUPT,
              "claims 8796093022208 bytes");
    check_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 8, AKO_CORRUPT, "2^63");
    check_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,), }", 8, AKO_CORRUPT,
              "damaged header");
    check_npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", 24, AKO_INVALID, "ascontiguousarray");
    check_npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }", 24, AKO_INVALID, "big-endian");
    check_npy("{'descr': '<V2', 'fortran_order': False, 'shape': (2, 3), }", 12, AKO_INVALID, "safetensors");
    check_npy("{'descr': '<c8', 'fortran_order': False, 'shape': (2, 3), }", 48, AKO_INVALID, "<c8");
    check_npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", 8, AKO_INVALID, "structured");
    check_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 3), }", 24, AKO_CORRUPT, "damaged");
    check_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2 3), }", 24, AKO_CORRUPT, "damaged");
    check_npy("{'descr': '<f4', 'fortran_order': False}", 4, AKO_CORRUPT, "damaged");
    check_npy("{'descr': '<f4', 'fortran_order': 0, 'shape': ()}", 4, AKO_CORRUPT, "damaged");
    check_npy("", 0, AKO_CORRUPT, "x.npy");
}

static void check_content(ako_tensor_format format, const void *content, size_t size, int status, const char *message)
{
    ako_tensor t;
    int got = ako_tensor_memory_read(&t, format, content, size, "x", NULL);
    if (got != status || !strstr(ako_error_last()->message, message))
        fail_msg("%d %s", got, ako_error_last()->message);
    ako_tensor_free(&t);
}

static void test_npy_that_is_cut_off(void **state)
{
    (void)state;
    check_content(AKO_TENSOR_NPY, NULL, 0, AKO_CORRUPT, "NUMPY");
    check_content(AKO_TENSOR_NPY, "\x93NUMPY\x01\x00\xff\xff{}", 12, AKO_CORRUPT, "header of 65545 bytes, but has 12");
    check_content(AKO_TENSOR_NPY, "\x93NUMPY\x02\x00\xff\xff\xff\xff", 12, AKO_CORRUPT, "header of 4294967307 bytes");
    check_content(AKO_TENSOR_NPY, "\x93NUMPY\x09\x00\xff\xff\xff\xff", 12, AKO_INVALID, "version 9");
}

static void check_safetensors(const char *head, size_t bytes, int status, const char *message)
{
    ako_buf file = {0};
    ako_buf_put(&file, &(char){(char)strlen(head)}, 1);
    ako_buf_put(&file, "\0\0\0\0\0\0", 7);
    ako_buf_puts(&file, head);
    for (size_t i = 0; i < bytes; i++)
        ako_buf_put(&file, "", 1);
    check_content(AKO_TENSOR_SAFETENSORS, file.data, file.size, status, message);
    ako_buf_free(&file);
}

static void test_safetensors_that_lie(void **state)
{
    (void)state;
    ako_error_clear();
    check_safetensors("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, AKO_OK, "");
    check_safetensors("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 3, AKO_CORRUPT,
                      "need 4 bytes of data, but it holds 3");
    check_safetensors("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4, AKO_CORRUPT,
                      "needs 8 bytes, its offsets hold 4");
    check_safetensors("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8, AKO_CORRUPT,
                      "begins at byte 4");
    check_safetensors("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
                      "\"b\":{\"dtype\":\"U8\"}}",
                      4, AKO_CORRUPT, "tensor b has no valid data_offsets");
    check_safetensors("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", 4, AKO_CORRUPT, "offsets");
    check_safetensors("{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4, AKO_CORRUPT,
                      "impossible");
    check_safetensors("{\"a\":{\"dtype\":\"F4\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, AKO_INVALID, "F4");
    check_safetensors("{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4, AKO_CORRUPT, "no dtype");
    check_safetensors("{\"a\":[0,4]}", 4, AKO_CORRUPT, "data_offsets");
    check_safetensors("{\"a\":7,\"a\":8}", 4, AKO_CORRUPT, "damaged header");
    check_safetensors("{\"\xff\":7}", 4, AKO_CORRUPT, "damaged header");
    check_safetensors("[]", 4, AKO_CORRUPT, "not a JSON object");
    check_safetensors("{}", 0, AKO_INVALID, "0 tensors");
    check_content(AKO_TENSOR_SAFETENSORS, "\xff\xff\xff\xff\xff\xff\xff\xff{}", 10, AKO_CORRUPT, "has 10 bytes");
    check_content(AKO_TENSOR_SAFETENSORS, "abc", 3, AKO_CORRUPT, "ends at byte 3");
}

static void test_safetensors_overlap(void **state)
{
    static const char head[] = "{\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]},"
                               "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,4]}}";
    (void)state;
    check_safetensors(head, 4, AKO_CORRUPT, "begins at byte 2 of the data, the one before it ends at byte 3");
}

/* Content of a file that our writers made: two tensors where the format can, else one. */
static void make_file(ako_buf *out, const char *name)
{
    ako_tensor a = counting(AKO_F32, 2, 3, 4), b = counting(AKO_U8, 1, 5, 0);
    const ako_tensor_member members[] = {{"a", &a}, {"b", &b}};
    const char *path = in_folder(name);
    assert_int_equal(ako_tensor_file_write(path, members, strstr(name, ".npy") ? 1 : 2), AKO_OK);
    assert_int_equal(ako_fs_read(out, path, 0), AKO_OK);
    ako_tensor_free(&a);
    ako_tensor_free(&b);
}

/* The one place in `file` where `old` stands is overwritten. */
static void patch(ako_buf *file, size_t start, const char *old, size_t n, const char *new)
{
    for (size_t i = start; i + n <= file->size; i++) {
        if (memcmp(file->data + i, old, n) == 0) {
            memcpy(file->data + i, new, n);
            return;
        }
    }
    fail_msg("nothing to patch");
}

static void check_npz_member(const ako_buf *file, int status, const char *message)
{
    ako_tensor t;
    int got = ako_tensor_memory_read(&t, AKO_TENSOR_NPZ, file->data, file->size, "x.npz", "a");
    if (got != status || !strstr(ako_error_last()->message, message))
        fail_msg("%d %s", got, ako_error_last()->message);
    ako_tensor_free(&t);
}

static void test_npz_that_lie(void **state)
{
    ako_buf file = {0};
    (void)state;
    make_file(&file, "lie.npz");
    patch(&file, 0, "(3, 4)", 6, "(3, 5)");
    check_npz_member(&file, AKO_CORRUPT, "claims 60 bytes of elements, but holds 48");
    patch(&file, 0, "(3, 5)", 6, "(4, 3)");
    check_npz_member(&file, AKO_CORRUPT, "checksum");
    /* The directory's uncompressed size of the first member, stored: its 176 bytes become a terabyte's low half. */
    size_t directory = 0;
    while (memcmp(file.data + directory, "PK\x01\x02", 4) != 0)
        directory++;
    memcpy(file.data + directory + 24, "\xf0\xff\xff\xff", 4);
    check_npz_member(&file, AKO_CORRUPT, "claims that 176 bytes hold 4294967280");
    memcpy(file.data + directory + 20, "\xf0\xff\xff\xff", 4);
    check_npz_member(&file, AKO_CORRUPT, "claims 4294967280 compressed bytes");
    ako_buf_free(&file);
    check_content(AKO_TENSOR_NPZ, "PK", 2, AKO_CORRUPT, "zip");
}

/* A deflated member, as numpy.savez_compressed writes it: x = numpy.arange(6, dtype="<i4"). */
static void test_deflated_npz(void **state)
{
    static const unsigned char file[] = {
        0x50, 0x4b, 0x03, 0x04, 0x2d, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0xe6, 0xb8, 0x1a, 0x3a,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x05, 0x00, 0x14, 0x00, 0x78, 0x2e, 0x6e, 0x70, 0x79, 0x01,
        0x00, 0x10, 0x00, 0x98, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x53, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x9b, 0xec, 0x17, 0xea, 0x1b, 0x10, 0xc9, 0xc8, 0x50, 0xc6, 0x50, 0xad, 0x9e, 0x92, 0x5a, 0x9c, 0x5c,
        0xa4, 0x6e, 0xa5, 0xa0, 0x6e, 0x93, 0x69, 0xa2, 0xae, 0xa3, 0xa0, 0x9e, 0x96, 0x5f, 0x54, 0x52, 0x94, 0x98,
        0x17, 0x9f, 0x5f, 0x94, 0x92, 0x0a, 0x12, 0x77, 0x4b, 0xcc, 0x29, 0x4e, 0x05, 0x8a, 0x17, 0x67, 0x24, 0x16,
        0xa4, 0x02, 0xf9, 0x1a, 0x66, 0x3a, 0x9a, 0x3a, 0x0a, 0xb5, 0x0a, 0x14, 0x00, 0x2e, 0x06, 0x20, 0x60, 0x04,
        0x62, 0x26, 0x20, 0x66, 0x06, 0x62, 0x16, 0x20, 0x66, 0x05, 0x62, 0x00, 0x50, 0x4b, 0x01, 0x02, 0x2d, 0x03,
        0x2d, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0xe6, 0xb8, 0x1a, 0x3a, 0x53, 0x00, 0x00, 0x00,
        0x98, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x01,
        0x00, 0x00, 0x00, 0x00, 0x78, 0x2e, 0x6e, 0x70, 0x79, 0x50, 0x4b, 0x05, 0x06, 0x00, 0x00, 0x00, 0x00, 0x01,
        0x00, 0x01, 0x00, 0x33, 0x00, 0x00, 0x00, 0x8a, 0x00, 0x00, 0x00, 0x00, 0x00,
    };
    const int32_t expected[] = {0, 1, 2, 3, 4, 5};
    ako_tensor t;
    (void)state;
    assert_int_equal(ako_tensor_memory_read(&t, AKO_TENSOR_NPZ, file, sizeof file, "x.npz", "x"), AKO_OK);
    assert_int_equal(t.dtype, AKO_I32);
    assert_int_equal(t.shape[0], 6);
    assert_memory_equal(t.data, expected, sizeof expected);
    ako_tensor_free(&t);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Changes a few bytes, half of the time to values that matter to parsers, and sometimes the length. */
static size_t mutate(unsigned char *bytes, size_t size, uint64_t *random)
{
    static const unsigned char telling[] = {0, 1, 0x7f, 0x80, 0xff, '(', ')', '\'', '"', '{', '}', '9', '-', ',', '>'};
    int changes = 1 + (int)(next_random(random) % 4);
    for (int i = 0; i < changes; i++) {
        uint64_t r = next_random(random);
        size_t at = (size_t)((r >> 16) % size);
        bytes[at] = r & 1 ? telling[(r >> 8) % sizeof telling] : (unsigned char)(r >> 8);
    }
    return next_random(random) % 8 == 0 ? (size_t)(next_random(random) % size) : size;
}

static void fuzz(ako_tensor_format format, const char *name)
{
    ako_buf file = {0};
    uint64_t random = 0x9e3779b97f4a7c15;
    int accepted = 0;
    make_file(&file, name);
    for (int i = 0; i < 20000; i++) {
        ako_tensor t;
        unsigned char *copy = malloc(file.size);
        memcpy(copy, file.data, file.size);
        size_t size = mutate(copy, file.size, &random);
        unsigned char *exact = malloc(size ? size : 1); /* so that a read past the end is seen */
        memcpy(exact, copy, size);
        if (ako_tensor_memory_read(&t, format, exact, size, "x", i % 3 ? "a" : NULL) == AKO_OK) {
            accepted++;
            assert_true(t.bytes <= 1040 * size);
            ako_tensor_free(&t);
        }
        assert_null(t.data);
        free(exact);
        free(copy);
    }
    assert_true(accepted > 0); /* else it was all noise to the first check */
    ako_buf_free(&file);
}

static void test_mutated_files(void **state)
{
    (void)state;
    fuzz(AKO_TENSOR_NPY, "fuzz.npy");
    fuzz(AKO_TENSOR_NPZ, "fuzz.npz");
    fuzz(AKO_TENSOR_SAFETENSORS, "fuzz.safetensors");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_npy_heads),
        cmocka_unit_test(test_npy_that_is_cut_off),
        cmocka_unit_test(test_safetensors_that_lie),
        cmocka_unit_test(test_safetensors_overlap),
        cmocka_unit_test(test_npz_that_lie),
        cmocka_unit_test(test_deflated_npz),
        cmocka_unit_test(test_mutated_files),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
