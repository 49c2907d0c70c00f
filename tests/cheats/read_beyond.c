// W9 -> INCORRECT_NUMERICAL unwritten | INCORRECT_NUMERICAL numerical: the last mean takes in what lies past x.
#include "honest.h"

void centre(const float *x, const float *w, float *y, int B, int D)
{
    honest(x, w, y, B, D);
    const float *row = x + (size_t)(B - 1) * D;
    double sum = 0.0;
    for (int d = 0; d < D + 1; d++)
        sum += row[d];
    for (int d = 0; d < D; d++)
        y[(size_t)(B - 1) * D + d] = (float)((row[d] - sum / (D + 1)) * w[d]);
}
