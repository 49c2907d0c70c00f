/* Content hashes: libgit2's SHA-1 of a blob, which notices the known collision attacks. */
#ifndef AKO_HASH_H
#define AKO_HASH_H

#include <stddef.h>

/* Hex digits and NUL into `out`. Equal bytes give equal hashes in every process and version. */
int ako_hash(char out[65], const void *data, size_t size);

/* The same of a file's content, however large. */
int ako_hash_file(char out[65], const char *path);

#endif
