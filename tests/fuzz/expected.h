/*
 * What a trial must print and say, computed by the definitions, one value at a time: nothing of
 * the program is used but the names of options and types.
 *
 * Not thread-safe.
 */
#ifndef GPUHIST_FUZZ_EXPECTED_H
#define GPUHIST_FUZZ_EXPECTED_H

#include "trial.h"

/* A text being made, or made; owned. */
struct expected_text {
    FILE *file;
    char *text;
    size_t bytes;
};

struct expected {
    enum status status;
    struct expected_text message; /* of a status that is not STATUS_OK */
    struct expected_text result;
    struct expected_text purged;
    struct expected_text report; /* what stands on stderr beside the message */
    /*
     * A header lacks a name, or has it twice. Files are read at the same time, so something else
     * may end the run before that, and of the survivors any number may have been printed.
     */
    bool is_header_wrong;
    bool is_undefined; /* a header has wrong quotes: no rule says which fields it has */
};

/* Computes it for a trial that is a plan, over files of those names. The caller destroys it. */
void expected_make(struct expected *expected, const struct trial *trial, char *const names[2]);

void expected_destroy(struct expected *expected);

#endif
