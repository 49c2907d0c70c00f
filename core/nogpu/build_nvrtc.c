/* The cuda lane of a program that was built without CUDA's headers. */
#include "../build_parts.h"
#include "../error.h"

static int open_nvrtc(ako_build_job *job)
{
    (void)job;
    return ako_fail(AKO_UNAVAILABLE, "nvrtc",
                    "this program was built without CUDA: rebuild it where CUDA's headers are");
}

const ako_build_lane ako_build_lane_nvrtc = {.open = open_nvrtc};
