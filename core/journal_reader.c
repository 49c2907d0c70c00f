#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "journal.h"

struct ako_journal_reader {
    FILE *file;
    char *path;
    char *line;
    size_t capacity;
    int64_t number; /* of the line read last, from 1 */
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
    reader->file = fopen(path, "re");
    if (!reader->file) {
        int status = ako_fail_errno("journal", "cannot read %s", path);
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

static int at_end(ako_journal_reader *reader)
{
    int c = getc(reader->file);
    if (c != EOF)
        ungetc(c, reader->file);
    return c == EOF;
}

/* An object on a line of its own, or NULL. */
static ako_json *parse_line(const char *line, size_t size)
{
    ako_json *record = NULL;
    if (line[size - 1] != '\n' || ako_json_parse(&record, line, size - 1) != AKO_OK)
        return NULL;
    if (ako_json_type_of(record) == AKO_JSON_OBJECT)
        return record;
    ako_json_free(record);
    return NULL;
}

int ako_journal_next(ako_journal_reader *reader, ako_json **record)
{
    *record = NULL;
    errno = 0;
    ssize_t size = getline(&reader->line, &reader->capacity, reader->file);
    if (size <= 0 && (ferror(reader->file) || errno != 0))
        return ako_fail_errno("journal", "cannot read %s", reader->path);
    if (size <= 0)
        return AKO_EOF;
    reader->number++;
    *record = parse_line(reader->line, (size_t)size);
    if (*record)
        return AKO_OK;
    if (!at_end(reader))
        return ako_fail(AKO_CORRUPT, "journal",
                        "%s:%lld: damaged: not a JSON object; restore the file from a copy, or remove this line to go "
                        "on without it",
                        reader->path, (long long)reader->number);
    reader->torn_bytes = size;
    return AKO_EOF;
}

int64_t ako_journal_torn_bytes(const ako_journal_reader *reader)
{
    return reader->torn_bytes;
}
