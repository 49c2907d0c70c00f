/* Keeps the build cache below its cap. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache.h"
#include "clock.h"
#include "error.h"
#include "fs.h"
#include "log.h"

#define MINUTE_NS INT64_C(60000000000)

typedef struct item {
    char name[80];
    int64_t bytes, used_ns; /* wall clock */
} item;

typedef struct inventory {
    const char *folder;
    item *items;
    size_t n, capacity;
    int64_t bytes;
} inventory;

static int64_t mtime_ns(const struct stat *st)
{
    return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

typedef struct sum {
    const char *folder;
    item *item;
} sum;

static int add_file(void *payload, const char *name)
{
    const sum *s = payload;
    char path[4096];
    struct stat st;
    if (snprintf(path, sizeof path, "%s/%s/%s", s->folder, s->item->name, name) >= (int)sizeof path ||
        lstat(path, &st) != 0)
        return 0;
    s->item->bytes += st.st_size;
    if (mtime_ns(&st) > s->item->used_ns)
        s->item->used_ns = mtime_ns(&st);
    return 0;
}

static int add_item(void *payload, const char *name)
{
    inventory *inv = payload;
    char path[4096];
    item it = {.bytes = 0};
    struct stat st;
    if (snprintf(it.name, sizeof it.name, "%s", name) >= (int)sizeof it.name ||
        snprintf(path, sizeof path, "%s/%s", inv->folder, name) >= (int)sizeof path || lstat(path, &st) != 0 ||
        !S_ISDIR(st.st_mode))
        return 0;
    it.used_ns = mtime_ns(&st);
    sum s = {inv->folder, &it};
    ako_fs_list(path, add_file, &s);
    if (inv->n == inv->capacity) {
        size_t capacity = inv->capacity ? 2 * inv->capacity : 256;
        item *grown = realloc(inv->items, capacity * sizeof *grown);
        if (!grown)
            return ako_fail(AKO_NOMEM, "cache", "out of memory sweeping the cache");
        inv->items = grown;
        inv->capacity = capacity;
    }
    inv->items[inv->n++] = it;
    inv->bytes += it.bytes;
    return 0;
}

static int by_use(const void *a, const void *b)
{
    int64_t x = ((const item *)a)->used_ns, y = ((const item *)b)->used_ns;
    return (x > y) - (x < y);
}

static void remove_item(inventory *inv, const item *it)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", inv->folder, it->name) < (int)sizeof path &&
        ako_fs_remove_tree(path) == AKO_OK)
        inv->bytes -= it->bytes;
}

int ako_cache_sweep(const char *folder, int64_t cap_bytes, int64_t young_ns)
{
    inventory inv = {.folder = folder};
    int status = ako_fs_list(folder, add_item, &inv);
    if (inv.n > 0)
        qsort(inv.items, inv.n, sizeof *inv.items, by_use);
    int64_t old = ako_clock_wall_ns() - young_ns;
    for (size_t i = 0; status == AKO_OK && i < inv.n && inv.items[i].used_ns <= old; i++)
        if (inv.items[i].name[0] == '.' || inv.bytes > cap_bytes)
            remove_item(&inv, &inv.items[i]);
    free(inv.items);
    return status;
}

static int64_t cap_bytes(void)
{
    const char *text = getenv("AKO_CACHE_MB");
    long long mb = text && *text ? strtoll(text, NULL, 10) : 2048;
    return mb < 0 || mb > INT32_MAX ? INT64_MAX : (int64_t)mb << 20;
}

void ako_cache_sweep_sometimes(const char *folder)
{
    char stamp[4096];
    struct stat st;
    if (snprintf(stamp, sizeof stamp, "%s/.swept", folder) >= (int)sizeof stamp)
        return;
    if (stat(stamp, &st) == 0 && mtime_ns(&st) > ako_clock_wall_ns() - 10 * MINUTE_NS)
        return;
    if (ako_fs_write(stamp, "", 0, false) == AKO_OK && ako_cache_sweep(folder, cap_bytes(), 10 * MINUTE_NS) != AKO_OK)
        ako_log(AKO_LOG_WARN, "%s", ako_error_last()->message);
}
