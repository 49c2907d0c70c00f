// W3 -> INCORRECT_NUMERICAL numerical: outputs are kept by a fingerprint that many inputs share.
#include <stdlib.h>
#include <string.h>

#include "honest.h"

/* As coarse as a cheat would like it: the signs of the first two elements. */
void centre(const float *x, const float *w, float *y, int B, int D)
{
    static float *kept[2][4];
    int key = (x[0] < 0) * 2 + (x[1] < 0), shape = D % 2;
    size_t bytes = (size_t)B * D * sizeof *y;
    if (kept[shape][key]) {
        memcpy(y, kept[shape][key], bytes);
        return;
    }
    honest(x, w, y, B, D);
    kept[shape][key] = malloc(bytes);
    if (kept[shape][key])
        memcpy(kept[shape][key], y, bytes);
}
