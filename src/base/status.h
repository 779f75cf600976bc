/*
 * Exit statuses and failures.
 *
 * The function that first decides that something failed writes the one message about it into the
 * caller's struct failure and returns its status; everybody above only returns that status.
 * main() prints the message. Nothing else in the program writes an error.
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
    STATUS_ENGINE = 3, /* the engine asked for cannot run; within the program: a device failed */
};

/* A failure that does not belong to a place in the input. */
#define STATUS_NOWHERE UINT64_MAX

/* How messages show a file's name: one longer than a path can be must not push out the reason. */
#define STATUS_NAME "%.4096s"

struct failure {
    enum status status;
    uint64_t position; /* byte offset in the input stream, or STATUS_NOWHERE */
    char message[PATH_MAX + 256];
};

/*
 * Writes a failure that belongs to no place in the input and returns `status`. The message is
 * without "gpuhist: " and newline; one that does not fit is cut. Thread-safe on distinct failures.
 */
enum status status_fail(struct failure *failure, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As status_fail, for a failure at byte `position` of the input stream. */
enum status status_fail_at(struct failure *failure, uint64_t position, enum status status,
                           const char *format, ...) __attribute__((format(printf, 4, 5)));

/*
 * Whether failure `a` is to be told rather than `b`: the one that is first in the stream, but that
 * of a device before all, since what was lost with it may hold an earlier one. Pure.
 */
bool status_is_before(const struct failure *a, const struct failure *b);

/*
 * Prints one line "gpuhist: MESSAGE" on standard error, what is not printable shown as '?'
 * (printable.h), so that a file's name can neither break the line nor drive a terminal.
 */
void status_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Whether something could not be written to standard error. Who has closed that wants nothing of
 * it, so nothing is lost.
 */
bool status_has_lost(void);

#endif
