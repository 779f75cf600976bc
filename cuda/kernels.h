/*
 * The launchers of the kernels: the only interface between the C engine and code compiled by nvcc.
 * A launcher queues work on a stream, does not wait for it, and returns the status of CUDA. All
 * functions are thread-safe.
 */
#ifndef GPUHIST_KERNELS_H
#define GPUHIST_KERNELS_H

#include "value/plan.h"

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Properties of the GPU that launchers need. */
struct cuda_device {
    int id;
    int multiprocessors;
    int shared_bytes; /* maximum shared memory of a block */
};

/* Elements of the plan's type in device memory; IPv4 addresses have 8 bytes. */
struct cuda_elements {
    const void *d_data;        /* 256-byte aligned */
    size_t count;              /* number of elements; with d_count, an upper bound */
    const uint32_t *d_count;   /* the number, after earlier work on the stream; or NULL */
    const uint64_t *d_weights; /* the weight of each, below 2^63; NULL: 1 */
};

/* The result of parsing a text. An invalid token has no value. */
struct cuda_text_parsed {
    uint32_t values;
    uint32_t invalid;
    uint32_t zeros; /* number of timestamps that are written as 0 */
};

/* Returns the size of device memory that parsing a text of text_bytes needs as working space. */
size_t cuda_text_control_bytes(size_t text_bytes);

/*
 * Returns whether the CPU reads tokens by these rules that cuda_text_launch does not: numbers with
 * an exponent, timestamps with many blanks, IPv6 addresses. The CPU then counts their chunk. Pure.
 */
static inline bool cuda_text_reads_less(const struct text_rules *rules)
{
    return rules->notation == TEXT_FIXED || rules->notation == TEXT_TIME ||
           rules->notation == TEXT_IP || rules->has_exponents;
}

/*
 * Parses the column of a chunk of text, `text_bytes` (at most 2^30) at d_text, by its rules:
 * numbers, timestamps of the known forms, or IPv4 addresses. Stores its values, at most
 * TEXT_SPAN_VALUES_MAX(text_bytes), at d_values in order, as elements of the type in native byte
 * order. IPv4 addresses are elements of 8 bytes. A token that is not read counts as invalid; if the
 * CPU may read it (cuda_text_reads_less), there are no values at all. d_control, of
 * cuda_text_control_bytes, then begins with a struct cuda_text_parsed. All three are 256-byte
 * aligned.
 *
 * The text is read once, in tiles. Decoupled look-back (look_back.cuh) finds the position of
 * each tile's values.
 */
cudaError_t cuda_text_launch(const struct cuda_device *device, const struct text_rules *rules,
                             const struct column *column, const void *d_text, size_t text_bytes,
                             void *d_values, void *d_control, cudaStream_t stream);

/*
 * Copies one element of each of `count` records, fewer than 2^32, to d_elements, in order; its
 * bytes do not change. plan->record_bytes and plan->record_offset have the places of the elements.
 * d_elements is aligned to their size; d_records may be at any address.
 */
cudaError_t cuda_records_launch(const struct cuda_device *device, const struct plan *plan,
                                const void *d_records, size_t count, void *d_elements,
                                cudaStream_t stream);

/* The result of reading the weights of a chunk; all zeros at first. */
struct cuda_weighed {
    uint64_t halves[2]; /* the sums of the lower and of the upper 32 bits of all weights */
    uint32_t invalid; /* not 0: a weight is not from 0 to 2^63 - 1, or a token of text is invalid */
    uint32_t count;   /* number of elements; 0 if some are invalid */
};

/* The places of weights in device memory: one in each record, as an element. */
struct cuda_weights {
    struct element element;
    const void *d_first; /* the first weight, at any address */
    size_t record_bytes;
    size_t count; /* number of records, fewer than 2^31; text: an upper bound */
    /* Text: the results of parsing the values and the weights; else NULL. */
    const struct cuda_text_parsed *d_values;
    const struct cuda_text_parsed *d_weights;
};

/*
 * Stores the weights, widened to 64 bits, at d_widened in order. The weights may be there, if they
 * have 64 bits and are contiguous. Stores the result in *d_weighed.
 */
cudaError_t cuda_weights_launch(const struct cuda_device *device,
                                const struct cuda_weights *weights, uint64_t *d_widened,
                                struct cuda_weighed *d_weighed, cudaStream_t stream);

/* The counters of a histogram in device memory. */
struct cuda_histogram_table {
    uint32_t *d_counts;  /* [bins] */
    uint64_t *d_outside; /* [BINNING_OUTSIDE]: below, above */
    uint64_t *d_sums;    /* [bins]: replaces d_counts if the elements have weights */
};

/*
 * Counts the elements, fewer than 2^32, in the table. Pointers in the binning are device pointers.
 * Any number of launches may share a table. The caller must prevent wrapping of 32-bit counters.
 * 64-bit counters are modulo 2^64.
 */
cudaError_t cuda_histogram_launch(const struct cuda_device *device, const struct element *element,
                                  const struct binning *binning,
                                  const struct cuda_elements *elements,
                                  const struct cuda_histogram_table *table, cudaStream_t stream);

/* Sets *d_greatest to the maximum of itself and of the `bins` counters. */
cudaError_t cuda_histogram_greatest_launch(const struct cuda_device *device,
                                           const uint32_t *d_counts, size_t bins,
                                           uint32_t *d_greatest, cudaStream_t stream);

/*
 * For each predicate i of the plan that is an interval, adds the number of elements in it to
 * d_hits[i]. There are fewer than 2^32 elements. Any number of launches may share d_hits.
 */
cudaError_t cuda_count_intervals_launch(const struct cuda_device *device, const struct plan *plan,
                                        const struct cuda_elements *elements, uint64_t *d_hits,
                                        cudaStream_t stream);

/* Adds to *d_hits the number of elements in a set, whose memory is on the device (value_set_at). */
cudaError_t cuda_count_set_launch(const struct cuda_device *device, const struct plan *plan,
                                  const struct value_set *set, const struct cuda_elements *elements,
                                  uint64_t *d_hits, cudaStream_t stream);

/*
 * The aggregate of operation reduce in device memory. Numbers of several words have the lowest word
 * first; the sum is in two's complement. The minimum and maximum are keys (element.h), with the
 * sign bit flipped for signed types, so that they compare as unsigned words. Without elements they
 * are UINT64_MAX and 0.
 */
struct cuda_reduce_aggregate {
    unsigned long long count;
    unsigned long long sum[2];
    unsigned long long squares[3];
    unsigned long long min;
    unsigned long long max;
    unsigned long long and_bits; /* UINT64_MAX without elements */
    unsigned long long or_bits;
    unsigned long long xor_bits;
};

/*
 * Adds the elements, at most 2^30 bytes, to the aggregate. Adds their squares only if the plan
 * needs them. Any number of launches may share the aggregate.
 */
cudaError_t cuda_reduce_launch(const struct cuda_device *device, const struct plan *plan,
                               const struct cuda_elements *elements,
                               struct cuda_reduce_aggregate *d_aggregate, cudaStream_t stream);

struct table_entry; /* table.h */

/* The counters of a table of uniq, in device memory. */
struct cuda_uniq_control {
    uint64_t used;        /* number of slots with a word */
    uint64_t zeros;       /* the count of the key whose word is 0 */
    uint64_t zeros_added; /* number of additions to that count */
};

/*
 * A hash table of any 64-bit keys in device memory. Its slots, and all entries that the launches
 * below read and write, have *words* instead of keys: a word is the key XOR seeds[0]. A slot whose
 * word is 0 is free. Any number of launches on any streams may share a table.
 */
struct cuda_uniq_table {
    struct table_entry *d_slots; /* [1 << bits] */
    struct cuda_uniq_control *d_control;
    unsigned bits;       /* log2 of the slots, above TABLE_PARTITION_BITS, at most 62 */
    uint64_t used_max;   /* number of slots in use after which no block begins to claim more */
    uint64_t probes_max; /* maximum number of slots that are searched for a word */
    uint64_t seeds[3];   /* the seeds of the hash, from table_seeds */
};

/* Entries that did not fit into a table, in device memory. */
struct cuda_uniq_left {
    struct table_entry *d_entries; /* with capacity for one entry per element */
    uint64_t *d_count;             /* number of entries */
};

/*
 * Counts the keys (uniq_key.h) of the elements, fewer than 2^32, in the table, modulo 2^64.
 * Elements of weight 0 are counted, as 0 times, only if the plan keeps them (plan_keeps_zeros).
 * Appends entries that do not fit to `left`, whose count must be 0. A word may be appended more
 * than once, and may also be in the table. If used_max and probes_max are the number of slots, and
 * there are fewer distinct keys, all of them fit, and d_entries may be NULL. uniq.cu explains the
 * method.
 */
cudaError_t cuda_uniq_count_launch(const struct cuda_device *device, const struct plan *plan,
                                   const struct cuda_elements *elements,
                                   const struct cuda_uniq_table *table,
                                   const struct cuda_uniq_left *left, cudaStream_t stream);

/*
 * Adds entries to the table, and sets the word of each entry that fits to 0. Skips entries whose
 * word is 0. Adds the number of entries that do not fit to *d_left; if all fit, as above, d_left
 * may be NULL.
 */
cudaError_t cuda_uniq_add_launch(const struct cuda_device *device, struct table_entry *d_entries,
                                 size_t entries, const struct cuda_uniq_table *table,
                                 uint64_t *d_left, cudaStream_t stream);

/*
 * Moves the counts above 0 of keys `first` to first + bins - 1 from the table to d_counts[bins],
 * which is all zeros, and adds the number of slots that still have a word to *d_left. The table may
 * then only be read, and cleared: a search would end at an emptied slot.
 */
cudaError_t cuda_uniq_spread_launch(const struct cuda_device *device,
                                    const struct cuda_uniq_table *table, uint64_t first,
                                    uint64_t bins, uint64_t *d_counts, uint64_t *d_left,
                                    cudaStream_t stream);

/* Device memory for the results of stalin-sort; each area is 256-byte aligned. */
struct cuda_stalin_sort_buffers {
    void *d_kept;    /* with capacity for all elements */
    void *d_purged;  /* the same, or NULL if the plan does not need the dropped elements */
    void *d_control; /* [cuda_stalin_sort_control_bytes] */
};

/* Returns the size of d_control for sorting elements of elements_bytes. */
size_t cuda_stalin_sort_control_bytes(size_t elements_bytes);

/*
 * Sorts the elements by the rules of the plan, as if an element with the key *floor preceded them
 * (NULL: none does). Stores the kept elements at d_kept and the dropped elements at d_purged, both
 * in order, and the number of kept elements as a uint64_t at d_control. May overwrite all of
 * d_kept. stalin_sort.cu explains the method.
 */
cudaError_t cuda_stalin_sort_launch(const struct cuda_device *device, const struct plan *plan,
                                    const struct cuda_elements *elements, const uint64_t *floor,
                                    const struct cuda_stalin_sort_buffers *buffers,
                                    cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
