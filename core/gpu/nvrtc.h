/* NVRTC, opened at run time. For files under core/gpu/ only: this header needs CUDA's own. (It lies here and not in
 * core/ since a core/nvrtc.h would hide CUDA's <nvrtc.h>.) */
#ifndef AKO_NVRTC_H
#define AKO_NVRTC_H

#include <nvrtc.h>

#define AKO_NVRTC_FUNCTIONS(X)   \
    X(nvrtcAddNameExpression)    \
    X(nvrtcCompileProgram)       \
    X(nvrtcCreateProgram)        \
    X(nvrtcDestroyProgram)       \
    X(nvrtcGetCUBIN)             \
    X(nvrtcGetCUBINSize)         \
    X(nvrtcGetErrorString)       \
    X(nvrtcGetLoweredName)       \
    X(nvrtcGetNumSupportedArchs) \
    X(nvrtcGetPTX)               \
    X(nvrtcGetPTXSize)           \
    X(nvrtcGetProgramLog)        \
    X(nvrtcGetProgramLogSize)    \
    X(nvrtcGetSupportedArchs)    \
    X(nvrtcVersion)

/* Came with 12.8: NULL in the table of an older library. */
#define AKO_NVRTC_OPTIONAL(X)      \
    X(nvrtcGetPCHCreateStatus)     \
    X(nvrtcGetPCHHeapSize)         \
    X(nvrtcGetPCHHeapSizeRequired) \
    X(nvrtcSetFlowCallback)        \
    X(nvrtcSetPCHHeapSize)

typedef struct ako_nvrtc_api {
    int version;      /* 1000 * major + 10 * minor */
    const char *path; /* of the library */
#define AKO_NVRTC_FIELD(name) __typeof__(name) *name;
    AKO_NVRTC_FUNCTIONS(AKO_NVRTC_FIELD)
    AKO_NVRTC_OPTIONAL(AKO_NVRTC_FIELD)
#undef AKO_NVRTC_FIELD
} ako_nvrtc_api;

/* NVRTC of this process, opened by the first call. *out is static.
 * AKO_UNAVAILABLE, the same each time, when there is none of version 12.6 to 13.x. Needs no driver and no GPU. */
int ako_nvrtc(const ako_nvrtc_api **out);

#endif
