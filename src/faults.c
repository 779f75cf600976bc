/*
 * Fault injection, for tests: lets calls of the C library, of the decoders and of CUDA fail. Only a
 * build configured with --enable-faults has it. The linker leads our calls here (--wrap), so that
 * no other file knows of it. One environment variable says which calls fail:
 *
 *     GPUHIST_FAULT=FUNCTION:N     the Nth call of it, counted from 1
 *     GPUHIST_FAULT=FUNCTION:N+    that and all later ones
 *     GPUHIST_FAULT=FUNCTION:NeM   likewise with errno M, such as 4, which is EINTR; or N+eM
 *     GPUHIST_FAULT=FUNCTION:Ns    not a failure: it moves one byte at the most; or N+s
 *     GPUHIST_FAULT=list           the names of all functions are printed, and nothing is done
 *     GPUHIST_FAULT=record         nothing fails; how often each is called is left in the file
 *                                  GPUHIST_FAULT_MARK, as unsigned longs in the order of that list
 *
 * With GPUHIST_FAULT_DEVICE a device made for tests (fault_device.h) is engine "cuda".
 *
 * GPUHIST_FAULT_MARK names a file that is made when a call is let fail, so that who counts N up
 * knows when to end.
 */
#include "config.h"

#include "cpu_engine.h"
#include "fault_device.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>
#include <zstd_errors.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

/* Rows of all kinds are alike where their names are listed. */
#define FAULT_TRANSFER FAULT
#define FAULT_VARIADIC FAULT
#define FAULT_CUDA     FAULT

enum faults_function {
#define FAULT(type, name, ...) FAULTS_##name,
#include "faults.def"
#undef FAULT
    FAULTS_FUNCTIONS,
};

static const char *const faults_names[FAULTS_FUNCTIONS] = {
#define FAULT(type, name, ...) #name,
#include "faults.def"
#undef FAULT
};

/* What is wanted, const from then on. The functions wrapped have no argument to pass it in. */
static struct {
    enum faults_function function;
    unsigned long call; /* from 1; 0: none */
    bool stays;
    bool is_short;
    int error; /* errno; 0: the usual one */
    const char *mark;
    atomic_ulong *record; /* [FAULTS_FUNCTIONS] calls, in a file; NULL: not wanted */
} faults = {.function = FAULTS_FUNCTIONS};

static atomic_ulong faults_calls;
static _Thread_local unsigned faults_in_cuda; /* calls of CUDA that the thread is in */

/* The function of that name, the first `length` bytes. */
static enum faults_function faults_find(const char *name, size_t length)
{
    int i = 0;

    while (i < FAULTS_FUNCTIONS &&
           (strlen(faults_names[i]) != length || strncmp(name, faults_names[i], length) != 0))
        i++;
    return (enum faults_function)i;
}

/* Reads "FUNCTION:N[+][eM|s]"; false if that is not what it is. */
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
    return faults.call > 0 && *end == '\0';
}

/* Begins to count all calls in the file `mark`; false if it cannot be made. */
static bool faults_begin_record(const char *mark)
{
    size_t bytes = FAULTS_FUNCTIONS * sizeof *faults.record;
    int fd = mark ? open(mark, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    void *record = MAP_FAILED;

    if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0)
        record = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    faults.record = record == MAP_FAILED ? NULL : record;
    return faults.record;
}

/* Whether this call of the function is one that is wanted. Thread-safe. */
static bool faults_strike(enum faults_function function)
{
    if (faults_in_cuda > 0)
        return false;
    if (faults.record)
        atomic_fetch_add(&faults.record[function], 1);
    if (function != faults.function)
        return false;
    unsigned long call = atomic_fetch_add(&faults_calls, 1) + 1;
    if (call < faults.call || (call > faults.call && !faults.stays))
        return false;
    if (faults.mark)
        mknod(faults.mark, S_IFREG | 0600, 0);
    return true;
}

/* Whether this call is to fail; sets errno then, `usual` being 0 where the function does not. */
static bool faults_fail(enum faults_function function, int usual)
{
    if (faults.is_short || !faults_strike(function))
        return false;
    if (usual != 0)
        errno = faults.error != 0 ? faults.error : usual;
    return true;
}

/* How many of so many bytes this call is to move. */
static size_t faults_cut(enum faults_function function, size_t bytes)
{
    return faults.is_short && bytes > 1 && faults_strike(function) ? 1 : bytes;
}

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
#include "faults.def"

/*
 * The table of engines is led here, too: it is the program's own unless the device made for tests
 * is wanted. Written before the program begins.
 */
static const struct engine faults_device = {
    .name = "cuda",
    .probe = fault_device_probe,
    .prepare = fault_device_prepare,
    .open = fault_device_open,
    .finish = fault_device_finish,
    .worker_open = fault_device_worker_open,
    .worker_buffer = fault_device_worker_buffer,
    .worker_absorb = fault_device_worker_absorb,
    .worker_flush = fault_device_worker_flush,
    .worker_finish = fault_device_worker_finish,
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
    faults_engines[0].workers = cpu_engine.workers;
    faults_engines[0].close = cpu_engine.close;
    faults_engines[0].worker_close = cpu_engine.worker_close;
    faults_engines[1] = cpu_engine;
    faults_engines[1].worker_absorb = fault_device_wait;
    __wrap_engines[0] = &faults_engines[0];
    __wrap_engines[1] = &faults_engines[1];
}

/*
 * The start of the program is led here as well, so that nothing fails that CUDA calls before, and
 * behind its end.
 */
int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);
int __wrap_main(int argc, char **argv)
{
    const char *wanted = getenv("GPUHIST_FAULT");

    if (wanted && strcmp(wanted, "list") == 0) {
        for (int i = 0; i < FAULTS_FUNCTIONS; i++)
            puts(faults_names[i]);
        return 0;
    }
    faults.mark = getenv("GPUHIST_FAULT_MARK");
    bool is_record = wanted && strcmp(wanted, "record") == 0;
    if (is_record ? !faults_begin_record(faults.mark) : wanted && !faults_parse(wanted)) {
        fprintf(stderr, "gpuhist: cannot read GPUHIST_FAULT=%s\n", wanted);
        return 2;
    }
    faults_make_engines();
    int status = __real_main(argc, argv);
    faults.function = FAULTS_FUNCTIONS;
    return status;
}
