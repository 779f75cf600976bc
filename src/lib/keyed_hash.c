/* Implements keyed_hash.h: the seeds. */
#include "config.h"

#include "lib/keyed_hash.h"

#include <sys/random.h>
#include <time.h>

/* Uses the time and an address as seeds if the kernel has no random numbers yet. */
struct keyed_hash keyed_hash_create(void)
{
    struct keyed_hash hash;

    if (getrandom(hash.seeds, sizeof hash.seeds, GRND_NONBLOCK) != (ssize_t)sizeof hash.seeds) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        hash.seeds[0] = (uint64_t)now.tv_sec << 32 ^ (uint64_t)now.tv_nsec ^ (uintptr_t)&hash;
        hash.seeds[1] = hash.seeds[0] * 0x9e3779b97f4a7c15;
        hash.seeds[2] = hash.seeds[1] * 0xbf58476d1ce4e5b9;
    }
    hash.seeds[1] |= 1;
    hash.seeds[2] |= 1;
    return hash;
}
