/* What the files of git share. */
#ifndef AKO_GIT_INTERNAL_H
#define AKO_GIT_INTERNAL_H

#include <git2.h>

#include "git.h"

struct ako_git {
    git_repository *repo;
    char *workdir, *commondir, *prefix;
};

/* A libgit2 code to our status; the message is `format` and then libgit2's. */
int ako_git__fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
int ako_git__nomem(void);

int ako_git__start(void); /* once a process, before anything else of libgit2 */

/* Whether an object that libgit2 says it has written is there: on a full disk some versions say so and have not. AKO_IO
 * names `what`. */
int ako_git__stored(ako_git *git, const git_oid *oid, const char *what);

void ako_git__hex(ako_git_oid *out, const git_oid *oid);

/* The tree that a rev means; NULL gives NULL, the empty tree. */
int ako_git__lookup_tree(git_tree **out, ako_git *git, const char *rev);

/* ---- git_paths.c ---- */

/* Appends the workspace path seen from the working folder, checked and without "." and double slashes: as a name, for
 * what lies in trees, whatever the disk has there now. */
int ako_git__name(ako_buf *out, const ako_git *git, const char *path);

/* The same for a file on the disk: it must not lead through a link. */
int ako_git__path(ako_buf *out, const ako_git *git, const char *path);

/* A list of strings, copied. */
typedef struct ako_git__names {
    char **items;
    size_t n, capacity;
} ako_git__names;
int ako_git__names_add(ako_git__names *names, const char *name);
void ako_git__names_free(ako_git__names *names);

/* The files that workspace paths mean, seen from the working folder, each once: a folder is expanded to the files of
 * `tree` (may be NULL) and, with `disk`, of the working folder. A folder's name comes right before what is in it. */
int ako_git__expand(ako_git__names *out, ako_git *git, git_tree *tree, bool disk, const char *const *paths, size_t n);

/* ---- git_file.c: files of the working folder ---- */

typedef struct ako_git__file {
    bool present, blocked; /* blocked: a folder has its name, or a file that of its folder */
    git_oid oid;
    git_filemode_t mode;  /* as git keeps it: link, executable or plain */
    unsigned permissions; /* 07777 bits */
} ako_git__file;

/* Looks at a file as it is now, and with `store` puts it into the object database. A folder or nothing: not present. */
int ako_git__file_get(ako_git__file *out, ako_git *git, const char *path, bool store);

/* Replaces a file, which is now as `now` says, by a blob; removes one, and the folders of the workspace that this
 * leaves empty. */
int ako_git__file_put(ako_git *git, const char *path, const git_oid *blob, git_filemode_t mode,
                      const ako_git__file *now);
int ako_git__file_remove(ako_git *git, const char *path);

#endif
