/* A process below the evaluator, from the evaluator's side: its channel and its end. Requests may be queued; their
 * answers come in order. */
#ifndef AKO_WORKER_CHILD_H
#define AKO_WORKER_CHILD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "room.h"
#include "wire.h"

#define CHILD_GRACE_NS INT64_C(50000000) /* between TERM and KILL */

typedef struct ako_child {
    const char *role;
    pid_t pid;        /* 0: none */
    child_room *room; /* of one that will run hostile code; NULL: none */
    int watch;        /* readable once the process has ended; -1 where the kernel cannot say */
    ako_wire *wire;
    uint64_t asked, answered; /* ids of the last request and of the last answer; they start at a random number */
} ako_child;

/* Starts `ako-worker ROLE`. One that will run hostile code has no stderr, for nothing that it prints is of interest,
 * and gets a room: an environment and a folder, the current one, that goes when the process does. */
int child_start(ako_child *child, const char *role, bool hostile);

/* The same in two steps, for a process that somebody else starts: first the room and the channel, whose other end
 * *channel is the caller's; then the process that has it, a child of ours. After a failure nothing is left. */
int child_begin(ako_child *child, const char *role, bool hostile, int *channel);
void child_become(ako_child *child, pid_t pid);
void child_give_up(ako_child *child); /* between the two */

bool child_is_running(const ako_child *child);
/* The same for one that nobody has heard of for a while: where it has ended meanwhile it is cleared away. */
bool child_is_still_running(ako_child *child);
bool child_owes_answer(const ako_child *child);

/* Sends {"op":op, ...}; takes the request over. */
int child_send(ako_child *child, const char *op, json_t *request, const int *fds, int n_fds);

/* Sends a wish that gets no answer; takes it over. A process that is gone does not matter here. */
void child_tell(ako_child *child, const char *op, json_t *wish);

/* The next answer if it is there, positive or negative; AKO_TIMEOUT: not yet. AKO_CHILD says how the process ended
 * (then it has been reaped with all it left behind), AKO_KILLED that it was SIGKILL, which was none of ours;
 * AKO_CORRUPT or AKO_LIMIT: it broke the protocol. */
int child_poll(ako_child *child, json_t **answer);

/* Kills the tree and forgets the process; fine when there is none. */
void child_kill(ako_child *child);

#endif
