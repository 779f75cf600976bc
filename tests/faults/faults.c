/*
 * Fault injection for tests: lets calls of the C library, the decoders and CUDA fail. Only builds
 * configured with --enable-faults have it. The linker redirects our calls here (--wrap), so that no
 * other file knows of it. An environment variable selects the failing calls:
 *
 *     GPUHIST_FAULT=FUNCTION:N     the Nth call of it, counted from 1
 *     GPUHIST_FAULT=FUNCTION:N+    that call and all later ones
 *     GPUHIST_FAULT=FUNCTION:NeM   the Nth call, with errno M, such as 4 for EINTR; or N+eM
 *     GPUHIST_FAULT=FUNCTION:Ns    not a failure: the call moves at most one byte; or N+s
 *     GPUHIST_FAULT=FUNCTION:NkM   not a failure: the process gets signal M before it; or N+kM
 *     GPUHIST_FAULT=FUNCTION:NwM   not a failure: the call is M milliseconds late; or N+wM
 *     GPUHIST_FAULT=list           only prints the names of all functions
 *     GPUHIST_FAULT=record         nothing fails; each call appends two unsigned longs to the file
 *                                  GPUHIST_FAULT_MARK: the index of its function in that list, and
 *                                  a number that identifies its call stack
 *
 * With GPUHIST_FAULT_ALWAYS=FUNCTION all calls of that function also fail.
 *
 * With GPUHIST_FAULT_DEVICE a fake device (fault_device.h) is engine "cuda".
 *
 * GPUHIST_FAULT_MARK names a file that is created when a call fails.
 *
 * With GPUHIST_FAULT_SERIES=DIR the process does many runs, because starting the program, or a GPU,
 * takes longer than a run. Each line of standard input requests a run, "NAME FUNCTION:N+", with a
 * fault as above. The answer is a line on standard output: the number of calls of the function, a
 * space, and the exit status, or -M if signal M ended the run. The run's directory is DIR/NAME, and
 *
 *     DIR/stdin        is its standard input through a pipe, if the file exists
 *     DIR/NAME.stdout  is its standard output
 *     DIR/NAME.stderr  is its standard error
 *
 * Each run is a process, forked before the program begins. With GPUHIST_FAULT_KEEP all runs are in
 * this process, where a prepared GPU stays prepared. A run that leaves a thread then ends the
 * process, so this is only for requested engines. LeakSanitizer checks each run.
 */
#include "config.h"

#include "engine/cpu_engine.h"
#include "tests/faults/fault_device.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <zstd.h>
#include <zstd_errors.h>
#if defined HAVE_ZLIB && !defined HAVE_ISAL
#include <zlib.h>
#endif
#ifdef HAVE_ISAL
#include <isa-l.h>
#endif
#ifdef HAVE_LZMA
#include <lzma.h>
#endif
#ifdef HAVE_BZ2
#include <bzlib.h>
#endif
#ifdef HAVE_LZ4
#include <lz4frame.h>
#endif
#ifdef HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

/* The list of names treats rows of all kinds alike. */
#define FAULT_TRANSFER FAULT
#define FAULT_VARIADIC FAULT
#define FAULT_CUDA     FAULT

enum faults_function {
#define FAULT(type, name, ...) FAULTS_##name,
#include "tests/faults/faults.def"
#undef FAULT
    FAULTS_FUNCTIONS,
};

static const char *const faults_names[FAULTS_FUNCTIONS] = {
#define FAULT(type, name, ...) #name,
#include "tests/faults/faults.def"
#undef FAULT
};

/* The requested fault, constant during the program. Wrapped functions have no argument for it. */
static struct {
    bool is_armed; /* the program is running */
    enum faults_function function;
    unsigned long call; /* number of the failing call, from 1; 0: none */
    bool stays;
    bool is_short;
    int error;                  /* errno of the failure; 0: the usual one */
    int signal;                 /* signal before the call; 0: none */
    unsigned long milliseconds; /* delay of the call */
    enum faults_function always;
    const char *mark;
    int record; /* descriptor of the record of all calls; -1: none */
} faults = {.function = FAULTS_FUNCTIONS, .always = FAULTS_FUNCTIONS, .record = -1};

static atomic_ulong faults_calls_here;
static atomic_ulong *faults_calls = &faults_calls_here; /* calls of the function in this run */
static _Thread_local unsigned faults_in_cuda;           /* nested CUDA calls of the thread */

/* Returns the function whose name is the first `length` bytes. */
static enum faults_function faults_find(const char *name, size_t length)
{
    int i = 0;

    while (i < FAULTS_FUNCTIONS &&
           (strlen(faults_names[i]) != length || strncmp(name, faults_names[i], length) != 0))
        i++;
    return (enum faults_function)i;
}

/* Reads "FUNCTION:N[+][eM|kM|wM|s]"; returns false if invalid. */
static bool faults_parse(const char *wanted)
{
    size_t length = strcspn(wanted, ":");
    char *end;

    faults.function = faults_find(wanted, length);
    if (faults.function == FAULTS_FUNCTIONS || wanted[length] == '\0')
        return false;
    faults.call = strtoul(wanted + length + 1, &end, 10);
    faults.stays = *end == '+';
    end += faults.stays;
    faults.is_short = *end == 's';
    end += faults.is_short;
    faults.error = *end == 'e' ? (int)strtol(end + 1, &end, 10) : 0;
    faults.signal = *end == 'k' ? (int)strtol(end + 1, &end, 10) : 0;
    faults.milliseconds = *end == 'w' ? strtoul(end + 1, &end, 10) : 0;
    return faults.call > 0 && *end == '\0';
}

#define FAULTS_FRAMES_MAX 40

/* Symbols of the linker: the start and end of the program's code. */
extern const char __executable_start[];
extern const char etext[];

/* Returns a number that identifies the program's call stack, equal in each of its processes. */
static unsigned long faults_site(void)
{
    void *frames[FAULTS_FRAMES_MAX];
    int n = backtrace(frames, FAULTS_FRAMES_MAX);
    unsigned long site = 0;

    for (int i = 0; i < n; i++) {
        uintptr_t place = (uintptr_t)frames[i] - (uintptr_t)__executable_start;
        if (place < (uintptr_t)etext - (uintptr_t)__executable_start)
            site = (site ^ place) * 0x100000001b3; /* FNV-1a's prime */
    }
    return site;
}

ssize_t __real_write(int fd, const void *data, size_t bytes); /* is not recorded */

/* Thread-safe: writes go to the end of the file. */
static void faults_record_call(enum faults_function function)
{
    unsigned long call[] = {(unsigned long)function, faults_site()};

    if (__real_write(faults.record, call, sizeof call) != sizeof call)
        abort();
}

/* Returns whether this call of the function is the requested one. Thread-safe. */
static bool faults_strike(enum faults_function function)
{
    if (faults_in_cuda > 0)
        return false;
    if (faults.record >= 0 && faults.is_armed)
        faults_record_call(function);
    if (function != faults.function || !faults.is_armed)
        return false;
    unsigned long call = atomic_fetch_add(faults_calls, 1) + 1;
    if (call < faults.call || (call > faults.call && !faults.stays))
        return false;
    if (faults.mark)
        mknod(faults.mark, S_IFREG | 0600, 0);
    return true;
}

/* Returns whether this call must fail; then sets errno. `usual`: 0 if the function sets none. */
static bool faults_fail(enum faults_function function, int usual)
{
    if (function == faults.always && faults.is_armed) {
        errno = usual;
        return true;
    }
    if (faults.is_short || !faults_strike(function))
        return false;
    if (faults.signal > 0) {
        kill(getpid(), faults.signal);
        return false;
    }
    if (faults.milliseconds > 0) {
        nanosleep(&(struct timespec){.tv_sec = (time_t)(faults.milliseconds / 1000),
                                     .tv_nsec = (long)(faults.milliseconds % 1000) * 1000000},
                  NULL);
        return false;
    }
    if (usual != 0)
        errno = faults.error != 0 ? faults.error : usual;
    return true;
}

/* Returns the number of the given bytes that this call must move. */
static size_t faults_cut(enum faults_function function, size_t bytes)
{
    return faults.is_short && bytes > 1 && faults_strike(function) ? 1 : bytes;
}

#ifdef HAVE_CUDA
/* Returns the result of a release that must fail. The release happens nevertheless. */
static cudaError_t faults_released(cudaError_t result)
{
    return result == cudaSuccess ? cudaErrorUnknown : result;
}
#endif

#undef FAULT_TRANSFER
#undef FAULT_VARIADIC
#undef FAULT_CUDA

#define FAULT(type, name, parameters, arguments, error, result) \
    type __real_##name parameters;                              \
    type __wrap_##name parameters;                              \
    type __wrap_##name parameters                               \
    {                                                           \
        if (faults_fail(FAULTS_##name, error))                  \
            return result;                                      \
        return __real_##name arguments;                         \
    }
#define FAULT_TRANSFER(type, name, parameters, arguments, error, result) \
    type __real_##name parameters;                                       \
    type __wrap_##name parameters;                                       \
    type __wrap_##name parameters                                        \
    {                                                                    \
        if (faults_fail(FAULTS_##name, error))                           \
            return result;                                               \
        bytes = faults_cut(FAULTS_##name, bytes);                        \
        return __real_##name arguments;                                  \
    }
#define FAULT_VARIADIC(type, name, parameters, before, last_type, arguments, error, result) \
    type __real_##name parameters;                                                          \
    type __wrap_##name parameters;                                                          \
    type __wrap_##name parameters                                                           \
    {                                                                                       \
        va_list list; /* reading one argument more than there is does no harm here */       \
        va_start(list, before);                                                             \
        last_type last = va_arg(list, last_type);                                           \
        va_end(list);                                                                       \
        if (faults_fail(FAULTS_##name, error))                                              \
            return result;                                                                  \
        return __real_##name arguments;                                                     \
    }
#define FAULT_CUDA(type, name, parameters, arguments, error, result) \
    type __real_##name parameters;                                   \
    type __wrap_##name parameters;                                   \
    type __wrap_##name parameters                                    \
    {                                                                \
        bool fails = faults_fail(FAULTS_##name, error);              \
        faults_in_cuda++;                                            \
        type answer = fails ? result : __real_##name arguments;      \
        faults_in_cuda--;                                            \
        return answer;                                               \
    }
#include "tests/faults/faults.def"

/*
 * The table of engines is also redirected here: it is the program's own unless the fake device is
 * requested. Written before the program begins.
 */
static const struct engine faults_device = {
    .name = "cuda",
    .probe = fault_device_probe,
    .prepare = fault_device_prepare,
    .open = fault_device_open,
    .merge = fault_device_merge,
    .consumer_open = fault_device_consumer_open,
    .consumer_buffer = fault_device_consumer_buffer,
    .consumer_accumulate = fault_device_consumer_accumulate,
    .consumer_flush = fault_device_consumer_flush,
    .consumer_merge = fault_device_consumer_merge,
};
static struct engine faults_engines[2];
extern const struct engine *const __real_engines[];
const struct engine *__wrap_engines[3];

static void faults_make_engines(void)
{
    if (!getenv("GPUHIST_FAULT_DEVICE")) {
        memcpy(__wrap_engines, __real_engines, sizeof __wrap_engines);
        return;
    }
    faults_engines[0] = faults_device;
    faults_engines[0].close = cpu_engine.close;
    faults_engines[0].consumer_close = cpu_engine.consumer_close;
    faults_engines[1] = cpu_engine;
    faults_engines[1].consumer_accumulate = fault_device_wait;
    __wrap_engines[0] = &faults_engines[0];
    __wrap_engines[1] = &faults_engines[1];
}

/*
 * The start of the program is also redirected here, so that CUDA's calls before its start and after
 * its end do not fail.
 */
int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);

static int faults_run(int argc, char **argv)
{
    atomic_store(faults_calls, 0);
    faults.is_armed = true;
    int status = __real_main(argc, argv);
    faults.is_armed = false;
    return status;
}

/* The exit status of a process in which LeakSanitizer found leaks. */
#define FAULTS_LEAK_STATUS 23

/* LeakSanitizer's function: prints the leaks since the start of the process; NULL: not built in. */
int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

/* Upper bounds on the arguments, and on the bytes of a request. */
#define FAULTS_ARGUMENTS_MAX 100
#define FAULTS_REQUEST_BYTES 200

struct faults_series {
    int directory;
    bool is_kept; /* all runs are in this process */
    FILE *requests;
    FILE *answers;
    int argc;
    char **argv;
    char **arguments; /* argv for a run, because getopt reorders it */
};

/* Writes a file through a pipe, like another process. */
struct faults_feeder {
    int from; /* descriptor of the file; -1: no file */
    int to;
    pthread_t thread;
};

/* Functions here must not call wrapped functions while the program runs. */
static void *faults_feed(void *argument)
{
    const struct faults_feeder *feeder = argument;
    char block[65536];
    sigset_t broken;
    ssize_t bytes;
    ssize_t done = 0;

    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken, NULL);
    while (done >= 0 && (bytes = __real_read(feeder->from, block, sizeof block)) > 0) {
        for (ssize_t at = 0; at < bytes && done >= 0; at += done)
            done = __real_write(feeder->to, block + at, (size_t)(bytes - at));
    }
    __real_close(feeder->from);
    __real_close(feeder->to);
    return NULL;
}

/* Makes a descriptor refer to a file. */
static bool faults_connect(int descriptor, const char *name, int flags)
{
    int fd = open(name, flags, 0600);
    bool is_done = fd >= 0 && dup2(fd, descriptor) == descriptor;

    if (fd >= 0 && fd != descriptor)
        close(fd);
    return is_done;
}

/* Makes standard input a pipe for the file `name`, or /dev/null if there is none. */
static bool faults_open_feeder(struct faults_feeder *feeder, const char *name)
{
    int ends[2];

    feeder->from = open(name, O_RDONLY | O_CLOEXEC);
    if (feeder->from < 0)
        return faults_connect(STDIN_FILENO, "/dev/null", O_RDONLY);
    if (pipe(ends) != 0 || dup2(ends[0], STDIN_FILENO) != STDIN_FILENO)
        return false;
    close(ends[0]);
    feeder->to = ends[1];
    return true;
}

static bool faults_start_feeder(struct faults_feeder *feeder)
{
    return feeder->from < 0 || pthread_create(&feeder->thread, NULL, faults_feed, feeder) == 0;
}

static void faults_end_feeder(struct faults_feeder *feeder)
{
    if (feeder->from >= 0)
        pthread_join(feeder->thread, NULL);
}

/* Connects the run's own files; returns false if one is missing. */
static bool faults_begin_run(const struct faults_series *series, const char *name,
                             struct faults_feeder *feeder)
{
    const int flags = O_WRONLY | O_CREAT | O_TRUNC;
    char out[FAULTS_REQUEST_BYTES + 8];
    char err[FAULTS_REQUEST_BYTES + 8];

    snprintf(out, sizeof out, "%s.stdout", name);
    snprintf(err, sizeof err, "%s.stderr", name);
    return fchdir(series->directory) == 0 && faults_connect(STDOUT_FILENO, out, flags) &&
           faults_connect(STDERR_FILENO, err, flags) && faults_open_feeder(feeder, "stdin") &&
           chdir(name) == 0;
}

/* Runs in a child process. Returns its exit status, or -M if signal M ended it. */
static int faults_run_apart(const struct faults_series *series, struct faults_feeder *feeder)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        if (feeder->from >= 0) {
            close(feeder->from);
            close(feeder->to);
        }
        exit(faults_run(series->argc, series->argv));
    }
    faults_connect(STDIN_FILENO, "/dev/null", O_RDONLY); /* only the child reads */
    if (child < 0 || !faults_start_feeder(feeder) || waitpid(child, &status, 0) != child)
        abort();
    faults_end_feeder(feeder);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* Runs in this process and cleans up. Returns the exit status. */
static int faults_run_here(const struct faults_series *series, struct faults_feeder *feeder)
{
    memcpy(series->arguments, series->argv, ((size_t)series->argc + 1) * sizeof *series->argv);
    optind = 0; /* getopt restarts */
    if (!faults_start_feeder(feeder))
        abort();
    int status = faults_run(series->argc, series->arguments);
    faults_connect(STDIN_FILENO, "/dev/null", O_RDONLY); /* no more reads */
    faults_end_feeder(feeder);
#ifdef HAVE_CUDA
    __real_cudaGetLastError();
#endif
    bool leaks = __lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check() != 0;
    return leaks ? FAULTS_LEAK_STATUS : status;
}

/* Does the requested runs. Returns the exit status of the process, not of a run. */
static int faults_run_series(struct faults_series *series)
{
    char request[FAULTS_REQUEST_BYTES];
    struct faults_feeder feeder;

    while (fgets(request, sizeof request, series->requests)) {
        char *fault = request + strcspn(request, " ");
        request[strcspn(request, "\n")] = '\0';
        if (*fault == '\0' || (*fault++ = '\0', !faults_parse(fault)) ||
            !faults_begin_run(series, request, &feeder))
            return 2;
        int status =
            series->is_kept ? faults_run_here(series, &feeder) : faults_run_apart(series, &feeder);
        fprintf(series->answers, "%lu %d\n", atomic_load(faults_calls), status);
        fflush(series->answers);
    }
    return 0;
}

/* Returns a stream on a copy of a descriptor, which runs redirect. */
static FILE *faults_move(int descriptor, const char *mode)
{
    int fd = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1L);

    return fd < 0 ? NULL : fdopen(fd, mode);
}

static int faults_begin_series(const char *directory, int argc, char **argv)
{
    char *arguments[FAULTS_ARGUMENTS_MAX];
    struct faults_series series = {
        .directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
        .is_kept = getenv("GPUHIST_FAULT_KEEP"),
        .requests = faults_move(STDIN_FILENO, "r"),
        .answers = faults_move(STDOUT_FILENO, "w"),
        .argc = argc,
        .argv = argv,
        .arguments = arguments,
    };
    void *shared =
        mmap(NULL, sizeof *faults_calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (argc >= FAULTS_ARGUMENTS_MAX || series.directory < 0 || !series.requests ||
        !series.answers || shared == MAP_FAILED) {
        fputs("gpuhist: cannot begin the series of GPUHIST_FAULT_SERIES\n", stderr);
        return 2;
    }
    faults_calls = shared;
    return faults_run_series(&series);
}

int __wrap_main(int argc, char **argv)
{
    char *wanted = getenv("GPUHIST_FAULT");
    const char *series = getenv("GPUHIST_FAULT_SERIES");
    const char *always = getenv("GPUHIST_FAULT_ALWAYS");

    if (wanted && strcmp(wanted, "list") == 0) {
        for (int i = 0; i < FAULTS_FUNCTIONS; i++)
            puts(faults_names[i]);
        return 0;
    }
    faults_make_engines();
    if (always)
        faults.always = faults_find(always, strlen(always));
    if (series)
        return faults_begin_series(series, argc, argv);
    faults.mark = getenv("GPUHIST_FAULT_MARK");
    bool is_record = wanted && strcmp(wanted, "record") == 0;
    if (is_record && faults.mark)
        faults.record = open(faults.mark, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (is_record ? faults.record < 0 : wanted && !faults_parse(wanted)) {
        fprintf(stderr, "gpuhist: cannot read GPUHIST_FAULT=%s\n", wanted);
        return 2;
    }
    return faults_run(argc, argv);
}
