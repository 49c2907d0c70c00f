// The kernels behind core/ops.h. The arithmetic is in headers shared with the CPU; here is only who does which element.
// Lean on purpose: NVRTC compiles this when a chip is met for the first time, so dtypes are switched on at run time.
#include "fill.h"
#include "judge.h"
#include "ops_kernels.h"
#include "planes.h"
#include "words.h"

static __device__ __forceinline__ uint64_t thread_index()
{
    return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ __forceinline__ uint64_t thread_count()
{
    return (uint64_t)gridDim.x * blockDim.x;
}

static __device__ __forceinline__ uint64_t load_bits(const void *base, int size, uint64_t index)
{
    switch (size) {
    case 1:
        return ((const uint8_t *)base)[index];
    case 2:
        return ((const uint16_t *)base)[index];
    case 4:
        return ((const uint32_t *)base)[index];
    default:
        return ((const uint64_t *)base)[index];
    }
}

static __device__ __forceinline__ void store_bits(void *base, int size, uint64_t index, uint64_t bits)
{
    switch (size) {
    case 1:
        ((uint8_t *)base)[index] = (uint8_t)bits;
        break;
    case 2:
        ((uint16_t *)base)[index] = (uint16_t)bits;
        break;
    case 4:
        ((uint32_t *)base)[index] = (uint32_t)bits;
        break;
    default:
        ((uint64_t *)base)[index] = bits;
    }
}

// Four elements by one store where the base allows it: 16, 8 or 4 bytes a thread.
static __device__ __forceinline__ void store_four(void *base, int size, uint64_t group, const uint32_t e[4])
{
    if (size == 4)
        ((uint4 *)base)[group] = make_uint4(e[0], e[1], e[2], e[3]);
    else if (size == 2)
        ((uint2 *)base)[group] = make_uint2((e[0] & 0xffff) | e[1] << 16, (e[2] & 0xffff) | e[3] << 16);
    else
        ((uint32_t *)base)[group] = (e[0] & 0xff) | (e[1] & 0xff) << 8 | (e[2] & 0xff) << 16 | e[3] << 24;
}

static __device__ __forceinline__ void store_two(void *base, int size, uint64_t group, const uint64_t e[2])
{
    if (size == 8)
        ((ulonglong2 *)base)[group] = make_ulonglong2(e[0], e[1]);
    else
        ((uint2 *)base)[group] = make_uint2((uint32_t)e[0], (uint32_t)e[1]);
}

extern "C" __global__ void __launch_bounds__(AKO_BLOCK)
    ako_fill_narrow(void *base, int size, uint64_t count, ako_fill_plan plan)
{
    bool aligned = (uint64_t)base % (4 * size) == 0;
    for (uint64_t group = thread_index(); 4 * group < count; group += thread_count()) {
        uint32_t elements[4];
        ako_narrow_groups(elements, &plan, group, 1);
        if (aligned && 4 * group + 4 <= count) {
            store_four(base, size, group, elements);
            continue;
        }
        for (int i = 0; i < 4; i++)
            if (4 * group + i < count)
                store_bits(base, size, 4 * group + i, elements[i]);
    }
}

extern "C" __global__ void __launch_bounds__(AKO_BLOCK)
    ako_fill_wide(void *base, int size, uint64_t count, ako_fill_plan plan)
{
    bool aligned = (uint64_t)base % (2 * size) == 0;
    for (uint64_t group = thread_index(); 2 * group < count; group += thread_count()) {
        uint64_t elements[2];
        ako_wide_group(elements, &plan, group);
        if (aligned && 2 * group + 2 <= count) {
            store_two(base, size, group, elements);
            continue;
        }
        for (int i = 0; i < 2; i++)
            if (2 * group + i < count)
                store_bits(base, size, 2 * group + i, elements[i]);
    }
}

extern "C" __global__ void __launch_bounds__(AKO_BLOCK)
    ako_fill_plain(void *base, int size, uint64_t count, ako_fill_plan plan)
{
    for (uint64_t i = thread_index(); i < count; i += thread_count())
        store_bits(base, size, i, ako_plain_element(&plan, i));
}

static __device__ uint64_t warp_sum(uint64_t value)
{
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;
}

static __device__ __noinline__ void add_to(uint64_t *total, uint64_t value)
{
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0 && value != 0)
        atomicAdd((unsigned long long *)total, (unsigned long long)value);
}

// Non-negative doubles order as their bits do.
static __device__ __noinline__ void max_to(double *total, double value)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        double other = __shfl_down_sync(0xffffffffu, value, offset);
        value = other > value ? other : value;
    }
    if (threadIdx.x % 32 == 0 && value > 0)
        atomicMax((unsigned long long *)total, (unsigned long long)ako_bits_of_f64(value));
}

static __device__ __forceinline__ uint64_t hash_pack(ulonglong2 pack, uint64_t index)
{
    return ako_hash_word(pack.x, 2 * index) + ako_hash_word(pack.y, 2 * index + 1);
}

// Four loads are under way at a time: with one after the other they would be waited for longer than they take.
extern "C" __global__ void __launch_bounds__(AKO_BLOCK) ako_hash(const void *base, uint64_t bytes, uint64_t *sum)
{
    const ulonglong2 *packs = (const ulonglong2 *)base;
    uint64_t mine = 0, n = (uint64_t)base % 16 == 0 ? bytes / 16 : 0, step = thread_count(), i = thread_index();
    for (; i + 3 * step < n; i += 4 * step) {
        ulonglong2 a = packs[i], b = packs[i + step], c = packs[i + 2 * step], d = packs[i + 3 * step];
        mine += hash_pack(a, i) + hash_pack(b, i + step) + hash_pack(c, i + 2 * step) + hash_pack(d, i + 3 * step);
    }
    for (; i < n; i += step)
        mine += hash_pack(packs[i], i);
    for (i = 2 * n + thread_index(); 8 * i < bytes; i += step)
        mine += ako_hash_word(ako_word_at((const unsigned char *)base, bytes, i, 0), i);
    add_to(sum, mine);
}

// *first starts as all ones: none.
extern "C" __global__ void __launch_bounds__(AKO_BLOCK)
    ako_find_other(const void *base, unsigned char byte, uint64_t bytes, uint64_t *first)
{
    uint64_t wanted = ako_word_of(byte);
    for (uint64_t i = thread_index(); 8 * i < bytes; i += thread_count()) {
        uint64_t word = ako_word_at((const unsigned char *)base, bytes, i, byte);
        if (word == wanted)
            continue;
        atomicMin((unsigned long long *)first, (unsigned long long)(8 * i + ako_first_difference(word, wanted)));
        return; // this thread's later words lie behind
    }
}

extern "C" __global__ void __launch_bounds__(AKO_BLOCK)
    ako_count_poisoned(const void *base, uint64_t count, int size, uint64_t *total)
{
    uint64_t mine = 0;
    for (uint64_t i = thread_index(); i < count; i += thread_count())
        mine += load_bits(base, size, i) == ako_ones(size);
    add_to(total, mine);
}

// Sixteen bytes, or what is left of them with zeros behind.
static __device__ __forceinline__ ulonglong2 load_pack(const void *base, uint64_t bytes, uint64_t pack)
{
    const unsigned char *first = (const unsigned char *)base;
    if ((uint64_t)base % 16 == 0 && 16 * pack + 16 <= bytes)
        return ((const ulonglong2 *)base)[pack];
    return make_ulonglong2(ako_word_at(first, bytes, 2 * pack, 0),
                           16 * pack + 8 < bytes ? ako_word_at(first, bytes, 2 * pack + 1, 0) : 0);
}

static __device__ __forceinline__ uint64_t element_of_pack(ulonglong2 pack, int size, int i)
{
    int shift = 8 * size * i;
    return ((shift < 64 ? pack.x : pack.y) >> (shift % 64)) & ako_ones(size);
}

// Block b judges elements [b * chunk, (b + 1) * chunk), chunk being whole packs, and leaves its mismatches in bad[b].
extern "C" __global__ void __launch_bounds__(AKO_BLOCK)
    ako_compare(const void *got, const void *expected, int size, uint64_t count, uint64_t chunk, ako_judge judge,
                ako_tally *total, uint64_t *bad)
{
    uint64_t begin = blockIdx.x * chunk, end = begin + chunk < count ? begin + chunk : count;
    int per_pack = 16 / size;
    ako_tally tally = {};
#pragma unroll 1
    for (uint64_t i = begin + threadIdx.x * per_pack; i < end; i += AKO_BLOCK * per_pack) {
        ulonglong2 x = load_pack(got, count * size, i / per_pack), y = load_pack(expected, count * size, i / per_pack);
        int n = end - i < per_pack ? (int)(end - i) : per_pack;
#pragma unroll 1
        for (int j = 0; j < n; j++)
            tally.mismatches +=
                (uint64_t)ako_judge_pair(&judge, &tally, element_of_pack(x, size, j), element_of_pack(y, size, j));
    }
    add_to(&bad[blockIdx.x], tally.mismatches);
    add_to(&total->mismatches, tally.mismatches);
    add_to(&total->nan_got, tally.nan_got);
    add_to(&total->nan_expected, tally.nan_expected);
    add_to(&total->inf_got, tally.inf_got);
    add_to(&total->inf_expected, tally.inf_expected);
    add_to(&total->nonzero_got, tally.nonzero_got);
    add_to(&total->nonzero_expected, tally.nonzero_expected);
    max_to(&total->max_abs, tally.max_abs);
    max_to(&total->max_rel, tally.max_rel);
}

// Elements at any places; a place is an address with the element's size in its top byte.
extern "C" __global__ void ako_gather(const uint64_t *places, int n, uint64_t *out)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = load_bits((const void *)(places[i] & ((uint64_t)1 << 56) - 1), (int)(places[i] >> 56), 0);
}

// Where a thread is in a row of `length` cells after a whole block of them.
static __device__ __forceinline__ void next_cell(int *row, int *cell, int length)
{
    *row += AKO_BLOCK / length;
    *cell += AKO_BLOCK % length;
    if (*cell >= length) {
        *cell -= length;
        ++*row;
    }
}

// The elements of a tensor in any layout, one after another. Neighbouring threads read what lies closest, and write what
// lies side by side.
extern "C" __global__ void __launch_bounds__(AKO_BLOCK) ako_collect(void *to, const void *from, ako_planes p)
{
    __shared__ uint64_t cells[AKO_TILE_CELLS];
    int size = (int)p.element;
    bool down = p.column.from < p.line.from;
    for (int64_t t = blockIdx.x; t < p.n_tiles; t += gridDim.x) {
        ako_tile tile = ako_tile_of(&p, t);
        int rows = down ? tile.n_cells : tile.n_lines, length = down ? tile.n_lines : tile.n_cells;
        int pitch = ako_tile_pitch(&tile);
        for (int i = threadIdx.x / length, j = threadIdx.x % length; i < rows; next_cell(&i, &j, length)) {
            int64_t line = down ? j : i, cell = down ? i : j;
            cells[line * pitch + cell] =
                load_bits(from, size, (uint64_t)(tile.from + line * p.column.from + cell * p.line.from));
        }
        __syncthreads();
        for (int i = threadIdx.x / tile.n_cells, j = threadIdx.x % tile.n_cells; i < tile.n_lines;
             next_cell(&i, &j, tile.n_cells))
            store_bits(to, size, (uint64_t)(tile.to + i * p.column.to + j * p.line.to), cells[i * pitch + j]);
        __syncthreads();
    }
}

static __device__ __forceinline__ uint64_t global_ns()
{
    uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

// Spins for `ns` and says how many of them passed and in how many cycles: the SM clock. Both ends lie at a step of the
// timer, so that its step does not matter.
extern "C" __global__ void ako_spin(uint64_t ns, uint64_t *out)
{
    uint64_t before = global_ns(), start, now;
    do
        start = global_ns();
    while (start == before);
    long long cycles = clock64();
    do
        now = global_ns();
    while (now - start < ns);
    out[0] = now - start;
    out[1] = (uint64_t)(clock64() - cycles);
}
