#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "error.h"
#include "fs.h"
#include "referee.h"

static bool is_same_element(ako_dtype file, ako_dtype wanted)
{
    /* numpy has no name for bf16 and fp8: their bits come as unsigned integers. */
    return file == wanted || (ako_dtype_kind(wanted) == 'f' && ako_dtype_kind(file) == 'u' &&
                              ako_dtype_size(file) == ako_dtype_size(wanted));
}

static int read_file(ako_tensor *out, const referee *r, int index, const ako_shape *shape)
{
    const ako_tensor_spec *spec = &r->task->tensors[index];
    ako_tensor_format format;
    char path[PATH_MAX + 80];
    snprintf(path, sizeof path, "%s/%s", r->files, spec->file);
    int status = ako_tensor_format_parse(&format, spec->format);
    if (status != AKO_OK || format == AKO_TENSOR_RAW)
        return status == AKO_OK ? ako_tensor_raw_read(out, path, spec->dtype, shape->dims, shape->rank) : status;
    ako_buf content = {0};
    status = ako_fs_read(&content, path, 0);
    if (status == AKO_OK)
        status = ako_tensor_memory_read(out, format, content.data, content.size, spec->name,
                                        spec->member[0] ? spec->member : NULL);
    ako_buf_free(&content);
    return status;
}

/* Uploaded content is the same for every seed, so it is read once and kept. */
static int load_file(referee *r, const prepared *p, int index)
{
    const ako_tensor_spec *spec = &r->task->tensors[index];
    ako_tensor read = {0};
    int status = read_file(&read, r, index, &r->task->workloads[p->workload].shapes[index]);
    if (status != AKO_OK)
        return ako_fail(status, "referee", "the file of '%s': %.700s", spec->name, ako_error_last()->message);
    if (!is_same_element(read.dtype, spec->dtype)) {
        ako_tensor_free(&read);
        return ako_fail(AKO_INVALID, "referee", "the file of '%s' holds %s, the task says %s", spec->name,
                        ako_dtype_name(read.dtype), ako_dtype_name(spec->dtype));
    }
    r->contents[index] = (file_content){.tensor = read, .loaded = true};
    return AKO_OK;
}

static int fill_from_file(referee *r, const prepared *p, int index)
{
    const ako_span *span = &p->arena.spans[index];
    file_content *content = &r->contents[index];
    int status = content->loaded ? AKO_OK : load_file(r, p, index);
    if (status == AKO_OK && content->tensor.bytes != span->bytes)
        status = ako_fail(AKO_INVALID, "referee", "the file of '%s' has %" PRIu64 " bytes, workload %s wants %" PRIu64,
                          span->name, content->tensor.bytes, r->task->workloads[p->workload].id, span->bytes);
    if (status == AKO_OK)
        status = ako_ops_upload(referee_ops(r), ako_arena_address(&p->arena, index, p->base), content->tensor.data,
                                span->bytes);
    return status;
}

static bool is_of_problem(const referee *r, int tensor)
{
    const ako_tensor_spec *spec = &r->task->tensors[tensor];
    return spec->role != AKO_OUTPUT && !spec->file[0] && spec->fill.kind == AKO_FILL_PROBLEM;
}

int referee_fill_from_problem(referee *r, const prepared *p, uint64_t seed, int only)
{
    int n = 0, status = AKO_OK;
    void **addresses = calloc((size_t)r->task->n_tensors, sizeof *addresses);
    reference_fault fault = {0};
    for (int i = 0; addresses && i < r->task->n_tensors; i++)
        if (is_of_problem(r, i) && (only < 0 || only == i)) {
            addresses[i] = ako_arena_address(&p->arena, i, p->base);
            n++;
        }
    if (!addresses)
        status = referee_out_of_memory();
    else if (n > 0)
        status = referee_bind(r, p->workload, &fault);
    if (status == AKO_OK && fault.reason[0])
        status = ako_fail(AKO_INVALID, "referee", "%s", fault.reason);
    if (status == AKO_OK && n > 0)
        status = ako_runner_fill(
            r->runner,
            &(ako_draw){
                .seed = (int64_t)seed, .known = p->known, .is_signed = p->form.is_signed, .times = p->form.times},
            addresses);
    free(addresses);
    return status;
}

int referee_fill(referee *r, const prepared *p, uint64_t seed)
{
    int status = referee_fill_from_problem(r, p, seed, -1);
    for (int i = 0; status == AKO_OK && i < r->task->n_tensors; i++) {
        const ako_tensor_spec *tensor = &r->task->tensors[i];
        const ako_span *span = &p->arena.spans[i];
        if (tensor->role == AKO_OUTPUT || span->count == 0 || is_of_problem(r, i))
            continue;
        ako_fill fill = tensor->fill;
        fill.seed = seed;
        fill.stream = (uint32_t)i;
        status = tensor->file[0] ? fill_from_file(r, p, i)
                                 : ako_ops_fill(referee_ops(r), ako_arena_address(&p->arena, i, p->base), tensor->dtype,
                                                span->room / ako_dtype_size(tensor->dtype), &fill);
    }
    return status;
}

int referee_hash(referee *r, const prepared *p, uint64_t *hashes)
{
    int status = AKO_OK;
    for (int i = 0; status == AKO_OK && i < r->task->n_tensors; i++) {
        hashes[i] = 0;
        if (r->task->tensors[i].role == AKO_INPUT && p->arena.spans[i].bytes > 0)
            status = ako_ops_hash(referee_ops(r), &hashes[i], ako_arena_address(&p->arena, i, p->base),
                                  p->arena.spans[i].room);
    }
    return status;
}

void referee_forget_files(referee *r)
{
    for (int i = 0; r->contents && i < r->task->n_tensors; i++)
        ako_tensor_free(&r->contents[i].tensor);
    free(r->contents);
    r->contents = NULL;
}
