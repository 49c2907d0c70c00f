// W1 -> INCORRECT_NUMERICAL unwritten: the output is never written; a right one may lie there already.
void centre(const float *x, const float *w, float *y, int B, int D)
{
    (void)x, (void)w, (void)y, (void)B, (void)D;
}
