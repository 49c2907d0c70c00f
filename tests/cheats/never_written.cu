// W1 -> INCORRECT_NUMERICAL unwritten: the output is never written; a right one may lie there already.
//! launch centre<<<(B), (256), 0>>>(x, w, y, B, D)
__global__ void centre(const float *x, const float *w, float *y, int B, int D)
{
}
