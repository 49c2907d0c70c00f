/* Byte ranges as 8-byte words: hashing and the search for what is not the expected byte; shared by CPU and GPU. */
#ifndef AKO_WORDS_H
#define AKO_WORDS_H

#include "dtype_bits.h"

/* Bytes 8 index ... 8 index + 7 of the range, little-endian; what lies beyond its end reads as `padding`. */
AKO_SHARED uint64_t ako_word_at(const unsigned char *base, uint64_t bytes, uint64_t index, unsigned char padding)
{
    uint64_t word = 0;
    base += 8 * index;
    bytes -= 8 * index;
#ifdef __CUDACC__
    if (bytes >= 8 && (uint64_t)base % 8 == 0)
        return *(const uint64_t *)base;
#else
    if (bytes >= 8) {
        memcpy(&word, base, 8);
        return word;
    }
#endif
    for (uint64_t i = 0; i < 8; i++)
        word |= (uint64_t)(i < bytes ? base[i] : padding) << (8 * i);
    return word;
}

/* A bijection of 64-bit words in which every input bit reaches every output bit: the finalizer of SplitMix64 (Steele,
 * Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014). */
AKO_SHARED uint64_t ako_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

/* What the word at `index` adds to the hash of its range. A sum of these depends on the order of the words and not on
 * the order of the additions, so that any number of threads can make it. */
AKO_SHARED uint64_t ako_hash_word(uint64_t word, uint64_t index)
{
    return ako_mix(ako_mix(word) + (index + 1) * 0x9e3779b97f4a7c15);
}

AKO_SHARED uint64_t ako_hash_finish(uint64_t sum, uint64_t bytes)
{
    return ako_mix(sum ^ ako_mix(bytes));
}

/* The word of which every byte is this one. */
AKO_SHARED uint64_t ako_word_of(unsigned char byte)
{
    return byte * (uint64_t)0x0101010101010101;
}

/* Position, 0 to 7, of the first byte in memory in which two words differ, which they do. */
AKO_SHARED uint64_t ako_first_difference(uint64_t a, uint64_t b)
{
    uint64_t position = 0;
    while (((a ^ b) >> (8 * position) & 0xff) == 0)
        position++;
    return position;
}

/* All ones in the low 8 `size` bits, 1 <= size <= 8. */
AKO_SHARED uint64_t ako_ones(uint64_t size)
{
    return ~(uint64_t)0 >> (64 - 8 * size);
}

#endif
