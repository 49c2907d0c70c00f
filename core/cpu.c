#include "cpu.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "buf.h"
#include "error.h"
#include "fs.h"

/* Copies the value of the first "key : value" line; false when there is none. */
static bool cpuinfo_value(char *out, size_t size, const char *text, const char *key)
{
    size_t n = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
        const char *colon = strncmp(line, key, n) == 0 && strchr("\t :", line[n]) ? strchr(line, ':') : NULL;
        if (!colon)
            continue;
        colon += 1 + strspn(colon + 1, " ");
        snprintf(out, size, "%.*s", (int)strcspn(colon, "\n"), colon);
        return true;
    }
    return false;
}

/* The content without its last newline, in the buffer; NULL when there is no such file. */
static char *read_text(ako_buf *buf, const char *path)
{
    ako_buf_clear(buf);
    if (ako_fs_read(buf, path, 0) != AKO_OK || buf->size == 0)
        return NULL;
    if (buf->data[buf->size - 1] == '\n')
        buf->data[--buf->size] = '\0';
    return buf->data;
}

static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = strstr(list, word); at; at = strstr(at + n, word))
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
            return true;
    return false;
}

/* Those instruction sets that decide how fast a kernel can be, in the spelling of /proc/cpuinfo. */
static void read_features(ako_device_props *out, const char *flags)
{
    static const char *const simd[] = {
        "sse4_2",      "avx",         "avx2",     "fma",      "f16c",  "avx512f", "avx512bw", "avx512vl", "avx512_bf16",
        "avx512_fp16", "avx512_vnni", "amx_tile", "amx_bf16", "asimd", "asimdhp", "bf16",     "sve",      "sve2",
    };
    for (size_t i = 0, used = 0; i < sizeof simd / sizeof *simd; i++) {
        if (!has_word(flags, simd[i]) || used + strlen(simd[i]) + 2 > sizeof out->features)
            continue;
        used += (size_t)snprintf(out->features + used, sizeof out->features - used, "%s%s", used ? " " : "", simd[i]);
    }
}

/* All processors of one machine are described alike, so the first few KB of the list are enough. */
static void read_cpuinfo(ako_device_props *out)
{
    char text[16384] = "", flags[8192];
    FILE *f = fopen("/proc/cpuinfo", "re");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = '\0';
    if (f)
        fclose(f);
    if (!cpuinfo_value(out->name, sizeof out->name, text, "model name"))
        snprintf(out->name, sizeof out->name, "%s CPU", out->arch);
    if (cpuinfo_value(flags, sizeof flags, text, "flags") || cpuinfo_value(flags, sizeof flags, text, "Features"))
        read_features(out, flags);
}

/* One logical CPU counts for a core when it is the first of its thread siblings ("0,64" or "0-1"). */
static bool is_first_sibling(int cpu, ako_buf *buf)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    const char *list = read_text(buf, path);
    return !list || atoi(list) == cpu;
}

static void read_counts(ako_device_props *out, ako_buf *buf)
{
    cpu_set_t usable;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    out->threads = sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : (int)online;
    long configured = sysconf(_SC_NPROCESSORS_CONF);
    char path[128];
    for (int cpu = 0; cpu < configured; cpu++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d", cpu);
        out->cores += ako_fs_is_dir(path) && is_first_sibling(cpu, buf);
    }
    if (out->cores == 0)
        out->cores = (int)online;
}

/* "32K", "1024K", "16M". */
static int64_t parse_size(const char *text)
{
    char *end;
    int64_t value = strtoll(text, &end, 10);
    return *end == 'K' ? value << 10 : *end == 'M' ? value << 20 : *end == 'G' ? value << 30 : value;
}

/* Data or unified cache of `level` as /sys has it for CPU 0; where /sys has none, as the C library knows it. */
static int64_t cache_bytes(int level, ako_buf *buf)
{
    static const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
    char path[128];
    for (int i = 0; i < 8; i++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/level", i);
        const char *text = read_text(buf, path);
        if (!text || atoi(text) != level)
            continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/type", i);
        text = read_text(buf, path);
        if (!text || strcmp(text, "Instruction") == 0)
            continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        text = read_text(buf, path);
        if (text)
            return parse_size(text);
    }
    long known = sysconf(names[level - 1]);
    return known > 0 ? known : 0;
}

/* A name that stays with the machine and does not give its id away: FNV-1a (64 bits) of it. */
static void read_id(ako_device_props *out, ako_buf *buf)
{
    struct utsname machine;
    const char *id = read_text(buf, "/etc/machine-id");
    if (!id || !*id)
        id = uname(&machine) == 0 ? machine.nodename : "";
    uint64_t hash = 0xcbf29ce484222325;
    for (; *id; id++)
        hash = (hash ^ (unsigned char)*id) * 0x100000001b3;
    snprintf(out->uuid, sizeof out->uuid, "CPU-%016llx", (unsigned long long)hash);
}

void ako_cpu_props(ako_device_props *out)
{
    struct utsname machine;
    ako_buf buf = {0};
    *out = (ako_device_props){.place = AKO_CPU, .id = "cpu"};
    snprintf(out->arch, sizeof out->arch, "%.15s", uname(&machine) == 0 ? machine.machine : "");
    read_cpuinfo(out);
    read_counts(out, &buf);
    read_id(out, &buf);
    out->l1d_bytes = cache_bytes(1, &buf);
    out->l2_bytes = cache_bytes(2, &buf);
    out->l3_bytes = cache_bytes(3, &buf);
    out->memory_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    ako_buf_free(&buf);
    ako_error_clear();
}

int64_t ako_cpu_last_level_cache(void)
{
    ako_buf buf = {0};
    int64_t bytes = 0;
    for (int level = 3; level >= 1 && bytes == 0; level--)
        bytes = cache_bytes(level, &buf);
    ako_buf_free(&buf);
    ako_error_clear();
    return bytes;
}
