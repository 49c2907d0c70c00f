#include "serve.h"

#include <string.h>
#include <unistd.h>

#include "answer.h"
#include "error.h"

static int dispatch(ako_server *server, const serve_op *ops, size_t n_ops, const json_t *request, json_t *answer)
{
    const char *op = json_string_value(json_object_get(request, "op"));
    for (size_t i = 0; op && i < n_ops; i++)
        if (strcmp(ops[i].name, op) == 0)
            return ops[i].run(server, request, answer);
    return ako_fail(AKO_INVALID, "worker", "unknown op '%s'", op ? op : "");
}

/* Code of others that forks, and whose copy comes back, makes a second process of ours: the first answers alone. */
static void end_copy(const ako_server *server)
{
    if (getpid() != server->pid)
        _exit(1);
}

static int send_answer(ako_server *server, json_t *answer)
{
    end_copy(server);
    if (!answer)
        return ako_fail(AKO_NOMEM, "worker", "out of memory for an answer");
    return ako_wire_send(server->wire, answer, server->fds, server->n_fds);
}

static int answer_one(ako_server *server, const serve_op *ops, size_t n_ops, json_t *request)
{
    server->id = json_object_get(request, "id");
    server->n_fds = 0;
    json_t *answer = json_pack("{s:O*, s:b}", "id", server->id, "ok", 1);
    int status = answer ? dispatch(server, ops, n_ops, request, answer) : AKO_NOMEM;
    if (status == AKO_EOF) {
        json_decref(answer);
        return status;
    }
    if (status != AKO_OK) {
        json_decref(answer);
        server->n_fds = 0;
        answer = ako_answer_failure(server->id, status);
    }
    status = server->id ? send_answer(server, answer) : AKO_OK;
    json_decref(answer);
    return status;
}

int serve(ako_server *server, const serve_op *ops, size_t n_ops)
{
    int status = AKO_OK;
    server->pid = getpid();
    while (status == AKO_OK && !server->done) {
        json_t *request;
        status = ako_wire_receive(server->wire, &request, 0);
        if (status == AKO_OK)
            status = answer_one(server, ops, n_ops, request);
        json_decref(request);
    }
    return status;
}
