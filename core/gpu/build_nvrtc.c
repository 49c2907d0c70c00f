/* The cuda lane: NVRTC in this process, source text to cubin. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../build_parts.h"
#include "../cancel.h"
#include "../clock.h"
#include "../error.h"
#include "../fs.h"
#include "../machine_code.h"
#include "../toolkit.h"
#include "nvrtc.h"

/* From 12.9 on NVRTC keeps cubins in the driver's cache, where there is a driver. One found there comes without what
 * ptxas tells of it: registers, spills. The cache in front of this lane keeps that too. */
#define CACHES_SINCE 12090

static int fail(const ako_nvrtc_api *api, nvrtcResult result, const char *what)
{
    return ako_fail(result == NVRTC_ERROR_OUT_OF_MEMORY ? AKO_NOMEM : AKO_ERROR, "nvrtc", "%s: %s", what,
                    api->nvrtcGetErrorString(result));
}

/* Headers lie in include/ beside lib/ or lib64/; `lib` may also be targets/NAME/lib. */
static int try_headers(void *payload, const char *lib)
{
    char probe[PATH_MAX], *out = payload;
    if (snprintf(probe, sizeof probe, "%s/../include/cuda_fp16.h", lib) >= (int)sizeof probe || !ako_fs_exists(probe))
        return 0;
    *strrchr(probe, '/') = '\0';
    return realpath(probe, out) != NULL;
}

/* Those of the library's own toolkit, else the first of any; without, kernels that include nothing still compile. */
static void find_headers(char out[PATH_MAX], const char *library)
{
    char folder[PATH_MAX];
    out[0] = '\0';
    if (realpath(library, folder) && strrchr(folder, '/')) {
        *strrchr(folder, '/') = '\0';
        if (try_headers(out, folder))
            return;
    }
    if (!ako_toolkit_walk(try_headers, out))
        out[0] = '\0';
}

static int check_arch(const ako_nvrtc_api *api, const char *arch)
{
    int n = 0, chips[256];
    if (!arch || strncmp(arch, "sm_", 3) != 0)
        return ako_fail(AKO_INVALID, "nvrtc", "no GPU architecture \"%s\": sm_90 for example", arch ? arch : "");
    if (api->nvrtcGetNumSupportedArchs(&n) != NVRTC_SUCCESS || n > 256 ||
        api->nvrtcGetSupportedArchs(chips) != NVRTC_SUCCESS)
        return AKO_OK;
    for (int i = 0; i < n; i++)
        if (chips[i] == (int)strtol(arch + 3, NULL, 10))
            return AKO_OK;
    return ako_fail(AKO_UNAVAILABLE, "nvrtc",
                    "NVRTC %d.%d (%s) does not compile for %s: another CUDA version is needed", api->version / 1000,
                    api->version % 1000 / 10, api->path, arch);
}

static int open_nvrtc(ako_build_job *job)
{
    const ako_nvrtc_api *api;
    int status = ako_nvrtc(&api);
    if (status == AKO_OK)
        status = check_arch(api, job->input->arch);
    if (status != AKO_OK)
        return status;
    snprintf(job->compiler, sizeof job->compiler, "%s", api->path);
    find_headers(job->headers, api->path);
    ako_buf_printf(&job->about, "NVRTC %d.%d (%s), headers %s\n", api->version / 1000, api->version % 1000 / 10,
                   api->path, *job->headers ? job->headers : "not found");
    return AKO_OK;
}

/* A file or folder that an option names, bare or behind -I or '='. */
static bool put_option_identity(ako_buf *key, const char *option)
{
    const char *equals = strchr(option, '=');
    const char *path = equals ? equals + 1 : strncmp(option, "-I", 2) == 0 && option[2] ? option + 2 : option;
    if (ako_fs_is_dir(path))
        return ako_build_put_tree_identity(key, path);
    ako_build_put_identity(key, path);
    return true;
}

static int identify(ako_buf *key, ako_build_job *job)
{
    char path[PATH_MAX + 8];
    ako_build_put_identity(key, job->compiler);
    snprintf(path, sizeof path, "%s/cuda.h", job->headers);
    ako_build_put_identity(key, path);
    for (int i = 0; i < job->input->n_options; i++)
        if (!put_option_identity(key, job->input->options[i]))
            return AKO_COMPILE;
    return AKO_OK;
}

/* Lives through one compilation. NVRTC may ask from several threads, and wants no 0 after a 1. */
typedef struct flow {
    int64_t deadline_ns;
    atomic_bool stopped;
} flow;

static int should_stop(void *payload, void *reserved)
{
    (void)reserved;
    flow *f = payload;
    if (ako_cancel_requested() || (f->deadline_ns && ako_clock_ns() >= f->deadline_ns))
        atomic_store(&f->stopped, true);
    return atomic_load(&f->stopped);
}

static int create_program(nvrtcProgram *out, const ako_nvrtc_api *api, const ako_build_job *job)
{
    const ako_build_input *in = job->input;
    size_t n = (size_t)in->n_sources - 1;
    const char **names = calloc(n + 1, sizeof *names), **texts = calloc(n + 1, sizeof *texts);
    nvrtcResult result = NVRTC_ERROR_OUT_OF_MEMORY;
    if (names && texts) {
        for (size_t i = 0; i < n; i++) {
            names[i] = in->sources[i + 1].name;
            texts[i] = job->texts[i + 1].data;
        }
        result = api->nvrtcCreateProgram(out, job->texts[0].data, in->sources[0].name, (int)n, texts, names);
    }
    for (int i = 0; i < in->n_names && result == NVRTC_SUCCESS; i++)
        result = api->nvrtcAddNameExpression(*out, in->names[i]);
    free(names);
    free(texts);
    return result == NVRTC_SUCCESS ? AKO_OK : fail(api, result, "cannot prepare a program");
}

/* NVRTC does not notice that a header which it has precompiled has changed, so options that bring in others' headers
 * rule precompiling out. */
static bool can_precompile(const ako_nvrtc_api *api, const ako_build_job *job)
{
    bool foreign = false;
    for (int i = 0; i < job->input->n_options; i++)
        foreign = foreign || strstr(job->input->options[i], "-I") || strstr(job->input->options[i], "include") ||
                  strstr(job->input->options[i], "pch");
    return api->nvrtcGetPCHHeapSize && job->precompiled && !foreign;
}

static nvrtcResult compile_program(nvrtcProgram program, const ako_nvrtc_api *api, const ako_build_job *job)
{
    const ako_build_input *in = job->input;
    char arch[64], include[PATH_MAX + 2], cccl[PATH_MAX + 8];
    snprintf(arch, sizeof arch, "-arch=%s", in->arch);
    snprintf(include, sizeof include, "-I%s", job->headers);
    snprintf(cccl, sizeof cccl, "-I%s/cccl", job->headers);
    const char **options = calloc((size_t)in->n_options + 16, sizeof *options);
    if (!options)
        return NVRTC_ERROR_OUT_OF_MEMORY;
    int n = 0;
    options[n++] = arch;
    options[n++] = "-std=c++17";
    options[n++] = "-lineinfo";
    options[n++] = "--ptxas-options=-v";
    options[n++] = "-default-device";
    if (*job->headers)
        options[n++] = include;
    if (*job->headers && ako_fs_is_dir(cccl + 2))
        options[n++] = cccl;
    if (api->version >= CACHES_SINCE)
        options[n++] = "--no-cache";
    if (can_precompile(api, job)) {
        options[n++] = "--pch";
        options[n++] = "--pch-messages=false";
    }
    for (int i = 0; i < in->n_options; i++)
        options[n++] = in->options[i];
    nvrtcResult result = api->nvrtcCompileProgram(program, n, options);
    free(options);
    return result;
}

static int read_log(ako_buf *log, nvrtcProgram program, const ako_nvrtc_api *api)
{
    size_t size = 0;
    nvrtcResult result = api->nvrtcGetProgramLogSize(program, &size);
    char *end = ako_buf_reserve(log, size);
    if (!end)
        return ako_fail(AKO_NOMEM, "nvrtc", "out of memory for the compiler's log");
    if (result == NVRTC_SUCCESS && size > 1)
        result = api->nvrtcGetProgramLog(program, end);
    if (result != NVRTC_SUCCESS)
        return fail(api, result, "cannot read the compiler's log");
    log->size += size > 1 ? size - 1 : 0; /* its size counts the NUL */
    return AKO_OK;
}

static int read_cubin(ako_buf *code, nvrtcProgram program, const ako_nvrtc_api *api)
{
    size_t size = 0;
    nvrtcResult result = api->nvrtcGetCUBINSize(program, &size);
    char *end = ako_buf_reserve(code, size);
    if (!end)
        return ako_fail(AKO_NOMEM, "nvrtc", "out of memory for a cubin");
    if (result == NVRTC_SUCCESS)
        result = api->nvrtcGetCUBIN(program, end);
    if (result != NVRTC_SUCCESS)
        return fail(api, result, "cannot read the cubin");
    code->size += size;
    return AKO_OK;
}

static void reject_name(ako_build_output *out, const ako_build_input *in, const char *name)
{
    ako_buf there = {0};
    ako_source_list_kernels(&there, in);
    ako_build_reject(out, in->sources[0].name, "no kernel \"%s\": the __global__ functions are %s", name,
                     there.size ? there.data : "none at all");
    ako_buf_free(&there);
}

/* A name expression may also name a function that is no kernel. */
static int read_lowered(ako_build_output *out, const ako_buf *code, nvrtcProgram program, const ako_nvrtc_api *api,
                        const ako_build_input *in)
{
    out->lowered = calloc((size_t)in->n_names + 1, sizeof *out->lowered);
    if (!out->lowered)
        return ako_fail(AKO_NOMEM, "nvrtc", "out of memory for names");
    for (int i = 0; i < in->n_names; i++) {
        const char *name;
        nvrtcResult result = api->nvrtcGetLoweredName(program, in->names[i], &name);
        if (result != NVRTC_SUCCESS)
            return fail(api, result, "cannot find a kernel's name");
        out->lowered[i] = strdup(name);
        if (!out->lowered[i])
            return ako_fail(AKO_NOMEM, "nvrtc", "out of memory for names");
        out->n_lowered++;
        if (out->ok && !ako_machine_code_has_kernel(code->data, code->size, name))
            reject_name(out, in, in->names[i]);
    }
    return AKO_OK;
}

/* NVRTC looks names up in a file of its own making, in which each is the text behind a pragma. */
static void reword_name_error(ako_build_output *out, const ako_build_input *in)
{
    static const char pragma[] = "#pragma nv_mangled_name ";
    if (strcmp(out->error_file, "__nv_name_map") != 0)
        return;
    const char *at = strstr(out->log.data, pragma);
    const char *written = at ? at + strlen(pragma) : "";
    for (int i = 0; i < in->n_names; i++) {
        size_t n = strlen(in->names[i]);
        if (strncmp(written, in->names[i], n) == 0 && (written[n] == '\n' || written[n] == '\0')) {
            reject_name(out, in, in->names[i]);
            return;
        }
    }
    ako_build_reject(out, in->sources[0].name, "a kernel's name cannot be found: %.400s", out->error_text);
}

static int take_failure(ako_build_output *out, nvrtcResult result, const ako_nvrtc_api *api, const ako_build_job *job,
                        bool stopped)
{
    if (result == NVRTC_ERROR_OUT_OF_MEMORY)
        return fail(api, result, "cannot compile");
    if (result == NVRTC_ERROR_BUILTIN_OPERATION_FAILURE)
        return ako_fail(AKO_UNAVAILABLE, "nvrtc", "NVRTC (%s) lacks its builtins library beside it", api->path);
    if (stopped && ako_cancel_requested())
        return ako_fail(AKO_CANCELLED, "nvrtc", "interrupted");
    out->timed_out = stopped;
    ako_build_log_parse(out, true);
    reword_name_error(out, job->input);
    return AKO_OK;
}

static int take_success(ako_build_output *out, ako_buf *code, nvrtcProgram program, const ako_nvrtc_api *api,
                        const ako_build_job *job)
{
    out->ok = true;
    ako_build_log_parse(out, true);
    int status = read_cubin(code, program, api);
    return status == AKO_OK ? read_lowered(out, code, program, api, job->input) : status;
}

static int compile(ako_build_output *out, ako_buf *code, ako_build_job *job)
{
    const ako_nvrtc_api *api;
    nvrtcProgram program = NULL;
    flow f = {.deadline_ns = job->deadline_ns};
    int status = ako_nvrtc(&api);
    if (status == AKO_OK)
        status = create_program(&program, api, job);
    if (status == AKO_OK) {
        if (api->nvrtcSetFlowCallback)
            api->nvrtcSetFlowCallback(program, should_stop, &f);
        nvrtcResult result = compile_program(program, api, job);
        status = read_log(&out->log, program, api);
        if (status == AKO_OK && result == NVRTC_SUCCESS)
            status = take_success(out, code, program, api, job);
        else if (status == AKO_OK)
            status = take_failure(out, result, api, job, atomic_load(&f.stopped));
    }
    if (program)
        api->nvrtcDestroyProgram(&program);
    return status;
}

const ako_build_lane ako_build_lane_nvrtc = {.open = open_nvrtc, .identify = identify, .compile = compile};
