/* The task's self-test: what the check says about results that no honest kernel gives (null_results.h), what the
 * reference says about other inputs, and which of the tolerances that are offered would refuse them all. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "null_results.h"
#include "pack.h"
#include "reader.h"
#include "referee.h"

/* Of an output that are looked at: its beginning tells as much as the whole. */
#define MOST_BYTES ((uint64_t)1 << 18)
#define MOST_TOLERANCES 64
#define FEW 16
#define ROW_OF_VECTOR 16 /* a 1-D output has no rows: a share of it, so large that chance cannot make it right */

typedef struct attack {
    referee *r;
    prepared *p;
    uint64_t seed, other;
    specimen *outputs;
    int n_outputs, n_drawn;                    /* n_drawn: inputs that are random */
    ako_tolerance tolerances[MOST_TOLERANCES]; /* offered */
    bool holds[MOST_TOLERANCES];
    int n_tolerances;
    json_t *answer;
    reference_fault *fault;
} attack;

static const ako_tensor_spec *spec_of(const attack *a, int tensor)
{
    return &a->r->task->tensors[tensor];
}

static bool is_drawn(const attack *a, int tensor)
{
    const ako_tensor_spec *spec = spec_of(a, tensor);
    return a->p->arena.spans[tensor].count > 0 && spec->role != AKO_OUTPUT && !spec->file[0] &&
           (spec->fill.kind == AKO_FILL_NORMAL || spec->fill.kind == AKO_FILL_UNIFORM ||
            spec->fill.kind == AKO_FILL_PROBLEM);
}

/* ---- requests ---- */

static int read_tolerances(attack *a, const ako_reader *request)
{
    const json_t *list = NULL;
    size_t n = 0;
    const ako_tolerance *own = &a->r->task->tolerance;
    int status = ako_read_array(&list, &n, request, "tolerances", MOST_TOLERANCES, AKO_OPTIONAL);
    for (size_t i = 0; status == AKO_OK && i < n; i++) {
        ako_reader item;
        ako_tolerance *t = &a->tolerances[i];
        *t = (ako_tolerance){.predicate = AKO_ALLCLOSE_REF,
                             .ratio_required = 1,
                             .equal_nan = own->equal_nan,
                             .equal_inf = own->equal_inf};
        status = ako_reader_item(&item, request, "tolerances", list, i);
        if (status == AKO_OK)
            status = ako_read_real(&t->atol, &item, "atol", AKO_REQUIRED);
        if (status == AKO_OK)
            status = ako_read_real(&t->rtol, &item, "rtol", AKO_REQUIRED);
        a->holds[i] = true;
    }
    a->n_tolerances = (int)n;
    return status;
}

static int read_request(attack *a, const json_t *request)
{
    ako_reader reader;
    int64_t seed = 0, other = 0;
    int status = ako_reader_init(&reader, request, "attack");
    if (status == AKO_OK)
        status = ako_read_integer(&seed, &reader, "seed", INT64_MIN, INT64_MAX, AKO_REQUIRED);
    if (status == AKO_OK)
        status = ako_read_integer(&other, &reader, "other", INT64_MIN, INT64_MAX, AKO_REQUIRED);
    a->seed = (uint64_t)seed;
    a->other = (uint64_t)other;
    return status == AKO_OK ? read_tolerances(a, &reader) : status;
}

/* ---- copies on the host ---- */

static uint64_t row_of(const ako_shape *shape, uint64_t count)
{
    if (shape->rank > 1)
        return (uint64_t)shape->dims[shape->rank - 1];
    uint64_t part = count / 64 > ROW_OF_VECTOR ? count / 64 : ROW_OF_VECTOR;
    return part < count ? part : count;
}

static int make_specimen(attack *a, int tensor)
{
    const ako_span *span = &a->p->arena.spans[tensor];
    size_t size = ako_dtype_size(span->dtype);
    specimen *s = &a->outputs[a->n_outputs++];
    *s = (specimen){.tensor = tensor, .dtype = span->dtype, .whole = span->count};
    s->count = span->count < MOST_BYTES / size ? span->count : MOST_BYTES / size;
    s->bytes = s->count * size;
    s->row = row_of(&a->r->task->workloads[a->p->workload].shapes[tensor], span->count);
    s->golden = malloc(s->bytes);
    s->got = malloc(s->bytes);
    return s->golden && s->got ? AKO_OK : referee_out_of_memory();
}

static int make_specimens(attack *a)
{
    int status = AKO_OK;
    a->outputs = calloc((size_t)a->r->task->n_tensors, sizeof *a->outputs);
    if (!a->outputs)
        return referee_out_of_memory();
    for (int i = 0; status == AKO_OK && i < a->r->task->n_tensors; i++)
        if (spec_of(a, i)->role != AKO_INPUT && a->p->arena.spans[i].count > 0)
            status = make_specimen(a, i);
    return status;
}

static void free_specimens(attack *a)
{
    for (int i = 0; i < a->n_outputs; i++) {
        free(a->outputs[i].golden);
        free(a->outputs[i].other);
        free(a->outputs[i].got);
    }
    free(a->outputs);
}

static int fetch_golden(const attack *a, const specimen *s, unsigned char *to)
{
    return ako_ops_download(referee_ops(a->r), to, ako_arena_address(&a->p->golden_arena, s->tensor, a->p->golden),
                            s->bytes);
}

/* ---- verdicts on the host ---- */

static int compare(const attack *a, ako_comparison *out, const specimen *s, const ako_tolerance *tolerance)
{
    return ako_ops_compare(a->r->ops[AKO_CPU], out, s->got, s->golden, s->dtype, s->count, tolerance);
}

/* An offered tolerance holds while every null result fails and every right one passes. */
static int try_tolerances(attack *a, const specimen *s, bool right)
{
    int status = AKO_OK;
    for (int t = 0; status == AKO_OK && t < a->n_tolerances; t++) {
        ako_comparison c;
        if (!a->holds[t])
            continue;
        status = compare(a, &c, s, &a->tolerances[t]);
        a->holds[t] = status == AKO_OK && c.passed == right;
    }
    return status;
}

static int add(attack *a, const char *list, json_t *entry)
{
    json_t *entries = json_object_get(a->answer, list);
    return entry && json_array_append_new(entries, entry) == 0 ? AKO_OK : referee_out_of_memory();
}

/* One more entry of "attacks", for what `s->got` holds. `of`: the input that was copied, or "". */
static int judge(attack *a, const specimen *s, const char *name, const char *of)
{
    ako_comparison c;
    int status = compare(a, &c, s, &a->r->task->tolerance);
    if (status == AKO_OK)
        status = add(a, "attacks",
                     json_pack("{s:s, s:s, s:s, s:b, s:o, s:o, s:I, s:I}", "name", name, "tensor",
                               spec_of(a, s->tensor)->name, "of", of, "passed", c.passed, "max_abs",
                               pack_real(c.max_abs), "max_rel", pack_real(c.max_rel), "mismatch",
                               (json_int_t)c.mismatches, "count", (json_int_t)c.count));
    return status == AKO_OK ? try_tolerances(a, s, false) : status;
}

/* ---- null results ---- */

static int attack_with_copies(attack *a, specimen *s)
{
    int status = AKO_OK;
    unsigned char *content = malloc(s->bytes);
    for (int i = 0; content && status == AKO_OK && i < a->r->task->n_tensors; i++) {
        const ako_span *span = &a->p->arena.spans[i];
        uint64_t bytes = span->bytes < s->bytes ? span->bytes : s->bytes;
        if (spec_of(a, i)->role == AKO_OUTPUT || span->dtype != s->dtype || bytes == 0)
            continue;
        status = ako_ops_download(referee_ops(a->r), content, ako_arena_address(&a->p->arena, i, a->p->base), bytes);
        if (status == AKO_OK) {
            null_copy(s, content, bytes);
            status = judge(a, s, "copy", spec_of(a, i)->name);
        }
    }
    free(content);
    return content ? status : referee_out_of_memory();
}

/* Values that the lower type has too are not worse for having been in it; a few are near such values by chance. */
static int attack_with_casts(attack *a, specimen *s)
{
    ako_dtype lower[2];
    int n = s->count < FEW ? 0 : lower_dtypes(lower, s->dtype), status = AKO_OK;
    for (int i = 0; status == AKO_OK && i < n; i++) {
        null_cast(s, lower[i]);
        if (!specimen_is_golden(s))
            status = judge(a, s, "cast", ako_dtype_name(lower[i]));
    }
    return status;
}

static int attack_with_other_seed(attack *a, specimen *s, double mean)
{
    int status = AKO_OK;
    if (s->other) {
        null_other_seed(s);
        status = judge(a, s, "other seed", "");
    }
    if (status == AKO_OK) {
        null_one_row(s, mean);
        status = judge(a, s, "one row wrong", "");
    }
    return status;
}

static int attack_with_content(attack *a, specimen *s, double mean)
{
    null_zeros(s);
    int status = judge(a, s, "zeros", "");
    if (status == AKO_OK && s->count > 1) { /* the mean of one element is that element */
        null_constant(s, mean);
        status = judge(a, s, "mean", "");
    }
    if (status == AKO_OK) {
        null_poison(s);
        status = judge(a, s, "unwritten", "");
    }
    if (status == AKO_OK && ako_dtype_kind(s->dtype) == 'f') {
        null_constant(s, NAN);
        status = judge(a, s, "nan", "");
    }
    return status;
}

static int attack_output(attack *a, specimen *s)
{
    specimen_figures f = specimen_measure(s);
    int status =
        add(a, "outputs",
            json_pack("{s:s, s:s, s:I, s:I, s:o, s:o, s:o, s:o, s:I, s:I}", "tensor", spec_of(a, s->tensor)->name,
                      "dtype", ako_dtype_name(s->dtype), "count", (json_int_t)s->whole, "examined",
                      (json_int_t)s->count, "rms", pack_real(f.rms), "mean", pack_real(f.mean), "min", pack_real(f.min),
                      "max", pack_real(f.max), "nan", (json_int_t)f.nan, "inf", (json_int_t)f.inf));
    if (status == AKO_OK)
        status = attack_with_content(a, s, f.mean);
    if (status == AKO_OK)
        status = attack_with_copies(a, s);
    if (status == AKO_OK)
        status = attack_with_casts(a, s);
    if (status == AKO_OK)
        status = attack_with_other_seed(a, s, f.mean);
    near_golden(s);
    return status == AKO_OK ? try_tolerances(a, s, true) : status;
}

/* ---- the reference on other inputs ---- */

static int draw(attack *a, int tensor, uint64_t seed)
{
    ako_fill fill = spec_of(a, tensor)->fill;
    if (fill.kind == AKO_FILL_PROBLEM)
        return referee_fill_from_problem(a->r, a->p, seed, tensor);
    fill.seed = seed;
    fill.stream = (uint32_t)tensor;
    return ako_ops_fill(referee_ops(a->r), ako_arena_address(&a->p->arena, tensor, a->p->base),
                        spec_of(a, tensor)->dtype, a->p->arena.spans[tensor].count, &fill);
}

static bool goes_on(const attack *a, int status)
{
    return status == AKO_OK && !a->fault->reason[0];
}

/* The same inputs twice: what differs is the reference's own noise, which a tolerance must let pass. */
static int run_again(attack *a)
{
    int status = referee_run(a->r, a->p, a->fault);
    for (int i = 0; goes_on(a, status) && i < a->n_outputs; i++) {
        specimen *s = &a->outputs[i];
        ako_comparison c;
        status = fetch_golden(a, s, s->got);
        if (status == AKO_OK)
            status = compare(a, &c, s, &a->r->task->tolerance);
        if (status == AKO_OK)
            status = add(a, "again",
                         json_pack("{s:s, s:b, s:o, s:I}", "tensor", spec_of(a, s->tensor)->name, "passed", c.passed,
                                   "max_abs", pack_real(c.max_abs), "mismatch", (json_int_t)c.mismatches));
        if (status == AKO_OK)
            status = try_tolerances(a, s, true);
    }
    return status;
}

/* What the reference has just given becomes the other answer. */
static int keep_as_other(attack *a)
{
    int status = AKO_OK;
    for (int i = 0; status == AKO_OK && i < a->n_outputs; i++) {
        specimen *s = &a->outputs[i];
        s->other = malloc(s->bytes);
        status = s->other ? fetch_golden(a, s, s->other) : referee_out_of_memory();
    }
    return status;
}

static int draw_all(attack *a, uint64_t seed)
{
    int status = AKO_OK;
    for (int i = 0; status == AKO_OK && i < a->r->task->n_tensors; i++)
        if (is_drawn(a, i))
            status = draw(a, i, seed);
    return status;
}

/* With one input that was done when it alone was drawn anew. */
static int run_on_other(attack *a)
{
    if (a->n_drawn < 2)
        return AKO_OK;
    int status = draw_all(a, a->other);
    if (status == AKO_OK)
        status = referee_run(a->r, a->p, a->fault);
    if (goes_on(a, status))
        status = keep_as_other(a);
    return goes_on(a, status) ? draw_all(a, a->seed) : status;
}

/* Sets *out when `s->got` is out of the tolerance. */
static int look_outside(const attack *a, bool *out, const specimen *s, const ako_tolerance *tolerance)
{
    ako_comparison c = {0};
    int status = compare(a, &c, s, tolerance);
    *out = *out || (status == AKO_OK && !c.passed);
    return status;
}

/* Whether some output is out of tolerance now; the same for the offered ones. */
static int find_change(attack *a, bool *changes)
{
    bool differs[MOST_TOLERANCES] = {false};
    int status = AKO_OK;
    *changes = false;
    for (int i = 0; status == AKO_OK && i < a->n_outputs; i++) {
        specimen *s = &a->outputs[i];
        status = fetch_golden(a, s, s->got);
        if (status == AKO_OK)
            status = look_outside(a, changes, s, &a->r->task->tolerance);
        for (int t = 0; status == AKO_OK && t < a->n_tolerances; t++)
            if (a->holds[t] && !differs[t])
                status = look_outside(a, &differs[t], s, &a->tolerances[t]);
    }
    for (int t = 0; t < a->n_tolerances; t++)
        a->holds[t] = a->holds[t] && differs[t];
    return status;
}

static int run_redrawn(attack *a, int tensor, bool *fresh, bool *changes)
{
    uint64_t before = 0, after = 0;
    uint64_t bytes = a->p->arena.spans[tensor].bytes;
    const void *content = ako_arena_address(&a->p->arena, tensor, a->p->base);
    int status = ako_ops_hash(referee_ops(a->r), &before, content, bytes);
    if (status == AKO_OK)
        status = draw(a, tensor, a->other);
    if (status == AKO_OK)
        status = ako_ops_hash(referee_ops(a->r), &after, content, bytes);
    if (status == AKO_OK)
        status = referee_run(a->r, a->p, a->fault);
    if (goes_on(a, status))
        status = find_change(a, changes);
    if (goes_on(a, status) && a->n_drawn == 1)
        status = keep_as_other(a);
    *fresh = before != after;
    return goes_on(a, status) ? draw(a, tensor, a->seed) : status;
}

static int redraw(attack *a, int tensor)
{
    const ako_tensor_spec *spec = spec_of(a, tensor);
    bool fresh = false, changes = false;
    if (!is_drawn(a, tensor))
        return add(a, "inputs",
                   json_pack("{s:s, s:s}", "tensor", spec->name, "init", spec->file[0] ? "file" : "fixed"));
    int status = run_redrawn(a, tensor, &fresh, &changes);
    if (!goes_on(a, status))
        return status;
    return add(
        a, "inputs",
        json_pack("{s:s, s:s, s:b, s:b}", "tensor", spec->name, "init", "drawn", "fresh", fresh, "changes", changes));
}

static int redraw_each(attack *a)
{
    int status = AKO_OK;
    for (int i = 0; i < a->r->task->n_tensors; i++)
        a->n_drawn += is_drawn(a, i);
    for (int i = 0; goes_on(a, status) && i < a->r->task->n_tensors; i++)
        if (spec_of(a, i)->role != AKO_OUTPUT && a->p->arena.spans[i].count > 0)
            status = redraw(a, i);
    return status;
}

/* ---- all of it ---- */

static int run_attack(attack *a)
{
    int status = make_specimens(a);
    for (int i = 0; status == AKO_OK && i < a->n_outputs; i++)
        status = fetch_golden(a, &a->outputs[i], a->outputs[i].golden);
    if (status == AKO_OK)
        status = run_again(a);
    if (goes_on(a, status))
        status = redraw_each(a);
    if (goes_on(a, status))
        status = run_on_other(a);
    for (int i = 0; goes_on(a, status) && i < a->n_outputs; i++)
        status = attack_output(a, &a->outputs[i]);
    return status;
}

static int pack_holds(attack *a)
{
    json_t *list = json_array();
    for (int t = 0; list && t < a->n_tolerances; t++)
        json_array_append_new(list, json_boolean(a->holds[t]));
    return pack_into(a->answer, json_pack("{s:o}", "holds", list));
}

int referee_attack(referee *r, prepared *p, const json_t *request, json_t *answer, reference_fault *fault)
{
    attack a = {.r = r, .p = p, .answer = answer, .fault = fault};
    p->ready = p->provable = false; /* its inputs are drawn anew many times */
    int status = pack_into(answer, json_pack("{s:[], s:[], s:[], s:[]}", "outputs", "inputs", "again", "attacks"));
    if (status == AKO_OK)
        status = read_request(&a, request);
    if (status == AKO_OK)
        status = run_attack(&a);
    if (status == AKO_OK)
        status = pack_holds(&a);
    free_specimens(&a);
    return status;
}
