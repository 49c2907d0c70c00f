/* A disk of its own for a test, so small that it can be filled. */
#ifndef SMALL_DISK_H
#define SMALL_DISK_H

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#define NO_DISK 77

/* Takes all room that is left below `folder` but for about `spare` bytes. */
static void fill_disk(const char *folder, long spare)
{
    static const char zeros[512];
    char path[4096];
    snprintf(path, sizeof path, "%s/filler", folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    long size = 0;
    for (ssize_t n; (n = write(fd, zeros, sizeof zeros)) > 0;)
        size += n;
    if (ftruncate(fd, size > spare ? size - spare : 0) != 0)
        perror("ftruncate");
    close(fd);
}

/* Runs `body` in a child that sees a disk of 256 KB at `folder`: true when it returned 0. Skips the test where no disk
 * can be mounted. */
static bool with_small_disk(const char *folder, int (*body)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        bool mounted = unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                       mount("tmpfs", folder, "tmpfs", 0, "size=256k") == 0;
        _exit(mounted ? body() : NO_DISK);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_DISK) {
        print_message("skipped: no right to mount a small disk\n");
        skip();
    }
    return status == 0;
}

#endif
