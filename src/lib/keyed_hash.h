/*
 * A hash of 64-bit keys with secret seeds, so that nobody can construct input that collides:
 * multiply, shift and multiply.
 *
 * All functions are thread-safe.
 */
#ifndef GPUHIST_KEYED_HASH_H
#define GPUHIST_KEYED_HASH_H

#include <stdint.h>

struct keyed_hash {
    uint64_t seeds[3];
};

/* Creates a hash of random seeds. */
struct keyed_hash keyed_hash_create(void);

/*
 * Returns the hash of a key: the key XOR seeds[0], times seeds[1], XOR its upper half, times
 * seeds[2]. Its upper bits are best. Pure.
 */
static inline uint64_t keyed_hash_of(const struct keyed_hash *hash, uint64_t key)
{
    uint64_t mixed = (key ^ hash->seeds[0]) * hash->seeds[1];
    mixed ^= mixed >> 32;
    return mixed * hash->seeds[2];
}

#endif
