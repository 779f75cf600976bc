/* Implements keyed_hash.h: the seeds. */
#include "config.h"

#include "base/keyed_hash.h"

#include <sys/random.h>
#include <time.h>

/* The time and an address are the seeds if the kernel has no random numbers yet. */
struct keyed_hash keyed_hash_make(void)
{
    struct keyed_hash made;

    if (getrandom(made.seeds, sizeof made.seeds, GRND_NONBLOCK) != (ssize_t)sizeof made.seeds) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        made.seeds[0] = (uint64_t)now.tv_sec << 32 ^ (uint64_t)now.tv_nsec ^ (uintptr_t)&made;
        made.seeds[1] = made.seeds[0] * 0x9e3779b97f4a7c15;
        made.seeds[2] = made.seeds[1] * 0xbf58476d1ce4e5b9;
    }
    made.seeds[1] |= 1;
    made.seeds[2] |= 1;
    return made;
}
