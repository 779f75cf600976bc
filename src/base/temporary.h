/*
 * Files that have a temporary name until they get their own. While there is one, every signal that
 * ends the process removes it first, whichever thread the signal comes to; SIGKILL alone leaves it.
 * A signal that is ignored stays ignored, and handlers of others stay.
 *
 * All functions are for one thread at a time. A name is used in place: it must stay as it is until
 * it is given up, by temporary_rename or temporary_remove.
 */
#ifndef GPUHIST_TEMPORARY_H
#define GPUHIST_TEMPORARY_H

#include <stdbool.h>

/* Files that can have a temporary name at once. */
#define TEMPORARY_NAMES 4

/*
 * Makes a file, for reading and writing, with a name that begins as `name` does and has other
 * letters in place of the six X at its end. Returns its descriptor, the caller's, or -1 with errno.
 */
int temporary_create(char *name);

/* The path of an open descriptor in /proc, through which temporary_link finds the file. */
#define TEMPORARY_DESCRIPTOR_SIZE 32
void temporary_write_descriptor(char path[TEMPORARY_DESCRIPTOR_SIZE], int fd);

/* Gives the file that is open as `fd`, and has no name, this one; false with errno. */
bool temporary_link(int fd, const char *name);

/* Puts the file in the place of `target`; false with errno: it still has its name. */
bool temporary_rename(const char *name, const char *target);

/* Removes the file's name. */
void temporary_remove(const char *name);

#endif
