/* Compiled binaries by the hash of everything that went into them: a folder an entry. Any process of the user may use
 * the folder at any time; what is damaged or half there counts as absent. */
#ifndef AKO_CACHE_H
#define AKO_CACHE_H

#include <stdint.h>

#include "build.h"

/* "$XDG_CACHE_HOME/ako-lua/build", created; the caller frees *out. */
int ako_cache_folder(char **out);

/* Fills path, hash, log, resources and lowered names from an entry and marks it as used. AKO_NOTFOUND when there is
 * none that is whole. */
int ako_cache_find(ako_build_output *out, const char *folder, const char *key, ako_lane lane);

/* Stores a build (`out` without its path) and its binary, written aside and renamed; sets out->path. An entry that is
 * already there and whole is kept. */
int ako_cache_store(ako_build_output *out, const char *folder, const char *key, ako_lane lane, const ako_buf *code);

/* Removes the entries least recently used until the rest takes at most `cap_bytes`; those used in the last
 * `young_ns` stay. What killed processes left half written goes too. */
int ako_cache_sweep(const char *folder, int64_t cap_bytes, int64_t young_ns);

/* The sweep with the user's cap (AKO_CACHE_MB, default 2048) and 10 minutes, at most once in 10 minutes. */
void ako_cache_sweep_sometimes(const char *folder);

/* Without a cache: the binary as a file among the run's temporary ones (the last 64 of them), which out->path names. A
 * descriptor of ours would be none that other processes of an ordinary user may open. */
int ako_cache_keep_beside(ako_build_output *out, const ako_buf *code);

#endif
