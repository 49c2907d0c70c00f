#include "tensor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "fs.h"
#include "tensor_formats.h"

static const struct {
    const char *name, *ending;
    ako_tensor_format format;
} formats[] = {{"npy", ".npy", AKO_TENSOR_NPY},
               {"npz", ".npz", AKO_TENSOR_NPZ},
               {"safetensors", ".safetensors", AKO_TENSOR_SAFETENSORS},
               {"raw", ".raw", AKO_TENSOR_RAW},
               {"raw", ".bin", AKO_TENSOR_RAW}};

enum { FORMATS = sizeof formats / sizeof *formats };

int ako_tensor_format_parse(ako_tensor_format *out, const char *name)
{
    for (int i = 0; i < FORMATS; i++) {
        if (strcmp(name, formats[i].name) == 0) {
            *out = formats[i].format;
            return AKO_OK;
        }
    }
    return ako_fail(AKO_INVALID, "tensor", "unknown format \"%.40s\": there are npy, npz, safetensors, raw", name);
}

int ako_tensor_format_of(ako_tensor_format *out, const char *path)
{
    size_t length = strlen(path);
    for (int i = 0; i < FORMATS; i++) {
        size_t n = strlen(formats[i].ending);
        if (length > n && strcmp(path + length - n, formats[i].ending) == 0) {
            *out = formats[i].format;
            return AKO_OK;
        }
    }
    return ako_fail(AKO_INVALID, "tensor", "%s: the name must end in .npy, .npz, .safetensors, .raw or .bin", path);
}

int ako_tensor_describe(ako_tensor *out, ako_dtype dtype, const int64_t *shape, int ndim)
{
    int64_t bytes = (int64_t)ako_dtype_size(dtype);
    if (ndim < 0 || ndim > AKO_TENSOR_DIMS)
        return ako_fail(AKO_INVALID, "tensor", "a tensor has 0 to %d dimensions, not %d", AKO_TENSOR_DIMS, ndim);
    *out = (ako_tensor){.dtype = dtype, .ndim = ndim};
    for (int i = 0; i < ndim; i++) {
        if (shape[i] < 0)
            return ako_fail(AKO_INVALID, "tensor", "dimension %d is negative: %lld", i, (long long)shape[i]);
        if (__builtin_mul_overflow(bytes, shape[i], &bytes))
            return ako_fail(AKO_INVALID, "tensor", "the shape has more than 2^63 bytes");
        out->shape[i] = shape[i];
    }
    out->bytes = (uint64_t)bytes;
    return AKO_OK;
}

int ako_tensor_allocate(ako_tensor *out, const char *name)
{
    if (out->bytes == 0)
        return AKO_OK;
    out->data = out->bytes > SIZE_MAX ? NULL : malloc((size_t)out->bytes);
    if (!out->data)
        return ako_fail(AKO_NOMEM, "tensor", "no memory for the %llu bytes of %s", (unsigned long long)out->bytes,
                        name);
    return AKO_OK;
}

void ako_tensor_free(ako_tensor *tensor)
{
    free(tensor->data);
    *tensor = (ako_tensor){0};
}

static int read_from_file(const ako_tensor_source *source, char *to, uint64_t offset, uint64_t n)
{
    while (n > 0) {
        ssize_t got = pread(source->fd, to, n < 1 << 30 ? n : 1 << 30, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return ako_fail_errno("tensor", "cannot read %s", source->name);
        if (got == 0)
            return ako_fail(AKO_CORRUPT, "tensor", "%s became shorter while it was read", source->name);
        to += got;
        offset += (uint64_t)got;
        n -= (uint64_t)got;
    }
    return AKO_OK;
}

int ako_tensor_source_read(const ako_tensor_source *source, void *to, uint64_t offset, uint64_t n)
{
    if (offset > source->size || n > source->size - offset)
        return ako_fail(AKO_CORRUPT, "tensor", "%s ends at byte %llu, but byte %llu is needed", source->name,
                        (unsigned long long)source->size, (unsigned long long)(offset + n));
    if (!source->content)
        return read_from_file(source, to, offset, n);
    if (n > 0)
        memcpy(to, source->content + offset, n);
    return AKO_OK;
}

int ako_tensor_source_load(ako_tensor *out, const ako_tensor_source *source, uint64_t offset)
{
    if (source->describe_only)
        return AKO_OK;
    int status = ako_tensor_allocate(out, source->name);
    return status == AKO_OK ? ako_tensor_source_read(source, out->data, offset, out->bytes) : status;
}

static int open_source(ako_tensor_source *out, const char *path)
{
    struct stat st;
    *out = (ako_tensor_source){.name = path, .fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (out->fd < 0)
        return ako_fail_errno("tensor", "cannot read %s", path);
    int status = AKO_OK;
    if (fstat(out->fd, &st) != 0)
        status = ako_fail_errno("tensor", "cannot read %s", path);
    else if (!S_ISREG(st.st_mode))
        status = ako_fail(AKO_INVALID, "tensor", "%s is not a regular file", path);
    if (status != AKO_OK)
        close(out->fd);
    else
        out->size = (uint64_t)st.st_size;
    return status;
}

static int read_source(ako_tensor *out, ako_tensor_format format, const ako_tensor_source *source, const char *member)
{
    int status;
    *out = (ako_tensor){0};
    switch (format) {
    case AKO_TENSOR_NPY:
        status = ako_npy_read(out, source);
        break;
    case AKO_TENSOR_NPZ:
        status = ako_npz_read(out, source, member);
        break;
    case AKO_TENSOR_SAFETENSORS:
        status = ako_safetensors_read(out, source, member);
        break;
    case AKO_TENSOR_RAW:
    default:
        status = ako_fail(AKO_INVALID, "tensor", "%s holds raw bytes: its dtype and shape must be given", source->name);
    }
    if (status != AKO_OK)
        ako_tensor_free(out);
    return status;
}

static int read_path(ako_tensor *out, const char *path, ako_tensor_format format, const char *member,
                     bool describe_only)
{
    ako_tensor_source source;
    int status = open_source(&source, path);
    if (status != AKO_OK)
        return status;
    source.describe_only = describe_only;
    status = read_source(out, format, &source, member);
    close(source.fd);
    return status;
}

int ako_tensor_file_read(ako_tensor *out, const char *path, const char *member)
{
    ako_tensor_format format;
    *out = (ako_tensor){0};
    int status = ako_tensor_format_of(&format, path);
    return status == AKO_OK ? read_path(out, path, format, member, false) : status;
}

int ako_tensor_file_describe(ako_tensor *out, const char *path, ako_tensor_format format, const char *member)
{
    *out = (ako_tensor){0};
    return read_path(out, path, format, member, true);
}

int ako_tensor_memory_read(ako_tensor *out, ako_tensor_format format, const void *content, uint64_t size,
                           const char *name, const char *member)
{
    const ako_tensor_source source = {.name = name, .content = size ? content : "", .fd = -1, .size = size};
    return read_source(out, format, &source, member);
}

static int read_raw(ako_tensor *out, const char *path, bool describe_only)
{
    ako_tensor_source source;
    int status = open_source(&source, path);
    if (status != AKO_OK)
        return status;
    source.describe_only = describe_only;
    if (source.size != out->bytes)
        status = ako_fail(AKO_CORRUPT, "tensor", "%s has %llu bytes, but its shape and %s need %llu", path,
                          (unsigned long long)source.size, ako_dtype_name(out->dtype), (unsigned long long)out->bytes);
    else
        status = ako_tensor_source_load(out, &source, 0);
    close(source.fd);
    return status;
}

int ako_tensor_raw_read(ako_tensor *out, const char *path, ako_dtype dtype, const int64_t *shape, int ndim)
{
    *out = (ako_tensor){0};
    int status = ako_tensor_describe(out, dtype, shape, ndim);
    if (status == AKO_OK)
        status = read_raw(out, path, false);
    if (status != AKO_OK)
        ako_tensor_free(out);
    return status;
}

int ako_tensor_raw_describe(ako_tensor *out, const char *path, ako_dtype dtype, const int64_t *shape, int ndim)
{
    *out = (ako_tensor){0};
    int status = ako_tensor_describe(out, dtype, shape, ndim);
    return status == AKO_OK ? read_raw(out, path, true) : status;
}

static int encode(ako_buf *out, ako_tensor_format format, const ako_tensor_member *members, int n)
{
    switch (format) {
    case AKO_TENSOR_NPZ:
        return ako_npz_write(out, members, n);
    case AKO_TENSOR_SAFETENSORS:
        return ako_safetensors_write(out, members, n);
    case AKO_TENSOR_NPY:
        return ako_npy_write(out, members[0].tensor);
    case AKO_TENSOR_RAW:
    default:
        ako_buf_put(out, members[0].tensor->data, (size_t)members[0].tensor->bytes);
        return AKO_OK;
    }
}

int ako_tensor_file_write(const char *path, const ako_tensor_member *members, int n)
{
    ako_tensor_format format;
    ako_buf content = {0};
    int status = ako_tensor_format_of(&format, path);
    if (status != AKO_OK)
        return status;
    if (n < 1 || (n > 1 && (format == AKO_TENSOR_NPY || format == AKO_TENSOR_RAW)))
        return ako_fail(AKO_INVALID, "tensor", "%s cannot hold %d tensors", path, n);
    status = encode(&content, format, members, n);
    if (status == AKO_OK && content.oom)
        status = ako_fail(AKO_NOMEM, "tensor", "out of memory writing %s", path);
    if (status == AKO_OK)
        status = ako_fs_write(path, content.size ? content.data : "", content.size, false);
    ako_buf_free(&content);
    return status;
}
