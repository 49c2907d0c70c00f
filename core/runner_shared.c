#include "runner_shared.h"

#include <dlfcn.h>
#include <ffi.h>
#include <stdlib.h>
#include <string.h>

#include "dtype.h"
#include "error.h"
#include "runner_args.h"

typedef struct entry {
    void (*function)(void);
    ffi_cif cif;
    ffi_type **types;
    ako_args args;
} entry;

struct ako_shared {
    void *handle;
    entry *entries;
    int n_entries;
};

int ako_shared_open(ako_shared **out, const char *path)
{
    ako_shared *shared = calloc(1, sizeof *shared);
    *out = NULL;
    if (!shared)
        return ako_fail(AKO_NOMEM, "runner", "out of memory");
    shared->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!shared->handle) {
        const char *why = dlerror();
        free(shared);
        return ako_fail(AKO_INVALID, "runner", "cannot load the built code: %s", why ? why : path);
    }
    *out = shared;
    return AKO_OK;
}

static void free_entries(ako_shared *shared)
{
    for (int i = 0; i < shared->n_entries; i++) {
        ako_args_free(&shared->entries[i].args);
        free(shared->entries[i].types);
    }
    free(shared->entries);
    shared->entries = NULL;
    shared->n_entries = 0;
}

void ako_shared_free(ako_shared *shared)
{
    if (!shared)
        return;
    free_entries(shared);
    dlclose(shared->handle);
    free(shared);
}

/* f16, bf16, fp8 and bool are passed as the unsigned integer of their bits. */
static ffi_type *type_of_dtype(ako_dtype dtype)
{
    if (dtype == AKO_F64)
        return &ffi_type_double;
    if (dtype == AKO_F32)
        return &ffi_type_float;
    bool is_signed = ako_dtype_kind(dtype) == 'i';
    switch (ako_dtype_size(dtype)) {
    case 8:
        return is_signed ? &ffi_type_sint64 : &ffi_type_uint64;
    case 4:
        return is_signed ? &ffi_type_sint32 : &ffi_type_uint32;
    case 2:
        return is_signed ? &ffi_type_sint16 : &ffi_type_uint16;
    default:
        return is_signed ? &ffi_type_sint8 : &ffi_type_uint8;
    }
}

static ffi_type *type_of_arg(const ako_arg *arg)
{
    switch (arg->kind) {
    case AKO_ARG_I32:
        return &ffi_type_sint32;
    case AKO_ARG_I64:
        return &ffi_type_sint64;
    case AKO_ARG_SCALAR:
        return type_of_dtype((ako_dtype)arg->dtype);
    case AKO_ARG_POINTER:
    default:
        return &ffi_type_pointer;
    }
}

static int find_entry(entry *e, void *handle, const ako_call *call)
{
    void *address = dlsym(handle, call->symbol);
    if (!address)
        return ako_fail(AKO_INVALID, "runner", "the built code has no function '%s'%s", call->symbol,
                        "; in C++ declare it extern \"C\"");
    memcpy(&e->function, &address, sizeof address);
    return AKO_OK;
}

static int bind_entry(entry *e, void *handle, const ako_call *call)
{
    int status = find_entry(e, handle, call);
    if (status == AKO_OK)
        status = ako_args_copy(&e->args, call);
    if (status != AKO_OK)
        return status;
    e->types = calloc((size_t)call->n_args + 1, sizeof(ffi_type *));
    if (!e->types)
        return ako_fail(AKO_NOMEM, "runner", "out of memory");
    for (int i = 0; i < call->n_args; i++)
        e->types[i] = type_of_arg(&call->args[i]);
    if (ffi_prep_cif(&e->cif, FFI_DEFAULT_ABI, (unsigned)call->n_args, &ffi_type_void, e->types) != FFI_OK)
        return ako_fail(AKO_INVALID, "runner", "cannot call '%s' with these arguments", call->label);
    return AKO_OK;
}

int ako_shared_bind(ako_shared *shared, const ako_call *calls, int n_calls)
{
    free_entries(shared);
    shared->entries = calloc((size_t)n_calls + 1, sizeof *shared->entries);
    if (!shared->entries)
        return ako_fail(AKO_NOMEM, "runner", "out of memory");
    int status = AKO_OK;
    for (int i = 0; i < n_calls && status == AKO_OK; i++) {
        shared->n_entries = i + 1;
        status = bind_entry(&shared->entries[i], shared->handle, &calls[i]);
    }
    return status;
}

void ako_shared_launch(ako_shared *shared, void *const *addresses)
{
    for (int i = 0; i < shared->n_entries; i++) {
        entry *e = &shared->entries[i];
        ako_args_set(&e->args, addresses);
        ffi_call(&e->cif, e->function, NULL, e->args.pointers);
    }
}
