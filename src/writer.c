#include "config.h"

#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WRITER_BUFFER_BYTES  ((size_t)256 << 10)
#define WRITER_RESERVE_BYTES ((size_t)64 << 10)
#define WRITER_SUFFIX        ".XXXXXX"

struct writer {
    int fd;
    const char *name; /* NULL: standard output */
    bool replaces;    /* a file that gets its name when it is complete; else written directly */
    char target[PATH_MAX];         /* that name, links followed */
    char temporary[PATH_MAX + 32]; /* a name that it has before; empty: none */
    int error;                     /* errno of the first write that failed */
    size_t used;
    char buffer[WRITER_BUFFER_BYTES];
};

static enum status writer_fail(const char *name, int error, struct failure *failure)
{
    return status_fail(failure, STATUS_DATA, "cannot write " STATUS_NAME ": %s",
                       name ? name : "standard output", strerror(error));
}

/*
 * Finds the file behind `name`, links followed, and the mode that it has or would get. Returns
 * whether it is one to be replaced: a regular file, or none yet.
 */
static bool writer_find_target(const char *name, char target[PATH_MAX], mode_t *mode)
{
    struct stat info;

    if (!realpath(name, target))
        snprintf(target, PATH_MAX, "%s", name);
    if (lstat(target, &info) == 0) {
        *mode = info.st_mode & 0777;
        return S_ISREG(info.st_mode);
    }
    mode_t mask = umask(0);
    umask(mask);
    *mode = 0666 & ~mask;
    return true;
}

/* Makes the directory that holds `path` of it. */
static void writer_cut_to_directory(char path[PATH_MAX])
{
    char *slash = strrchr(path, '/');
    snprintf(slash ? slash + 1 : path, 2, ".");
}

enum status writer_check(const char *name, struct failure *failure)
{
    char path[PATH_MAX];
    mode_t mode;
    struct stat info;

    if (!name) {
        int flags = fcntl(STDOUT_FILENO, F_GETFL);
        bool writable = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
        return writable ? STATUS_OK : writer_fail(name, EBADF, failure);
    }
    if (strlen(name) >= PATH_MAX - sizeof WRITER_SUFFIX)
        return writer_fail(name, ENAMETOOLONG, failure);
    if (stat(name, &info) == 0 && S_ISDIR(info.st_mode))
        return writer_fail(name, EISDIR, failure);
    if (writer_find_target(name, path, &mode))
        writer_cut_to_directory(path);
    if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
        return writer_fail(name, errno, failure);
    return STATUS_OK;
}

/*
 * Opens a file without a name in the directory of the target, so that nothing is left behind
 * however the process ends; where the file system has none, one with a temporary name.
 */
static int writer_open_temporary(struct writer *writer)
{
    int fd = -1;

#ifdef O_TMPFILE
    char directory[PATH_MAX];
    snprintf(directory, sizeof directory, "%s", writer->target);
    writer_cut_to_directory(directory);
    fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
#endif
    if (fd < 0) {
        snprintf(writer->temporary, sizeof writer->temporary, "%s" WRITER_SUFFIX, writer->target);
        fd = mkostemp(writer->temporary, O_CLOEXEC);
        if (fd < 0)
            writer->temporary[0] = '\0';
    }
    return fd;
}

/* Opens the named file, or a temporary one in its place; false with errno set. */
static bool writer_open_file(struct writer *writer)
{
    mode_t mode;

    writer->replaces = writer_find_target(writer->name, writer->target, &mode);
    if (!writer->replaces)
        writer->fd = open(writer->name, O_WRONLY | O_TRUNC | O_CLOEXEC);
    else if ((writer->fd = writer_open_temporary(writer)) >= 0 && fchmod(writer->fd, mode) != 0)
        return false;
    return writer->fd >= 0;
}

/* Gives the complete file the target's name; false with errno set. */
static bool writer_name_file(struct writer *writer)
{
    if (!writer->temporary[0]) {
        char descriptor[32];
        snprintf(descriptor, sizeof descriptor, "/proc/self/fd/%d", writer->fd);
        if (linkat(AT_FDCWD, descriptor, AT_FDCWD, writer->target, AT_SYMLINK_FOLLOW) == 0)
            return true;
        if (errno != EEXIST)
            return false;
        /* A link cannot replace a file; a rename can. */
        snprintf(writer->temporary, sizeof writer->temporary, "%s.%ld", writer->target,
                 (long)getpid());
        if (linkat(AT_FDCWD, descriptor, AT_FDCWD, writer->temporary, AT_SYMLINK_FOLLOW) != 0) {
            writer->temporary[0] = '\0';
            return false;
        }
    }
    if (rename(writer->temporary, writer->target) != 0)
        return false;
    writer->temporary[0] = '\0';
    return true;
}

enum status writer_open(struct writer **writer, const char *name, struct failure *failure)
{
    struct writer *made = malloc(sizeof *made);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for the output");

    made->fd = STDOUT_FILENO;
    made->name = name;
    made->replaces = false;
    made->temporary[0] = '\0';
    made->error = 0;
    made->used = 0;
    if (name && !writer_open_file(made)) {
        writer_fail(name, errno, failure);
        writer_discard(made);
        return failure->status;
    }
    *writer = made;
    return STATUS_OK;
}

static void writer_flush(struct writer *writer)
{
    size_t done = 0;

    while (done < writer->used && writer->error == 0) {
        ssize_t n = write(writer->fd, writer->buffer + done, writer->used - done);
        if (n >= 0)
            done += (size_t)n;
        else if (errno != EINTR)
            writer->error = errno;
    }
    writer->used = 0;
}

char *writer_reserve(struct writer *writer, size_t bytes)
{
    if (bytes > sizeof writer->buffer - writer->used)
        writer_flush(writer);
    return writer->buffer + writer->used;
}

void writer_commit(struct writer *writer, size_t bytes)
{
    writer->used += bytes;
}

void writer_write(struct writer *writer, const void *data, size_t bytes)
{
    const char *from = data;

    while (bytes > 0) {
        size_t part = bytes < WRITER_RESERVE_BYTES ? bytes : WRITER_RESERVE_BYTES;
        memcpy(writer_reserve(writer, part), from, part);
        writer_commit(writer, part);
        from += part;
        bytes -= part;
    }
}

enum status writer_close(struct writer *writer, struct failure *failure)
{
    enum status status = STATUS_OK;

    writer_flush(writer);
    if (writer->error == 0 && writer->replaces && !writer_name_file(writer))
        writer->error = errno;
    if (close(writer->fd) != 0 && writer->error == 0)
        writer->error = errno;
    writer->fd = -1;
    if (writer->error != 0)
        status = writer_fail(writer->name, writer->error, failure);
    writer_discard(writer);
    return status;
}

void writer_discard(struct writer *writer)
{
    if (!writer)
        return;
    if (writer->name && writer->fd >= 0)
        close(writer->fd);
    if (writer->temporary[0])
        unlink(writer->temporary);
    free(writer);
}
