#include "build.h"

#include <ctype.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "build_parts.h"
#include "cache.h"
#include "cancel.h"
#include "clock.h"
#include "error.h"
#include "fs.h"
#include "hash.h"
#include "log.h"
#include "machine_code.h"

#define KEY_VERSION 1

static const ako_build_lane *lane_of(ako_lane lane)
{
    switch (lane) {
    case AKO_LANE_CUDA:
        return &ako_build_lane_nvrtc;
    case AKO_LANE_CUDA_HOST:
        return &ako_build_lane_nvcc;
    case AKO_LANE_PYTHON:
    case AKO_LANE_PYTHON_CPU:
        return &ako_build_lane_python;
    case AKO_LANE_C:
    default:
        return &ako_build_lane_cc;
    }
}

static bool is_identifier(const char *text)
{
    for (const char *p = text; *p; p++)
        if (!isalnum((unsigned char)*p) && *p != '_')
            return false;
    return *text && !isdigit((unsigned char)*text);
}

static int check_input(const ako_build_input *input)
{
    if (input->n_sources < 1)
        return ako_fail(AKO_INVALID, "build", "no source to build");
    for (int i = 0; i < input->n_sources; i++) {
        const ako_source *s = &input->sources[i];
        if (!ako_source_name_is_fine(s->name))
            return ako_fail(AKO_INVALID, "build",
                            "bad source name \"%s\": a relative path is wanted, without .. and none of \" \\ ' < > | & "
                            "; $ ` * ? in it",
                            s->name);
        if (memchr(s->text, '\0', s->size))
            return ako_fail(AKO_INVALID, "build", "%s is not text: it holds a NUL byte", s->name);
    }
    if (input->n_defines % 2 != 0)
        return ako_fail(AKO_INVALID, "build", "a define has no value");
    for (int i = 0; i < input->n_defines; i += 2)
        if (!is_identifier(input->defines[i]) || strpbrk(input->defines[i + 1], "\n\r\\"))
            return ako_fail(AKO_INVALID, "build", "cannot define %s as \"%s\"", input->defines[i],
                            input->defines[i + 1]);
    return AKO_OK;
}

static bool has_suffix(const char *text, const char *suffix)
{
    size_t n = strlen(text), m = strlen(suffix);
    return n >= m && strcmp(text + n - m, suffix) == 0;
}

static int make_texts(ako_build_job *job)
{
    const ako_build_input *in = job->input;
    bool oom = false;
    job->texts = calloc((size_t)in->n_sources, sizeof *job->texts);
    for (int i = 0; job->texts && i < in->n_sources; i++) {
        ako_buf *text = &job->texts[i];
        if (i == 0)
            job->precompiled = ako_source_put(text, in, i, *job->headers ? job->headers : NULL);
        else if (in->lane == AKO_LANE_C && has_suffix(in->sources[i].name, ".c"))
            ako_source_put(text, in, i, NULL);
        else
            ako_buf_put(text, in->sources[i].text, in->sources[i].size);
        oom = oom || text->oom || !ako_buf_reserve(text, 0);
    }
    return job->texts && !oom ? AKO_OK : ako_fail(AKO_NOMEM, "build", "out of memory for the sources");
}

void ako_build_put_identity(ako_buf *key, const char *path)
{
    char resolved[PATH_MAX];
    struct stat st;
    if (realpath(path, resolved) && stat(resolved, &st) == 0)
        ako_buf_printf(key, "%s %lld %lld.%09ld\n", resolved, (long long)st.st_size, (long long)st.st_mtim.tv_sec,
                       st.st_mtim.tv_nsec);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

bool ako_build_put_tree_identity(ako_buf *key, const char *folder)
{
    const int most = 50000;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", folder);
    FTS *walk = fts_open((char *const[]){path, NULL}, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    if (!walk)
        return false;
    int n = 0;
    for (FTSENT *e; n <= most && (e = fts_read(walk)) != NULL; n++)
        if (e->fts_info == FTS_F)
            ako_buf_printf(key, "%s %lld %lld.%09ld\n", e->fts_path, (long long)e->fts_statp->st_size,
                           (long long)e->fts_statp->st_mtim.tv_sec, e->fts_statp->st_mtim.tv_nsec);
    fts_close(walk);
    return n <= most;
}

/* Each string with its length in front, so that no two inputs make the same text. */
static void put_string(ako_buf *key, const char *kind, const char *text, size_t size)
{
    ako_buf_printf(key, "%s %zu ", kind, size);
    ako_buf_put(key, text, size);
    ako_buf_puts(key, "\n");
}

static void put_strings(ako_buf *key, const char *kind, const char *const *strings, int n)
{
    for (int i = 0; i < n; i++)
        put_string(key, kind, strings[i], strlen(strings[i]));
}

static int make_key(char out[65], ako_build_job *job)
{
    const ako_build_input *in = job->input;
    ako_buf key = {0};
    ako_buf_printf(&key, "ako build %d lane %d\n", KEY_VERSION, (int)in->lane);
    for (int i = 0; i < in->n_sources; i++) {
        put_string(&key, "source", in->sources[i].name, strlen(in->sources[i].name));
        put_string(&key, "text", job->texts[i].data, job->texts[i].size);
    }
    put_strings(&key, "name", in->names, in->n_names);
    put_strings(&key, "option", in->options, in->n_options);
    put_strings(&key, "arch", &in->arch, in->arch ? 1 : 0);
    int status = lane_of(in->lane)->identify(&key, job);
    if (status == AKO_OK && key.oom)
        status = ako_fail(AKO_NOMEM, "build", "out of memory for the sources");
    if (status == AKO_OK)
        status = ako_hash(out, key.data, key.size);
    ako_buf_free(&key);
    return status;
}

/* A cache that cannot be written costs speed, not the build. */
static int store(ako_build_output *out, const char *folder, const char *key, ako_lane lane, const ako_buf *code)
{
    static bool warned;
    if (folder && *key && ako_cache_store(out, folder, key, lane, code) == AKO_OK) {
        ako_cache_sweep_sometimes(folder);
        return AKO_OK;
    }
    if (*key && !warned) {
        warned = true;
        ako_log(AKO_LOG_WARN, "building without a cache: %s", ako_error_last()->message);
    }
    return ako_cache_keep_beside(out, code);
}

static int compile(ako_build_output *out, ako_build_job *job, const char *folder, const char *key)
{
    ako_buf code = {0};
    ako_lane lane = job->input->lane;
    int status = lane_of(lane)->compile(out, &code, job);
    ako_buf_put(&job->about, out->log.data, out->log.size);
    ako_buf_free(&out->log);
    out->log = job->about;
    job->about = (ako_buf){0};
    if (status == AKO_OK && out->ok)
        status = ako_lane_is_python(lane) ? ako_hash(out->hash, code.data, code.size)
                                          : ako_machine_code_hash(out->hash, code.data, code.size);
    if (status == AKO_OK && out->ok)
        status = store(out, folder, key, lane, &code);
    if (out->timed_out)
        snprintf(out->error_text, sizeof out->error_text, "not built within %.1f s",
                 (double)job->input->limit_ns / 1e9);
    ako_buf_free(&code);
    return status;
}

static int find_or_compile(ako_build_output *out, ako_build_job *job)
{
    char *folder = NULL, key[65] = "";
    int status = make_key(key, job);
    if (status == AKO_COMPILE)
        key[0] = '\0';
    else if (status != AKO_OK)
        return status;
    if (*key && ako_cache_folder(&folder) == AKO_OK && ako_cache_find(out, folder, key, job->input->lane) == AKO_OK) {
        free(folder);
        return AKO_OK;
    }
    status = compile(out, job, folder, key);
    free(folder);
    return status;
}

static void close_job(ako_build_job *job)
{
    for (int i = 0; job->texts && i < job->input->n_sources; i++)
        ako_buf_free(&job->texts[i]);
    free(job->texts);
    ako_buf_free(&job->about);
    if (job->folder[0])
        ako_fs_remove_tree(job->folder);
}

static const ako_build_output nothing_known = {.registers = -1, .shared_bytes = -1, .spill_bytes = -1};

int ako_build(ako_build_output *out, const ako_build_input *input)
{
    int64_t began = ako_clock_ns();
    ako_build_job job = {.input = input, .deadline_ns = input->limit_ns ? began + input->limit_ns : 0};
    *out = nothing_known;
    int status = check_input(input);
    if (status == AKO_OK)
        status = lane_of(input->lane)->open(&job);
    if (status == AKO_OK)
        status = make_texts(&job);
    if (status == AKO_OK)
        status = find_or_compile(out, &job);
    close_job(&job);
    if (status != AKO_OK)
        ako_build_output_free(out);
    out->wall_ns = ako_clock_ns() - began;
    return status;
}

void ako_build_output_free(ako_build_output *out)
{
    ako_buf_free(&out->log);
    for (int i = 0; i < out->n_lowered; i++)
        free(out->lowered[i]);
    free(out->lowered);
    *out = nothing_known;
}

int ako_build_warm(ako_lane lane)
{
    static const char text[] = "__global__ void warm(float *x) { x[0] = 1; }\n";
    if (lane != AKO_LANE_CUDA)
        return AKO_OK;
    ako_source source = {.name = "warm.cu", .text = text, .size = sizeof text - 1};
    ako_build_input input = {.lane = lane, .sources = &source, .n_sources = 1, .arch = "sm_90"};
    ako_build_job job = {.input = &input};
    ako_build_output out = nothing_known;
    ako_buf code = {0};
    int status = ako_build_lane_nvrtc.open(&job);
    if (status == AKO_OK)
        status = make_texts(&job);
    if (status == AKO_OK)
        status = ako_build_lane_nvrtc.compile(&out, &code, &job);
    ako_buf_free(&code);
    ako_build_output_free(&out);
    close_job(&job);
    return status;
}
