/* The record of a session: an append-only file of JSON objects, one a line.
 *
 * A record is written by one write and is on disk when append returns, so that a crash can only tear the last line. A
 * torn last line (no newline behind it, or not JSON) is dropped, said, and cut off by the next open for writing; any
 * other line that is not JSON is damage, and refused with its number. */
#ifndef AKO_JOURNAL_H
#define AKO_JOURNAL_H

#include <stddef.h>
#include <stdint.h>

#include "json.h"

typedef struct ako_journal ako_journal;

/* Opens for writing; creates the file and its folder when they are not there. *torn_bytes (may be NULL) receives the
 * length of the torn line that was cut off, 0 for none. AKO_BUSY names the process that has it open for writing
 * (its id is in `path`.lock, which stays); AKO_CORRUPT names the damaged line and changes nothing. */
int ako_journal_open(ako_journal **out, const char *path, int64_t *torn_bytes);
void ako_journal_close(ako_journal *journal); /* NULL is fine */
const char *ako_journal_path(const ako_journal *journal);
int64_t ako_journal_size(const ako_journal *journal); /* where the next record will begin */

/* Appends records (JSON objects): one write and one fdatasync for all of them. AKO_IO, a full disk for example, leaves
 * the journal as it was before; when even that fails, later appends are refused. */
int ako_journal_append(ako_journal *journal, const ako_json *record);
int ako_journal_append_many(ako_journal *journal, const ako_json *const *records, size_t n);

/* Reads record after record, without a lock and without writing; a journal may be read while another process writes. */
typedef struct ako_journal_reader ako_journal_reader;
int ako_journal_reader_open(ako_journal_reader **out, const char *path);
void ako_journal_reader_close(ako_journal_reader *reader); /* NULL is fine */

/* Goes on with the record that begins at `offset` (the numbers of lines count from there), and where the record that
 * next has given last begins. */
int ako_journal_reader_seek(ako_journal_reader *reader, int64_t offset);
int64_t ako_journal_reader_offset(const ako_journal_reader *reader);

/* The next record, the caller's to free. AKO_EOF at the end; AKO_CORRUPT with the number of
 * the damaged line, AKO_IO. Pulled rather than pushed, since a callback that leaves by longjmp would lose the reader.
 */
int ako_journal_next(ako_journal_reader *reader, ako_json **record);

/* The same for who parses the lines: the next one without its newline, valid until the next call and with a NUL behind
 * it; refuse says that it is no JSON after all, and gives AKO_EOF when it is the last line, which then is the torn one,
 * or else AKO_CORRUPT. */
int ako_journal_next_text(ako_journal_reader *reader, const char **text, size_t *size);
int ako_journal_refuse(ako_journal_reader *reader);

/* Valid once next has given AKO_EOF: the bytes of the torn last line, 0 for none. */
int64_t ako_journal_torn_bytes(const ako_journal_reader *reader);

#endif
