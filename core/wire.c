#include "wire.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "buf.h"
#include "cancel.h"
#include "clock.h"
#include "error.h"
#include "process_tree.h"

#define LINE_LIMIT ((size_t)1 << 30)
#define FDS_A_MESSAGE 16
#define FDS_QUEUED 64

struct ako_wire {
    int fd;
    size_t limit; /* of a line that is received */
    ako_buf in;
    size_t start;   /* where the next message begins */
    size_t scanned; /* no newline between start and here */
    ako_buf out;    /* the rest of a message whose sending was cut off */
    int fds[FDS_QUEUED];
    int n_fds;
};

int ako_wire_pair(int fds[2])
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
        return ako_fail_errno("wire", "cannot make a socket pair");
    return AKO_OK;
}

int ako_wire_new(ako_wire **out, int fd)
{
    *out = calloc(1, sizeof **out);
    if (!*out) {
        close(fd);
        return ako_fail(AKO_NOMEM, "wire", "out of memory");
    }
    (*out)->fd = fd;
    (*out)->limit = LINE_LIMIT;
    return AKO_OK;
}

void ako_wire_limit(ako_wire *wire, size_t bytes)
{
    wire->limit = bytes;
}

void ako_wire_free(ako_wire *wire)
{
    if (!wire)
        return;
    close(wire->fd);
    for (int i = 0; i < wire->n_fds; i++)
        close(wire->fds[i]);
    ako_buf_free(&wire->in);
    ako_buf_free(&wire->out);
    free(wire);
}

int ako_wire_fd(const ako_wire *wire)
{
    return wire->fd;
}

/* The end of the first whole line, or NULL. */
static const char *find_newline(const ako_wire *w)
{
    return w->in.size > w->scanned ? memchr(w->in.data + w->scanned, '\n', w->in.size - w->scanned) : NULL;
}

int ako_wire_pending(const ako_wire *wire)
{
    return find_newline(wire) != NULL;
}

int ako_wire_take_fd(ako_wire *wire)
{
    if (!wire || wire->n_fds == 0)
        return -1;
    int fd = wire->fds[0];
    wire->n_fds--;
    memmove(wire->fds, wire->fds + 1, (size_t)wire->n_fds * sizeof *wire->fds);
    return fd;
}

static int fail_gone(void)
{
    return ako_fail(AKO_EOF, "wire", "the other process is gone");
}

/* Waits for `events` or for something to read. AKO_OK also when a slice went by with nothing. */
static int wait_for(const ako_wire *w, short events, int64_t deadline_ns)
{
    if (ako_cancel_requested())
        return ako_fail(AKO_CANCELLED, "wire", "interrupted");
    if (deadline_ns && ako_clock_ns() >= deadline_ns)
        return ako_fail(AKO_TIMEOUT, "wire", "no answer within the time limit");
    struct pollfd p = {.fd = w->fd, .events = events};
    if (poll(&p, 1, ako_process_slice_ms(deadline_ns, true)) < 0 && errno != EINTR)
        return ako_fail_errno("wire", "cannot wait for a message");
    return AKO_OK;
}

/* Queues every descriptor of a message; whatever is too much is closed and refused. */
static int take_descriptors(ako_wire *w, struct msghdr *message)
{
    bool too_many = (message->msg_flags & MSG_CTRUNC) != 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        int received[FDS_A_MESSAGE];
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(received, CMSG_DATA(c), n * sizeof(int));
        for (size_t i = 0; i < n; i++) {
            if (w->n_fds < FDS_QUEUED) {
                w->fds[w->n_fds++] = received[i];
            } else {
                close(received[i]);
                too_many = true;
            }
        }
    }
    return too_many ? ako_fail(AKO_CORRUPT, "wire", "too many descriptors in a message") : AKO_OK;
}

static void drop_consumed(ako_wire *w)
{
    if (w->start == 0)
        return;
    ako_buf_drop(&w->in, w->start);
    w->scanned -= w->start;
    w->start = 0;
}

/* Reads once without waiting. *got is false when there was nothing. */
static int read_some(ako_wire *w, bool *got)
{
    const size_t piece = 65536;
    *got = false;
    if (w->in.size - w->start > w->limit)
        return ako_fail(AKO_LIMIT, "wire", "a message is larger than %zu bytes", w->limit);
    drop_consumed(w);
    char *end = ako_buf_reserve(&w->in, piece);
    if (!end)
        return ako_fail(AKO_NOMEM, "wire", "out of memory for a message of over %zu bytes", w->in.size);
    union {
        char bytes[CMSG_SPACE(FDS_A_MESSAGE * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec iov = {.iov_base = end, .iov_len = piece};
    struct msghdr message = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    ssize_t n = recvmsg(w->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return AKO_OK;
    if (n == 0 || (n < 0 && errno == ECONNRESET))
        return fail_gone();
    if (n < 0)
        return ako_fail_errno("wire", "cannot receive");
    *got = true;
    w->in.size += (size_t)n;
    w->in.data[w->in.size] = '\0';
    return take_descriptors(w, &message);
}

static ssize_t send_once(int socket, const char *bytes, size_t size, const int *fds, int n_fds)
{
    union {
        char bytes[CMSG_SPACE(FDS_A_MESSAGE * sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    struct iovec iov = {.iov_len = size};
    memcpy(&iov.iov_base, &bytes, sizeof bytes); /* sendmsg does not write through it, whatever its type says */
    struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
    if (n_fds > 0) {
        size_t payload = (size_t)n_fds * sizeof(int);
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(payload);
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        *c = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(payload)};
        memcpy(CMSG_DATA(c), fds, payload);
    }
    return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Sends all; *sent tells how far it came. A full buffer is waited out, while what the peer sends is read. */
static int send_all(ako_wire *w, size_t *sent, const char *bytes, size_t size, const int *fds, int n_fds,
                    int64_t deadline_ns)
{
    for (*sent = 0; *sent < size;) {
        ssize_t n = send_once(w->fd, bytes + *sent, size - *sent, fds, *sent ? 0 : n_fds);
        if (n > 0) {
            *sent += (size_t)n;
            continue;
        }
        if (errno == EPIPE || errno == ECONNRESET)
            return fail_gone();
        if (errno != EAGAIN && errno != EINTR && errno != ETOOMANYREFS)
            return ako_fail_errno("wire", "cannot send");
        bool got;
        int status = wait_for(w, POLLOUT | POLLIN, deadline_ns);
        if (status == AKO_OK)
            status = read_some(w, &got);
        if (status != AKO_OK)
            return status;
    }
    return AKO_OK;
}

static int flush_rest(ako_wire *w, int64_t deadline_ns)
{
    size_t sent = 0;
    int status = w->out.size ? send_all(w, &sent, w->out.data, w->out.size, NULL, 0, deadline_ns) : AKO_OK;
    ako_buf_drop(&w->out, sent);
    return status;
}

int ako_wire_send_by(ako_wire *wire, const ako_json *message, const int *fds, int n_fds, int64_t deadline_ns)
{
    if (n_fds > FDS_A_MESSAGE)
        return ako_fail(AKO_INVALID, "wire", "at most %d descriptors fit a message", FDS_A_MESSAGE);
    char *text;
    int status = ako_json_dump(&text, message);
    if (status != AKO_OK)
        return status;
    size_t size = strlen(text), sent = 0;
    text[size++] = '\n'; /* in place of the NUL: a copy of 100 MB less */
    status = flush_rest(wire, deadline_ns);
    if (status == AKO_OK)
        status = send_all(wire, &sent, text, size, fds, n_fds, deadline_ns);
    if (sent > 0 && sent < size)
        ako_buf_put(&wire->out, text + sent, size - sent);
    free(text);
    return status;
}

int ako_wire_send(ako_wire *wire, const ako_json *message, const int *fds, int n_fds)
{
    return ako_wire_send_by(wire, message, fds, n_fds, 0);
}

static int fail_garbage(const char *line, size_t size)
{
    char start[61];
    size_t n = size < sizeof start - 1 ? size : sizeof start - 1;
    for (size_t i = 0; i < n; i++)
        start[i] = (char)(isprint((unsigned char)line[i]) ? line[i] : '?');
    start[n] = '\0';
    return ako_fail(AKO_CORRUPT, "wire", "not a message: \"%s\"%s", start, n < size ? " ..." : "");
}

static int parse_line(ako_wire *w, ako_json **out, const char *newline)
{
    const char *line = w->in.data + w->start;
    size_t size = (size_t)(newline - line);
    int status = ako_json_parse(out, line, size);
    if (status != AKO_OK)
        status = fail_garbage(line, size);
    w->start += size + 1;
    w->scanned = w->start;
    return status;
}

int ako_wire_receive(ako_wire *wire, ako_json **out, int64_t deadline_ns)
{
    *out = NULL;
    for (;;) {
        const char *newline = find_newline(wire);
        if (newline)
            return parse_line(wire, out, newline);
        wire->scanned = wire->in.size;
        bool got;
        int status = read_some(wire, &got);
        if (status == AKO_OK && !got)
            status = wait_for(wire, POLLIN, deadline_ns);
        if (status != AKO_OK)
            return status;
    }
}
