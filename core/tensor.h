/* Tensors in files: .npy, .npz, .safetensors and raw bytes, in and out, always in C order and little-endian.
 *
 * Files come from anywhere. What a file says about itself is checked against what is there before anything is
 * allocated: a lie is AKO_CORRUPT and names both figures; what is honest but not supported (Fortran order, big-endian,
 * structured types) is AKO_INVALID and says what to do. */
#ifndef AKO_TENSOR_H
#define AKO_TENSOR_H

#include <stdint.h>

#include "dtype.h"

#define AKO_TENSOR_DIMS 16

typedef struct ako_tensor {
    ako_dtype dtype;
    int ndim; /* 0: a scalar */
    int64_t shape[AKO_TENSOR_DIMS];
    void *data; /* malloc'd, NULL for 0 bytes */
    uint64_t bytes;
} ako_tensor;

/* A tensor under the name it has in an .npz or .safetensors file. */
typedef struct ako_tensor_member {
    const char *name;
    const ako_tensor *tensor;
} ako_tensor_member;

typedef enum ako_tensor_format {
    AKO_TENSOR_NPY,
    AKO_TENSOR_NPZ,
    AKO_TENSOR_SAFETENSORS,
    AKO_TENSOR_RAW
} ako_tensor_format;

/* "npy", "npz", "safetensors", "raw". */
int ako_tensor_format_parse(ako_tensor_format *out, const char *name);
/* By the end of the file's name; raw is ".bin" and ".raw". AKO_INVALID names the known ones. */
int ako_tensor_format_of(ako_tensor_format *out, const char *path);

/* Sets ndim, shape and bytes. AKO_INVALID for too many or negative dimensions or more bytes than 63 bits can count. */
int ako_tensor_describe(ako_tensor *out, ako_dtype dtype, const int64_t *shape, int ndim);

/* Reads one tensor. `member` chooses it in .npz (with or without ".npy") and .safetensors and may be NULL when there
 * is only one; NULL for .npy. The caller frees *out by ako_tensor_free. AKO_NOTFOUND: no such file or member. */
int ako_tensor_file_read(ako_tensor *out, const char *path, const char *member);
/* The same from a file's content; `name` stands for it in messages. */
int ako_tensor_memory_read(ako_tensor *out, ako_tensor_format format, const void *content, uint64_t size,
                           const char *name, const char *member);
/* A file of nothing but elements: its size must be that of `dtype` and `shape`. */
int ako_tensor_raw_read(ako_tensor *out, const char *path, ako_dtype dtype, const int64_t *shape, int ndim);
void ako_tensor_free(ako_tensor *tensor);

/* The same without the elements, out->data staying NULL: what is in the file, and whether its sizes agree. */
int ako_tensor_file_describe(ako_tensor *out, const char *path, ako_tensor_format format, const char *member);
int ako_tensor_raw_describe(ako_tensor *out, const char *path, ako_dtype dtype, const int64_t *shape, int ndim);

/* Writes `n` tensors by the end of the name, replacing a file in one step; .npy and raw hold exactly one and ignore its
 * name. AKO_INVALID for a dtype that the format has no name for (bf16, f8e4m3, f8e5m2 in .npy and .npz). */
int ako_tensor_file_write(const char *path, const ako_tensor_member *members, int n);

#endif
