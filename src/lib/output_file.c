/* Implements output_file.h: files are written beside the target and renamed onto it. */
#include "config.h"

#include "lib/output_file.h"

#include "lib/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* The start of a temporary name, and the length of one after its directory. */
#define OUTPUT_FILE_TEMPORARY      "/.gpuhist."
#define OUTPUT_FILE_TEMPORARY_SIZE 64

/* Attributes of statx, if the system has them. */
#ifdef STATX_ATTR_MOUNT_ROOT
#define OUTPUT_FILE_MOUNT_ROOT STATX_ATTR_MOUNT_ROOT
#define OUTPUT_FILE_APPEND     STATX_ATTR_APPEND
#else
#define OUTPUT_FILE_MOUNT_ROOT 0
#define OUTPUT_FILE_APPEND     0
#endif

/* The file that a name means. */
struct output_file_name {
    int descriptor; /* the descriptor that the name means, or -1 */
    bool exists;
    struct stat info; /* if the file exists */
    bool
        is_replaced; /* a regular file, or none yet: its name, which is not a link, and directory */
    char target[PATH_MAX];
    char directory[PATH_MAX];
};

static bool output_file_is_inode(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static int output_file_find(struct output_file_name *found, const char *name)
{
    static const char *const numbered[] = {"/dev/fd/", "/proc/self/fd/"};
    struct stat other;

    *found = (struct output_file_name){.descriptor = name ? -1 : STDOUT_FILENO, .exists = true};
    if (!name)
        return fstat(STDOUT_FILENO, &found->info) == 0 ? 0 : errno;
    if (strlen(name) >= sizeof found->target)
        return ENAMETOOLONG;
    if (stat(name, &found->info) != 0) {
        if (errno != ENOENT)
            return errno;
        found->exists = false;
    }
    if (found->exists && S_ISDIR(found->info.st_mode))
        return EISDIR;
    for (size_t i = 0; found->exists && i < sizeof numbered / sizeof *numbered; i++) {
        const char *number = name + strlen(numbered[i]);
        if (strncmp(name, numbered[i], strlen(numbered[i])) == 0 && *number &&
            strlen(number) < 10 && strspn(number, "0123456789") == strlen(number))
            found->descriptor = atoi(number);
    }
    for (int fd = STDOUT_FILENO; found->exists && fd <= STDERR_FILENO; fd++) {
        if (found->descriptor < 0 && fstat(fd, &other) == 0 &&
            output_file_is_inode(&found->info, &other))
            found->descriptor = fd;
    }
    if (found->exists && found->descriptor < 0 && S_ISSOCK(found->info.st_mode))
        return ENXIO; /* the file cannot be opened */
    found->is_replaced = found->descriptor < 0 && (!found->exists || S_ISREG(found->info.st_mode));
    if (!found->is_replaced)
        return 0;
    bool is_entry = lstat(name, &other) == 0;
    if (!is_entry && errno != ENOENT)
        return errno;
    if (!is_entry || !S_ISLNK(other.st_mode))
        strcpy(found->target, name);
    else if (!found->exists)
        return ENOENT; /* nothing is written through a dangling link */
    else if (!realpath(name, found->target))
        return errno;
    const char *slash = strrchr(found->target, '/');
    int length = snprintf(found->directory, sizeof found->directory, "%.*s.",
                          slash ? (int)(slash - found->target) + 1 : 0, found->target);
    return length + OUTPUT_FILE_TEMPORARY_SIZE < PATH_MAX ? 0 : ENAMETOOLONG;
}

/*
 * Opens a file in the directory: without a name, so that the system frees it however the process
 * ends, if it can get a name later through /proc; else with a temporary name. Returns its
 * descriptor, which the caller owns, or -1 with errno; `temporary` receives the name, or "".
 */
static int output_file_open_temporary(char temporary[PATH_MAX], const char *directory)
{
    temporary[0] = '\0';
    char descriptor[TEMPORARY_DESCRIPTOR_SIZE];
    int nameless = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (nameless >= 0) {
        temporary_write_descriptor(descriptor, nameless);
        if (access(descriptor, F_OK) == 0)
            return nameless;
        close(nameless);
    }
    stpcpy(stpcpy(temporary, directory), OUTPUT_FILE_TEMPORARY "XXXXXX");
    int fd = temporary_create(temporary);
    if (fd < 0)
        temporary[0] = '\0';
    return fd;
}

/* Returns the attributes of statx of a file; 0 if the system does not know them. */
static uint64_t output_file_attributes(const char *path)
{
#ifdef STATX_ATTR_MOUNT_ROOT
    struct statx extended;

    if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0, &extended) == 0)
        return extended.stx_attributes;
#endif
    (void)path;
    return 0;
}

enum status output_file_check(const char *name, struct failure *failure)
{
    struct output_file_name found;
    char temporary[PATH_MAX];
    const char *what = "write";
    const char *why = "";
    int error = output_file_find(&found, name);

    if (error == 0 && found.descriptor >= 0) { /* the descriptor must be open for writing */
        const int flags = fcntl(found.descriptor, F_GETFL);
        error = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY ? 0 : EBADF;
    } else if (error == 0 && found.exists && faccessat(AT_FDCWD, name, W_OK, AT_EACCESS) != 0) {
        error = errno;
    }
    if (error == 0 && found.is_replaced && found.exists) {
        /*
         * As far as can be known in advance: the file must not be a mount point or append-only, nor
         * somebody else's file in a directory where only owners remove files, such as /tmp.
         */
        const uint64_t attributes = output_file_attributes(found.target);
        const uid_t user = geteuid();
        struct stat directory;
        what = "replace";
        if (attributes & OUTPUT_FILE_MOUNT_ROOT)
            error = EBUSY;
        else if (attributes & OUTPUT_FILE_APPEND)
            error = EPERM;
        else if (stat(found.directory, &directory) != 0)
            error = errno;
        else if (directory.st_mode & S_ISVTX && user != 0 && user != directory.st_uid &&
                 user != found.info.st_uid)
            error = EPERM;
        why = error == 0 ? ": no file can be made beside it" : "";
    }
    if (error == 0 && found.is_replaced) { /* its directory must allow new files */
        const bool is_append = output_file_attributes(found.directory) & OUTPUT_FILE_APPEND;
        const int fd = is_append ? -1 : output_file_open_temporary(temporary, found.directory);
        if (fd < 0)
            error = is_append ? EPERM : errno;
        if (fd >= 0 && temporary[0])
            temporary_remove(temporary);
        if (fd >= 0)
            close(fd);
    }
    if (error == 0)
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA, "cannot %s " STATUS_NAME "%s: %s", what,
                       name ? name : "standard output", why, strerror(error));
}

int output_file_open(struct output_file *file, const char *name)
{
    struct output_file_name found;
    mode_t mode = 0666;

    *file = (struct output_file){.fd = -1};
    int error = output_file_find(&found, name);
    if (error != 0)
        return error;
    file->replaces = found.is_replaced;
    if (!file->replaces) {
        file->fd = found.descriptor >= 0 ? dup(found.descriptor) : open(name, O_WRONLY | O_CLOEXEC);
        return file->fd >= 0 ? 0 : errno;
    }
    strcpy(file->target, found.target);
    strcpy(file->directory, found.directory);
    file->fd = output_file_open_temporary(file->temporary, file->directory);
    if (file->fd < 0)
        return errno;
    int ignored = 0; /* not all may change the owner, and a file system may have no modes */
    if (found.exists) {
        mode = found.info.st_mode & 0777;
        if (fchown(file->fd, found.info.st_uid, found.info.st_gid) != 0)
            ignored = fchown(file->fd, (uid_t)-1, found.info.st_gid);
    } else {
        const mode_t mask = umask(0);
        umask(mask);
        mode &= ~mask;
    }
    ignored |= fchmod(file->fd, mode);
    (void)ignored;
    return 0;
}

/* Waits until a file, or a directory, is on the disk, if the file system can tell. */
static int output_file_sync(int fd)
{
    int result;

    do
        result = fsync(fd);
    while (result != 0 && errno == EINTR);
    return result == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP ? 0 : errno;
}

int output_file_prepare(struct output_file *file)
{
    int copy = dup(file->fd);

    if (copy < 0 || close(copy) != 0) /* some full file systems report it only now */
        return errno;
    int error = file->replaces ? output_file_sync(file->fd) : 0;
    if (error != 0 || !file->replaces || file->temporary[0])
        return error;
    char *suffix = stpcpy(stpcpy(file->temporary, file->directory), OUTPUT_FILE_TEMPORARY);
    for (unsigned i = 0; i < 100; i++) { /* until there is no such file */
        sprintf(suffix, "%ld.%u", (long)getpid(), i);
        if (temporary_link(file->fd, file->temporary))
            return 0;
        if (errno != EEXIST)
            break;
    }
    file->temporary[0] = '\0';
    return errno;
}

int output_file_complete(struct output_file *const *files, size_t count, size_t *failed)
{
    const char *names[OUTPUT_FILE_TOGETHER] = {NULL}; /* NULL: the file replaces nothing */
    const char *targets[OUTPUT_FILE_TOGETHER] = {NULL};
    int error = 0;

    for (size_t i = 0; i < count; i++) {
        names[i] = files[i]->replaces ? files[i]->temporary : NULL;
        targets[i] = files[i]->target;
    }
    const size_t renamed = temporary_rename(names, targets, count);
    if (renamed < count) {
        error = errno;
        *failed = renamed;
    }
    for (size_t i = 0; i < renamed; i++) {
        if (!names[i])
            continue;
        files[i]->temporary[0] = '\0';
        const int fd = open(files[i]->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
            continue; /* reading it may not be allowed */
        const int sync_error = output_file_sync(fd);
        close(fd);
        if (error == 0 && sync_error != 0) {
            error = sync_error;
            *failed = i;
        }
    }
    return error;
}

void output_file_close(struct output_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    if (file->temporary[0])
        temporary_remove(file->temporary);
}

bool output_file_is_same(const char *a, const char *b)
{
    struct output_file_name names[2];
    const char *entries[2];

    if (output_file_find(&names[0], a) != 0 || output_file_find(&names[1], b) != 0 ||
        names[0].is_replaced != names[1].is_replaced)
        return false;
    if (names[0].is_replaced) { /* the same entry of the same directory */
        for (unsigned i = 0; i < 2; i++) {
            const char *slash = strrchr(names[i].target, '/');
            entries[i] = slash ? slash + 1 : names[i].target;
            if (stat(names[i].directory, &names[i].info) != 0)
                return false;
        }
        return strcmp(entries[0], entries[1]) == 0 &&
               output_file_is_inode(&names[0].info, &names[1].info);
    }
    if (S_ISCHR(names[0].info.st_mode) && S_ISCHR(names[1].info.st_mode)) {
        const dev_t device = names[0].info.st_rdev;
        return device == names[1].info.st_rdev && device != makedev(1, 3);
    }
    return output_file_is_inode(&names[0].info, &names[1].info);
}

bool output_file_is_input(const char *output, const char *input, bool replaces_early)
{
    struct output_file_name found;
    struct stat info;
    bool is_stdin = strcmp(input, "-") == 0;

    if (output_file_find(&found, output) != 0 || !found.exists ||
        (found.is_replaced && !replaces_early) || !S_ISREG(found.info.st_mode) ||
        (is_stdin ? fstat(STDIN_FILENO, &info) : stat(input, &info)) != 0)
        return false;
    off_t begin = is_stdin ? lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
    return output_file_is_inode(&found.info, &info) && (found.is_replaced || begin < info.st_size);
}
