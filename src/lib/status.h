/*
 * Exit statuses and failures.
 *
 * The function that first detects a failure writes its message into the caller's struct failure and
 * returns its status. All functions above it only return that status. main() prints the message.
 * Nothing else prints errors, except reports of invalid tokens (parse_errors.h), and of a failed
 * GPU whose work the CPU repeats (run.c).
 */
#ifndef GPUHIST_STATUS_H
#define GPUHIST_STATUS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* The exit statuses, as documented in the manual. */
enum status {
    STATUS_OK = 0,
    STATUS_DATA = 1,   /* data or I/O error */
    STATUS_USAGE = 2,  /* the command line is wrong */
    STATUS_ENGINE = 3, /* the requested engine cannot run; within the program: a device failed */
};

/* A failure that has no position in the input. */
#define STATUS_NOWHERE UINT64_MAX

/* The format of file names in messages: cuts a name that would leave no space for the reason. */
#define STATUS_NAME "%.4096s"

struct failure {
    enum status status;
    uint64_t position; /* byte offset in the input stream, or STATUS_NOWHERE */
    char message[PATH_MAX + 256];
};

/*
 * Fills in a failure at byte `position` of the input stream and returns `status`. The message has
 * no "gpuhist: " and no newline, and is cut if it does not fit. Thread-safe on distinct failures.
 */
enum status status_fail_at(struct failure *failure, uint64_t position, enum status status,
                           const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Like status_fail_at, but for a failure that has no position in the input. */
#define status_fail(failure, status, ...) \
    status_fail_at(failure, STATUS_NOWHERE, status, __VA_ARGS__)

/*
 * Stores in *failure, which is valid if `status` is not STATUS_OK, the failure to report, and
 * returns its status: *failure or `other`, whichever has the lower position. A failure of a device
 * precedes all others, because the lost chunks may have an earlier failure.
 */
enum status status_fail_first(struct failure *failure, enum status status,
                              const struct failure *other);

/*
 * Prints the line "gpuhist: MESSAGE" on standard error, wrapped between words to the width of a
 * terminal. Unprintable bytes become '?' (printable.h), so that a file name can neither break the
 * line nor control a terminal. Thread-safe.
 */
void status_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
