#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "gpu.h"

struct ako_memory {
    ako_place place;
    uint64_t bytes; /* as asked for */
    void *base;
    bool imported;
    int fd; /* CPU */
};

/* A mapping and a CUDA allocation both need at least one byte. */
static size_t mapped_size(uint64_t bytes)
{
    return bytes ? (size_t)bytes : 1;
}

/* What the kernel thinks can be had without swapping; a memfd beyond it would only fail by a signal, when touched. */
static uint64_t available_bytes(void)
{
    char line[128];
    unsigned long long kib = UINT64_MAX >> 10;
    FILE *f = fopen("/proc/meminfo", "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return (uint64_t)kib << 10;
}

static int map_fd(ako_memory *m)
{
    m->base = mmap(NULL, mapped_size(m->bytes), PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
    if (m->base == MAP_FAILED) {
        m->base = NULL;
        return ako_fail_errno("memory", "cannot map %" PRIu64 " bytes", m->bytes);
    }
    return AKO_OK;
}

/* The size is sealed: a child that shrank the file would kill whoever touches the rest of it. */
static int new_fd(ako_memory *m)
{
    uint64_t available = available_bytes();
    if (m->bytes > available)
        return ako_fail(AKO_NOMEM, "memory", "%" PRIu64 " bytes do not fit: %" PRIu64 " are free", m->bytes, available);
    m->fd = memfd_create("ako-memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (m->fd < 0)
        return ako_fail_errno("memory", "cannot create shared memory");
    if (ftruncate(m->fd, (off_t)mapped_size(m->bytes)) != 0)
        return ako_fail_errno("memory", "cannot reserve %" PRIu64 " bytes of shared memory", m->bytes);
    if (fcntl(m->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return ako_fail_errno("memory", "cannot seal the size of shared memory");
    return map_fd(m);
}

static int adopt_fd(ako_memory *m)
{
    struct stat st;
    int seals = fcntl(m->fd, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK))
        return ako_fail(AKO_INVALID, "memory", "the descriptor is no shared memory of sealed size");
    if (fstat(m->fd, &st) != 0 || (uint64_t)st.st_size < mapped_size(m->bytes))
        return ako_fail(AKO_INVALID, "memory", "the shared memory is smaller than %" PRIu64 " bytes", m->bytes);
    return map_fd(m);
}

static int finish(ako_memory **out, ako_memory *m, int status)
{
    *out = NULL;
    if (status == AKO_OK)
        *out = m;
    else
        ako_memory_free(m);
    return status;
}

int ako_memory_new(ako_memory **out, ako_place place, uint64_t bytes)
{
    ako_memory *m = malloc(sizeof *m);
    *out = NULL;
    if (!m)
        return ako_fail(AKO_NOMEM, "memory", "out of memory");
    *m = (ako_memory){.place = place, .bytes = bytes, .fd = -1};
    return finish(out, m, place == AKO_GPU ? ako_gpu_alloc(&m->base, bytes) : new_fd(m));
}

int ako_memory_export(const ako_memory *memory, char handle[129], int *fd)
{
    handle[0] = '\0';
    *fd = memory->fd;
    if (memory->imported)
        return ako_fail(AKO_INVALID, "memory", "only the process that allocated a block can export it");
    return memory->place == AKO_GPU ? ako_gpu_export(handle, memory->base) : AKO_OK;
}

int ako_memory_import(ako_memory **out, ako_place place, uint64_t bytes, const char *handle, int fd)
{
    ako_memory *m = malloc(sizeof *m);
    *out = NULL;
    if (!m) {
        if (fd >= 0)
            close(fd);
        return ako_fail(AKO_NOMEM, "memory", "out of memory");
    }
    *m = (ako_memory){.place = place, .bytes = bytes, .imported = true, .fd = fd};
    return finish(out, m, place == AKO_GPU ? ako_gpu_import(&m->base, handle) : adopt_fd(m));
}

void *ako_memory_base(const ako_memory *memory)
{
    return memory->base;
}

uint64_t ako_memory_bytes(const ako_memory *memory)
{
    return memory->bytes;
}

ako_place ako_memory_place(const ako_memory *memory)
{
    return memory->place;
}

void ako_memory_free(ako_memory *memory)
{
    if (!memory)
        return;
    if (memory->base && memory->place == AKO_GPU)
        ako_gpu_release(memory->base, memory->imported);
    else if (memory->base)
        munmap(memory->base, mapped_size(memory->bytes));
    if (memory->fd >= 0)
        close(memory->fd);
    free(memory);
}
