/*
 * Digests: 64 bits that tell one list of integers from another, so that a state (state_job.h) need
 * not hold all of it. They tell by chance, 1 in 2^64 that they do not, and not who means harm.
 *
 * Each word is added and the sum mixed as in SplitMix64 (Steele, Lea and Flood, "Fast Splittable
 * Pseudorandom Number Generators", OOPSLA 2014), which loses nothing: lists that differ in one
 * word always differ in their digest. Pure and thread-safe.
 */
#ifndef GPUHIST_DIGEST_H
#define GPUHIST_DIGEST_H

#include <stdint.h>

/* The digest of a list, of which `digest` is that of all but the last word; of no words it is 0. */
static inline uint64_t digest_add(uint64_t digest, uint64_t word)
{
    uint64_t z = digest + word + 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

#endif
