/*
 * A trial of the fuzz target jobs: operation, input and execution, decoded from the fuzzer's bytes.
 * Any bytes give a trial; numbers are such that most trials make a plan.
 *
 * Not thread-safe.
 */
#ifndef GPUHIST_FUZZ_TRIAL_H
#define GPUHIST_FUZZ_TRIAL_H

#include "value/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TRIAL_DATA_MAX       ((size_t)64 << 10)
#define TRIAL_EDGES_MAX      8
#define TRIAL_PREDICATES_MAX 5
#define TRIAL_WORDS_MAX      64

/* The way in which the program gets the bytes. */
enum trial_way { TRIAL_FILE, TRIAL_PIPE, TRIAL_ZSTD_FILE, TRIAL_ZSTD_PIPE, TRIAL_WAYS };

/* The bins, named like the options. */
enum trial_bins {
    TRIAL_BINS,
    TRIAL_BINS_RANGE,
    TRIAL_WIDTH,
    TRIAL_WIDTH_RANGE,
    TRIAL_RANGE,
    TRIAL_LOG2,
    TRIAL_LOG10,
    TRIAL_EDGES,
    TRIAL_AUTOMATIC,
    TRIAL_BINNINGS
};

struct trial_predicate {
    enum predicate_relation relation;
    __int128 values[TRIAL_EDGES_MAX]; /* [count]: two for --in, any number for --any-of */
    size_t count;
};

struct trial {
    /* the operation */
    /* OPERATION_HISTOGRAM also for automatic bins */
    enum operation_id operation;
    struct element element;
    enum trial_bins bins;
    uint64_t bin_count;
    uint64_t width;
    __int128 low; /* bounds of --range */
    __int128 high;
    __int128 edges[TRIAL_EDGES_MAX]; /* [edge_count] */
    size_t edge_count;
    enum outside_policy outside;
    bool zeros;
    unsigned top; /* uniq: number of largest counts; 0: all */
    bool is_raw;  /* uniq: --raw */
    struct reductions reductions;
    struct trial_predicate predicates[TRIAL_PREDICATES_MAX]; /* [predicate_count] */
    size_t predicate_count;
    struct stalin_sort_rules rules;

    /* the input */
    bool is_text;
    struct text_rules text;  /* more[0]: weights, or the groups of --by; 0: none */
    const char *field_name;  /* name of text.field, which is then 1; NULL: none */
    const char *second_name; /* name of text.more[0]; NULL: none */
    uint64_t header_lines;   /* not 0 if there are names */
    enum invalid_policy invalid;
    char *data; /* [bytes], owned */
    size_t bytes;
    size_t split; /* bytes of the first file; `bytes`: there is only one file */

    /* the execution */
    enum trial_way way;
    size_t frame_bytes; /* bytes per frame of compressed input */
    size_t chunk_bytes;
    unsigned threads;
};

/* Returns whether the second column, if any, has the groups. */
static inline bool trial_has_groups(const struct trial *trial)
{
    return trial->text.more[0] != 0 &&
           (trial->operation == OPERATION_REDUCE || trial->operation == OPERATION_COUNT);
}

/* Reads a trial. The caller destroys it. */
void trial_read(struct trial *trial, const uint8_t *bytes, size_t count);

void trial_destroy(struct trial *trial);

/*
 * Makes the command line without files: words[0..*count) and NULL. The words are written to `text`,
 * which must live as long.
 */
void trial_write_words(const struct trial *trial, char *words[TRIAL_WORDS_MAX], size_t *count,
                       char *text, size_t size);

/* Writes an integer. */
void trial_print_number(FILE *out, __int128 number);

/* Returns the name of a relation's option. */
const char *trial_relation_name(enum predicate_relation relation);

#endif
