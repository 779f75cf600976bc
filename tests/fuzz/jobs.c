/*
 * libFuzzer: whole runs of the program, except for main(), from files and pipes, plain and
 * compressed. Results and messages must be those of expected.h. trial.c reads the input as a trial.
 */
#include "config.h"

#include "cli/options.h"
#include "cli/run.h"
#include "expected.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#define JOBS_TEXT_MAX ((size_t)8 << 10)
#define JOBS_NAME_MAX 32

/* The output of a run fits a pipe. */
#define JOBS_PIPE_BYTES (1 << 20)

/* More would take too long. */
#define JOBS_BINS_MAX (1u << 20)

/* The pipe for results: written at [1], read at [0]. */
struct plans_pipe {
    int fds[2];
    char name[JOBS_NAME_MAX];
    char text[JOBS_PIPE_BYTES];
    size_t bytes;
};

static struct plans_pipe result;
static struct plans_pipe purged;

/* The descriptors of a trial's files; the names contain them. */
struct plans_input {
    int fds[2];
    char names[2][JOBS_NAME_MAX];
};

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    perror(what);
    abort();
}

static void name_descriptor(char name[JOBS_NAME_MAX], int fd)
{
    snprintf(name, JOBS_NAME_MAX, "/proc/self/fd/%d", fd);
}

static void open_pipe(int fds[2])
{
    require(pipe2(fds, O_CLOEXEC) == 0, "pipe2");
    require(fcntl(fds[1], F_SETPIPE_SZ, JOBS_PIPE_BYTES) >= 0, "F_SETPIPE_SZ");
}

static void prepare(struct plans_pipe *made)
{
    open_pipe(made->fds);
    require(fcntl(made->fds[0], F_SETFL, O_NONBLOCK) == 0, "O_NONBLOCK");
    name_descriptor(made->name, made->fds[1]);
}

/* Reads the written output. */
static void collect(struct plans_pipe *from)
{
    ssize_t n = 1;

    for (from->bytes = 0; n > 0 && from->bytes < sizeof from->text; from->bytes += (size_t)n) {
        n = read(from->fds[0], from->text + from->bytes, sizeof from->text - from->bytes);
        if (n < 0) {
            require(errno == EAGAIN, "read");
            break;
        }
    }
    require(from->bytes < sizeof from->text, "a result of any length");
}

/* --- the input -----------------------------------------------------------------------------------
 */

static void write_all(int fd, const void *data, size_t bytes)
{
    require(write(fd, data, bytes) == (ssize_t)bytes, "write");
}

static void write_frames(int fd, const char *data, size_t bytes, size_t frame_bytes)
{
    static char frame[2 * TRIAL_DATA_MAX];

    for (size_t done = 0; done < bytes; done += frame_bytes) {
        size_t piece = bytes - done < frame_bytes ? bytes - done : frame_bytes;
        size_t length = ZSTD_compress(frame, sizeof frame, data + done, piece, 1);
        require(!ZSTD_isError(length), "ZSTD_compress");
        write_all(fd, frame, length);
    }
}

static void open_input(struct plans_input *input, const struct trial *trial)
{
    bool is_pipe = trial->way == TRIAL_PIPE || trial->way == TRIAL_ZSTD_PIPE;
    bool is_plain = trial->way == TRIAL_FILE || trial->way == TRIAL_PIPE;

    for (int i = 0; i < 2; i++) {
        const char *data = trial->data + (i == 0 ? 0 : trial->split);
        size_t bytes = i == 0 ? trial->split : trial->bytes - trial->split;
        int fds[2];
        if (is_pipe)
            open_pipe(fds);
        else
            require((fds[0] = fds[1] = memfd_create("input", MFD_CLOEXEC)) >= 0, "memfd_create");
        if (is_plain)
            write_all(fds[1], data, bytes);
        else
            write_frames(fds[1], data, bytes, trial->frame_bytes);
        if (is_pipe)
            close(fds[1]);
        input->fds[i] = fds[0];
        name_descriptor(input->names[i], fds[0]);
    }
}

static void close_input(const struct plans_input *input)
{
    close(input->fds[0]);
    close(input->fds[1]);
}

/* --- runs ----------------------------------------------------------------------------------------
 */

/* Returns whether the options make a plan that is worth a run. */
static bool makes_plan(const struct options *options, const struct trial *trial)
{
    enum options_input input;
    struct failure failure;
    struct plan plan = {.predicates = NULL};

    bool is_fine =
        options_check(options, &input, &failure) == STATUS_OK &&
        options_make(options, trial->is_text, true, NULL, &plan, &failure) == STATUS_OK &&
        plan.binning.bins <= JOBS_BINS_MAX;
    plan_destroy(&plan);
    return is_fine;
}

static void show_bytes(const char *what, const char *text, size_t bytes)
{
    fprintf(stderr, "%s (%zu bytes): ", what, bytes);
    fwrite(text, 1, bytes < 2000 ? bytes : 2000, stderr);
    fputc('\n', stderr);
}

/*
 * Cuts the text after the reason from each line of a report: " (try --csv)" and the like, ", 3 of
 * them numbers with decimals", and the first value of those that are all ignored.
 */
static size_t cut_hints(char *text, size_t bytes)
{
    static const char *const counted[] = {" more invalid ", "note: skipped "};
    static const char all[] = "gpuhist: all input was invalid and ignored: ";
    size_t to = 0;

    for (size_t begin = 0; begin < bytes;) {
        const char *newline = memchr(text + begin, '\n', bytes - begin);
        const size_t end = newline ? (size_t)(newline - text) : bytes;
        size_t kept = end;
        bool is_count = false;
        for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
            is_count |= memmem(text + begin, end - begin, counted[i], strlen(counted[i])) != NULL;
        const bool is_all =
            end - begin > strlen(all) && memcmp(text + begin, all, strlen(all)) == 0;
        if (is_all ||
            (is_count && !memchr(text + begin, '\'', end - begin))) /* else a token has the words */
            kept = begin + strcspn(text + begin, ",\n");
        if (kept == end && end > begin && text[end - 1] == ')') {
            while (kept > begin && memcmp(text + kept - 1, " (", 2) != 0)
                kept--;
            kept = kept > begin ? kept - 1 : end;
        }
        memmove(text + to, text + begin, kept - begin);
        to += kept - begin;
        if (newline)
            text[to++] = '\n';
        begin = end + 1;
    }
    return to;
}

static void compare(const char *what, const char *text, size_t bytes,
                    const struct expected_text *expected)
{
    if (bytes == expected->bytes && memcmp(text, expected->text, bytes) == 0)
        return;
    show_bytes(what, text, bytes);
    show_bytes("expected", expected->text, expected->bytes);
    abort();
}

/* Like compare, but ignores hints. */
static void compare_told(const char *what, const char *text, size_t bytes,
                         const struct expected_text *expected)
{
    char *copies = malloc(bytes + expected->bytes + 2);

    require(copies, "malloc");
    memcpy(copies, text, bytes);
    memcpy(copies + bytes + 1, expected->text, expected->bytes);
    copies[bytes] = copies[bytes + 1 + expected->bytes] = '\0';
    const struct expected_text cut = {
        .text = copies + bytes + 1,
        .bytes = cut_hints(copies + bytes + 1, expected->bytes),
    };
    compare(what, copies, cut_hints(copies, bytes), &cut);
    free(copies);
}

/* The output must be the beginning of the expected output. */
static void compare_beginning(const char *what, const char *text, size_t bytes,
                              const struct expected_text *expected)
{
    struct expected_text beginning = *expected;

    if (bytes < expected->bytes)
        beginning.bytes = bytes;
    compare(what, text, bytes, &beginning);
}

/* If files are read one by one, the first invalid one ends the run. */
static void compare_header_wrong(const struct expected *expected, enum status status,
                                 const char *message, bool is_parallel)
{
    require(status == STATUS_DATA, "another status");
    if (!is_parallel)
        compare_told("message", message, strlen(message), &expected->message);
    compare_beginning("result", result.text, result.bytes, &expected->result);
    compare_beginning("purged", purged.text, purged.bytes, &expected->purged);
}

static void compare_run(const struct expected *expected, bool is_parallel, enum status status,
                        const struct failure *failure, const char *report, size_t report_bytes)
{
    const char *message = status == STATUS_OK ? "" : failure->message;

    if (expected->is_undefined)
        return;
    if (expected->is_header_wrong) {
        compare_header_wrong(expected, status, message, is_parallel);
        return;
    }
    compare_told("message", message, strlen(message), &expected->message);
    compare_told("report", report, report_bytes, &expected->report);
    require(status == expected->status, "another status");
    compare("result", result.text, result.bytes, &expected->result);
    compare("purged", purged.text, purged.bytes, &expected->purged);
}

static void run(const struct options *options, const struct expected *expected, bool is_parallel)
{
    struct failure failure;
    bool is_thread_left;
    char *report = NULL;
    size_t report_bytes = 0;
    FILE *terminal = stderr;

    stderr = open_memstream(&report, &report_bytes);
    require(stderr, "open_memstream");
    enum status status = run_options(options, &is_thread_left, &failure);
    fclose(stderr);
    stderr = terminal;
    collect(&result);
    collect(&purged);
    require(!is_thread_left, "a thread is left");
    compare_run(expected, is_parallel, status, &failure, report, report_bytes);
    free(report);
}

/* Runs the trial over its files, if it is a plan. */
static void run_trial(const struct trial *trial, struct plans_input *input)
{
    static char text[JOBS_TEXT_MAX];
    char *names[2] = {input->names[0], input->names[1]};
    char *words[TRIAL_WORDS_MAX];
    size_t count;
    struct options options;
    struct failure failure;

    trial_write_words(trial, words, &count, text, sizeof text);
    words[count++] = "--output";
    words[count++] = result.name;
    if (trial->rules.purged) {
        words[count++] = "--purged";
        words[count++] = purged.name;
    }
    words[count++] = names[0];
    if (trial->split < trial->bytes)
        words[count++] = names[1];
    words[count] = NULL;
    optind = 0;
    if (options_parse(&options, (int)count, words, false, NULL, &failure) == STATUS_OK &&
        makes_plan(&options, trial)) {
        struct expected expected;
        expected_make(&expected, trial, names);
        run(&options, &expected, trial->threads > 1);
        expected_destroy(&expected);
    }
    options_destroy(&options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct trial trial;
    struct plans_input input;

    if (!result.name[0]) {
        prepare(&result);
        prepare(&purged);
    }
    trial_read(&trial, data, bytes);
    open_input(&input, &trial);
    run_trial(&trial, &input);
    close_input(&input);
    trial_destroy(&trial);
    return 0;
}
