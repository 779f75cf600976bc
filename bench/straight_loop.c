/*
 * Straightforward loops: each operation in its simplest form, with one thread, one value at a time.
 * bench/compare.sh compares gpuhist with it.
 *
 * usage: bench/straight_loop bins N | reduce | count | stalin-sort | text-sum  FILE
 *
 * FILE has int32 values, or for text-sum digits, one number per line. Prints one number, so that
 * the compiler does not remove the loop: a checksum of the counts, the sum, minimum and maximum,
 * the number of values above 0, the number of kept values, the sum.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STRAIGHT_LOOP_BLOCK ((size_t)256 << 10)

struct straight_loop {
    uint64_t *counts; /* [bins] */
    uint64_t bins;
    int64_t sum;
    int64_t number; /* of the digits so far */
    int32_t min;
    int32_t max;
    uint64_t hits;
};

static void straight_loop_bins(struct straight_loop *state, const char *block, size_t bytes)
{
    for (size_t i = 0; i + sizeof(int32_t) <= bytes; i += sizeof(int32_t)) {
        int32_t value;
        memcpy(&value, block + i, sizeof value);
        if (value >= 0 && (uint64_t)value < state->bins)
            state->counts[value]++;
    }
}

static void straight_loop_reduce(struct straight_loop *state, const char *block, size_t bytes)
{
    for (size_t i = 0; i + sizeof(int32_t) <= bytes; i += sizeof(int32_t)) {
        int32_t value;
        memcpy(&value, block + i, sizeof value);
        state->sum += value;
        state->min = value < state->min ? value : state->min;
        state->max = value > state->max ? value : state->max;
    }
}

static void straight_loop_count(struct straight_loop *state, const char *block, size_t bytes)
{
    for (size_t i = 0; i + sizeof(int32_t) <= bytes; i += sizeof(int32_t)) {
        int32_t value;
        memcpy(&value, block + i, sizeof value);
        state->hits += value > 0;
    }
}

static void straight_loop_stalin_sort(struct straight_loop *state, const char *block, size_t bytes)
{
    for (size_t i = 0; i + sizeof(int32_t) <= bytes; i += sizeof(int32_t)) {
        int32_t value;
        memcpy(&value, block + i, sizeof value);
        if (value >= state->max) {
            state->max = value;
            state->hits++;
        }
    }
}

static void straight_loop_text_sum(struct straight_loop *state, const char *block, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (block[i] == '\n') {
            state->sum += state->number;
            state->number = 0;
        } else {
            state->number = 10 * state->number + (block[i] - '0');
        }
    }
}

struct straight_loop_operation {
    const char *name;
    void (*take)(struct straight_loop *state, const char *block, size_t bytes);
};

static const struct straight_loop_operation straight_loop_operations[] = {
    {"bins", straight_loop_bins},         {"reduce", straight_loop_reduce},
    {"count", straight_loop_count},       {"stalin-sort", straight_loop_stalin_sort},
    {"text-sum", straight_loop_text_sum},
};

static const struct straight_loop_operation *straight_loop_find(const char *name)
{
    size_t count = sizeof straight_loop_operations / sizeof *straight_loop_operations;

    for (size_t i = 0; i < count; i++) {
        if (strcmp(straight_loop_operations[i].name, name) == 0)
            return &straight_loop_operations[i];
    }
    return NULL;
}

/* Processes the whole file; returns false with errno set. Blocks of files are whole values.
 */
static bool straight_loop_run(const struct straight_loop_operation *operation,
                              struct straight_loop *state, const char *name)
{
    static char block[STRAIGHT_LOOP_BLOCK];
    int fd = open(name, O_RDONLY);
    ssize_t n = -1;

    if (fd < 0)
        return false;
    while ((n = read(fd, block, sizeof block)) > 0)
        operation->take(state, block, (size_t)n);
    close(fd);
    return n == 0;
}

int main(int argc, char **argv)
{
    const struct straight_loop_operation *operation = argc > 2 ? straight_loop_find(argv[1]) : NULL;
    struct straight_loop state = {.min = INT32_MAX, .max = INT32_MIN};
    uint64_t checksum = 0;

    if (!operation) {
        fprintf(stderr, "usage: straight_loop bins N|reduce|count|stalin-sort|text-sum FILE\n");
        return 2;
    }
    state.bins = strcmp(operation->name, "bins") == 0 ? strtoull(argv[2], NULL, 10) : 0;
    state.counts = calloc(state.bins + 1, sizeof *state.counts);
    if (!state.counts || !straight_loop_run(operation, &state, argv[argc - 1])) {
        perror(argv[argc - 1]);
        return 1;
    }
    for (uint64_t i = 0; i < state.bins; i++)
        checksum += (i + 1) * state.counts[i];
    printf("%lld\n",
           (long long)checksum + state.sum + (long long)state.hits + state.min + state.max);
    free(state.counts);
    return 0;
}
