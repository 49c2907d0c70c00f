/* Tasks and units: what a good one becomes, and that every mistake is one line that names its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <string.h>

#include "error.h"
#include "unit.h"

static json_t *parse(const char *text)
{
    ako_json *value;
    if (ako_json_parse(&value, text, strlen(text)) != AKO_OK)
        fail_msg("%s", ako_error_last()->message);
    return value;
}

#define TENSORS                                                                                 \
    "\"tensors\":[{\"name\":\"x\",\"dtype\":\"f32\",\"init\":{\"kind\":\"uniform\",\"a\":-2}}," \
    "{\"name\":\"y\",\"dtype\":\"bf16\",\"role\":\"output\"}]"
#define WORKLOADS "\"workloads\":[{\"id\":\"B=2\",\"shapes\":{\"x\":[2,3],\"y\":[]}}]"
#define TASK "{\"name\":\"t\"," TENSORS "," WORKLOADS "}"

static ako_task *good_task(void)
{
    ako_task *task;
    json_t *json = parse(TASK);
    assert_int_equal(ako_task_parse(&task, json), AKO_OK);
    json_decref(json); /* the task holds it */
    return task;
}

static void test_task(void **state)
{
    (void)state;
    ako_task *task = good_task();
    assert_string_equal(task->name, "t");
    assert_int_equal(task->n_tensors, 2);
    assert_int_equal(task->tensors[0].role, AKO_INPUT);
    assert_int_equal(task->tensors[0].fill.kind, AKO_FILL_UNIFORM);
    assert_true(task->tensors[0].fill.a == -2 && task->tensors[0].fill.b == 1);
    assert_int_equal(task->tensors[1].dtype, AKO_BF16);
    assert_int_equal(task->tensors[1].role, AKO_OUTPUT);
    assert_string_equal(task->workloads[0].id, "B=2");
    assert_int_equal(ako_shape_count(&task->workloads[0].shapes[0]), 6);
    assert_int_equal(ako_shape_count(&task->workloads[0].shapes[1]), 1);
    assert_int_equal(task->tolerance.predicate, AKO_ALLCLOSE_REF);
    assert_true(task->tolerance.ratio_required == 1);
    ako_task_free(task);
}

static void test_bad_tasks(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[]", "task: expected an object"},
        {"{" WORKLOADS "}", "task.tensors: missing"},
        {"{" TENSORS "}", "task.workloads: missing"},
        {"{" TENSORS ",\"workloads\":[]}", "task.workloads: at least one is needed"},
        {"{" TENSORS ",\"workloads\":[{\"id\":\"a\",\"shapes\":{\"x\":[2]}}]}", "task.workloads[0].shapes.y: missing"},
        {"{" TENSORS ",\"workloads\":[{\"id\":\"a\",\"shapes\":{\"x\":[2,-1],\"y\":[]}}]}",
         "task.workloads[0].shapes.x: size 1 is not an integer of at least 0"},
        {"{" TENSORS ",\"workloads\":[{\"id\":\"a\",\"shapes\":{\"x\":[4294967296,4294967296],\"y\":[]}}]}",
         "task.workloads[0].shapes.x: more than 2^44 elements"},
        {"{" TENSORS ",\"workloads\":[{\"shapes\":{}}]}", "task.workloads[0].id: missing"},
        {"{\"tensors\":[{\"name\":\"x\",\"dtype\":\"f32\"}]," WORKLOADS "}", "task.tensors: none of them is an output"},
        {"{\"tensors\":[{\"name\":\"x\",\"dtype\":\"f31\"}]," WORKLOADS "}", "task.tensors[0].dtype: "},
        {"{\"tensors\":[{\"name\":\"x\",\"dtype\":\"f32\",\"role\":\"in\"}]," WORKLOADS "}",
         "task.tensors[0].role: 'in' is none of input, output, inout"},
        {"{\"tensors\":[{\"name\":\"x\",\"dtype\":\"f32\"},{\"name\":\"x\",\"dtype\":\"f32\"}]," WORKLOADS "}",
         "task.tensors[1].name: there is a 'x' already"},
        {"{\"tensors\":[{\"name\":\"y\",\"dtype\":\"f32\",\"role\":\"output\",\"init\":{\"kind\":\"normal\"}}]"
         "," WORKLOADS "}",
         "task.tensors[0].init: an output has no initial content"},
        {"{\"tensors\":[{\"name\":\"x\",\"dtype\":\"f32\",\"init\":{\"kind\":\"poisson\"}}]," WORKLOADS "}",
         "task.tensors[0].init.kind: 'poisson' is none of"},
        {"{\"tensors\":[{\"name\":\"x\",\"dtype\":\"f32\",\"init\":{\"file\":\"../"
         "etc\",\"format\":\"npy\"}}]," WORKLOADS "}",
         "task.tensors[0].init.file: expected the key"},
        {"{" TENSORS "," WORKLOADS ",\"tolerance\":{\"atol\":-1}}", "task.tolerance.atol: must not be negative"},
        {"{" TENSORS "," WORKLOADS ",\"tolerance\":{\"predicate\":\"exactly\"}}", "task.tolerance.predicate: "},
        {"{" TENSORS "," WORKLOADS ",\"tolerance\":{\"equal_nan\":1}}", "task.tolerance.equal_nan: expected true"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ako_task *task;
        json_t *json = parse(cases[i].text);
        assert_int_equal(ako_task_parse(&task, json), AKO_INVALID);
        assert_null(task);
        if (strncmp(ako_error_last()->message, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("\"%s\" instead of \"%s\"", ako_error_last()->message, cases[i].message);
        json_decref(json);
    }
}

#define UNIT(calls)                                                            \
    "{\"lane\":\"cuda\",\"names\":[\"k<4>\"],\"defines\":[\"BLOCK\",\"128\"]," \
    "\"sources\":[{\"name\":\"k.cu\",\"text\":\"a\\u0000b\"}],"                \
    "\"workloads\":[{\"scratch\":[{\"name\":\"s\",\"dtype\":\"f32\",\"shape\":[2,32]}],\"calls\":" calls "}]}"
#define CALL(args) "[{\"symbol\":\"k<4>\",\"line\":3,\"grid\":[7],\"block\":[32,2],\"shared\":70000,\"args\":" args "}]"

static void test_unit(void **state)
{
    (void)state;
    ako_task *task = good_task();
    ako_unit *unit;
    json_t *json =
        parse(UNIT(CALL("[{\"tensor\":\"y\"},{\"tensor\":\"s\"},{\"i32\":-7,\"name\":\"B\"},"
                        "{\"i64\":9007199254740993},{\"scalar\":0.5,\"dtype\":\"f16\",\"name\":\"eps\"},"
                        "{\"scalar\":9007199254740993,\"dtype\":\"i64\"},{\"scalar\":1,\"dtype\":\"bool\"}]")));
    assert_int_equal(ako_unit_parse(&unit, task, json, "unit"), AKO_OK);
    json_decref(json);
    assert_int_equal(unit->lane, AKO_LANE_CUDA);
    assert_int_equal(unit->sources[0].size, 3);
    assert_int_equal(unit->n_defines, 2);
    const ako_call *call = unit->workloads[0].calls;
    assert_int_equal(call->line, 3);
    assert_int_equal(call->grid[0], 7);
    assert_int_equal(call->grid[1], 1);
    assert_int_equal(call->block[1], 2);
    assert_int_equal(call->cluster[2], 1);
    assert_int_equal(call->shared_bytes, 70000);
    assert_int_equal(call->n_args, 7);
    assert_int_equal(call->args[0].buffer, 1);
    assert_int_equal(call->args[1].buffer, 2);
    int32_t i32;
    int64_t i64;
    uint16_t half;
    memcpy(&i32, call->args[2].bits, 4);
    assert_int_equal(i32, -7);
    assert_string_equal(call->args[2].name, "B");
    memcpy(&i64, call->args[3].bits, 8);
    assert_int_equal(i64, INT64_C(9007199254740993));
    memcpy(&half, call->args[4].bits, 2);
    assert_int_equal(half, 0x3800);
    assert_int_equal(call->args[4].size, 2);
    memcpy(&i64, call->args[5].bits, 8);
    assert_int_equal(i64, INT64_C(9007199254740993));
    assert_int_equal(call->args[6].size, 1);
    assert_int_equal(call->args[6].bits[0], 1);
    ako_unit_free(unit);
    ako_task_free(task);
}

static void test_lowering(void **state)
{
    (void)state;
    ako_task *task = good_task();
    ako_unit *unit;
    json_t *json = parse(UNIT(CALL("[]")));
    assert_int_equal(ako_unit_parse(&unit, task, json, "unit"), AKO_OK);
    assert_int_equal(ako_unit_lower(unit, (const char *const[]){"_Z1kILi4EEvv"}, 1), AKO_OK);
    assert_string_equal(unit->workloads[0].calls[0].symbol, "_Z1kILi4EEvv");
    assert_string_equal(unit->workloads[0].calls[0].label, "k<4>");
    assert_int_equal(ako_unit_lower(unit, (const char *const[]){"a", "b"}, 2), AKO_INVALID);
    assert_int_equal(ako_unit_lower(unit, NULL, 0), AKO_OK);
    json_decref(json);
    ako_unit_free(unit);
    ako_task_free(task);
}

static void test_bad_units(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"3", "unit: expected an object"},
        {"{\"workloads\":[]}", "unit.lane: missing"},
        {"{\"lane\":\"cobol\",\"workloads\":[]}", "unit.lane: "},
        {"{\"lane\":\"c\",\"workloads\":[]}", "unit.workloads: 0, but the task has 1"},
        {"{\"lane\":\"c\",\"workloads\":[{\"calls\":[]}]}", "unit.workloads[0].calls: at least one is needed"},
        {"{\"lane\":\"c\",\"workloads\":[{\"calls\":[{},{}]}]}",
         "unit.workloads[0].calls: this lane takes exactly one"},
        {"{\"lane\":\"c\",\"defines\":[\"A\"],\"workloads\":[{}]}", "unit.defines: expected pairs"},
        {"{\"lane\":\"c\",\"options\":[1],\"workloads\":[{}]}", "unit.options: element 0 is no string"},
        {"{\"lane\":\"c\",\"sources\":[{\"name\":\"../a.c\",\"text\":\"\"}],\"workloads\":[{}]}",
         "unit.sources[0].name: '../a.c' must be relative"},
        {"{\"lane\":\"c\",\"sources\":[{\"name\":\"a/../../b\",\"text\":\"\"}],\"workloads\":[{}]}",
         "unit.sources[0].name: 'a/../../b' must be relative"},
        {"{\"lane\":\"c\",\"workloads\":[{\"scratch\":[{\"name\":\"x\",\"dtype\":\"f32\",\"shape\":[1]}],\"calls\":[]}]"
         "}",
         "unit.workloads[0].scratch[0].name: 'x' is a tensor of the task"},
        {"{\"lane\":\"cuda\",\"workloads\":[{\"calls\":[{\"symbol\":\"k\",\"args\":[]}]}]}",
         "unit.workloads[0].calls[0].symbol: 'k' is not among the unit's names"},
        {UNIT(CALL("[{\"tensor\":\"z\"}]")),
         "unit.workloads[0].calls[0].args[0].tensor: there is no tensor or scratch 'z'"},
        {UNIT(CALL("[{\"i32\":2147483648}]")), "unit.workloads[0].calls[0].args[0].i32: 2147483648 is not within"},
        {UNIT(CALL("[{\"scalar\":1}]")), "unit.workloads[0].calls[0].args[0].dtype: missing"},
        {UNIT(CALL("[{\"f32\":1}]")), "unit.workloads[0].calls[0].args[0]: expected one of"},
        {UNIT("[{\"symbol\":\"k<4>\",\"grid\":[1,2,3,4],\"args\":[]}]"),
         "unit.workloads[0].calls[0].grid: 4 elements, at most 3"},
        {UNIT("[{\"symbol\":\"k<4>\",\"block\":[-1],\"args\":[]}]"),
         "unit.workloads[0].calls[0].block: element 0 is no size"},
    };
    ako_task *task = good_task();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ako_unit *unit;
        json_t *json = parse(cases[i].text);
        assert_int_equal(ako_unit_parse(&unit, task, json, "unit"), AKO_INVALID);
        assert_null(unit);
        if (strncmp(ako_error_last()->message, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("\"%s\" instead of \"%s\"", ako_error_last()->message, cases[i].message);
        json_decref(json);
    }
    ako_task_free(task);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_task),     cmocka_unit_test(test_bad_tasks), cmocka_unit_test(test_unit),
        cmocka_unit_test(test_lowering), cmocka_unit_test(test_bad_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
