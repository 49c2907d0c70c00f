#include "versions.h"

#include <dlfcn.h>
#include <ffi.h>
#include <git2.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "fs.h"
#include "symbols.h"

#define VERSION_SIZE 64

static void add(json_t *list, const char *name, const char *version, const char *key, const char *text)
{
    json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "name", name, "version", version, key, text));
}

/* "13.0" of ".../libX.so.13.0"; links are followed first, since those name the major version alone. */
static void version_of_file(char version[VERSION_SIZE], const char *path)
{
    char resolved[PATH_MAX];
    const char *real = realpath(path, resolved) ? resolved : path;
    const char *suffix = strstr(real, ".so.");
    snprintf(version, VERSION_SIZE, "%s", suffix ? suffix + 4 : "");
}

/* Only ako-worker calls through libffi. Named here, it is linked into every program, which can then tell which it is.
 */
static void (*const volatile keep_libffi)(ffi_cif *, void (*)(void), void *, void **) = ffi_call;

/* A linked library is found through the address of one of its functions. Without `version` its file name tells. */
static void add_linked(json_t *list, const char *name, const char *version, const char *function)
{
    char path[PATH_MAX] = "", of_file[VERSION_SIZE];
    Dl_info info;
    void *address = dlsym(RTLD_DEFAULT, function);
    if (address && dladdr(address, &info) && info.dli_fname && !realpath(info.dli_fname, path))
        snprintf(path, sizeof path, "%s", info.dli_fname);
    version_of_file(of_file, path);
    add(list, name, version ? version : of_file, "path", path);
}

static void add_all_linked(json_t *list)
{
    int major = 0, minor = 0, patch = 0;
    char text[VERSION_SIZE];
    git_libgit2_version(&major, &minor, &patch);
    snprintf(text, sizeof text, "%d.%d.%d", major, minor, patch);
    add_linked(list, "libgit2", text, "git_libgit2_version");
    pcre2_config(PCRE2_CONFIG_VERSION, text);
    text[strcspn(text, " ")] = '\0';
    add_linked(list, "PCRE2", text, "pcre2_config_8");
    add_linked(list, "jansson", jansson_version_str(), "jansson_version_str");
    if (keep_libffi)
        add_linked(list, "libffi", NULL, "ffi_call");
}

/* The runtime is small enough to be asked itself. */
static void version_of_cudart(char version[VERSION_SIZE], const char *path)
{
    int (*get_version)(int *) = NULL;
    int number = 0;
    void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    void *address = handle ? dlsym(handle, "cudaRuntimeGetVersion") : NULL;
    memcpy(&get_version, &address, sizeof address);
    if (get_version && get_version(&number) == 0)
        snprintf(version, VERSION_SIZE, "%d.%d", number / 1000, number % 1000 / 10);
    if (handle)
        dlclose(handle);
}

static int builtins_version(void *payload, const char *name)
{
    static const char prefix[] = "libnvrtc-builtins.so.";
    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return 0;
    snprintf(payload, VERSION_SIZE, "%s", name + sizeof prefix - 1);
    return 1;
}

/* NVRTC is too large to be loaded for this (15 ms, 150 when not yet in memory): a file beside it has the number. */
static void version_of_nvrtc(char version[VERSION_SIZE], const char *path)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash) {
        *slash = '\0';
        ako_fs_list(folder, builtins_version, version);
    }
}

/* The driver's number; it needs no file name, which containers may change. */
static void version_of_driver(char version[VERSION_SIZE], const char *path)
{
    (void)path;
    FILE *f = fopen("/sys/module/nvidia/version", "re");
    if (f && fgets(version, VERSION_SIZE, f))
        version[strcspn(version, "\n")] = '\0';
    if (f)
        fclose(f);
}

static void add_found(json_t *list, const ako_library *library, void (*refine)(char *version, const char *path))
{
    char path[PATH_MAX], version[VERSION_SIZE];
    if (ako_library_find(path, library) != AKO_OK) {
        add(list, library->name, "", "why", ako_error_last()->message);
        ako_error_clear();
        return;
    }
    version_of_file(version, path);
    if (refine)
        refine(version, path);
    add(list, library->name, version, "path", path);
}

int ako_versions(ako_json **out)
{
    json_t *list = json_array();
    add_all_linked(list);
#ifndef AKO_HAVE_CUDA
    add(list, "CUDA parts", "", "why", "left out of this build: there were no CUDA headers when it was made");
#endif
    add_found(list, &ako_library_cudart, version_of_cudart);
    add_found(list, &ako_library_nvrtc, version_of_nvrtc);
    add_found(list, &ako_library_cupti, NULL);
    add_found(list, &ako_library_nvml, version_of_driver);
    add_found(list, &ako_library_driver, version_of_driver);
    *out = list;
    return json_array_size(list) > 0 ? AKO_OK : ako_fail(AKO_NOMEM, "versions", "out of memory");
}
