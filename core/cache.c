#include "cache.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "fs.h"
#include "hash.h"
#include "json.h"

#define ENTRY_VERSION 1
#define FILE_LIMIT ((size_t)1 << 30)

int ako_cache_folder(char **out)
{
    char *base;
    ako_buf path = {0};
    int status = ako_fs_user_dir(&base, "cache");
    if (status != AKO_OK)
        return status;
    ako_buf_printf(&path, "%s/build", base);
    free(base);
    *out = ako_buf_take(&path);
    if (!*out)
        return ako_fail(AKO_NOMEM, "cache", "out of memory");
    status = ako_fs_mkdirs(*out);
    if (status != AKO_OK) {
        free(*out);
        *out = NULL;
    }
    return status;
}

static const char *code_name(ako_lane lane)
{
    if (ako_lane_is_python(lane))
        return "code.json";
    return lane == AKO_LANE_CUDA ? "code.cubin" : "code.so";
}

static int join(char out[4096], const char *folder, const char *name)
{
    int n = snprintf(out, 4096, "%s/%s", folder, name);
    return n > 0 && n < 4096 ? AKO_OK : ako_fail(AKO_LIMIT, "cache", "the path of the cache is too long");
}

static int write_file(const char *folder, const char *name, const void *data, size_t size)
{
    char path[4096];
    int status = join(path, folder, name);
    return status == AKO_OK ? ako_fs_write(path, size ? data : "", size, false) : status;
}

static int read_file(ako_buf *out, const char *folder, const char *name)
{
    char path[4096];
    int status = join(path, folder, name);
    return status == AKO_OK ? ako_fs_read(out, path, FILE_LIMIT) : status;
}

static json_t *lowered_names(const ako_build_output *out)
{
    json_t *names = json_array();
    for (int i = 0; i < out->n_lowered; i++)
        json_array_append_new(names, json_string(out->lowered[i]));
    return names;
}

static int write_meta(const char *entry, const ako_build_output *out, const ako_buf *code)
{
    char content[65];
    int status = ako_hash(content, code->data, code->size);
    if (status != AKO_OK)
        return status;
    json_t *meta = json_pack("{s:i,s:s,s:s,s:i,s:i,s:i,s:o}", "version", ENTRY_VERSION, "content", content, "hash",
                             out->hash, "registers", out->registers, "shared", out->shared_bytes, "spill",
                             out->spill_bytes, "lowered", lowered_names(out));
    char *text = NULL;
    status = meta ? ako_json_dump(&text, meta) : ako_fail(AKO_NOMEM, "cache", "out of memory");
    if (status == AKO_OK)
        status = write_file(entry, "meta.json", text, strlen(text));
    free(text);
    json_decref(meta);
    return status;
}

static int read_lowered(ako_build_output *out, const json_t *names)
{
    size_t n = json_array_size(names);
    out->lowered = calloc(n + 1, sizeof *out->lowered);
    if (!out->lowered)
        return ako_fail(AKO_NOMEM, "cache", "out of memory");
    for (size_t i = 0; i < n; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        out->lowered[i] = strdup(name ? name : "");
        out->n_lowered += out->lowered[i] != NULL;
    }
    return out->n_lowered == (int)n ? AKO_OK : ako_fail(AKO_NOMEM, "cache", "out of memory");
}

static int use_meta(ako_build_output *out, json_t *meta, const ako_buf *code)
{
    int version;
    const char *content, *hash;
    json_t *lowered;
    char actual[65];
    if (json_unpack(meta, "{s:i,s:s,s:s,s:i,s:i,s:i,s:o}", "version", &version, "content", &content, "hash", &hash,
                    "registers", &out->registers, "shared", &out->shared_bytes, "spill", &out->spill_bytes, "lowered",
                    &lowered) != 0 ||
        version != ENTRY_VERSION)
        return ako_fail(AKO_CORRUPT, "cache", "a cache entry's description is damaged");
    int status = ako_hash(actual, code->data, code->size);
    if (status != AKO_OK)
        return status;
    if (strcmp(actual, content) != 0)
        return ako_fail(AKO_CORRUPT, "cache", "a cached binary is damaged");
    snprintf(out->hash, sizeof out->hash, "%s", hash);
    return read_lowered(out, lowered);
}

static int load_entry(ako_build_output *out, const char *entry, ako_lane lane)
{
    ako_buf code = {0}, text = {0};
    json_t *meta = NULL;
    int status = read_file(&text, entry, "meta.json");
    if (status == AKO_OK)
        status = ako_json_parse(&meta, text.data, text.size);
    if (status == AKO_OK)
        status = read_file(&code, entry, code_name(lane));
    if (status == AKO_OK)
        status = use_meta(out, meta, &code);
    if (status == AKO_OK)
        status = read_file(&out->log, entry, "log");
    json_decref(meta);
    ako_buf_free(&code);
    ako_buf_free(&text);
    return status;
}

int ako_cache_find(ako_build_output *out, const char *folder, const char *key, ako_lane lane)
{
    char entry[4096], meta[4096];
    ako_build_output found = {0};
    int status = join(entry, folder, key);
    if (status == AKO_OK)
        status = load_entry(&found, entry, lane);
    if (status == AKO_OK)
        status = join(found.path, entry, code_name(lane));
    if (status != AKO_OK) {
        ako_build_output_free(&found);
        return ako_fail(AKO_NOTFOUND, "cache", "not in the cache");
    }
    if (join(meta, entry, "meta.json") == AKO_OK)
        utimensat(AT_FDCWD, meta, NULL, 0); /* the sweep goes by it */
    found.ok = found.cached = true;
    *out = found;
    return AKO_OK;
}

static int write_entry(const char *entry, const ako_build_output *out, ako_lane lane, const ako_buf *code)
{
    int status = write_file(entry, code_name(lane), code->data, code->size);
    if (status == AKO_OK)
        status = write_file(entry, "log", out->log.data, out->log.size);
    return status == AKO_OK ? write_meta(entry, out, code) : status;
}

/* Moves a damaged entry out of the way, so that two processes that find it so do not remove each other's new one. */
static void set_aside(const char *entry, const char *temp)
{
    char aside[4096];
    if (join(aside, temp, "damaged") == AKO_OK && rename(entry, aside) == 0)
        ako_fs_remove_tree(aside);
}

static bool is_whole(const char *entry, ako_lane lane)
{
    ako_build_output probe = {0};
    bool whole = load_entry(&probe, entry, lane) == AKO_OK;
    ako_build_output_free(&probe);
    return whole;
}

/* rename() puts a folder in place of nothing or of an empty one; anything else there is somebody's entry. */
static int publish(const char *entry, const char *temp, const char *ready, ako_lane lane)
{
    for (int tries = 0; tries < 8; tries++) {
        if (rename(ready, entry) == 0)
            return AKO_OK;
        if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR)
            break;
        if (is_whole(entry, lane))
            return AKO_OK;
        set_aside(entry, temp);
    }
    return ako_fail_errno("cache", "cannot store %s", entry);
}

int ako_cache_store(ako_build_output *out, const char *folder, const char *key, ako_lane lane, const ako_buf *code)
{
    char entry[4096], temp[4096], ready[4096];
    int status = join(entry, folder, key);
    if (status == AKO_OK)
        status = join(temp, folder, ".new-XXXXXX");
    if (status != AKO_OK)
        return status;
    if (!mkdtemp(temp))
        return ako_fail_errno("cache", "cannot write in %s", folder);
    status = join(ready, temp, "entry");
    if (status == AKO_OK)
        status = ako_fs_mkdirs(ready);
    if (status == AKO_OK)
        status = write_entry(ready, out, lane, code);
    if (status == AKO_OK)
        status = publish(entry, temp, ready, lane);
    if (status == AKO_OK)
        status = join(out->path, entry, code_name(lane));
    ako_fs_remove_tree(temp);
    return status;
}

int ako_cache_keep_beside(ako_build_output *out, const ako_buf *code)
{
    static char kept[64][4096];
    static unsigned n;
    char folder[4000];
    int status = ako_fs_temp_dir(folder, sizeof folder, "ako-build");
    if (status != AKO_OK)
        return status;
    snprintf(out->path, sizeof out->path, "%s/code", folder);
    status = ako_fs_write(out->path, code->data, code->size, false);
    char *slot = kept[n++ % (sizeof kept / sizeof *kept)];
    if (*slot)
        ako_fs_remove_tree(slot);
    snprintf(slot, sizeof *kept, "%s", folder);
    return status;
}
