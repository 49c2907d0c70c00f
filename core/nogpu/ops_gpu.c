#include "error.h"
#include "ops_backend.h"

static int no_headers(void)
{
    return ako_fail(AKO_UNAVAILABLE, "ops",
                    "built without CUDA headers: no GPU operations (install the CUDA toolkit and build again)");
}

int ako_ops_gpu_open(const ako_ops_backend **out, void **state)
{
    *out = NULL;
    *state = NULL;
    return no_headers();
}

int ako_ops_gpu_build(ako_buf *cubin, const char *arch)
{
    (void)cubin, (void)arch;
    return no_headers();
}
