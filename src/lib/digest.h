/*
 * 64-bit digests of lists of integers, by which states (state.h) distinguish lists without storing
 * them. Two distinct lists have the same digest with a probability of 2^-64. A list with a given
 * digest is easy to construct.
 *
 * Each word is added, and the sum is mixed as in SplitMix64 (Steele, Lea and Flood, "Fast
 * Splittable Pseudorandom Number Generators", OOPSLA 2014). Mixing is a bijection, so lists that
 * differ in one word have different digests. Pure and thread-safe.
 */
#ifndef GPUHIST_DIGEST_H
#define GPUHIST_DIGEST_H

#include <stdint.h>

/*
 * Returns the digest of a list that ends with `word`. `digest` is that of the list without it, 0
 * for an empty list.
 */
static inline uint64_t digest_add(uint64_t digest, uint64_t word)
{
    uint64_t z = digest + word + 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

#endif
