/* The Python lanes: there is nothing to compile. What is loaded is a bundle of the files, so that the process that will
 * run them gets all of them as one thing with one hash. */
#include <jansson.h>
#include <stdlib.h>

#include "build_parts.h"
#include "error.h"

static int open_nothing(ako_build_job *job)
{
    (void)job;
    return AKO_OK;
}

static int identify(ako_buf *key, ako_build_job *job)
{
    (void)job;
    ako_buf_printf(key, "bundle of Python files\n");
    return AKO_OK;
}

static int bundle(ako_build_output *out, ako_buf *code, ako_build_job *job)
{
    json_t *files = json_array();
    for (int i = 0; i < job->input->n_sources; i++) {
        const ako_source *s = &job->input->sources[i];
        json_array_append_new(files, json_pack("{s:s, s:s%}", "name", s->name, "text", s->text, s->size));
    }
    json_t *whole = json_pack("{s:o}", "files", files);
    char *text = whole ? json_dumps(whole, JSON_COMPACT) : NULL;
    json_decref(whole);
    out->ok = text != NULL;
    if (text)
        ako_buf_printf(code, "%s", text);
    free(text);
    return out->ok ? AKO_OK : ako_fail(AKO_NOMEM, "build", "out of memory");
}

const ako_build_lane ako_build_lane_python = {.open = open_nothing, .identify = identify, .compile = bundle};
