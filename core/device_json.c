#include "device_json.h"

#include <jansson.h>

#include "error.h"

static int finish(ako_json **out, json_t *value)
{
    *out = value;
    return value ? AKO_OK : ako_fail(AKO_NOMEM, "device", "out of memory");
}

static json_t *common(const ako_device_props *d)
{
    return json_pack("{s:s, s:s, s:i, s:s, s:s, s:s, s:I, s:I}", "id", d->id, "place",
                     d->place == AKO_GPU ? "gpu" : "cpu", "index", d->index, "name", d->name, "uuid", d->uuid, "arch",
                     d->arch, "l2_bytes", (json_int_t)d->l2_bytes, "memory_bytes", (json_int_t)d->memory_bytes);
}

static json_t *of_cpu(const ako_device_props *d)
{
    return json_pack("{s:s, s:i, s:i, s:I, s:I}", "features", d->features, "cores", d->cores, "threads", d->threads,
                     "l1d_bytes", (json_int_t)d->l1d_bytes, "l3_bytes", (json_int_t)d->l3_bytes);
}

static json_t *of_gpu(const ako_device_props *d)
{
    return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:I, s:I, s:I, s:i, s:i, s:i, s:f}", "cc_major", d->cc_major,
                     "cc_minor", d->cc_minor, "sm_count", d->sm_count, "registers_per_sm", d->registers_per_sm,
                     "threads_per_sm", d->threads_per_sm, "tensor_core_generation", d->tensor_core_generation,
                     "shared_per_block", (json_int_t)d->shared_per_block, "shared_per_block_optin",
                     (json_int_t)d->shared_per_block_optin, "shared_per_sm", (json_int_t)d->shared_per_sm,
                     "bus_width_bits", d->bus_width_bits, "clock_khz", d->clock_khz, "memory_clock_khz",
                     d->memory_clock_khz, "peak_dram_bytes_per_s", d->peak_dram_bytes_per_s);
}

int ako_device_props_json(ako_json **out, const ako_device_props *device)
{
    json_t *value = common(device), *rest = device->place == AKO_GPU ? of_gpu(device) : of_cpu(device);
    if (!value || !rest || json_object_update(value, rest) != 0) {
        json_decref(value);
        value = NULL;
    }
    json_decref(rest);
    return finish(out, value);
}

static void set_known(json_t *object, const char *key, int64_t value)
{
    if (value >= 0)
        json_object_set_new(object, key, json_integer(value));
}

int ako_device_state_json(ako_json **out, const ako_device_state *state)
{
    json_t *value = json_pack("{s:s}", "throttle", state->throttle_text);
    set_known(value, "sm_clock_mhz", state->sm_clock_mhz);
    set_known(value, "memory_clock_mhz", state->memory_clock_mhz);
    set_known(value, "sm_clock_max_mhz", state->sm_clock_max_mhz);
    set_known(value, "memory_clock_max_mhz", state->memory_clock_max_mhz);
    set_known(value, "persistence", state->persistence);
    set_known(value, "mig", state->mig);
    set_known(value, "temperature_c", state->temperature_c);
    set_known(value, "power_mw", state->power_mw);
    set_known(value, "utilization_pct", state->utilization_pct);
    set_known(value, "memory_used_bytes", state->memory_used_bytes);
    set_known(value, "n_processes", state->n_processes);
    json_t *pids = json_array();
    for (int i = 0; i < state->n_processes && i < (int)(sizeof state->pids / sizeof *state->pids); i++)
        json_array_append_new(pids, json_integer(state->pids[i]));
    if (state->n_processes >= 0)
        json_object_set(value, "processes", pids);
    json_decref(pids);
    return finish(out, value);
}
