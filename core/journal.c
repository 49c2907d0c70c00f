#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "error.h"
#include "fs.h"

struct ako_journal {
    char *path;
    int fd, lock_fd;
    off_t size;  /* of the good part: whole records */
    bool broken; /* a failed append could not be undone */
};

/* ---- the lock: a file beside the journal that says who holds it ---- */

static int fail_busy(const char *path, int lock_fd)
{
    char holder[64] = "";
    ssize_t n = pread(lock_fd, holder, sizeof holder - 1, 0);
    long pid = n > 0 ? strtol(holder, NULL, 10) : 0;
    if (pid <= 0)
        return ako_fail(AKO_BUSY, "journal", "%s is being written by another process", path);
    return ako_fail(AKO_BUSY, "journal", "%s is being written by process %ld: wait for it, or stop it", path, pid);
}

static int lock(ako_journal *journal)
{
    ako_buf name = {0};
    ako_buf_printf(&name, "%s.lock", journal->path);
    if (name.oom)
        return ako_fail(AKO_NOMEM, "journal", "out of memory");
    int status = AKO_OK;
    journal->lock_fd = open(name.data, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (journal->lock_fd < 0)
        status = ako_fail_errno("journal", "cannot open %s", name.data);
    else if (flock(journal->lock_fd, LOCK_EX | LOCK_NB) != 0)
        status = errno == EWOULDBLOCK ? fail_busy(journal->path, journal->lock_fd)
                                      : ako_fail_errno("journal", "cannot lock %s", name.data);
    ako_buf_free(&name);
    if (status != AKO_OK)
        return status;
    if (ftruncate(journal->lock_fd, 0) == 0) /* only fail_busy needs the id: on a full disk it stays away */
        dprintf(journal->lock_fd, "%ld\n", (long)getpid());
    return AKO_OK;
}

/* ---- opening ---- */

static int make_parent(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path)
        return AKO_OK;
    char *folder = strndup(path, (size_t)(slash - path));
    if (!folder)
        return ako_fail(AKO_NOMEM, "journal", "out of memory");
    bool is_new = !ako_fs_is_dir(folder);
    int status = ako_fs_mkdirs(folder);
    if (status == AKO_OK && is_new)
        ako_fs_sync_parent(folder);
    free(folder);
    return status;
}

/* Where the line that ends before `end` starts: behind the last newline in [0, end). -1 on a read error. */
static off_t line_start(int fd, off_t end)
{
    char chunk[4096];
    while (end > 0) {
        size_t want = end < (off_t)sizeof chunk ? (size_t)end : sizeof chunk;
        off_t at = end - (off_t)want;
        if (pread(fd, chunk, want, at) != (ssize_t)want)
            return -1;
        const char *newline = memrchr(chunk, '\n', want);
        if (newline)
            return at + (newline - chunk) + 1;
        end = at;
    }
    return 0;
}

/* 1 when [start, end) is a JSON object and a newline, 0 when not, -1 on a read error. */
static int is_record(int fd, off_t start, off_t end)
{
    size_t size = (size_t)(end - start);
    char *line = malloc(size + 1);
    ako_json *value = NULL;
    int verdict = -1;
    if (line && pread(fd, line, size, start) == (ssize_t)size)
        verdict =
            size > 0 && line[size - 1] == '\n' && line[0] == '{' && ako_json_parse(&value, line, size - 1) == AKO_OK;
    ako_json_free(value);
    free(line);
    return verdict;
}

/* Reads all of a journal that is known to be damaged, for the number of the line. */
static int fail_corrupt(const char *path)
{
    ako_journal_reader *reader;
    int status = ako_journal_reader_open(&reader, path);
    while (status == AKO_OK) {
        ako_json *record;
        status = ako_journal_next(reader, &record);
        ako_json_free(record);
    }
    ako_journal_reader_close(reader);
    return status == AKO_EOF ? ako_fail(AKO_CORRUPT, "journal", "%s changed while it was being opened", path) : status;
}

/* Finds the end of the good part and cuts off what is behind it. Looks at the last two lines alone: whoever needs the
 * others reads them, and is told then. The line before a torn one must be good, so that opening again and again never
 * eats more than one line of a damaged file. */
static int trim(ako_journal *journal, int64_t *torn_bytes)
{
    struct stat st;
    if (fstat(journal->fd, &st) != 0)
        return ako_fail_errno("journal", "cannot read %s", journal->path);
    journal->size = st.st_size;
    if (st.st_size == 0)
        return AKO_OK;
    off_t start = line_start(journal->fd, st.st_size - 1);
    int good = start < 0 ? -1 : is_record(journal->fd, start, st.st_size);
    if (good == 1)
        return AKO_OK;
    if (good == 0 && start > 0) {
        off_t before = line_start(journal->fd, start - 1);
        int whole = before < 0 ? -1 : is_record(journal->fd, before, start);
        if (whole == 0)
            return fail_corrupt(journal->path);
        good = whole < 0 ? -1 : good;
    }
    if (good < 0)
        return ako_fail_errno("journal", "cannot read %s", journal->path);
    if (ftruncate(journal->fd, start) != 0 || fsync(journal->fd) != 0)
        return ako_fail_errno("journal", "cannot cut the torn last line off %s", journal->path);
    journal->size = start;
    *torn_bytes = st.st_size - start;
    return AKO_OK;
}

static int open_file(ako_journal *journal)
{
    int status = ako_fs_open_regular(&journal->fd, journal->path, O_RDWR | O_APPEND | O_CREAT);
    if (status != AKO_OK)
        return status;
    /* Without this the new file's name, and with it all records, could be gone after a power failure. */
    ako_fs_sync_parent(journal->path);
    return AKO_OK;
}

int ako_journal_open(ako_journal **out, const char *path, int64_t *torn_bytes)
{
    *out = NULL;
    int64_t torn = 0;
    ako_journal *journal = calloc(1, sizeof *journal);
    if (!journal)
        return ako_fail(AKO_NOMEM, "journal", "out of memory");
    journal->fd = journal->lock_fd = -1;
    journal->path = strdup(path);
    int status = journal->path ? make_parent(path) : ako_fail(AKO_NOMEM, "journal", "out of memory");
    if (status == AKO_OK)
        status = lock(journal);
    if (status == AKO_OK)
        status = open_file(journal);
    if (status == AKO_OK)
        status = trim(journal, &torn);
    if (status != AKO_OK) {
        ako_journal_close(journal);
        return status;
    }
    if (torn_bytes)
        *torn_bytes = torn;
    *out = journal;
    return AKO_OK;
}

void ako_journal_close(ako_journal *journal)
{
    if (!journal)
        return;
    if (journal->fd >= 0)
        close(journal->fd);
    if (journal->lock_fd >= 0)
        close(journal->lock_fd); /* which unlocks it */
    free(journal->path);
    free(journal);
}

const char *ako_journal_path(const ako_journal *journal)
{
    return journal->path;
}

int64_t ako_journal_size(const ako_journal *journal)
{
    return journal->size;
}

/* ---- appending ---- */

static int add_record(ako_buf *lines, const ako_json *record)
{
    if (ako_json_type_of(record) != AKO_JSON_OBJECT)
        return ako_fail(AKO_INVALID, "journal", "a record must be a JSON object");
    char *text;
    int status = ako_json_dump(&text, record);
    if (status != AKO_OK)
        return status;
    ako_buf_puts(lines, text);
    ako_buf_puts(lines, "\n");
    free(text);
    return lines->oom ? ako_fail(AKO_NOMEM, "journal", "out of memory") : AKO_OK;
}

static int write_lines(ako_journal *journal, const ako_buf *lines)
{
    size_t done = 0;
    while (done < lines->size) {
        ssize_t n = write(journal->fd, lines->data + done, lines->size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        done += (size_t)n;
    }
    if (done == lines->size && fdatasync(journal->fd) == 0) {
        journal->size += (off_t)done;
        return AKO_OK;
    }
    int status = ako_fail_errno("journal", "cannot write %s", journal->path);
    journal->broken = ftruncate(journal->fd, journal->size) != 0;
    return status;
}

int ako_journal_append_many(ako_journal *journal, const ako_json *const *records, size_t n)
{
    if (journal->broken)
        return ako_fail(AKO_IO, "journal", "%s: an earlier write failed and could not be undone; open it again",
                        journal->path);
    ako_buf lines = {0};
    int status = AKO_OK;
    for (size_t i = 0; i < n && status == AKO_OK; i++)
        status = add_record(&lines, records[i]);
    if (status == AKO_OK && lines.size > 0)
        status = write_lines(journal, &lines);
    ako_buf_free(&lines);
    return status;
}

int ako_journal_append(ako_journal *journal, const ako_json *record)
{
    return ako_journal_append_many(journal, &record, 1);
}
