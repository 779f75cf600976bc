/*
 * A dictionary of byte strings that all worker threads share. It numbers each distinct string, so
 * that keys of 64 bits stand for strings. The numbers depend on which thread comes first;
 * dictionary_order ranks them by their bytes.
 */
#ifndef GPUHIST_DICTIONARY_H
#define GPUHIST_DICTIONARY_H

#include "lib/keyed_hash.h"
#include "lib/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dictionary;

/* The part of one thread: a cache of the strings found lately, and memory for new strings. */
struct dictionary_cache;

/*
 * Creates an empty dictionary that takes at most `limit_bytes` of memory, without its caches. The
 * seeds of `hash` keep an input from making its strings collide. Returns NULL if there is no
 * memory. The caller destroys the dictionary after its caches.
 */
struct dictionary *dictionary_create(uint64_t limit_bytes, struct keyed_hash hash);

/* NULL is allowed. */
void dictionary_destroy(struct dictionary *dictionary);

/*
 * Creates a cache for one thread; NULL if there is no memory. The caller frees it with free(); the
 * strings stay in the dictionary.
 */
struct dictionary_cache *dictionary_cache_create(struct dictionary *dictionary);

/*
 * Sets *id to the number of string[0..bytes), and adds the string if it is new. The numbers are 0,
 * 1 and so on. Returns STATUS_DATA with a message if the limit is passed, there is no memory, there
 * are 2^32 - 1 strings, or the string has 2^32 bytes or more; the dictionary can then only be
 * destroyed. Thread-safe on distinct caches.
 */
enum status dictionary_find(struct dictionary_cache *cache, const char *string, size_t bytes,
                            uint32_t *id, struct failure *failure);

/* Return the number of strings, their memory in bytes, and the longest one's bytes. Thread-safe. */
uint32_t dictionary_count(const struct dictionary *dictionary);
uint64_t dictionary_memory(const struct dictionary *dictionary);
uint64_t dictionary_longest(const struct dictionary *dictionary);

/*
 * Returns the string with that number, valid until the dictionary is destroyed; *bytes: its length.
 * Thread-safe, for numbers that the calling thread has found itself or has synchronized with.
 */
const char *dictionary_text(const struct dictionary *dictionary, uint32_t id, size_t *bytes);

/* Fetches the string into the CPU's cache, for a later dictionary_text. */
void dictionary_prefetch(const struct dictionary *dictionary, uint32_t id);

/* All strings in ascending order of their bytes, as memcmp compares; a prefix comes first. */
struct dictionary_order {
    uint32_t *ids;   /* [count], owned: the number of the string with each rank */
    uint32_t *ranks; /* [count], owned: the rank of the string with each number */
};

/*
 * Sorts the strings on up to `threads` threads; none may add strings meanwhile. It takes 26 bytes
 * of memory a string, beyond the limit, and 8 of them until the caller calls
 * dictionary_order_destroy. Returns false if there is no memory.
 */
bool dictionary_order_create(const struct dictionary *dictionary, unsigned threads,
                             struct dictionary_order *order);

void dictionary_order_destroy(struct dictionary_order *order);

#endif
