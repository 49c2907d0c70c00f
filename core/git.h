/* The git side of a session, over libgit2: trees of a working folder, commits on refs of our own, files put back.
 *
 * Nothing here writes HEAD or the user's index, runs hooks or collects garbage, and only ako_git_restore writes to the
 * working folder. A repository has a workspace: the folder that it was opened with, which may be a subfolder of the
 * working folder. Paths are bytes, relative to the workspace, and "." is all of it; "..", absolute paths, paths into
 * .git and through symbolic links are refused (AKO_INVALID). A path that is a folder means the files below it that git
 * does not ignore, or that the tree in question has.
 *
 * A `rev` is an oid in hex, a ref or anything else that `git rev-parse` takes. As with git's own defaults, objects are
 * not fsynced one by one. Statuses: AKO_NOTFOUND, AKO_EXISTS, AKO_INVALID, AKO_IO; AKO_BUSY when somebody else changed
 * or locked what was to be changed; AKO_UNAVAILABLE for a repository that belongs to another user. */
#ifndef AKO_GIT_H
#define AKO_GIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"

typedef struct ako_git ako_git;

typedef struct ako_git_oid {
    char hex[41];
} ako_git_oid;

/* ---- repository ---- */

/* Opens the repository that holds the folder `path`, in it or above it, with `path` as its workspace. */
int ako_git_open(ako_git **out, const char *path);

/* The same, after making a repository in `path` (created with its parents) when there is none yet in it or, unless it
 * is to have its `own`, above it; HEAD is then the unborn branch main. *created (may be NULL) says which. AKO_INVALID
 * for a .git in `path` that is no repository: it is not made one. */
int ako_git_init(ako_git **out, const char *path, bool own, bool *created);
void ako_git_free(ako_git *git); /* NULL is fine */

/* Absolute and without a slash at the end: the working folder; the folder that a main working tree and its linked ones
 * share, normally .git. Prefix: the workspace seen from the working folder, "" or "sub/folder/". */
const char *ako_git_workdir(const ako_git *git);
const char *ako_git_commondir(const ako_git *git);
const char *ako_git_prefix(const ako_git *git);

typedef struct ako_git_head {
    ako_git_oid oid; /* "" when unborn */
    char ref[1024];  /* "refs/heads/main"; "" when detached */
} ako_git_head;
int ako_git_head_get(ako_git_head *out, ako_git *git);

/* Walks what differs between HEAD, index and workspace, untracked files included and ignored ones not, in path order.
 * `code` is that of `git status --porcelain`: " M", "A ", "??", "UU". A non-zero return stops and is returned. */
int ako_git_status(ako_git *git, int (*entry)(void *payload, const char *path, const char *code), void *payload);

/* ---- objects ---- */

int ako_git_resolve(ako_git_oid *out, ako_git *git, const char *rev);

/* The tree of `base` (a commit or tree; NULL: empty) with the files at these paths replaced by what they hold now,
 * byte for byte, with the executable bit, symbolic links as links, and removed where there is no file now. */
int ako_git_tree(ako_git_oid *out, ako_git *git, const char *base, const char *const *paths, size_t n);

/* Appends the content of the file that `rev` has at the path; of a symbolic link, its target. */
int ako_git_read(ako_buf *out, ako_git *git, const char *rev, const char *path);

int ako_git_hash(ako_git_oid *out, const void *data, size_t size);       /* the oid that these bytes have as a file */
int ako_git_hash_file(ako_git_oid *out, ako_git *git, const char *path); /* of a file as it is now; writes nothing */

/* ---- commits ---- */

typedef struct ako_git_commit_spec {
    const char *tree; /* rev of a tree */
    const char *const *parents;
    size_t n_parents;
    const char *message;
    const char *author; /* "Name <mail>"; NULL: the user's identity, else "ako-lua <ako-lua@localhost>" */
    int64_t time_s;     /* since 1970 UTC; 0: now */
    const char *ref;    /* full name to set to the commit ("refs/ako/run/7"); NULL: none */
    const char *expect; /* see ako_git_set_ref */
} ako_git_commit_spec;
int ako_git_commit(ako_git_oid *out, ako_git *git, const ako_git_commit_spec *spec);

typedef struct ako_git_commit_info {
    const char *oid, *tree, *parent; /* hex; parent is the first one, "" for none */
    const char *author, *email, *message;
    int64_t time_s;
} ako_git_commit_info;

/* Walks the commits that `rev` reaches, newest first, at most `max` (0: all). The info is valid during the call. */
int ako_git_log(ako_git *git, const char *rev, size_t max,
                int (*commit)(void *payload, const ako_git_commit_info *info), void *payload);

/* ---- refs ---- */

/* Sets a ref (full name below refs/) to what `rev` means. `expect` is what it must be now, so that two writers cannot
 * undo each other: NULL anything, "" absent (else AKO_EXISTS), an oid in hex (else AKO_BUSY). */
int ako_git_set_ref(ako_git *git, const char *name, const char *rev, const char *expect);

/* Deletes a ref; AKO_NOTFOUND when there is none, AKO_BUSY when `expect` (may be NULL) is not its value. */
int ako_git_delete_ref(ako_git *git, const char *name, const char *expect);

/* Walks the refs whose names match the glob ("refs/ako/run/" and "*"), in byte order of their names. */
int ako_git_refs(ako_git *git, const char *glob, int (*ref)(void *payload, const char *name, const char *oid),
                 void *payload);

/* Makes refs/tags/<name>; with a message an annotated tag, with NULL a light one. AKO_EXISTS. */
int ako_git_tag(ako_git *git, const char *name, const char *rev, const char *message);

/* ---- files back ---- */

typedef struct ako_git_restore_options {
    bool remove;               /* files at these paths that the rev lacks are removed, and folders left empty by that */
    bool guard;                /* refuse to lose a file whose bytes are not among `expect` */
    const char *const *expect; /* oids of blobs, or revs of trees and commits: what they have at the file's path */
    size_t n_expect;
} ako_git_restore_options;

/* Makes files what `rev` has at these paths, byte for byte: each replaced by rename, missing folders made. Everything
 * is checked before anything is written: AKO_BUSY names the file whose bytes would be lost; AKO_NOTFOUND a path that
 * the rev lacks (without `remove`); AKO_EXISTS a folder in the place of a file. */
int ako_git_restore(ako_git *git, const char *rev, const char *const *paths, size_t n,
                    const ako_git_restore_options *options);

/* ---- differences ---- */

typedef struct ako_git_diff_options {
    const char *const *paths; /* only these; none: the workspace */
    size_t n_paths;
    int (*change)(void *payload, const char *path, char letter); /* A, M, D or T for each file; may be NULL */
    void *payload;
    ako_buf *patch; /* the text is appended; may be NULL */
} ako_git_diff_options;

typedef struct ako_git_diff_stat {
    size_t files, insertions, deletions;
} ako_git_diff_stat;

/* Compares two commits or trees; NULL is the empty tree. */
int ako_git_diff(ako_git_diff_stat *out, ako_git *git, const char *from, const char *to,
                 const ako_git_diff_options *options);

#endif
