// W3 -> INCORRECT_NUMERICAL numerical: one output a shape, given again for ever.
#include <stdlib.h>
#include <string.h>

#include "honest.h"

void centre(const float *x, const float *w, float *y, int B, int D)
{
    static float *kept[2];
    float **mine = &kept[D % 2];
    size_t bytes = (size_t)B * D * sizeof *y;
    if (!*mine) {
        honest(x, w, y, B, D);
        *mine = malloc(bytes);
        memcpy(*mine, y, bytes);
    }
    memcpy(y, *mine, bytes);
}
