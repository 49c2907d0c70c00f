/* Between tensor.c and the readers and writers of the single formats. */
#ifndef AKO_TENSOR_FORMATS_H
#define AKO_TENSOR_FORMATS_H

#include "buf.h"
#include "tensor.h"

/* Bytes at rest: a file or a block of memory. */
typedef struct ako_tensor_source {
    const char *name;             /* for messages */
    const unsigned char *content; /* NULL: read from fd */
    int fd;
    uint64_t size;
    bool describe_only; /* check and describe, leave the elements where they are */
} ako_tensor_source;

/* Copies n bytes from `offset`; AKO_CORRUPT when the source ends before. */
int ako_tensor_source_read(const ako_tensor_source *source, void *to, uint64_t offset, uint64_t n);

/* Fills out->data, described already, from the bytes at `offset`, unless the source is only to be described. */
int ako_tensor_source_load(ako_tensor *out, const ako_tensor_source *source, uint64_t offset);

/* Allocates out->data for out->bytes. */
int ako_tensor_allocate(ako_tensor *out, const char *name);

int ako_npy_read(ako_tensor *out, const ako_tensor_source *source);
int ako_npz_read(ako_tensor *out, const ako_tensor_source *source, const char *member);
int ako_safetensors_read(ako_tensor *out, const ako_tensor_source *source, const char *member);

int ako_npy_write(ako_buf *out, const ako_tensor *tensor);
int ako_npz_write(ako_buf *out, const ako_tensor_member *members, int n);
int ako_safetensors_write(ako_buf *out, const ako_tensor_member *members, int n);

/* The head of an .npy: its first AKO_NPY_PREFIX bytes tell how long it is in whole, and the whole of it, cut by a NUL,
 * describes the tensor. `name` is for messages. */
#define AKO_NPY_PREFIX 12
int ako_npy_head_size(uint64_t *out, const unsigned char *prefix, uint64_t available, const char *name);
int ako_npy_head_parse(ako_tensor *out, const char *head, uint64_t head_size, const char *name);
int ako_npy_head_write(ako_buf *out, const ako_tensor *tensor);

#endif
