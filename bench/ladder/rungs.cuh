/*
 * The rungs of the histogram's ladder: the ways to count, all on the same values and bins. Each one
 * adds to the same table, so any two can be compared.
 */
#ifndef GPUHIST_LADDER_RUNGS_CUH
#define GPUHIST_LADDER_RUNGS_CUH

#include "ladder.cuh"

enum distribution { UNIFORM, SKEWED, EQUAL, SORTED, TWO, WARPS, DISTRIBUTIONS };

/* A number of bins, and memory for values and counts. A value is the number of its bin. */
struct input {
    struct cuda_device device;
    uint32_t bins;
    size_t values;
    int32_t *d_values;
    uint32_t *d_counts;    /* [bins], where rungs count */
    uint32_t *d_reference; /* [bins], by the first rung */
    uint64_t *d_outside;   /* [BINNING_OUTSIDE], of ours */
    struct element element;
    struct binning binning;
};

using count_function = std::function<void(const int32_t *d_values, size_t values, cudaStream_t)>;

/* Properties of a rung that the tables use. */
enum rung_kind {
    RUNG_PUBLISHED,
    RUNG_PERSISTING, /* the table, or the part that fits, persists in L2 */
    RUNG_OURS,       /* also timed in chunks */
    RUNG_PARTITION,  /* several kernels, each also timed by itself */
};

struct rung {
    std::string name;
    enum rung_kind kind;
    count_function count; /* counts that number of the values in d_counts, on a stream */
};

/* The rungs for that many bins, from the first to the last. The input outlives them. */
std::vector<struct rung> ladder_rungs(const struct input &input);

/* Fills the values. */
void ladder_fill(const struct input &input, enum distribution distribution);

#endif
