/* Files that results go to: written beside the target and renamed onto it. */
#include "config.h"

#include "output/output_file.h"

#include "output/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define OUTPUT_FILE_TEMPORARY ".gpuhist."

/* Room for a temporary name behind that of its directory. */
#define OUTPUT_FILE_TEMPORARY_SIZE 64

/* Attributes of statx, where the system has them. */
#ifdef STATX_ATTR_MOUNT_ROOT
#define OUTPUT_FILE_MOUNT_ROOT STATX_ATTR_MOUNT_ROOT
#define OUTPUT_FILE_APPEND     STATX_ATTR_APPEND
#else
#define OUTPUT_FILE_MOUNT_ROOT 0
#define OUTPUT_FILE_APPEND     0
#endif

/* What a name stands for. */
struct output_file_place {
    int descriptor; /* that it is another name of, or -1 */
    bool exists;
    bool is_replaced;      /* a regular file, or none yet */
    struct stat info;      /* if it exists */
    char target[PATH_MAX]; /* if is_replaced: the file's name, which is no link */
};

/* The number N of a name such as /dev/fd/N; -1: it is another one. */
static int output_file_parse_descriptor(const char *name)
{
    static const char *const directories[] = {"/dev/fd/", "/proc/self/fd/"};

    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++) {
        const char *number = name + strlen(directories[i]);
        bool is_inside = strncmp(name, directories[i], strlen(directories[i])) == 0;
        size_t digits = is_inside ? strspn(number, "0123456789") : 0;
        if (digits > 0 && digits < 10 && number[digits] == '\0')
            return atoi(number);
    }
    return -1;
}

/* The open descriptor that the name of a file is another name of (/dev/stdout); or -1. */
static int output_file_find_descriptor(const char *name, const struct stat *named)
{
    struct stat open_file;
    int number = output_file_parse_descriptor(name);

    for (int fd = STDOUT_FILENO; number < 0 && fd <= STDERR_FILENO; fd++) {
        if (fstat(fd, &open_file) == 0 && named->st_dev == open_file.st_dev &&
            named->st_ino == open_file.st_ino)
            return fd;
    }
    return number;
}

/* Finds the name of a file that is to be replaced: of the file itself, not of a link to it. */
static int output_file_find_target(struct output_file_place *place, const char *name)
{
    struct stat link;

    bool is_there = lstat(name, &link) == 0;
    if (!is_there && errno != ENOENT)
        return errno;
    if (!is_there || !S_ISLNK(link.st_mode))
        snprintf(place->target, sizeof place->target, "%s", name);
    else if (!place->exists)
        return ENOENT; /* a link to nothing is not written through */
    else if (!realpath(name, place->target))
        return errno;
    const char *slash = strrchr(place->target, '/');
    size_t directory = slash ? (size_t)(slash - place->target) + 1 : 0;
    return directory + OUTPUT_FILE_TEMPORARY_SIZE < PATH_MAX ? 0 : ENAMETOOLONG;
}

static int output_file_find(struct output_file_place *place, const char *name)
{
    *place = (struct output_file_place){.descriptor = name ? -1 : STDOUT_FILENO, .exists = true};
    if (!name)
        return fstat(STDOUT_FILENO, &place->info) == 0 ? 0 : errno;
    if (strlen(name) >= sizeof place->target)
        return ENAMETOOLONG;
    if (stat(name, &place->info) != 0) {
        if (errno != ENOENT)
            return errno;
        place->exists = false;
    }
    if (place->exists && S_ISDIR(place->info.st_mode))
        return EISDIR;
    if (place->exists)
        place->descriptor = output_file_find_descriptor(name, &place->info);
    if (place->exists && place->descriptor < 0 && S_ISSOCK(place->info.st_mode))
        return ENXIO; /* it cannot be opened */
    place->is_replaced = place->descriptor < 0 && (!place->exists || S_ISREG(place->info.st_mode));
    return place->is_replaced ? output_file_find_target(place, name) : 0;
}

/* The last part of a path. */
static const char *output_file_entry(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Writes a path beside `target`: that of the entry of its directory. */
static void output_file_write_beside(char path[PATH_MAX], const char *target, const char *entry)
{
    int directory = (int)(output_file_entry(target) - target);
    snprintf(path, PATH_MAX, "%.*s%s", directory, target, entry);
}

/*
 * Opens a file without a name in the directory of the target, if it can get one later, which it
 * does through /proc. Returns its descriptor, the caller's, or -1.
 */
static int output_file_open_nameless(const char *target)
{
#ifdef O_TMPFILE
    char directory[PATH_MAX];
    char descriptor[TEMPORARY_DESCRIPTOR_SIZE];

    output_file_write_beside(directory, target, ".");
    int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    temporary_write_descriptor(descriptor, fd);
    if (access(descriptor, F_OK) == 0)
        return fd;
    close(fd);
#endif
    return -1;
}

/*
 * Opens a file beside the target: without a name, so that nothing is left behind however the
 * process ends, or else with a temporary one. Returns its descriptor, the caller's, or -1 with
 * errno; `temporary` gets the name, or is empty.
 */
static int output_file_open_temporary(char temporary[PATH_MAX], const char *target)
{
    int fd = output_file_open_nameless(target);

    temporary[0] = '\0';
    if (fd >= 0)
        return fd;
    output_file_write_beside(temporary, target, OUTPUT_FILE_TEMPORARY "XXXXXX");
    fd = temporary_create(temporary);
    if (fd < 0)
        temporary[0] = '\0';
    return fd;
}

/* What else the system tells of a file, as attributes of statx; 0 if it does not. */
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

/* Whether files can be made, and renamed, in the directory of the target. */
static int output_file_try_temporary(const char *target)
{
    char directory[PATH_MAX];
    char temporary[PATH_MAX];

    output_file_write_beside(directory, target, ".");
    if (output_file_attributes(directory) & OUTPUT_FILE_APPEND)
        return EPERM;
    int fd = output_file_open_temporary(temporary, target);
    if (fd < 0)
        return errno;
    if (temporary[0])
        temporary_remove(temporary);
    close(fd);
    return 0;
}

/*
 * Whether another file can take the place of the target, as far as that can be known before: it is
 * no mount point, not only to be appended to, and no file of somebody else in a directory where
 * only owners remove files, such as /tmp.
 */
static int output_file_try_replace(const struct output_file_place *place)
{
    char directory[PATH_MAX];
    struct stat info;
    uint64_t attributes = output_file_attributes(place->target);

    if (attributes & OUTPUT_FILE_MOUNT_ROOT)
        return EBUSY;
    if (attributes & OUTPUT_FILE_APPEND)
        return EPERM;
    output_file_write_beside(directory, place->target, ".");
    if (stat(directory, &info) != 0)
        return errno;
    uid_t user = geteuid();
    bool is_owner = user == 0 || user == info.st_uid || user == place->info.st_uid;
    return (info.st_mode & S_ISVTX) && !is_owner ? EPERM : 0;
}

static bool output_file_is_writable(const struct output_file_place *place, const char *name)
{
    if (place->descriptor < 0)
        return !place->exists || faccessat(AT_FDCWD, name, W_OK, AT_EACCESS) == 0;
    int flags = fcntl(place->descriptor, F_GETFL);
    errno = EBADF;
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

enum status output_file_check(const char *name, struct failure *failure)
{
    struct output_file_place place;
    int error = output_file_find(&place, name);

    if (error == 0 && !output_file_is_writable(&place, name))
        error = errno;
    bool is_old = error == 0 && place.is_replaced && place.exists;
    if (is_old)
        error = output_file_try_replace(&place);
    if (is_old && error != 0)
        return status_fail(failure, STATUS_DATA, "cannot replace " STATUS_NAME ": %s", name,
                           strerror(error));
    if (error == 0 && place.is_replaced)
        error = output_file_try_temporary(place.target);
    if (is_old && error != 0)
        return status_fail(failure, STATUS_DATA,
                           "cannot replace " STATUS_NAME ": no file can be made beside it: %s",
                           name, strerror(error));
    if (error == 0)
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA, "cannot write " STATUS_NAME ": %s",
                       name ? name : "standard output", strerror(error));
}

/* Gives a new file the owner, where that is allowed, and the permissions of the old one. */
static void output_file_take_over(int fd, const struct output_file_place *place)
{
    mode_t mode = place->info.st_mode & 0777;

    if (!place->exists) {
        mode_t mask = umask(0);
        umask(mask);
        mode = 0666 & ~mask;
    } else if (fchown(fd, place->info.st_uid, place->info.st_gid) != 0) {
        int ignored = fchown(fd, (uid_t)-1, place->info.st_gid);
        (void)ignored;
    }
    int ignored = fchmod(fd, mode); /* a file system may have no modes */
    (void)ignored;
}

int output_file_open(struct output_file *file, const char *name)
{
    struct output_file_place place;

    *file = (struct output_file){.fd = -1};
    int error = output_file_find(&place, name);
    if (error != 0)
        return error;
    file->replaces = place.is_replaced;
    file->is_stream = !place.is_replaced;
    memcpy(file->target, place.target, sizeof file->target);
    if (file->replaces)
        file->fd = output_file_open_temporary(file->temporary, file->target);
    else if (place.descriptor >= 0)
        file->fd = dup(place.descriptor);
    else
        file->fd = open(name, O_WRONLY | O_CLOEXEC);
    if (file->fd < 0)
        return errno;
    if (file->replaces)
        output_file_take_over(file->fd, &place);
    return 0;
}

/* Gives the file without a name one beside the target's; false with errno set. */
static bool output_file_link_temporary(struct output_file *file)
{
    char entry[OUTPUT_FILE_TEMPORARY_SIZE];

    for (unsigned i = 0; i < 100; i++) {
        snprintf(entry, sizeof entry, OUTPUT_FILE_TEMPORARY "%ld.%u", (long)getpid(), i);
        output_file_write_beside(file->temporary, file->target, entry);
        if (temporary_link(file->fd, file->temporary))
            return true;
        if (errno != EEXIST)
            break;
    }
    file->temporary[0] = '\0';
    return false;
}

/* Waits until a file, or a directory, is on the disk, if the file system can tell. */
static int output_file_sync(int fd)
{
    int result;

    do
        result = fsync(fd);
    while (result != 0 && errno == EINTR);
    bool cannot = result != 0 && (errno == EINVAL || errno == EROFS || errno == ENOTSUP);
    return result == 0 || cannot ? 0 : errno;
}

/* Waits until the name is on the disk, too; a directory that cannot be opened is left alone. */
static int output_file_sync_directory(const char *target)
{
    char directory[PATH_MAX];

    output_file_write_beside(directory, target, ".");
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    int error = output_file_sync(fd);
    close(fd);
    return error;
}

int output_file_prepare(struct output_file *file)
{
    int copy = dup(file->fd);

    if (copy < 0 || close(copy) != 0) /* some file systems tell only then that they are full */
        return errno;
    if (!file->replaces)
        return 0;
    int error = output_file_sync(file->fd);
    if (error != 0)
        return error;
    return file->temporary[0] || output_file_link_temporary(file) ? 0 : errno;
}

int output_file_complete(struct output_file *const *files, size_t count, size_t *failed)
{
    const char *names[OUTPUT_FILE_TOGETHER];
    const char *targets[OUTPUT_FILE_TOGETHER];
    size_t numbers[OUTPUT_FILE_TOGETHER];
    size_t replaced = 0;

    for (size_t i = 0; i < count; i++) {
        if (!files[i]->replaces)
            continue;
        names[replaced] = files[i]->temporary;
        targets[replaced] = files[i]->target;
        numbers[replaced++] = i;
    }
    if (replaced == 0)
        return 0;
    size_t renamed = temporary_rename(names, targets, replaced);
    int error = renamed < replaced ? errno : 0;
    *failed = error != 0 ? numbers[renamed] : 0;
    for (size_t i = 0; i < renamed; i++) {
        files[numbers[i]]->temporary[0] = '\0';
        int sync_error = output_file_sync_directory(targets[i]);
        if (error == 0 && sync_error != 0)
            *failed = numbers[i];
        error = error != 0 ? error : sync_error;
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

/* Whether two files to be replaced are the same entry of the same directory. */
static bool output_file_is_same_entry(const struct output_file_place *a,
                                      const struct output_file_place *b)
{
    char directory[PATH_MAX];
    struct stat infos[2];

    if (strcmp(output_file_entry(a->target), output_file_entry(b->target)) != 0)
        return false;
    for (unsigned i = 0; i < 2; i++) {
        output_file_write_beside(directory, i == 0 ? a->target : b->target, ".");
        if (stat(directory, &infos[i]) != 0)
            return false;
    }
    return infos[0].st_dev == infos[1].st_dev && infos[0].st_ino == infos[1].st_ino;
}

/* The device that a character device is; /dev/tty is the terminal of the process. */
static dev_t output_file_device(const struct stat *info)
{
    unsigned number;
    dev_t device = info->st_rdev;

    if (device != makedev(5, 0))
        return device;
    int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 && ioctl(fd, TIOCGDEV, &number) == 0)
        device = makedev(number >> 8 & 0xfff, (number & 0xff) | (number >> 12 & 0xfff00));
    if (fd >= 0)
        close(fd);
    return device;
}

bool output_file_is_same(const char *a, const char *b)
{
    struct output_file_place places[2];
    const struct stat *infos[2] = {&places[0].info, &places[1].info};

    if (output_file_find(&places[0], a) != 0 || output_file_find(&places[1], b) != 0 ||
        places[0].is_replaced != places[1].is_replaced)
        return false;
    if (places[0].is_replaced)
        return output_file_is_same_entry(&places[0], &places[1]);
    if (S_ISCHR(infos[0]->st_mode) && S_ISCHR(infos[1]->st_mode)) {
        dev_t device = output_file_device(infos[0]);
        return device == output_file_device(infos[1]) && device != makedev(1, 3);
    }
    return infos[0]->st_dev == infos[1]->st_dev && infos[0]->st_ino == infos[1]->st_ino;
}

bool output_file_is_input(const char *output, const char *input, bool replaces_early)
{
    struct output_file_place place;
    struct stat info;
    bool is_stdin = strcmp(input, "-") == 0;

    if (output_file_find(&place, output) != 0 || !place.exists ||
        (place.is_replaced && !replaces_early) || !S_ISREG(place.info.st_mode) ||
        (is_stdin ? fstat(STDIN_FILENO, &info) : stat(input, &info)) != 0)
        return false;
    off_t begin = is_stdin ? lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
    return place.info.st_dev == info.st_dev && place.info.st_ino == info.st_ino &&
           (place.is_replaced || begin < info.st_size);
}
