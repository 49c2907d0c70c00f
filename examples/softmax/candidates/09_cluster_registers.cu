// Hypothesis: a row held in the registers of a block, or of a cluster of blocks when it is long, is read only once.
//! launch softmax<<<(R * (N / 32769 + 1)), (min(1024, ceil_div(N, 1024) * 32)), cluster=(N / 32769 + 1)>>>(x, y, R, N)

// A thread holds 32 elements: 64 threads a row of 2048, 4 blocks of 1024 threads a row of 128256 (262144 at most).
#define HELD 32

struct part {
    float largest, sum; // the sum of exp(x - largest)
};

__device__ part join(part a, part b)
{
    const float largest = fmaxf(a.largest, b.largest);
    return {largest, a.sum * __expf(a.largest - largest) + b.sum * __expf(b.largest - largest)};
}

__device__ part warp_join(part p)
{
    for (int step = 16; step > 0; step /= 2)
        p = join(p, {__shfl_xor_sync(~0u, p.largest, step), __shfl_xor_sync(~0u, p.sum, step)});
    return p;
}

__device__ part block_join(part p)
{
    __shared__ part warps[32];
    p = warp_join(p);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = p;
    __syncthreads();
    return warp_join(threadIdx.x % 32 < blockDim.x / 32 ? warps[threadIdx.x % 32] : part{-1e30f, 0.0f});
}

__device__ unsigned cluster_rank()
{
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ unsigned cluster_size()
{
    unsigned size;
    asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(size));
    return size;
}

__device__ void cluster_arrive()
{
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

__device__ void cluster_wait()
{
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Writes p to place `to` of block `block` of the cluster.
__device__ void send(part *to, unsigned block, part p)
{
    unsigned remote;
    const unsigned local = (unsigned)__cvta_generic_to_shared(to);
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(local), "r"(block));
    asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" ::"r"(remote), "f"(p.largest), "f"(p.sum) : "memory");
}

// Joins the blocks of a cluster; all of them have arrived once, so that their shared memory is there to be written.
__device__ part cluster_join(part p, unsigned size)
{
    __shared__ __align__(8) part blocks[8];
    cluster_wait();
    if (threadIdx.x < size)
        send(&blocks[cluster_rank()], threadIdx.x, p);
    cluster_arrive();
    cluster_wait();
    p = blocks[0];
    for (unsigned i = 1; i < size; i++)
        p = join(p, blocks[i]);
    return p;
}

// Element `e` of a thread's, counted from the block's first: four at a time, or one at a time.
template <bool VECTOR>
__device__ int column(int e)
{
    return VECTOR ? (threadIdx.x + e / 4 * blockDim.x) * 4 + e % 4 : threadIdx.x + e * blockDim.x;
}

template <bool VECTOR>
__device__ void load(float (&v)[HELD], const float *x, int count)
{
#pragma unroll
    for (int e = 0; e < HELD; e += VECTOR ? 4 : 1) {
        const bool inside = column<VECTOR>(e) < count;
        if (VECTOR)
            *(float4 *)&v[e] =
                inside ? *(const float4 *)(x + column<VECTOR>(e)) : make_float4(-1e30f, -1e30f, -1e30f, -1e30f);
        else
            v[e] = inside ? x[column<VECTOR>(e)] : -1e30f;
    }
}

template <bool VECTOR>
__device__ void store(float *y, const float (&v)[HELD], int count)
{
#pragma unroll
    for (int e = 0; e < HELD; e += VECTOR ? 4 : 1) {
        if (column<VECTOR>(e) >= count)
            return;
        if (VECTOR)
            *(float4 *)(y + column<VECTOR>(e)) = *(const float4 *)&v[e];
        else
            y[column<VECTOR>(e)] = v[e];
    }
}

// Not inlined: both in one function would need more than the 64 registers that 1024 threads leave.
template <bool VECTOR>
__device__ __noinline__ void slice(const float *x, float *y, int count, unsigned blocks)
{
    __align__(16) float v[HELD];
    load<VECTOR>(v, x, count);
    part p = {v[0], 0.0f};
#pragma unroll
    for (int e = 1; e < HELD; e++)
        p.largest = fmaxf(p.largest, v[e]);
#pragma unroll
    for (int e = 0; e < HELD; e++) {
        v[e] = __expf(v[e] - p.largest);
        p.sum += v[e];
    }
    if (column<VECTOR>(0) >= count)
        p.sum = 0.0f; // exp(-1e30 - largest) is 0 too, but not where all of a thread's elements are outside
    const float mine = p.largest;
    p = block_join(p);
    if (blocks > 1)
        p = cluster_join(p, blocks);
    const float scale = __expf(mine - p.largest) / p.sum;
#pragma unroll
    for (int e = 0; e < HELD; e++)
        v[e] *= scale;
    store<VECTOR>(y, v, count);
}

__global__ void __launch_bounds__(1024) softmax(const float *x, float *y, int R, int N)
{
    const unsigned blocks = cluster_size();
    if (blocks > 1)
        cluster_arrive();
    const int share = ((N + (int)blocks - 1) / (int)blocks + 3) / 4 * 4; // columns of a block
    const int first = (int)cluster_rank() * share, count = min(share, N - first);
    const size_t at = (size_t)(blockIdx.x / blocks) * N + first;
    if (N % 4 == 0)
        slice<true>(x + at, y + at, count, blocks);
    else
        slice<false>(x + at, y + at, count, blocks);
}
