/* A folder for the temporary files of a run and of every process below it. What its owner cannot remove any more,
 * because it was killed, the next owner does. */
#ifndef AKO_SCRATCH_H
#define AKO_SCRATCH_H

typedef struct ako_scratch {
    char *path; /* absolute; NULL when there is none */
    int lock;   /* held as long as somebody owns the folder */
} ako_scratch;

/* Makes a new folder, mode 0700, under $TMPDIR or /tmp. AKO_UNAVAILABLE when that is not possible. */
int ako_scratch_open(ako_scratch *out);

/* Removes it with all that is in it. Fine for one that was never opened. */
void ako_scratch_close(ako_scratch *scratch);

#endif
