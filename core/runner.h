/* Something that can be called on bound buffers: kernels of a cubin with launch geometry, a host function of a shared
 * object called through libffi, or what the program that loaded this library registered (hooks.h). The referee runs the
 * reference with it, the candidate its solution. */
#ifndef AKO_RUNNER_H
#define AKO_RUNNER_H

#include <stdbool.h>
#include <stdint.h>

#include "memory.h"

typedef enum ako_lane { AKO_LANE_CUDA, AKO_LANE_CUDA_HOST, AKO_LANE_C, AKO_LANE_PYTHON, AKO_LANE_PYTHON_CPU } ako_lane;
int ako_lane_parse(ako_lane *out, const char *name); /* "cuda", "cuda-host", "c", "python", "python-cpu" */
const char *ako_lane_name(ako_lane lane);
ako_place ako_lane_place(ako_lane lane); /* the CPU for "c" and "python-cpu" */
bool ako_lane_is_python(ako_lane lane);  /* runs in a process of the Python interpreter */

typedef enum ako_arg_kind { AKO_ARG_POINTER, AKO_ARG_I32, AKO_ARG_I64, AKO_ARG_SCALAR } ako_arg_kind;

typedef struct ako_arg {
    ako_arg_kind kind;
    int buffer;      /* POINTER: index into the addresses given to bind */
    int size;        /* bytes passed by value: 4, 8, or a scalar's size */
    char dtype;      /* SCALAR: an ako_dtype */
    uint8_t bits[8]; /* the value, little-endian */
    char name[64];   /* as the user wrote it, for messages */
} ako_arg;

typedef struct ako_call {
    char symbol[512]; /* lowered name of the kernel, or the entry of a shared object */
    char label[256];  /* as the user wrote it: "softmax<4, float>" */
    int line;         /* of the launch line in the user's source, 0 if there is none */
    unsigned grid[3], block[3], cluster[3];
    unsigned shared_bytes; /* dynamic */
    int n_args;
    ako_arg *args;
} ako_call;

typedef struct ako_runner ako_runner;

/* Loads `path` (a cubin, a shared object, a bundle of Python files) into this process. GPU lanes use the current
 * device.
 */
int ako_runner_open(ako_runner **out, ako_lane lane, const char *path);
/* One without any call, to find out what everything round a call costs. */
int ako_runner_nothing(ako_runner **out, ako_place place);
void ako_runner_free(ako_runner *runner);

/* Takes the calls of one workload (copied): checks that the symbols are there, that argument counts and sizes match
 * the compiled kernel, threads, grid and shared memory fit the device (raising the dynamic limit above 48 KB).
 * AKO_INVALID says "launch line L: ..." in the user's terms. */
int ako_runner_bind(ako_runner *runner, const ako_call *calls, int n_calls);

/* Enqueues (GPU) or performs (CPU) all calls in order with these buffer addresses. What Python is passed is made ready
 * before, and what it returns is brought to the addresses afterwards, and given up when all of it has been seen, for
 * that may run code of others; none of these is in a sample, and for the other lanes they do nothing. After a call in
 * steps Python keeps the memory of the results for the next one. */
int ako_runner_stage(ako_runner *runner, void *const *addresses);
int ako_runner_launch(ako_runner *runner, void *const *addresses);
int ako_runner_collect(ako_runner *runner, void *const *addresses); /* not where nobody looks; gives up on a fault */
int ako_runner_release(ako_runner *runner, void *const *addresses);
int ako_runner_call(ako_runner *runner, void *const *addresses); /* all four, and waits for the end */

/* What is drawn: for a seed, which is the check's (`known`) or nobody's to know; floating-point numbers as the problem
 * has them `times` over, and with the other sign by chance. */
typedef struct ako_draw {
    int64_t seed;
    bool known, is_signed;
    double times;
} ako_draw;

/* The task's own inputs, where Python makes them; NULL among the addresses are left out. */
int ako_runner_fill(ako_runner *runner, const ako_draw *draw, void *const *addresses);
int ako_runner_sync(ako_runner *runner); /* device-wide; reports asynchronous faults as AKO_CUDA */

/* Kernels that one launch starts, for a cubin; 0 for a shared object, which alone knows. */
int ako_runner_kernels(const ako_runner *runner);

/* Registers, static shared memory and local (spill) bytes of the heaviest kernel; zeros for shared objects. */
typedef struct ako_resources {
    int registers, shared_bytes, local_bytes, max_threads;
} ako_resources;
int ako_runner_resources(const ako_runner *runner, ako_resources *out);

#endif
