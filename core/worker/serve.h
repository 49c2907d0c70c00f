/* The loop that every role runs: one request, one answer. */
#ifndef AKO_WORKER_SERVE_H
#define AKO_WORKER_SERVE_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "wire.h"

typedef struct ako_server {
    ako_wire *wire;
    void *state; /* the role's own */
    json_t *id;  /* of the request at hand, borrowed; NULL: nobody waits for an answer */
    int fds[4];  /* descriptors that go with the answer; they stay the role's */
    int n_fds;
    bool done; /* set by a handler: leave after this answer */
    pid_t pid; /* of the process that answers */
} ako_server;

/* Adds its fields to `answer`. A negative status becomes a negative answer; AKO_EOF ends the loop without one. */
typedef int (*serve_handler)(ako_server *server, const json_t *request, json_t *answer);

typedef struct serve_op {
    const char *name;
    serve_handler run;
} serve_op;

/* Answers until the peer is gone (AKO_EOF), a handler says done (AKO_OK) or the stream breaks (the status). */
int serve(ako_server *server, const serve_op *ops, size_t n_ops);

#endif
