/* The aggregate of several value columns: the aggregates of one run per column. */
#ifndef GPUHIST_COLUMNS_H
#define GPUHIST_COLUMNS_H

#include "aggregate/store.h"

#include <stdatomic.h>
#include <stddef.h>

/* The run of one value column. */
struct columns_run {
    const struct plan *plan;
    const struct store *store;
    void *aggregate;
    atomic_uint_least64_t elements;
};

struct columns {
    size_t count;
    struct columns_run runs[]; /* [count] */
};

#endif
