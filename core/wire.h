/* JSON lines over a stream socket; between processes on one machine a message may carry descriptors. */
#ifndef AKO_WIRE_H
#define AKO_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "json.h"

typedef struct ako_wire ako_wire;

int ako_wire_pair(int fds[2]);            /* socketpair, both CLOEXEC */
int ako_wire_new(ako_wire **out, int fd); /* takes the descriptor over */
void ako_wire_free(ako_wire *wire);
int ako_wire_fd(const ako_wire *wire); /* for poll */

/* How long a message may be that is received; 1 GiB otherwise. For a peer that is not trusted: what it sends is kept in
 * memory until its end, and takes many times as much when it is parsed. */
void ako_wire_limit(ako_wire *wire, size_t bytes);

/* One message; `fds` (at most 16) travel with its first byte. AKO_EOF when the peer is gone. While the peer does not
 * read, what it sends is read, so that two sides that send at once both get on. */
int ako_wire_send(ako_wire *wire, const ako_json *message, const int *fds, int n_fds);

/* The same until a deadline (monotonic ns, 0: for ever). After AKO_TIMEOUT or AKO_CANCELLED either nothing of the
 * message has gone, or its rest goes before the next one: the stream stays whole. */
int ako_wire_send_by(ako_wire *wire, const ako_json *message, const int *fds, int n_fds, int64_t deadline_ns);

/* The next message, waiting until the deadline (monotonic ns, 0: for ever). AKO_TIMEOUT, AKO_EOF, AKO_CORRUPT (not
 * JSON; that line is gone and the next can be read), AKO_LIMIT (a line over the limit), AKO_CANCELLED. A wish to stop
 * is looked at only when it would have to wait, in sending too: what is there or fits is still received and sent.
 * Received descriptors are queued: ako_wire_take_fd gives them in order, at most 64 at a time. */
int ako_wire_receive(ako_wire *wire, ako_json **out, int64_t deadline_ns);
int ako_wire_pending(const ako_wire *wire); /* 1 when a whole message is already buffered */
int ako_wire_take_fd(ako_wire *wire);       /* -1 when none is left or `wire` is NULL; else the caller's to close */

#endif
