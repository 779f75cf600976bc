/*
 * Files that have a temporary name until they get their own. A signal that ends the process removes
 * them first, whichever thread receives it; only SIGKILL leaves them. Ignored signals and foreign
 * signal handlers stay as they are.
 *
 * Not thread-safe. Names are not copied: they must not change before temporary_rename or
 * temporary_remove.
 */
#ifndef GPUHIST_TEMPORARY_H
#define GPUHIST_TEMPORARY_H

#include <stdbool.h>
#include <stddef.h>

/* Maximum number of files with a temporary name at once. */
#define TEMPORARY_NAMES 4

/*
 * Creates a file for reading and writing. Replaces the six X at the end of `name`, as mkostemp
 * does. Returns the descriptor, which the caller closes, or -1 and sets errno.
 */
int temporary_create(char *name);

/* Like temporary_create, but for a file without a name, which needs no removal. Thread-safe. */
int temporary_open_nameless(const char *directory);

/* Writes the path of an open descriptor in /proc, by which temporary_link finds the file. */
#define TEMPORARY_DESCRIPTOR_SIZE 32
void temporary_write_descriptor(char path[TEMPORARY_DESCRIPTOR_SIZE], int fd);

/* Gives the nameless file open as `fd` a name. On failure returns false and sets errno. */
bool temporary_link(int fd, const char *name);

/*
 * Renames each file of names[0..count), except NULL, to its target; no signal ends the process
 * between two of them. Returns the number of renamed files, and sets errno if the next one failed.
 */
size_t temporary_rename(const char *const *names, const char *const *targets, size_t count);

/* Removes the file's name. */
void temporary_remove(const char *name);

/* Removes all names, and ends the process by a signal. Usable in its handler. Thread-safe. */
void temporary_end(int number);

#endif
