/* One block of memory that several processes map: cudaMalloc + CUDA IPC on a GPU, a memfd on the CPU. */
#ifndef AKO_MEMORY_H
#define AKO_MEMORY_H

#include <stdint.h>

typedef enum ako_place { AKO_CPU, AKO_GPU } ako_place;

typedef struct ako_memory ako_memory;

/* Allocates on the current device (GPU) or as a memfd (CPU), 256-byte aligned, content undefined. AKO_NOMEM when it
 * does not fit, with the free and wanted bytes in the message. */
int ako_memory_new(ako_memory **out, ako_place place, uint64_t bytes);

/* What another process needs: GPU writes 128 hex digits into `handle` and sets *fd to -1; CPU leaves handle empty and
 * sets *fd to a descriptor that the memory still owns. */
int ako_memory_export(const ako_memory *memory, char handle[129], int *fd);

/* Maps a block exported by another process; the descriptor is taken over (closed on failure too). */
int ako_memory_import(ako_memory **out, ako_place place, uint64_t bytes, const char *handle, int fd);

void *ako_memory_base(const ako_memory *memory); /* device or host address in this process */
uint64_t ako_memory_bytes(const ako_memory *memory);
ako_place ako_memory_place(const ako_memory *memory);
void ako_memory_free(ako_memory *memory);

#endif
