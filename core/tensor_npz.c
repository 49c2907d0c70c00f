/* .npz: a zip of .npy files, stored or deflated, through minizip on our own bytes. */
#include <minizip/unzip.h>
#include <minizip/zip.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "tensor_formats.h"

enum { CHUNK = 1 << 26, NAME_SIZE = 256 };

/* A reader's place in its source. minizip passes it through as a plain pointer. */
typedef struct zip_reader {
    const ako_tensor_source *source;
    uint64_t position;
} zip_reader;

static void *reader_open(void *opaque, const void *path, int mode)
{
    (void)path, (void)mode;
    return opaque;
}

static uLong reader_read(void *opaque, void *stream, void *to, uLong size)
{
    zip_reader *r = stream;
    uint64_t left = r->position < r->source->size ? r->source->size - r->position : 0;
    uint64_t n = size < left ? size : left;
    (void)opaque;
    if (ako_tensor_source_read(r->source, to, r->position, n) != AKO_OK)
        return 0;
    r->position += n;
    return (uLong)n;
}

static ZPOS64_T reader_tell(void *opaque, void *stream)
{
    (void)opaque;
    return ((zip_reader *)stream)->position;
}

static long seek_in(uint64_t *position, uint64_t size, uint64_t offset, int origin)
{
    uint64_t base = origin == ZLIB_FILEFUNC_SEEK_CUR ? *position : origin == ZLIB_FILEFUNC_SEEK_END ? size : 0;
    uint64_t target = base + offset;
    if (target < base || target > size)
        return -1;
    *position = target;
    return 0;
}

static long reader_seek(void *opaque, void *stream, ZPOS64_T offset, int origin)
{
    zip_reader *r = stream;
    (void)opaque;
    return seek_in(&r->position, r->source->size, offset, origin);
}

static int no_failure(void *opaque, void *stream)
{
    (void)opaque, (void)stream;
    return 0;
}

static int locate(unzFile zip, const char *member, const char *file)
{
    char name[NAME_SIZE];
    if (!member) {
        if (unzGoToFirstFile(zip) != UNZ_OK || unzGoToNextFile(zip) != UNZ_END_OF_LIST_OF_FILE)
            return ako_fail(AKO_INVALID, "tensor", "%s does not hold exactly one array: name the one that is meant",
                            file);
        return unzGoToFirstFile(zip) == UNZ_OK ? AKO_OK : ako_fail(AKO_CORRUPT, "tensor", "%s is damaged", file);
    }
    int n = snprintf(name, sizeof name, "%s.npy", member);
    if (n > 0 && (size_t)n < sizeof name && unzLocateFile(zip, name, 1) == UNZ_OK)
        return AKO_OK;
    if (n > 0 && (size_t)n < sizeof name && unzLocateFile(zip, member, 1) == UNZ_OK)
        return AKO_OK;
    return ako_fail(AKO_NOTFOUND, "tensor", "%s has no array \"%.80s\"", file, member);
}

/* Deflate cannot shrink more than 1032 to 1; who claims more would have us allocate for bytes that cannot come. */
static int check_member(const unz_file_info64 *info, const ako_tensor_source *source)
{
    if (info->flag & 1)
        return ako_fail(AKO_INVALID, "tensor", "%s is encrypted", source->name);
    if (info->compression_method != 0 && info->compression_method != Z_DEFLATED)
        return ako_fail(AKO_INVALID, "tensor", "%s uses compression method %lu: stored and deflated are known",
                        source->name, info->compression_method);
    uint64_t most = info->compressed_size;
    if (info->compressed_size > source->size)
        return ako_fail(AKO_CORRUPT, "tensor", "%s claims %llu compressed bytes, but has %llu", source->name,
                        (unsigned long long)info->compressed_size, (unsigned long long)source->size);
    if (info->compression_method == Z_DEFLATED)
        most = most > UINT64_MAX / 1040 ? UINT64_MAX : most * 1040;
    if (info->uncompressed_size > most)
        return ako_fail(AKO_CORRUPT, "tensor", "%s claims that %llu bytes hold %llu", source->name,
                        (unsigned long long)info->compressed_size, (unsigned long long)info->uncompressed_size);
    return AKO_OK;
}

/* Exactly n bytes of the open member. */
static int inflate_bytes(unzFile zip, void *to, uint64_t n, const char *file)
{
    char *end = to;
    while (n > 0) {
        int got = unzReadCurrentFile(zip, end, (unsigned)(n < CHUNK ? n : CHUNK));
        if (got <= 0)
            return ako_fail(AKO_CORRUPT, "tensor", "%s: an array ends %llu bytes early, or is damaged (%d)", file,
                            (unsigned long long)n, got);
        end += got;
        n -= (uint64_t)got;
    }
    return AKO_OK;
}

static int inflate_head(ako_tensor *out, uint64_t *head_size, unzFile zip, uint64_t member_size, const char *file)
{
    unsigned char prefix[AKO_NPY_PREFIX] = {0};
    uint64_t n = member_size < sizeof prefix ? member_size : sizeof prefix;
    int status = inflate_bytes(zip, prefix, n, file);
    if (status == AKO_OK)
        status = ako_npy_head_size(head_size, prefix, member_size, file);
    if (status != AKO_OK)
        return status;
    if (*head_size < n)
        return ako_fail(AKO_CORRUPT, "tensor", "%s: an array has a header of only %llu bytes", file,
                        (unsigned long long)*head_size);
    char *text = calloc(1, (size_t)*head_size + 1);
    if (!text)
        return ako_fail(AKO_NOMEM, "tensor", "out of memory reading %s", file);
    memcpy(text, prefix, (size_t)n);
    status = inflate_bytes(zip, text + n, *head_size - n, file);
    if (status == AKO_OK)
        status = ako_npy_head_parse(out, text, *head_size, file);
    free(text);
    return status;
}

static int inflate_array(ako_tensor *out, unzFile zip, uint64_t member_size, const ako_tensor_source *source)
{
    const char *file = source->name;
    uint64_t head_size = 0;
    char beyond;
    int status = inflate_head(out, &head_size, zip, member_size, file);
    if (status != AKO_OK)
        return status;
    if (member_size - head_size != out->bytes)
        return ako_fail(AKO_CORRUPT, "tensor", "%s: an array claims %llu bytes of elements, but holds %llu", file,
                        (unsigned long long)out->bytes, (unsigned long long)(member_size - head_size));
    if (source->describe_only)
        return AKO_OK;
    status = ako_tensor_allocate(out, file);
    if (status == AKO_OK)
        status = inflate_bytes(zip, out->data, out->bytes, file);
    if (status == AKO_OK && unzReadCurrentFile(zip, &beyond, 1) != 0)
        status = ako_fail(AKO_CORRUPT, "tensor", "%s: an array goes on after its %llu bytes", file,
                          (unsigned long long)member_size);
    return status;
}

static int read_member(ako_tensor *out, unzFile zip, const ako_tensor_source *source)
{
    unz_file_info64 info;
    if (unzGetCurrentFileInfo64(zip, &info, NULL, 0, NULL, 0, NULL, 0) != UNZ_OK)
        return ako_fail(AKO_CORRUPT, "tensor", "%s has a damaged directory", source->name);
    int status = check_member(&info, source);
    if (status != AKO_OK)
        return status;
    if (unzOpenCurrentFile(zip) != UNZ_OK)
        return ako_fail(AKO_CORRUPT, "tensor", "%s: the array and the directory of the zip contradict each other",
                        source->name);
    status = inflate_array(out, zip, info.uncompressed_size, source);
    if (unzCloseCurrentFile(zip) == UNZ_CRCERROR && status == AKO_OK && !source->describe_only)
        status = ako_fail(AKO_CORRUPT, "tensor", "%s: an array does not have its checksum", source->name);
    return status;
}

int ako_npz_read(ako_tensor *out, const ako_tensor_source *source, const char *member)
{
    zip_reader reader = {.source = source};
    zlib_filefunc64_def functions = {.zopen64_file = reader_open,
                                     .zread_file = reader_read,
                                     .ztell64_file = reader_tell,
                                     .zseek64_file = reader_seek,
                                     .zclose_file = no_failure,
                                     .zerror_file = no_failure,
                                     .opaque = &reader};
    unzFile zip = unzOpen2_64(source->name, &functions);
    if (!zip)
        return ako_fail(AKO_CORRUPT, "tensor", "%s is not a zip file, or is cut off: its directory is missing",
                        source->name);
    int status = locate(zip, member, source->name);
    if (status == AKO_OK)
        status = read_member(out, zip, source);
    unzClose(zip);
    return status;
}

/* A zip under construction; minizip goes back to complete the heads of its members. */
typedef struct zip_writer {
    ako_buf *out;
    uint64_t position;
} zip_writer;

static uLong writer_write(void *opaque, void *stream, const void *from, uLong size)
{
    zip_writer *w = stream;
    uint64_t inside = w->out->size - w->position;
    uint64_t n = size < inside ? size : inside;
    (void)opaque;
    if (n > 0)
        memcpy(w->out->data + w->position, from, n);
    ako_buf_put(w->out, (const char *)from + n, size - n);
    w->position += size;
    return w->out->oom ? 0 : size;
}

static ZPOS64_T writer_tell(void *opaque, void *stream)
{
    (void)opaque;
    return ((zip_writer *)stream)->position;
}

static long writer_seek(void *opaque, void *stream, ZPOS64_T offset, int origin)
{
    zip_writer *w = stream;
    (void)opaque;
    return seek_in(&w->position, w->out->size, offset, origin);
}

static int store_bytes(zipFile zip, const void *from, uint64_t n)
{
    const char *next = from;
    while (n > 0) {
        unsigned part = (unsigned)(n < CHUNK ? n : CHUNK);
        if (zipWriteInFileInZip(zip, next, part) != ZIP_OK)
            return ako_fail(AKO_NOMEM, "tensor", "out of memory writing an .npz");
        next += part;
        n -= part;
    }
    return AKO_OK;
}

static int store_member(zipFile zip, const ako_tensor_member *member)
{
    char name[NAME_SIZE];
    ako_buf head = {0};
    const zip_fileinfo info = {.dosDate = 1 << 21 | 1 << 16}; /* 1980-01-01, so that equal tensors make equal files */
    int n = snprintf(name, sizeof name, "%s.npy", member->name);
    if (n <= 4 || (size_t)n >= sizeof name)
        return ako_fail(AKO_INVALID, "tensor", "an array in an .npz cannot be called \"%.80s\"", member->name);
    int status = ako_npy_head_write(&head, member->tensor);
    bool large = member->tensor->bytes + head.size >= 0xffffffff;
    if (status == AKO_OK && zipOpenNewFileInZip64(zip, name, &info, NULL, 0, NULL, 0, NULL, 0, 0, large) != ZIP_OK)
        status = ako_fail(AKO_NOMEM, "tensor", "out of memory writing an .npz");
    if (status == AKO_OK)
        status = store_bytes(zip, head.data, head.size);
    if (status == AKO_OK)
        status = store_bytes(zip, member->tensor->data, member->tensor->bytes);
    ako_buf_free(&head);
    return status;
}

int ako_npz_write(ako_buf *out, const ako_tensor_member *members, int n)
{
    zip_writer writer = {.out = out};
    zlib_filefunc64_def functions = {.zopen64_file = reader_open,
                                     .zwrite_file = writer_write,
                                     .ztell64_file = writer_tell,
                                     .zseek64_file = writer_seek,
                                     .zclose_file = no_failure,
                                     .zerror_file = no_failure,
                                     .opaque = &writer};
    zipFile zip = zipOpen2_64("", APPEND_STATUS_CREATE, NULL, &functions);
    if (!zip)
        return ako_fail(AKO_NOMEM, "tensor", "out of memory writing an .npz");
    int status = AKO_OK;
    for (int i = 0; i < n && status == AKO_OK; i++)
        status = store_member(zip, &members[i]);
    if (zipClose(zip, NULL) != ZIP_OK && status == AKO_OK)
        status = ako_fail(AKO_NOMEM, "tensor", "out of memory writing an .npz");
    return status;
}
