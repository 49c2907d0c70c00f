#include "error.h"
#include "ops_backend.h"

int ako_ops_gpu_open(const ako_ops_backend **out, void **state)
{
    *out = NULL;
    *state = NULL;
    return ako_fail(AKO_UNAVAILABLE, "ops",
                    "built without CUDA headers: no GPU operations (install the CUDA toolkit and build again)");
}
