/* A builder: compiles one unit after the other. Killed by the evaluator when it is late, started again on demand. */
#include <malloc.h>
#include <string.h>

#include "build.h"
#include "error.h"
#include "pack.h"
#include "reader.h"
#include "roles.h"
#include "serve.h"
#include "unit.h"

static json_t *pack_error(const ako_build_output *out)
{
    if (out->ok || !out->error_text[0])
        return json_null();
    return json_pack("{s:o, s:i, s:i, s:o}", "file", pack_text(out->error_file, strlen(out->error_file)), "line",
                     out->error_line, "column", out->error_column, "text",
                     pack_text(out->error_text, strlen(out->error_text)));
}

/* What the host gets to see. */
static json_t *pack_report(const ako_build_output *out)
{
    return json_pack("{s:b, s:s, s:o, s:i, s:i, s:i, s:I, s:o}", "cached", out->cached, "hash", out->hash, "log",
                     pack_text(out->log.data, out->log.size), "registers", out->registers, "shared", out->shared_bytes,
                     "spill", out->spill_bytes, "ns", (json_int_t)out->wall_ns, "error", pack_error(out));
}

static json_t *pack_lowered(const ako_build_output *out)
{
    json_t *list = json_array();
    for (int i = 0; list && i < out->n_lowered; i++)
        json_array_append_new(list, pack_text(out->lowered[i], strlen(out->lowered[i])));
    return list;
}

static int build_unit(json_t *answer, const ako_unit *unit, const char *arch, int64_t limit_ns)
{
    ako_build_input input = {.lane = unit->lane,
                             .sources = unit->sources,
                             .n_sources = unit->n_sources,
                             .names = unit->names,
                             .n_names = unit->n_names,
                             .defines = unit->defines,
                             .n_defines = unit->n_defines,
                             .options = unit->options,
                             .n_options = unit->n_options,
                             .arch = arch,
                             .limit_ns = limit_ns};
    ako_build_output out = {0};
    int status = ako_build(&out, &input);
    if (status == AKO_OK)
        status = pack_into(answer, json_pack("{s:b, s:b, s:o, s:o, s:o}", "built", out.ok, "late", out.timed_out,
                                             "path", pack_text(out.path, strlen(out.path)), "lowered",
                                             pack_lowered(&out), "report", pack_report(&out)));
    ako_build_output_free(&out);
    return status;
}

static int on_build(ako_server *server, const json_t *request, json_t *answer)
{
    (void)server;
    ako_reader reader;
    ako_unit *unit = NULL;
    const char *arch = "";
    int64_t limit_ns = 0;
    int status = ako_reader_init(&reader, request, "build");
    if (status == AKO_OK)
        status = ako_read_string(&arch, &reader, "arch", AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_integer(&limit_ns, &reader, "limit", 0, INT64_MAX, AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_unit_parse(&unit, NULL, json_object_get(request, "unit"), "unit");
    if (status == AKO_OK)
        status = build_unit(answer, unit, arch, limit_ns);
    ako_unit_free(unit);
    return status;
}

/* Loads what the first build would wait for; a machine that lacks it says so when something is to be built. */
static int on_warm(ako_server *server, const json_t *request, json_t *answer)
{
    (void)server, (void)answer;
    ako_lane lane;
    const char *name = json_string_value(json_object_get(request, "lane"));
    if (name && ako_lane_parse(&lane, name) == AKO_OK)
        ako_build_warm(lane);
    return AKO_OK;
}

int role_builder(ako_wire *wire)
{
    static const serve_op ops[] = {{"build", on_build}, {"warm", on_warm}};
    ako_server server = {.wire = wire};
    /* A compiler takes and gives back tens of megabytes a build; keeping them saves it a tenth of its time. */
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    mallopt(M_TOP_PAD, 32 << 20);
    int status = serve(&server, ops, sizeof ops / sizeof *ops);
    ako_wire_free(wire);
    return status != AKO_EOF;
}
