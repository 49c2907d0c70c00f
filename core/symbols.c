#include "symbols.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "buf.h"
#include "fs.h"
#include "toolkit.h"

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

#define CUDA_LIBRARY .toolkit = true, .oldest = 12060, .newest = 13990, .wanted = "12.6 to 13.x"

/* The names of CUDA 11 are here so that an old library is called old and not missing. */
const ako_library ako_library_cudart = {
    .name = "CUDA Runtime",
    .sonames = LIST("libcudart.so.13", "libcudart.so.12", "libcudart.so", "libcudart.so.11.0"),
    CUDA_LIBRARY,
};
const ako_library ako_library_nvrtc = {
    .name = "NVRTC",
    .sonames = LIST("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "libnvrtc.so.11.2"),
    CUDA_LIBRARY,
};
const ako_library ako_library_cupti = {
    .name = "CUPTI",
    .sonames = LIST("libcupti.so.13", "libcupti.so.12", "libcupti.so"),
    CUDA_LIBRARY,
};
const ako_library ako_library_nvml = {.name = "NVML", .sonames = LIST("libnvidia-ml.so.1"), .wanted = ""};
const ako_library ako_library_driver = {.name = "NVIDIA driver", .sonames = LIST("libcuda.so.1"), .wanted = ""};

typedef struct search {
    const ako_library *library;
    const ako_symbol *symbols;
    int (*version_of)(const void *table);
    void *table;
    ako_loaded *out;
    char rejected[sizeof((ako_error *)0)->message]; /* why the first unfit candidate was skipped */
    ako_buf looked;                                 /* folders, for the message when there is no candidate at all */
} search;

static void set_pointer(void *table, size_t offset, void *address)
{
    memcpy((char *)table + offset, &address, sizeof address);
}

/* The name of the first symbol that must be there and is not. */
static const char *resolve(void *table, void *handle, const ako_symbol *symbols)
{
    const char *missing = NULL;
    for (const ako_symbol *s = symbols; s->name; s++) {
        void *address = dlsym(handle, s->name);
        set_pointer(table, s->offset, address);
        if (!address && !s->optional && !missing)
            missing = s->name;
    }
    return missing;
}

static void clear(void *table, const ako_symbol *symbols)
{
    for (const ako_symbol *s = symbols; s->name; s++)
        set_pointer(table, s->offset, NULL);
}

static void path_of(char path[PATH_MAX], void *handle, const char *file)
{
    struct link_map *map = NULL;
    const char *name = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name[0] ? map->l_name : file;
    snprintf(path, PATH_MAX, "%s", name);
}

static bool fits(search *s, const char *path, int version, const char *missing)
{
    const ako_library *lib = s->library;
    char reason[sizeof s->rejected] = "";
    bool old = version && version < lib->oldest, young = version && lib->newest && version > lib->newest;
    if (old || young)
        snprintf(reason, sizeof reason, "%s %d.%d (%.600s) is too %s: %s is wanted", lib->name, version / 1000,
                 version % 1000 / 10, path, old ? "old" : "new", lib->wanted);
    else if (missing)
        snprintf(reason, sizeof reason, "%s (%.600s) has no %s%s%s", lib->name, path, missing,
                 lib->wanted[0] ? ": wanted is version " : ": update it", lib->wanted);
    if (reason[0] && !s->rejected[0])
        memcpy(s->rejected, reason, sizeof reason);
    return !reason[0];
}

static int try_file(search *s, const char *file)
{
    void *handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    if (!handle) {
        const char *why = dlerror();
        if (strchr(file, '/') && !s->rejected[0])
            snprintf(s->rejected, sizeof s->rejected, "cannot load %s: %.800s", s->library->name, why ? why : file);
        return 0;
    }
    const char *missing = resolve(s->table, handle, s->symbols);
    int version = s->version_of ? s->version_of(s->table) : 0;
    path_of(s->out->path, handle, file);
    if (fits(s, s->out->path, version, missing)) {
        s->out->version = version;
        return 1;
    }
    clear(s->table, s->symbols);
    dlclose(handle);
    return 0;
}

static int try_folder(void *payload, const char *folder)
{
    search *s = payload;
    char file[PATH_MAX];
    int done = 0;
    ako_buf_printf(&s->looked, "%s%s", s->looked.size ? ", " : "", *folder ? folder : "the loader's path");
    for (const char *const *name = s->library->sonames; *name && !done; name++) {
        if (!*folder)
            done = try_file(s, *name);
        else if (snprintf(file, sizeof file, "%s/%s", folder, *name) < (int)sizeof file && ako_fs_exists(file))
            done = try_file(s, file);
    }
    return done;
}

static int not_found(const ako_library *library, const ako_buf *looked, int status)
{
    return ako_fail(status, "symbols", "no %s: no %s in %.700s%s", library->name, library->sonames[0],
                    looked->size ? looked->data : "any folder of a CUDA toolkit",
                    library->toolkit ? "; set CUDA_HOME to the toolkit" : "");
}

int ako_library_load(ako_loaded *out, void *table, const ako_library *library, const ako_symbol *symbols,
                     int (*version_of)(const void *table))
{
    search s = {.library = library, .symbols = symbols, .version_of = version_of, .table = table, .out = out};
    if ((library->toolkit ? ako_toolkit_walk : ako_driver_walk)(try_folder, &s))
        out->status = AKO_OK;
    else if (s.rejected[0])
        out->status = ako_fail(AKO_UNAVAILABLE, "symbols", "%s", s.rejected);
    else
        out->status = not_found(library, &s.looked, AKO_UNAVAILABLE);
    if (out->status != AKO_OK)
        snprintf(out->message, sizeof out->message, "%s", ako_error_last()->message);
    ako_buf_free(&s.looked);
    return out->status;
}

int ako_loaded_report(const ako_loaded *loaded)
{
    return loaded->status == AKO_OK ? AKO_OK : ako_fail(loaded->status, "symbols", "%s", loaded->message);
}

typedef struct lookup {
    const ako_library *library;
    char *path;
    ako_buf looked;
} lookup;

static int find_in(void *payload, const char *folder)
{
    lookup *l = payload;
    if (!*folder)
        return ako_loader_walk(find_in, l);
    for (const char *const *name = l->library->sonames; *name; name++)
        if (snprintf(l->path, PATH_MAX, "%s/%s", folder, *name) < PATH_MAX && ako_fs_exists(l->path))
            return 1;
    ako_buf_printf(&l->looked, "%s%s", l->looked.size ? ", " : "", folder);
    return 0;
}

int ako_library_find(char path[PATH_MAX], const ako_library *library)
{
    lookup l = {.library = library, .path = path};
    int status = AKO_OK;
    if (!(library->toolkit ? ako_toolkit_walk : ako_driver_walk)(find_in, &l)) {
        path[0] = '\0';
        status = not_found(library, &l.looked, AKO_NOTFOUND);
    }
    ako_buf_free(&l.looked);
    return status;
}
