/* Files, for the parts of core that keep caches, journals and scratch folders. Paths are bytes, any encoding. */
#ifndef AKO_FS_H
#define AKO_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"

/* Appends the whole file; fails with AKO_NOTFOUND, AKO_IO, for pipes and devices AKO_INVALID, or, over `limit` bytes
 * (0: none), AKO_LIMIT. */
int ako_fs_read(ako_buf *out, const char *path, size_t limit);

/* Opens a regular file with the flags of open(2) (O_CLOEXEC is added, new files have mode 0666): never a pipe, a device
 * or a folder, which would be waited for or have no end. CORRUPT names such a thing, NOTFOUND and IO as open says. */
int ako_fs_open_regular(int *fd, const char *path, int flags);

/* Replaces the file by rename, so that readers and crashes see the old or the new content and nothing between;
 * with `sync` the content and the folder are on disk when it returns. A symbolic link is followed to its file. */
int ako_fs_write(const char *path, const void *data, size_t size, bool sync);

/* The same for a given mode (07777 bits); a symbolic link at `path` is itself replaced. */
int ako_fs_replace(const char *path, const void *data, size_t size, unsigned mode, bool sync);

/* Makes a new or renamed entry of the folder round `path` survive a power failure. Where the file system cannot do
 * this there is nothing a caller could change, so it does not fail. */
void ako_fs_sync_parent(const char *path);

/* As ako_fs_replace; where the disk has no room for the new file beside the old one, the old one, if it is a plain
 * file, is overwritten: what must come back comes back, at the price that a crash in between leaves a mixture. */
int ako_fs_put_back(const char *path, const void *data, size_t size, unsigned mode);

unsigned ako_fs_default_mode(void); /* of a new file: 0666 less the umask */

/* Copies content and permissions, replacing `to` as ako_fs_write does. */
int ako_fs_copy(const char *to, const char *from);

typedef struct ako_fs_stat {
    char type;                               /* 'f' file, 'd' folder, 'l' symbolic link, 'o' other */
    int64_t size, mtime_ns, ctime_ns, inode; /* ctime: of the last change of content, name or permissions */
} ako_fs_stat;
int ako_fs_stat_get(ako_fs_stat *out, const char *path); /* of a link itself, not of what it leads to */

int ako_fs_mkdirs(const char *path);      /* mkdir -p; fine when it is there */
int ako_fs_remove_tree(const char *path); /* rm -rf without following links; fine when it is not there */
int ako_fs_temp_dir(char *out, size_t out_size,
                    const char *prefix);           /* a new folder, mode 0700, under $TMPDIR or /tmp */
int ako_fs_absolute(char **out, const char *path); /* realpath; the caller frees */
bool ako_fs_exists(const char *path);
bool ako_fs_is_dir(const char *path);
bool ako_fs_is_file(const char *path); /* a plain one, or a link to one: reading it ends */
bool ako_fs_is_executable(const char *path);
bool ako_fs_is_writable(const char *path); /* by this user; of a folder: entries can be made in it */

/* Bytes of the file system that holds `path`: those that this user can still fill, and all. */
int ako_fs_space(int64_t *available, int64_t *total, const char *path);

/* An exclusive lock (flock) on a folder for as long as *fd is open: nothing is written for it and nothing stays when
 * the process dies. AKO_BUSY when somebody else has it. */
int ako_fs_lock_dir(int *fd, const char *path);

/* Calls `entry` with each name but . and .., in byte order; a non-zero return stops the walk and is returned. */
int ako_fs_list(const char *path, int (*entry)(void *payload, const char *name), void *payload);

/* "$XDG_CACHE_HOME/ako-lua" or "~/.cache/ako-lua" for kind "cache", likewise "state" (~/.local/state) and "runtime"
 * ($XDG_RUNTIME_DIR, else /tmp/ako-lua-<uid>). Creates the folder; the caller frees *out. */
int ako_fs_user_dir(char **out, const char *kind);

/* The folder of the running program's own file; the caller frees *out. */
int ako_fs_program_dir(char **out);

#endif
