#include "evaluator.h"

#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "answer.h"
#include "base64.h"
#include "cancel.h"
#include "clock.h"
#include "environment.h"
#include "error.h"
#include "fs.h"
#include "hash.h"
#include "process.h"
#include "scratch.h"
#include "wire.h"

#define CANCEL_LIMIT_NS INT64_C(15000000000) /* for the evaluator to kill what it runs and say so */
#define CLOSE_LIMIT_NS INT64_C(5000000000)
#define GRACE_NS INT64_C(1000000000)
#define PIECE ((size_t)3 << 20)
#define LAST_WORDS 4096
#define LOOK_AFTER_NS INT64_C(1000000000) /* how often a silent evaluator is looked after */
#define MOST_STOPS 10                     /* of those looks in a row it may be found stopped */

struct ako_evaluator {
    pid_t pid; /* 0: it has ended */
    ako_wire *wire;
    int last_words;      /* a file in memory that takes its stderr; -1: it goes to ours */
    ako_scratch scratch; /* the temporary files of everything below */
    json_int_t id;
};

static int find_beside_program(char **out)
{
    static const char *const places[] = {"ako-worker", "../libexec/ako-lua/ako-worker"};
    char *folder;
    int status = ako_fs_program_dir(&folder);
    *out = NULL;
    for (size_t i = 0; status == AKO_OK && !*out && i < sizeof places / sizeof *places; i++) {
        ako_buf path = {0};
        ako_buf_printf(&path, "%s/%s", folder, places[i]);
        *out = ako_buf_take(&path);
        if (*out && !ako_fs_is_executable(*out)) {
            free(*out);
            *out = NULL;
        }
    }
    if (status == AKO_OK && !*out)
        status =
            ako_fail(AKO_UNAVAILABLE, "evaluator", "no ako-worker in %s or ../libexec/ako-lua; set AKO_WORKER", folder);
    if (status == AKO_OK || status == AKO_UNAVAILABLE)
        free(folder);
    return status;
}

static int find_worker(char **out, const char *worker)
{
    const char *named = worker ? worker : getenv("AKO_WORKER");
    if (!named || !*named)
        return find_beside_program(out);
    if (!ako_fs_is_executable(named))
        return ako_fail(AKO_UNAVAILABLE, "evaluator", "no program %s%s", named, worker ? "" : " (AKO_WORKER)");
    *out = strdup(named);
    return *out ? AKO_OK : ako_fail(AKO_NOMEM, "evaluator", "out of memory");
}

static bool is_debugging(void)
{
    const char *level = getenv("AKO_LOG");
    return level && strcmp(level, "debug") == 0;
}

static int spawn(ako_evaluator *e, const char *program, int channel)
{
    char number[16], temp[PATH_MAX + 8];
    snprintf(number, sizeof number, "%d", channel);
    snprintf(temp, sizeof temp, "TMPDIR=%s", e->scratch.path);
    const char **env = ako_environment_with((const char *const[]){temp, NULL});
    if (!env)
        return ako_fail(AKO_NOMEM, "evaluator", "out of memory");
    const char *argv[] = {program, "evaluator", "--channel", number, NULL};
    ako_spawn how = {.argv = argv,
                     .env = env,
                     .stdin_fd = -1,
                     .stdout_fd = -1,
                     .stderr_fd = e->last_words >= 0 ? e->last_words : STDERR_FILENO,
                     .channel_fd = channel};
    /* It does not die with us: it sees the end of the stream, and clears up below itself first. */
    int status = ako_process_spawn(&e->pid, &how);
    free(env);
    return status;
}

static int start(ako_evaluator *e, const char *program)
{
    int fds[2], status = ako_wire_pair(fds);
    if (status != AKO_OK)
        return status;
    status = spawn(e, program, fds[1]);
    close(fds[1]);
    if (status == AKO_OK)
        return ako_wire_new(&e->wire, fds[0]);
    close(fds[0]);
    e->pid = 0;
    return status;
}

int ako_evaluator_start(ako_evaluator **out, const char *worker)
{
    char *program;
    *out = NULL;
    int status = find_worker(&program, worker);
    if (status != AKO_OK)
        return status;
    ako_evaluator *e = calloc(1, sizeof *e);
    if (!e) {
        free(program);
        return ako_fail(AKO_NOMEM, "evaluator", "out of memory");
    }
    e->last_words = is_debugging() ? -1 : memfd_create("ako-worker-stderr", MFD_CLOEXEC);
    status = ako_scratch_open(&e->scratch);
    if (status == AKO_OK)
        status = start(e, program);
    free(program);
    if (status != AKO_OK) {
        ako_evaluator_stop(e);
        return status;
    }
    *out = e;
    return AKO_OK;
}

/* The last line of its stderr, without the newline; "" when there is none. */
static void read_last_words(char *out, size_t size, int fd)
{
    char text[LAST_WORDS + 1];
    struct stat st;
    out[0] = '\0';
    if (fd < 0 || fstat(fd, &st) != 0)
        return;
    off_t from = st.st_size > LAST_WORDS ? st.st_size - LAST_WORDS : 0;
    ssize_t n = pread(fd, text, LAST_WORDS, from);
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '))
        n--;
    if (n <= 0)
        return;
    text[n] = '\0';
    const char *line = strrchr(text, '\n');
    snprintf(out, size, "%.*s", (int)size - 1, line ? line + 1 : text);
}

/* Ends the process and says how it ended, with its last words. AKO_CHILD. */
static int bury(ako_evaluator *e, const char *fault)
{
    int how = -1;
    char ending[128] = "", words[600];
    bool ended = e->pid > 0 && ako_process_wait(e->pid, &how, ako_clock_ns() + GRACE_NS / 10) == AKO_OK;
    if (ended && how != 0)
        ako_process_describe(ending, sizeof ending, how);
    if (e->pid > 0)
        ako_process_kill_tree(e->pid, GRACE_NS);
    e->pid = 0;
    read_last_words(words, sizeof words, e->last_words);
    return ako_fail(AKO_CHILD, "evaluator", "the evaluator %s%s%s%s%s", *ending ? "died: " : fault, ending,
                    *words ? " (" : "", words, *words ? ")" : "");
}

static int send_cancel(ako_evaluator *e)
{
    json_t *message = json_pack("{s:s}", "op", "cancel");
    int status = message ? ako_wire_send_by(e->wire, message, NULL, 0, ako_clock_ns() + GRACE_NS) : AKO_NOMEM;
    json_decref(message);
    return status;
}

typedef struct conversation {
    ako_evaluator_progress progress;
    void *payload;
    bool cancelled;      /* the evaluator has been told to stop */
    bool wished;         /* by ako_cancel_request, which is set again at the end */
    int64_t deadline_ns; /* for its answer then; 0: none */
    int stops;           /* looks in a row that found it stopped */
} conversation;

static void cancel(ako_evaluator *e, conversation *c)
{
    if (c->cancelled)
        return;
    c->cancelled = true;
    c->deadline_ns = ako_clock_ns() + CANCEL_LIMIT_NS;
    send_cancel(e);
}

/* Receiving gives up at once while a wish to stop stands, and the evaluator's answer to it is still to come. */
static void put_wish_aside(ako_evaluator *e, conversation *c)
{
    c->wished = true;
    ako_cancel_clear();
    cancel(e, c);
}

static bool is_answer(const ako_evaluator *e, const json_t *message)
{
    const json_t *id = json_object_get(message, "id");
    return !json_object_get(message, "event") && json_is_integer(id) && json_integer_value(id) == e->id;
}

/* Takes the message over: events go to the caller, answers to requests given up earlier go nowhere. */
static void hear(ako_evaluator *e, conversation *c, json_t *message)
{
    if (json_object_get(message, "event") && c->progress && !c->cancelled && c->progress(c->payload, message) != 0)
        cancel(e, c);
    json_decref(message);
}

/* Code under test may stop its evaluator (SIGSTOP), which then keeps no time limit: it is told to go on. False for one
 * that is stopped again and again. */
static bool look_after(const ako_evaluator *e, conversation *c)
{
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)e->pid, &info, WSTOPPED | WNOHANG | WNOWAIT) != 0 || info.si_pid != e->pid) {
        c->stops = 0;
        return true;
    }
    kill(e->pid, SIGCONT);
    return ++c->stops <= MOST_STOPS;
}

/* As ako_wire_receive until the conversation's deadline. */
static int receive(ako_evaluator *e, conversation *c, json_t **message)
{
    for (;;) {
        int64_t look_at = ako_clock_ns() + LOOK_AFTER_NS;
        bool last = c->deadline_ns && c->deadline_ns <= look_at;
        int status = ako_wire_receive(e->wire, message, last ? c->deadline_ns : look_at);
        if (status != AKO_TIMEOUT || last || !look_after(e, c))
            return status;
    }
}

static int await_answer(ako_evaluator *e, conversation *c, json_t **answer)
{
    for (;;) {
        int status = receive(e, c, answer);
        if (status == AKO_OK && is_answer(e, *answer))
            return AKO_OK;
        if (status == AKO_OK)
            hear(e, c, *answer);
        else if (status == AKO_CANCELLED)
            put_wish_aside(e, c);
        else if (c->stops > MOST_STOPS)
            return bury(e, "was stopped again and again");
        else
            return bury(e, status == AKO_TIMEOUT ? "did not stop when told" : "broke its protocol");
        *answer = NULL;
    }
}

static int converse(ako_evaluator *e, json_t **answer, const json_t *request, conversation *c)
{
    int status = ako_wire_send(e->wire, request, NULL, 0);
    if (status == AKO_CANCELLED) /* the rest of the request goes with the next message */
        put_wish_aside(e, c);
    else if (status == AKO_EOF)
        return bury(e, "is gone");
    else if (status != AKO_OK)
        return status;
    status = await_answer(e, c, answer);
    if (status == AKO_OK && c->cancelled)
        return ako_fail(AKO_CANCELLED, "evaluator", "interrupted");
    if (status == AKO_OK)
        status = ako_answer_status(*answer, "evaluator");
    /* It was a signal from somebody else, perhaps from the code under test, and it ends. */
    return status == AKO_CANCELLED ? bury(e, "was told to stop by a signal") : status;
}

int ako_evaluator_request(ako_evaluator *evaluator, ako_json **answer, ako_json *request,
                          ako_evaluator_progress progress, void *payload)
{
    conversation c = {.progress = progress, .payload = payload};
    *answer = NULL;
    int status = AKO_OK;
    if (evaluator->pid <= 0)
        status = ako_fail(AKO_CHILD, "evaluator", "the evaluator has ended; start another one");
    else if (json_object_set_new(request, "id", json_integer(++evaluator->id)) != 0)
        status = ako_fail(AKO_NOMEM, "evaluator", "out of memory");
    if (status == AKO_OK)
        status = converse(evaluator, answer, request, &c);
    if (c.wished)
        ako_cancel_request();
    if (status != AKO_OK && ako_cancel_requested()) /* who ends us may have ended the evaluator first */
        status = ako_fail(AKO_CANCELLED, "evaluator", "interrupted");
    json_decref(request);
    if (status != AKO_OK) {
        json_decref(*answer);
        *answer = NULL;
    }
    return status;
}

static int send_piece(ako_evaluator *e, const char *key, const char *data, size_t size, size_t offset)
{
    ako_buf text = {0};
    json_t *answer;
    ako_base64_encode(&text, data, size);
    json_t *request = text.oom ? NULL
                               : json_pack("{s:s, s:s, s:I, s:s#}", "op", "file", "key", key, "offset",
                                           (json_int_t)offset, "data", text.data ? text.data : "", (int)text.size);
    ako_buf_free(&text);
    if (!request)
        return ako_fail(AKO_NOMEM, "evaluator", "out of memory");
    int status = ako_evaluator_request(e, &answer, request, NULL, NULL);
    json_decref(answer);
    return status;
}

static int send_content(ako_evaluator *e, char key[65], const char *data, size_t size)
{
    int status = ako_hash(key, data, size);
    size_t offset = 0;
    do {
        size_t n = size - offset < PIECE ? size - offset : PIECE;
        if (status == AKO_OK)
            status = send_piece(e, key, data + offset, n, offset);
        offset += n;
    } while (status == AKO_OK && offset < size);
    return status;
}

int ako_evaluator_upload(ako_evaluator *evaluator, char key[65], const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
        int status = ako_fail_errno("evaluator", "cannot read %s", path);
        if (fd >= 0)
            close(fd);
        return status;
    }
    size_t size = (size_t)st.st_size;
    void *data = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    close(fd);
    if (data == MAP_FAILED)
        return ako_fail_errno("evaluator", "cannot map %s", path);
    int status = send_content(evaluator, key, data ? data : "", size);
    if (data)
        munmap(data, size);
    return status;
}

/* The evaluator ends its children in order, if it is let. */
static void close_politely(ako_evaluator *e)
{
    json_t *request = json_pack("{s:s, s:I}", "op", "close", "id", ++e->id), *answer = NULL;
    conversation c = {.cancelled = true, .deadline_ns = ako_clock_ns() + CLOSE_LIMIT_NS};
    bool wished = ako_cancel_requested();
    ako_cancel_clear();
    if (request && ako_wire_send_by(e->wire, request, NULL, 0, c.deadline_ns) == AKO_OK &&
        await_answer(e, &c, &answer) == AKO_OK)
        json_decref(answer);
    if (wished || c.wished)
        ako_cancel_request();
    json_decref(request);
}

void ako_evaluator_stop(ako_evaluator *evaluator)
{
    if (!evaluator)
        return;
    if (evaluator->pid > 0 && evaluator->wire)
        close_politely(evaluator);
    if (evaluator->pid > 0)
        ako_process_kill_tree(evaluator->pid, GRACE_NS);
    ako_wire_free(evaluator->wire);
    if (evaluator->last_words >= 0)
        close(evaluator->last_words);
    ako_scratch_close(&evaluator->scratch);
    free(evaluator);
}
