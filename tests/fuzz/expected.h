/*
 * The expected output and messages of a trial, computed by definition, one value at a time. It only
 * uses the program's names of options and types.
 *
 * Not thread-safe.
 */
#ifndef GPUHIST_FUZZ_EXPECTED_H
#define GPUHIST_FUZZ_EXPECTED_H

#include "trial.h"

/* A string that is complete or being written; owned. */
struct expected_text {
    FILE *file;
    char *text;
    size_t bytes;
};

struct expected {
    enum status status;
    struct expected_text message; /* message of a status other than STATUS_OK */
    struct expected_text result;
    struct expected_text purged;
    struct expected_text report; /* other contents of stderr */
    /*
     * A header lacks a name, or has it twice. Files are read concurrently, so something else can
     * end the run earlier, and any number of the kept elements can be printed.
     */
    bool is_header_wrong;
    bool is_undefined; /* a header has invalid quotes, so its fields are undefined */
};

/* Computes the results of a trial with a plan over named files. The caller destroys them. */
void expected_make(struct expected *expected, const struct trial *trial, char *const names[2]);

void expected_destroy(struct expected *expected);

#endif
