/*
 * Files that have a temporary name until they get their own. A signal that ends the process removes
 * them first, whichever thread receives it; only SIGKILL leaves them. Ignored signals stay ignored,
 * and handlers that others have installed stay.
 *
 * Not thread-safe. A name is not copied: it must not change until temporary_rename has renamed the
 * file, or temporary_remove.
 */
#ifndef GPUHIST_TEMPORARY_H
#define GPUHIST_TEMPORARY_H

#include <stdbool.h>
#include <stddef.h>

/* Files that can have a temporary name at once. */
#define TEMPORARY_NAMES 4

/*
 * Creates a file for reading and writing. Replaces the six X at the end of `name`, as mkostemp
 * does. Returns the descriptor, which the caller closes, or -1 and sets errno.
 */
int temporary_create(char *name);

/* Like temporary_create, but for a file without a name, of which nothing is left. Thread-safe. */
int temporary_open_nameless(const char *directory);

/* Writes the path of an open descriptor in /proc, through which temporary_link finds the file. */
#define TEMPORARY_DESCRIPTOR_SIZE 32
void temporary_write_descriptor(char path[TEMPORARY_DESCRIPTOR_SIZE], int fd);

/* Gives the file without a name that is open as `fd` this name. Returns false and sets errno. */
bool temporary_link(int fd, const char *name);

/*
 * Renames each file of names[0..count) to its target, but those that are NULL; no signal ends the
 * process between two of them. Returns how many have been renamed, and sets errno if the next one
 * could not be.
 */
size_t temporary_rename(const char *const *names, const char *const *targets, size_t count);

/* Removes the file's name. */
void temporary_remove(const char *name);

/* Removes all names, and ends the process by a signal, also in its handler. Thread-safe. */
void temporary_end(int number);

#endif
