/*
 * Temporary names: a signal comes before or after each call that makes, renames or removes a file.
 * The process ends with the file under its own name or without one, whichever thread receives the
 * signal. The functions here replace those of the C library.
 */
#include "config.h"

#include "lib/temporary.h"
#include "tap.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 16

/* Only a hanging process takes longer. */
#define SECONDS 10

enum call { CALL_NONE, CALL_CREATE, CALL_LINK, CALL_RENAME, CALL_REMOVE };

static const char *const call_names[] = {"none", "create", "link", "rename", "remove"};

struct scene {
    enum call call;   /* the call at which the signal comes */
    bool is_behind;   /* the signal comes after the call, not before */
    bool is_own;      /* the signal goes to the calling thread, not to the process */
    unsigned threads; /* number of threads, including the calling one */
};

static struct scene scene;
static char directory[PATH_MAX];

static void strike(enum call call, bool is_behind)
{
    if (call != scene.call || is_behind != scene.is_behind)
        return;
    if (scene.is_own)
        raise(SIGTERM);
    else
        kill(getpid(), SIGTERM);
}

int mkostemp(char *name, int flags)
{
    strike(CALL_CREATE, false);
    int fd = mkostemps(name, 0, flags);
    strike(CALL_CREATE, true);
    return fd;
}

int linkat(int from_at, const char *from, int to_at, const char *to, int flags)
{
    strike(CALL_LINK, false);
    int result = (int)syscall(SYS_linkat, from_at, from, to_at, to, flags);
    strike(CALL_LINK, true);
    return result;
}

int rename(const char *from, const char *to)
{
    strike(CALL_RENAME, false);
    int result = renameat(AT_FDCWD, from, AT_FDCWD, to);
    strike(CALL_RENAME, true); /* and before the second */
    return result;
}

int unlink(const char *name)
{
    strike(CALL_REMOVE, false);
    int result = unlinkat(AT_FDCWD, name, 0);
    strike(CALL_REMOVE, true);
    return result;
}

static void *wait_for_signals(void *nothing)
{
    for (;;)
        pause();
    return nothing;
}

/* The process that ends: makes the calls up to the one with the signal. */
static void act(void)
{
    static char name[] = "temporary.XXXXXX";
    static char other[] = "other.XXXXXX";
    static const char *const names[] = {name, other};
    static const char *const targets[] = {"target", "other"};
    pthread_t thread;

    signal(SIGTERM, SIG_DFL);
    for (unsigned i = 1; i < scene.threads; i++) {
        if (pthread_create(&thread, NULL, wait_for_signals, NULL) != 0)
            _exit(2);
    }
    if (chdir(directory) != 0)
        _exit(2);
    if (scene.call == CALL_LINK) {
        int fd = open(".", O_TMPFILE | O_RDWR, 0600);
        if (fd < 0 || !temporary_link(fd, name))
            _exit(2);
        wait_for_signals(NULL);
    }
    if (temporary_create(name) < 0 || (scene.call == CALL_RENAME && temporary_create(other) < 0))
        _exit(2);
    if (scene.call == CALL_RENAME)
        temporary_rename(names, targets, 2);
    else if (scene.call == CALL_REMOVE)
        temporary_remove(name);
    wait_for_signals(NULL);
}

/* Waits for the process. Returns its status; -1: it does not end. */
static int wait_for(pid_t process)
{
    int status;

    for (unsigned i = 0; i < SECONDS * 1000; i++) {
        if (waitpid(process, &status, WNOHANG) == process)
            return status;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    kill(process, SIGKILL);
    waitpid(process, &status, 0);
    return -1;
}

/* Returns whether the signal ends the process, and only complete targets remain. */
static bool ends_clean(void)
{
    char targets[2][PATH_MAX + 8];
    pid_t process = fork();

    if (process == 0)
        act();
    int status = wait_for(process);
    if (status == -1)
        return tap_note("it hangs");
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGTERM)
        return tap_note("status %#x", (unsigned)status);
    for (unsigned i = 0; i < 2; i++) {
        snprintf(targets[i], sizeof targets[i], "%s/%s", directory, i == 0 ? "target" : "other");
        bool has_target = unlinkat(AT_FDCWD, targets[i], 0) == 0;
        if (has_target != (scene.call == CALL_RENAME))
            return tap_note("target %u is %s", i, has_target ? "there" : "missing");
    }
    return rmdir(directory) == 0 && mkdir(directory, 0700) == 0; /* it was empty */
}

/* Returns whether signals are handled only while a temporary name exists. */
static bool hands_back(void)
{
    char name[PATH_MAX + 20];
    char target[PATH_MAX + 20];
    struct sigaction now;

    scene = (struct scene){.call = CALL_NONE};
    signal(SIGTERM, SIG_DFL);
    const char *const names[] = {name};
    const char *const targets[] = {target};
    snprintf(name, sizeof name, "%s/temporary.XXXXXX", directory);
    snprintf(target, sizeof target, "%s/target", directory);
    int fd = temporary_create(name);
    if (fd < 0 || close(fd) != 0 || sigaction(SIGTERM, NULL, &now) != 0 ||
        now.sa_handler == SIG_DFL || temporary_rename(names, targets, 1) != 1)
        return false;
    return sigaction(SIGTERM, NULL, &now) == 0 && now.sa_handler == SIG_DFL &&
           unlinkat(AT_FDCWD, target, 0) == 0;
}

/* Returns whether signals that end no process leave a temporary file alone. */
static bool keeps_name(void)
{
    static const int harmless[] = {SIGCHLD, SIGCONT, SIGURG, SIGWINCH};
    char name[PATH_MAX + 20];

    scene = (struct scene){.call = CALL_NONE};
    snprintf(name, sizeof name, "%s/temporary.XXXXXX", directory);
    int fd = temporary_create(name);
    if (fd < 0 || close(fd) != 0)
        return false;
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        raise(harmless[i]);
        if (access(name, F_OK) != 0)
            return tap_note("signal %d removed it", harmless[i]);
    }
    temporary_remove(name);
    return access(name, F_OK) != 0;
}

/* Returns whether a file without a name can get one here. */
static bool can_link(void)
{
    int fd = open(directory, O_TMPFILE | O_RDWR, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0 && access("/proc/self/fd", X_OK) == 0;
}

static bool test_call(enum call call)
{
    static const unsigned threads[] = {1, 2, THREADS_MAX};

    for (unsigned i = 0; i < 4 * sizeof threads / sizeof *threads; i++) {
        scene = (struct scene){call, i & 1, i & 2, threads[i / 4]};
        if (!tap_ok(ends_clean(), "a signal %s %s, for %s, %u threads",
                    scene.is_behind ? "behind" : "before", call_names[call],
                    scene.is_own ? "the thread" : "the process", scene.threads))
            return false;
    }
    return true;
}

int main(void)
{
    tap_write_template(directory, sizeof directory, "temporary");
    if (!mkdtemp(directory)) {
        printf("Bail out! no directory\n");
        return 1;
    }
    bool is_right = test_call(CALL_CREATE) && test_call(CALL_RENAME) && test_call(CALL_REMOVE);
    if (is_right && can_link())
        test_call(CALL_LINK);
    tap_ok(hands_back(), "signals are handled while there is a temporary name, and then no more");
    tap_ok(keeps_name(), "a temporary file stays when a signal comes that ends no process");
    rmdir(directory);
    return tap_done();
}
