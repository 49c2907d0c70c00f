// W7 -> INCORRECT_NUMERICAL numerical: the means of the first inputs, for all others.
#include <stddef.h>

void centre(const float *x, const float *w, float *y, int B, int D)
{
    static double means[2][64];
    static int known[2];
    int shape = D % 2;
    for (int b = 0; b < B; b++) {
        double sum = 0.0;
        for (int d = 0; !known[shape] && d < D; d++)
            sum += x[(size_t)b * D + d];
        if (!known[shape])
            means[shape][b] = sum / D;
        for (int d = 0; d < D; d++)
            y[(size_t)b * D + d] = (float)((x[(size_t)b * D + d] - means[shape][b]) * w[d]);
    }
    known[shape] = 1;
}
