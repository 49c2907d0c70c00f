/* CUPTI, opened at run time. For files under core/gpu/ only: this header needs CUDA's own. */
#ifndef AKO_CUPTI_H
#define AKO_CUPTI_H

#include <cupti.h>

#define AKO_CUPTI_FUNCTIONS(X)                \
    X(cuptiActivityDisable)                   \
    X(cuptiActivityEnable)                    \
    X(cuptiActivityFlushAll)                  \
    X(cuptiActivityGetNextRecord)             \
    X(cuptiActivityGetNumDroppedRecords)      \
    X(cuptiActivityPopExternalCorrelationId)  \
    X(cuptiActivityPushExternalCorrelationId) \
    X(cuptiActivityRegisterCallbacks)         \
    X(cuptiGetResultString)                   \
    X(cuptiGetVersion)

typedef struct ako_cupti_api {
    int version;      /* of its toolkit: 1000 * major + 10 * minor */
    const char *path; /* of the library */
#define AKO_CUPTI_FIELD(name) __typeof__(name) *name;
    AKO_CUPTI_FUNCTIONS(AKO_CUPTI_FIELD)
#undef AKO_CUPTI_FIELD
} ako_cupti_api;

/* CUPTI of this process, opened by the first call. *out is static.
 * AKO_UNAVAILABLE, the same each time, when there is none of version 12.6 to 13.x. */
int ako_cupti(const ako_cupti_api **out);

/* Stores "<what>: <CUPTI's text>" with advice for the errors that have a remedy; AKO_UNAVAILABLE. */
int ako_cupti_fail(const ako_cupti_api *cupti, CUptiResult result, const char *what);

#endif
