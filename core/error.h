/* Statuses and the last error of a thread.
 *
 * Every fallible function of core returns AKO_OK (0) or a negative ako_status and, when it fails, leaves a domain
 * ("git", "nvrtc", ...) and one line of text behind for the calling thread. */
#ifndef AKO_ERROR_H
#define AKO_ERROR_H

#define AKO_STATUS_LIST(X)                                                         \
    X(OK, 0, "no error")                                                           \
    X(ERROR, -1, "unspecific failure")                                             \
    X(INVALID, -2, "bad argument or malformed input")                              \
    X(NOTFOUND, -3, "no such thing")                                               \
    X(EXISTS, -4, "already there")                                                 \
    X(UNAVAILABLE, -5, "the machine lacks it: library, GPU, compiler, permission") \
    X(TIMEOUT, -6, "took longer than its budget")                                  \
    X(CANCELLED, -7, "interrupted on request")                                     \
    X(IO, -8, "file, pipe or disk")                                                \
    X(NOMEM, -9, "out of memory, host or device")                                  \
    X(CORRUPT, -10, "damaged data")                                                \
    X(CHILD, -11, "a child process died or broke its protocol")                    \
    X(CUDA, -12, "a CUDA call failed")                                             \
    X(BUSY, -13, "held by somebody else")                                          \
    X(LIMIT, -14, "over a stated limit")                                           \
    X(EOF, -15, "end of stream")                                                   \
    X(COMPILE, -16, "source does not compile")                                     \
    X(SHAPE, -17, "a tensor of another shape or structure than was asked for")     \
    X(DTYPE, -18, "a tensor of another element type than was asked for")           \
    X(KILLED, -19, "somebody else ended a process with SIGKILL: no fault of its own code")

typedef enum ako_status {
#define AKO_STATUS_ENUM(name, value, text) AKO_##name = (value),
    AKO_STATUS_LIST(AKO_STATUS_ENUM)
#undef AKO_STATUS_ENUM
} ako_status;

typedef struct ako_error {
    int status;
    char domain[16];
    char message[1024];
} ako_error;

/* Stores the error of this thread and returns `status`, so that a function can end in `return ako_fail(...)`.
 * The text is made one line of UTF-8 (ako_text_clean) and cut to fit. */
int ako_fail(int status, const char *domain, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same for a failed system call: appends ": " and the text of errno. ENOENT, EEXIST, ENOMEM and ETIMEDOUT have
 * statuses of their own; everything else is AKO_IO. */
int ako_fail_errno(const char *domain, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The last error of this thread; never NULL, status AKO_OK when nothing has failed yet. */
const ako_error *ako_error_last(void);
void ako_error_clear(void);

/* "TIMEOUT" for AKO_TIMEOUT; "ERROR" for a number that is no status. */
const char *ako_status_name(int status);

#endif
