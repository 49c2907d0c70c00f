/* Tasks and units of docs/protocol.md as C structures: what must be computed, and something that builds and runs.
 * Both keep a reference to their JSON, which owns every string. */
#ifndef AKO_UNIT_H
#define AKO_UNIT_H

#include "build.h"
#include "json.h"
#include "ops.h"
#include "runner.h"

#define AKO_MAX_RANK 8

typedef enum ako_role { AKO_INPUT, AKO_OUTPUT, AKO_INOUT } ako_role;

typedef struct ako_tensor_spec {
    char name[64];
    ako_dtype dtype;
    ako_role role;
    ako_fill fill;    /* inputs: kind, a, b; seed and stream are the caller's */
    char file[65];    /* key of an uploaded file, "" when the content is generated */
    char format[16];  /* "npy", "npz", "safetensors", "raw" */
    char member[128]; /* name of the array inside an .npz or .safetensors file */
} ako_tensor_spec;

typedef struct ako_shape {
    int rank;
    int64_t dims[AKO_MAX_RANK];
} ako_shape;

uint64_t ako_shape_count(const ako_shape *shape); /* number of elements; 1 for a scalar */

typedef struct ako_workload {
    const char *id;
    ako_shape *shapes; /* one a tensor */
    double weight;     /* 1 unless stated */
    double bytes;      /* what must at least be moved; 0 unknown */
} ako_workload;

typedef struct ako_task {
    const char *name;
    int n_tensors, n_workloads;
    ako_tensor_spec *tensors;
    ako_workload *workloads;
    ako_tolerance tolerance;
    ako_json *json;
} ako_task;

/* AKO_INVALID names the place: "task.workloads[0].shapes.x: ...". The member "reference" is not looked at. */
int ako_task_parse(ako_task **out, ako_json *json);
void ako_task_free(ako_task *task);

typedef struct ako_scratch {
    char name[64];
    ako_dtype dtype;
    ako_shape shape;
} ako_scratch;

/* Pointer arguments of the calls are numbered: the task's tensors first, then the scratch buffers. */
typedef struct ako_unit_workload {
    int n_scratch, n_calls;
    ako_scratch *scratch;
    ako_call *calls;
} ako_unit_workload;

typedef struct ako_unit {
    ako_lane lane;
    int n_sources, n_names, n_defines, n_options, n_workloads;
    ako_source *sources;
    const char **names, **defines, **options;
    ako_unit_workload *workloads;
    ako_json *json;
} ako_unit;

/* `where` is its name in messages ("task.reference", "unit"). Sources may be absent where nothing is to be built;
 * without a task (NULL) the workloads are not looked at, where nothing is to be run. */
int ako_unit_parse(ako_unit **out, const ako_task *task, ako_json *json, const char *where);
void ako_unit_free(ako_unit *unit);

/* Gives the calls the symbols that the compiler chose: lowered[i] stands for names[i]. Nothing to do for n = 0. */
int ako_unit_lower(ako_unit *unit, const char *const *lowered, int n);

#endif
