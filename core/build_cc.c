/* The lanes whose compiler is a program: cc for `c`, nvcc for `cuda-host`. Each build runs in a fresh folder. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "build_parts.h"
#include "clock.h"
#include "environment.h"
#include "error.h"
#include "fs.h"
#include "process.h"

#define OUTPUT_NAME ".ako-build.so"
#define LOG_CAP ((size_t)4 << 20)
#define PREPROCESSED_CAP ((size_t)256 << 20)

/* A growing NULL-terminated list of borrowed strings. */
typedef struct words {
    const char **items;
    size_t n, capacity;
    bool oom;
} words;

static void add(words *w, const char *word)
{
    if (w->n + 2 > w->capacity) {
        size_t capacity = w->capacity ? 2 * w->capacity : 32;
        const char **grown = realloc(w->items, capacity * sizeof *grown);
        if (!grown) {
            w->oom = true;
            return;
        }
        w->items = grown;
        w->capacity = capacity;
    }
    w->items[w->n++] = word;
    w->items[w->n] = NULL;
}

static void add_all(words *w, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        add(w, list[i]);
}

/* CC may be more than a name ("ccache gcc"): blanks part its words. The copy that they point into is the caller's. */
static char *add_cc(words *w)
{
    const char *cc = getenv("CC");
    char *copy = strdup(cc && *cc ? cc : "cc");
    char *rest = copy;
    for (char *word; copy && (word = strtok_r(rest, " \t", &rest)) != NULL;)
        add(w, word);
    return copy;
}

static int open_cc(ako_build_job *job)
{
    words w = {0};
    char *copy = add_cc(&w);
    const char *cc = w.n ? w.items[0] : "cc";
    int status = AKO_OK;
    if (ako_process_find(job->compiler, sizeof job->compiler, cc) != AKO_OK || !ako_fs_is_executable(job->compiler))
        status = strcmp(cc, "cc") == 0
                     ? ako_fail(AKO_UNAVAILABLE, "build", "no C compiler: install gcc or set CC")
                     : ako_fail(AKO_UNAVAILABLE, "build", "no C compiler %s: install gcc or set CC", cc);
    free(w.items);
    free(copy);
    return status;
}

static bool is_nvcc_below(char out[PATH_MAX], const char *root)
{
    return root && *root && snprintf(out, PATH_MAX, "%s/bin/nvcc", root) < PATH_MAX && ako_fs_is_executable(out);
}

static bool names_host_compiler(const ako_build_input *in)
{
    for (int i = 0; i < in->n_options; i++)
        if (strncmp(in->options[i], "-ccbin", 6) == 0 || strncmp(in->options[i], "--compiler-bindir", 17) == 0)
            return true;
    return getenv("NVCC_CCBIN") != NULL;
}

static int open_nvcc(ako_build_job *job)
{
    char host[PATH_MAX];
    if (!is_nvcc_below(job->compiler, getenv("CUDA_HOME")) && !is_nvcc_below(job->compiler, "/usr/local/cuda") &&
        ako_process_find(job->compiler, sizeof job->compiler, "nvcc") != AKO_OK)
        return ako_fail(AKO_UNAVAILABLE, "build", "no nvcc: install the CUDA toolkit or set CUDA_HOME");
    if (!names_host_compiler(job->input) && ako_process_find(host, sizeof host, "g++") != AKO_OK)
        return ako_fail(AKO_UNAVAILABLE, "build", "nvcc needs a C++ compiler: install g++");
    return AKO_OK;
}

static int write_source(const ako_build_job *job, int index)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%s", job->folder, job->input->sources[index].name);
    if (n < 0 || (size_t)n >= sizeof path)
        return ako_fail(AKO_INVALID, "build", "the path of a source is too long");
    char *slash = strrchr(path, '/');
    *slash = '\0';
    int status = ako_fs_mkdirs(path);
    *slash = '/';
    return status == AKO_OK ? ako_fs_write(path, job->texts[index].data, job->texts[index].size, false) : status;
}

static int write_sources(ako_build_job *job)
{
    if (job->folder[0])
        return AKO_OK;
    char folder[PATH_MAX];
    int status = ako_fs_temp_dir(folder, sizeof folder, "ako-build");
    if (status != AKO_OK)
        return status;
    snprintf(job->folder, sizeof job->folder, "%s", folder);
    for (int i = 0; i < job->input->n_sources && status == AKO_OK; i++)
        status = write_source(job, i);
    return status;
}

/* Messages in English, which build_log.c can read; temporary files in our folder, where they vanish with a compiler
 * that is killed. */
static int run_compiler(ako_capture *out, const ako_build_job *job, const words *argv, size_t cap)
{
    char temp[PATH_MAX + 8];
    snprintf(temp, sizeof temp, "TMPDIR=%s", job->folder);
    const char **env = ako_environment_with((const char *const[]){"LC_ALL=C", "LANGUAGE=", temp, NULL});
    ako_spawn spawn = {
        .argv = argv->items, .env = env, .cwd = job->folder, .stdin_fd = -1, .channel_fd = -1, .die_with_parent = true};
    int64_t left = job->deadline_ns ? job->deadline_ns - ako_clock_ns() : 0;
    int status = argv->oom || !env
                     ? ako_fail(AKO_NOMEM, "build", "out of memory starting the compiler")
                     : ako_process_run(out, &spawn, NULL, 0, job->deadline_ns && left < 1 ? 1 : left, cap);
    free(env);
    return status == AKO_NOTFOUND ? ako_fail(AKO_UNAVAILABLE, "build", "%s", ako_error_last()->message) : status;
}

static bool is_linked(const char *name)
{
    size_t n = strlen(name);
    return n > 2 && strcmp(name + n - 2, ".c") == 0;
}

static char *add_cc_command(words *argv, const ako_build_job *job)
{
    static const char *const flags[] = {"-shared", "-fPIC", "-O3", "-march=native", "-std=gnu11", "-pthread", "-I."};
    const ako_build_input *in = job->input;
    char *cc = add_cc(argv);
    add_all(argv, flags, sizeof flags / sizeof *flags);
    add(argv, in->sources[0].name);
    for (int i = 1; i < in->n_sources; i++)
        if (is_linked(in->sources[i].name))
            add(argv, in->sources[i].name);
    add_all(argv, in->options, (size_t)in->n_options);
    add(argv, "-lm");
    return cc;
}

/* "sm_90a" as nvcc's -gencode wants it. */
static char *add_nvcc_command(words *argv, const ako_build_job *job)
{
    static const char *const flags[] = {"-shared", "-Xcompiler", "-fPIC", "-O3", "-std=c++17", "-Xptxas", "-v", "-I."};
    const ako_build_input *in = job->input;
    ako_buf code = {0};
    const char *chip = in->arch && strncmp(in->arch, "sm_", 3) == 0 ? in->arch + 3 : "90";
    ako_buf_printf(&code, "arch=compute_%s,code=sm_%s", chip, chip);
    char *text = ako_buf_take(&code);
    add(argv, job->compiler);
    add_all(argv, flags, sizeof flags / sizeof *flags);
    add(argv, "-gencode");
    add(argv, text ? text : "");
    add(argv, in->sources[0].name);
    add_all(argv, in->options, (size_t)in->n_options);
    return text;
}

static char *add_command(words *argv, const ako_build_job *job)
{
    return (job->input->lane == AKO_LANE_C ? add_cc_command : add_nvcc_command)(argv, job);
}

/* The model that -march=native stands for. */
static void put_cpu(ako_buf *key)
{
    static const char *const wanted[] = {"vendor_id", "cpu family", "model", "stepping", "flags", "CPU ", "Features"};
    ako_buf info = {0};
    if (ako_fs_read(&info, "/proc/cpuinfo", 0) == AKO_OK && info.data)
        for (const char *line = info.data; *line && *line != '\n'; line += strcspn(line, "\n") + 1)
            for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
                if (strncmp(line, wanted[i], strlen(wanted[i])) == 0)
                    ako_buf_put(key, line, strcspn(line, "\n") + 1);
    ako_buf_free(&info);
}

/* The preprocessed text holds every header that the sources pull in, from wherever. */
static int put_preprocessed(ako_buf *key, ako_build_job *job)
{
    int status = write_sources(job);
    if (status != AKO_OK)
        return status;
    words argv = {0};
    char *temp = add_command(&argv, job);
    add(&argv, "-E");
    ako_capture c = {0};
    status = run_compiler(&c, job, &argv, PREPROCESSED_CAP);
    free(argv.items);
    free(temp);
    if (status != AKO_OK)
        return status;
    if (c.timed_out || c.status != 0 || c.out.size >= PREPROCESSED_CAP / 2)
        status = AKO_COMPILE;
    else
        ako_buf_put(key, c.out.data, c.out.size);
    ako_capture_free(&c);
    return status;
}

static int identify(ako_buf *key, ako_build_job *job)
{
    ako_build_put_identity(key, job->compiler);
    if (job->input->lane == AKO_LANE_C)
        put_cpu(key);
    return put_preprocessed(key, job);
}

static void put_command(ako_buf *about, const words *argv)
{
    for (size_t i = 0; i < argv->n; i++)
        ako_buf_printf(about, "%s%s", i ? " " : "", argv->items[i]);
    ako_buf_puts(about, "\n");
}

static int read_code(ako_buf *code, const ako_build_job *job)
{
    char path[PATH_MAX + sizeof OUTPUT_NAME + 1];
    snprintf(path, sizeof path, "%s/%s", job->folder, OUTPUT_NAME);
    return ako_fs_read(code, path, 0);
}

/* Whose fault a failed build is must not be mistaken: a full disk, or memory that ran out, is not the source's. */
static int check_room(const ako_build_output *out, const ako_build_job *job)
{
    const char *log = out->log.data ? out->log.data : "";
    if (!out->ok && strstr(log, "Killed signal terminated program")) /* one of those that cc starts */
        return ako_fail(AKO_KILLED, "build", "the compiler was killed, as the kernel does where memory runs out");
    if (out->ok || !(strstr(log, "No space left on device") || strstr(log, "Disk quota exceeded")))
        return AKO_OK;
    return ako_fail(AKO_UNAVAILABLE, "build", "no room left on the disk of %s to compile in", job->folder);
}

static int take_result(ako_build_output *out, ako_buf *code, const ako_build_job *job, ako_capture *c)
{
    ako_buf_put(&out->log, c->out.data, c->out.size);
    ako_buf_put(&out->log, c->err.data, c->err.size);
    out->timed_out = c->timed_out;
    out->ok = !c->timed_out && c->status == 0;
    if (!c->timed_out && WIFSIGNALED(c->status)) {
        char how[64];
        ako_process_describe(how, sizeof how, c->status);
        if (ako_process_is_killed(c->status))
            return ako_fail(AKO_KILLED, "build", "the compiler was %s", how);
        snprintf(out->error_text, sizeof out->error_text, "the compiler was %s", how);
    }
    int status = out->ok ? read_code(code, job) : AKO_OK;
    if (status == AKO_NOTFOUND) {
        out->ok = false;
        snprintf(out->error_text, sizeof out->error_text, "the compiler made no code");
        status = AKO_OK;
    }
    ako_build_log_parse(out, false);
    return status == AKO_OK ? check_room(out, job) : status;
}

static int compile(ako_build_output *out, ako_buf *code, ako_build_job *job)
{
    int status = write_sources(job);
    if (status != AKO_OK)
        return status;
    words argv = {0};
    char *temp = add_command(&argv, job);
    add(&argv, "-o");
    add(&argv, OUTPUT_NAME);
    ako_capture c = {0};
    status = run_compiler(&c, job, &argv, LOG_CAP);
    if (status == AKO_OK) {
        put_command(&job->about, &argv);
        status = take_result(out, code, job, &c);
        ako_capture_free(&c);
    }
    free(argv.items);
    free(temp);
    return status;
}

const ako_build_lane ako_build_lane_cc = {.open = open_cc, .identify = identify, .compile = compile};
const ako_build_lane ako_build_lane_nvcc = {.open = open_nvcc, .identify = identify, .compile = compile};
