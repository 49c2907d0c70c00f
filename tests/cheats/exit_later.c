// T6 -> RUNTIME_ERROR crash: the same in the middle of a timed request, with a handler that prints a result.
#include <stdio.h>
#include <stdlib.h>

#include "honest.h"

static void print_result(void)
{
    puts("{\"status\":\"PASSED\",\"verdict\":\"keep\"}");
}

void centre(const float *x, const float *w, float *y, int B, int D)
{
    static int calls;
    honest(x, w, y, B, D);
    if (calls++ == 8) {
        atexit(print_result);
        exit(0);
    }
}
