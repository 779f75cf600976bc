#include "config.h"

#include "base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUTPUT_FILE_TEMPORARY ".gpuhist."

/* The descriptor that `name` is another name of (/dev/stdout), standard output or error; or -1. */
static int output_file_find_descriptor(const char *name)
{
    struct stat named;
    struct stat open_file;

    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO && stat(name, &named) == 0; fd++) {
        if (fstat(fd, &open_file) == 0 && named.st_dev == open_file.st_dev &&
            named.st_ino == open_file.st_ino)
            return fd;
    }
    return -1;
}

/*
 * Finds the file behind `name`, links followed, and the mode that it has or would get. Returns
 * whether it is one to be replaced: a regular file, or none yet.
 */
static bool output_file_find_target(const char *name, char target[PATH_MAX], mode_t *mode)
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

/* Puts `entry` in the place of the last part of `path`. */
static void output_file_replace_entry(char *path, size_t size, const char *entry)
{
    char *slash = strrchr(path, '/');
    char *last = slash ? slash + 1 : path;
    snprintf(last, size - (size_t)(last - path), "%s", entry);
}

int output_file_check(const char *name)
{
    char path[PATH_MAX];
    mode_t mode;
    struct stat info;

    if (strlen(name) >= sizeof path)
        return ENAMETOOLONG;
    bool exists = stat(name, &info) == 0;
    if (exists && S_ISDIR(info.st_mode))
        return EISDIR;
    if (output_file_find_target(name, path, &mode) && !exists) {
        if (lstat(path, &info) == 0) /* a link to nothing is not written through */
            return ENOENT;
        output_file_replace_entry(path, sizeof path, ".");
    }
    return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 ? 0 : errno;
}

/*
 * Opens a file without a name in the directory of the target, so that nothing is left behind
 * however the process ends; where that cannot be, one with a temporary name. -1 on failure.
 */
static int output_file_open_temporary(struct output_file *file)
{
    int fd = -1;

    snprintf(file->temporary, sizeof file->temporary, "%s", file->target);
#ifdef O_TMPFILE
    if (access("/proc/self/fd", X_OK) == 0) { /* through which it gets its name */
        output_file_replace_entry(file->temporary, sizeof file->temporary, ".");
        fd = open(file->temporary, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    }
#endif
    if (fd >= 0) {
        file->temporary[0] = '\0';
        return fd;
    }
    output_file_replace_entry(file->temporary, sizeof file->temporary,
                              OUTPUT_FILE_TEMPORARY "XXXXXX");
    fd = mkostemp(file->temporary, O_CLOEXEC);
    if (fd < 0)
        file->temporary[0] = '\0';
    return fd;
}

int output_file_open(struct output_file *file, const char *name)
{
    mode_t mode;
    int open_file = output_file_find_descriptor(name);

    *file = (struct output_file){.fd = -1};
    if (open_file >= 0) {
        file->is_stream = true;
        file->fd = dup(open_file);
        return file->fd >= 0 ? 0 : errno;
    }
    file->replaces = output_file_find_target(name, file->target, &mode);
    file->is_stream = !file->replaces;
    if (file->replaces && (file->fd = output_file_open_temporary(file)) >= 0) {
        int ignored = fchmod(file->fd, mode); /* a file system may have no modes */
        (void)ignored;
        return 0;
    }
    file->replaces = false; /* a directory that takes no new file: the old one is written */
    file->fd = open(name, O_WRONLY | O_TRUNC | O_CLOEXEC);
    return file->fd >= 0 ? 0 : errno;
}

/* Gives the file without a name one beside the target's; false with errno set. */
static bool output_file_link_temporary(struct output_file *file)
{
    char descriptor[32];
    char entry[64];

    snprintf(descriptor, sizeof descriptor, "/proc/self/fd/%d", file->fd);
    for (unsigned i = 0; i < 100; i++) {
        snprintf(entry, sizeof entry, OUTPUT_FILE_TEMPORARY "%ld.%u", (long)getpid(), i);
        snprintf(file->temporary, sizeof file->temporary, "%s", file->target);
        output_file_replace_entry(file->temporary, sizeof file->temporary, entry);
        if (linkat(AT_FDCWD, descriptor, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW) == 0)
            return true;
        if (errno != EEXIST)
            break;
    }
    file->temporary[0] = '\0';
    return false;
}

/* Writes all of `bytes`; false with errno set. */
static bool output_file_write(int fd, const char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t n = write(fd, data, bytes);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            data += n;
            bytes -= (size_t)n;
        }
    }
    return true;
}

/*
 * Writes the complete file over a target that cannot be replaced: a mount point, or somebody else's
 * file in a directory like /tmp. False with errno set.
 */
static bool output_file_copy(const struct output_file *file)
{
    char block[65536];
    ssize_t n = -1;
    int to = open(file->target, O_WRONLY | O_TRUNC | O_CLOEXEC);

    if (to < 0)
        return false;
    if (lseek(file->fd, 0, SEEK_SET) == 0) {
        while ((n = read(file->fd, block, sizeof block)) > 0 &&
               output_file_write(to, block, (size_t)n))
            continue;
    }
    int error = errno;
    if (close(to) != 0 && n == 0)
        return false;
    errno = error;
    return n == 0;
}

/*
 * Puts the file in the target's place; false with errno set. No signal to this thread, by now the
 * only one that works, comes between its getting a name and that name's being the target's.
 */
static bool output_file_replace(struct output_file *file)
{
    sigset_t all;
    sigset_t before;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    bool is_done = (file->temporary[0] || output_file_link_temporary(file)) &&
                   rename(file->temporary, file->target) == 0;
    int error = errno;
    if (is_done)
        file->temporary[0] = '\0';
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return is_done;
}

int output_file_complete(struct output_file *file)
{
    int copy = dup(file->fd);

    if (copy < 0 || close(copy) != 0) /* some file systems tell only then that they are full */
        return errno;
    if (!file->replaces)
        return 0;
    if (output_file_replace(file))
        return 0;
    if (!file->temporary[0])
        return errno; /* it could not be given a name */
    bool kept = errno == EBUSY || errno == EPERM || errno == EACCES;
    return kept && output_file_copy(file) ? 0 : errno;
}

void output_file_close(struct output_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    if (file->temporary[0])
        unlink(file->temporary);
}

/* The last part of a path. */
static const char *output_file_entry(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool output_file_is_same(const char *a, const char *b)
{
    char targets[2][PATH_MAX];
    struct stat infos[2];
    mode_t mode;

    if (!output_file_find_target(a, targets[0], &mode) ||
        !output_file_find_target(b, targets[1], &mode))
        return false; /* what is no regular file may be written twice */
    if (strcmp(output_file_entry(targets[0]), output_file_entry(targets[1])) != 0)
        return false;
    for (unsigned i = 0; i < 2; i++) {
        output_file_replace_entry(targets[i], sizeof targets[i], ".");
        if (stat(targets[i], &infos[i]) != 0)
            return false;
    }
    return infos[0].st_dev == infos[1].st_dev && infos[0].st_ino == infos[1].st_ino;
}

/* Looks at an output that is there; false if it is not, or is /dev/null. */
static bool output_file_look(const char *name, struct stat *info)
{
    struct stat null;

    if ((name ? stat(name, info) : fstat(STDOUT_FILENO, info)) != 0)
        return false;
    return stat("/dev/null", &null) != 0 || !S_ISCHR(info->st_mode) ||
           info->st_rdev != null.st_rdev;
}

bool output_file_is_shared(const char *a, const char *b)
{
    struct stat infos[2];

    if (!output_file_look(a, &infos[0]) || !output_file_look(b, &infos[1]))
        return a == b;
    if (infos[0].st_dev != infos[1].st_dev || infos[0].st_ino != infos[1].st_ino)
        return false;
    return !a || !b || !S_ISREG(infos[0].st_mode);
}
