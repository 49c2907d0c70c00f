/* ako_process_run: a program from start to end, with its output caught. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cancel.h"
#include "clock.h"
#include "error.h"
#include "process.h"
#include "process_tree.h"

#define DEFAULT_CAP ((size_t)1 << 20)

/* One stream: the first half of the cap stays, the second half slides along with the end. */
typedef struct stream {
    int fd;
    size_t half;
    ako_buf head, tail;
    uint64_t dropped;
} stream;

typedef struct run {
    pid_t pid;
    int watch;
    stream out, err;
    int64_t deadline_ns;
} run;

static void keep_last(stream *s, size_t n)
{
    if (s->tail.size <= n)
        return;
    s->dropped += s->tail.size - n;
    ako_buf_drop(&s->tail, s->tail.size - n);
}

static void add_output(stream *s, const char *bytes, size_t n)
{
    size_t room = s->half - s->head.size, first = n < room ? n : room;
    ako_buf_put(&s->head, bytes, first);
    ako_buf_put(&s->tail, bytes + first, n - first);
    if (s->tail.size >= 2 * s->half + 65536) /* seldom, so that long output is moved about once */
        keep_last(s, s->half);
}

/* Takes what is there; at the end of the stream, closes it. */
static void drain(stream *s)
{
    char bytes[65536];
    while (s->fd >= 0) {
        ssize_t n = read(s->fd, bytes, sizeof bytes);
        if (n > 0) {
            add_output(s, bytes, (size_t)n);
        } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            close(s->fd);
            s->fd = -1;
        } else if (errno == EAGAIN) {
            return;
        }
        if (n > 0 && (size_t)n < sizeof bytes)
            return; /* nothing more for now; the waiting loop comes back */
    }
}

static void join_stream(ako_buf *out, stream *s)
{
    drain(s);
    keep_last(s, s->half);
    *out = s->head;
    s->head = (ako_buf){0};
    if (s->dropped)
        ako_buf_printf(out, "\n[... %llu bytes of output dropped here ...]\n", (unsigned long long)s->dropped);
    ako_buf_put(out, s->tail.data, s->tail.size);
    out->oom = out->oom || s->tail.oom;
}

static void free_stream(stream *s)
{
    if (s->fd >= 0)
        close(s->fd);
    ako_buf_free(&s->head);
    ako_buf_free(&s->tail);
}

static int open_stream(stream *s, int *write_end)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return ako_fail_errno("process", "cannot make a pipe");
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    s->fd = ends[0];
    *write_end = ends[1];
    return AKO_OK;
}

/* The input as a file in memory: the child reads it at its own pace and nobody has to feed a pipe meanwhile. */
static int open_input(int *fd, const char *input, size_t size)
{
    *fd = memfd_create("ako-stdin", MFD_CLOEXEC);
    if (*fd < 0)
        return ako_fail_errno("process", "cannot pass the input");
    for (size_t done = 0; done < size;) {
        ssize_t n = write(*fd, input + done, size - done);
        if (n < 0 && errno != EINTR)
            return ako_fail_errno("process", "cannot pass the input");
        done += n > 0 ? (size_t)n : 0;
    }
    if (lseek(*fd, 0, SEEK_SET) != 0)
        return ako_fail_errno("process", "cannot pass the input");
    return AKO_OK;
}

static int start(run *r, const ako_spawn *spawn, const char *input, size_t input_size)
{
    ako_spawn s = *spawn;
    int input_fd = -1, out_end = -1, err_end = -1;
    int status = input ? open_input(&input_fd, input, input_size) : AKO_OK;
    if (status == AKO_OK)
        status = open_stream(&r->out, &out_end);
    if (status == AKO_OK)
        status = open_stream(&r->err, &err_end);
    if (input)
        s.stdin_fd = input_fd;
    s.stdout_fd = out_end;
    s.stderr_fd = err_end;
    if (status == AKO_OK)
        status = ako_process_spawn(&r->pid, &s);
    const int ours[] = {input_fd, out_end, err_end};
    for (size_t i = 0; i < 3; i++)
        if (ours[i] >= 0)
            close(ours[i]);
    return status;
}

/* True when the child has ended; it stays a zombie, so that its pid still names its tree. */
static bool has_ended(pid_t pid)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid;
}

/* Waits for the end of the child, not of its output: something that it left in the background may hold the pipes. */
static int pump(run *r)
{
    while (!has_ended(r->pid)) {
        if (ako_cancel_requested())
            return ako_fail(AKO_CANCELLED, "process", "interrupted");
        if (r->deadline_ns && ako_clock_ns() >= r->deadline_ns)
            return AKO_TIMEOUT;
        struct pollfd p[] = {{.fd = r->out.fd, .events = POLLIN},
                             {.fd = r->err.fd, .events = POLLIN},
                             {.fd = r->watch, .events = POLLIN}};
        poll(p, 3, ako_process_slice_ms(r->deadline_ns, r->watch >= 0));
        drain(&r->out);
        drain(&r->err);
    }
    return AKO_OK;
}

static int finish(run *r, ako_capture *out, int pumped)
{
    out->timed_out = pumped == AKO_TIMEOUT;
    int status = ako_process_kill_tree_status(r->pid, AKO_KILL_GRACE_NS, &out->status);
    join_stream(&out->out, &r->out);
    join_stream(&out->err, &r->err);
    if (pumped == AKO_CANCELLED)
        return ako_fail(AKO_CANCELLED, "process", "interrupted");
    if (status == AKO_OK && (out->out.oom || out->err.oom))
        status = ako_fail(AKO_NOMEM, "process", "out of memory for a program's output");
    return status;
}

int ako_process_run(ako_capture *out, const ako_spawn *spawn, const char *input, size_t input_size, int64_t limit_ns,
                    size_t output_cap)
{
    size_t half = (output_cap ? output_cap : DEFAULT_CAP) / 2;
    int64_t began = ako_clock_ns();
    run r = {.watch = -1,
             .out = {.fd = -1, .half = half},
             .err = {.fd = -1, .half = half},
             .deadline_ns = limit_ns ? began + limit_ns : 0};
    *out = (ako_capture){0};
    int status = start(&r, spawn, input, input_size);
    if (status == AKO_OK) {
        r.watch = ako_process_watch(r.pid);
        status = finish(&r, out, pump(&r));
    }
    if (r.watch >= 0)
        close(r.watch);
    free_stream(&r.out);
    free_stream(&r.err);
    out->wall_ns = ako_clock_ns() - began;
    if (status != AKO_OK)
        ako_capture_free(out);
    return status;
}

void ako_capture_free(ako_capture *capture)
{
    ako_buf_free(&capture->out);
    ako_buf_free(&capture->err);
}
