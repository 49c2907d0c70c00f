#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "fs.h"
#include "journal.h"

struct ako_journal_reader {
    FILE *file;
    char *path;
    char *line;
    size_t capacity;
    int64_t number, size, offset; /* of the line read last: from 1, in bytes, where it begins */
    int64_t torn_bytes;
};

int ako_journal_reader_open(ako_journal_reader **out, const char *path)
{
    *out = NULL;
    ako_journal_reader *reader = calloc(1, sizeof *reader);
    if (!reader || !(reader->path = strdup(path))) {
        free(reader);
        return ako_fail(AKO_NOMEM, "journal", "out of memory");
    }
    int fd, status = ako_fs_open_regular(&fd, path, O_RDONLY);
    if (status == AKO_OK && !(reader->file = fdopen(fd, "r"))) {
        status = ako_fail_errno("journal", "cannot read %s", path);
        close(fd);
    }
    if (status != AKO_OK) {
        ako_journal_reader_close(reader);
        return status;
    }
    *out = reader;
    return AKO_OK;
}

void ako_journal_reader_close(ako_journal_reader *reader)
{
    if (!reader)
        return;
    if (reader->file)
        fclose(reader->file);
    free(reader->line);
    free(reader->path);
    free(reader);
}

int ako_journal_reader_seek(ako_journal_reader *reader, int64_t offset)
{
    if (fseeko(reader->file, (off_t)offset, SEEK_SET) != 0)
        return ako_fail_errno("journal", "cannot read %s", reader->path);
    reader->offset = offset;
    reader->size = 0;
    return AKO_OK;
}

int64_t ako_journal_reader_offset(const ako_journal_reader *reader)
{
    return reader->offset;
}

static int at_end(ako_journal_reader *reader)
{
    int c = getc(reader->file);
    if (c != EOF)
        ungetc(c, reader->file);
    return c == EOF;
}

int ako_journal_next_text(ako_journal_reader *reader, const char **text, size_t *size)
{
    errno = 0;
    ssize_t n = getline(&reader->line, &reader->capacity, reader->file);
    if (n <= 0 && (ferror(reader->file) || errno != 0))
        return ako_fail_errno("journal", "cannot read %s", reader->path);
    if (n <= 0)
        return AKO_EOF;
    reader->number++;
    reader->offset += reader->size;
    reader->size = n;
    if (reader->line[n - 1] != '\n' || reader->line[0] != '{')
        return ako_journal_refuse(reader);
    reader->line[n - 1] = '\0';
    *text = reader->line;
    *size = (size_t)n - 1;
    return AKO_OK;
}

int ako_journal_refuse(ako_journal_reader *reader)
{
    if (!at_end(reader))
        return ako_fail(AKO_CORRUPT, "journal",
                        "%s:%lld: damaged: not a JSON object; restore the file from a copy, or remove this line to go "
                        "on without it",
                        reader->path, (long long)reader->number);
    reader->torn_bytes = reader->size;
    return AKO_EOF;
}

int ako_journal_next(ako_journal_reader *reader, ako_json **record)
{
    const char *text;
    size_t size;
    *record = NULL;
    int status = ako_journal_next_text(reader, &text, &size);
    if (status != AKO_OK)
        return status;
    return ako_json_parse(record, text, size) == AKO_OK ? AKO_OK : ako_journal_refuse(reader);
}

int64_t ako_journal_torn_bytes(const ako_journal_reader *reader)
{
    return reader->torn_bytes;
}
