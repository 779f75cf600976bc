/*
 * Fills growing arrays to just below, at and just above each power of two. Every block that the
 * program allocates here ends at an inaccessible page, has a pattern between its end and that page,
 * and moves whenever it grows. A write beyond the end therefore fails in any case.
 *
 * The linker redirects the allocator's calls to this file (-Wl,--wrap in Makefile.am).
 */
#define _GNU_SOURCE
#include "config.h"

#include "cli/options.h"
#include "cli/run.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

/* --- the allocator -------------------------------------------------------------------------------
 */

#define HEAP_BYTES ((size_t)1 << 33) /* size of the address range; no address is used twice */
#define HEAP_ALIGN 16
#define PATTERN    0xa5

/* Header in the page before the block. */
struct heap_block {
    size_t bytes;
    size_t mapped; /* bytes from this page to the inaccessible page */
};

static char *heap;
static atomic_size_t heap_used;
static size_t page_bytes;

/* The linker gives them these names. NOLINTBEGIN */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void __real_free(void *memory);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void __wrap_free(void *memory);
/* NOLINTEND */

static bool heap_has(const void *memory)
{
    const char *at = memory;
    return heap && at >= heap && at < heap + HEAP_BYTES;
}

/* Returns a block's bytes with the pattern: its start is aligned for any type. */
static size_t heap_size(size_t bytes)
{
    return bytes > 0 ? (bytes + HEAP_ALIGN - 1) / HEAP_ALIGN * HEAP_ALIGN : HEAP_ALIGN;
}

static struct heap_block *heap_block(char *memory)
{
    const size_t at = (size_t)(memory - heap);
    return (struct heap_block *)(void *)(memory - at % page_bytes - page_bytes);
}

void *__wrap_malloc(size_t bytes)
{
    if (!heap)
        return __real_malloc(bytes);
    if (bytes > HEAP_BYTES / 4) {
        errno = ENOMEM;
        return NULL;
    }
    const size_t size = heap_size(bytes);
    const size_t mapped = (size + 2 * page_bytes - 1) / page_bytes * page_bytes;
    const size_t at = atomic_fetch_add(&heap_used, mapped + page_bytes);
    if (at + mapped + page_bytes > HEAP_BYTES ||
        mprotect(heap + at, mapped, PROT_READ | PROT_WRITE) != 0) {
        errno = ENOMEM;
        return NULL;
    }
    char *memory = heap + at + mapped - size;
    *heap_block(memory) = (struct heap_block){bytes, mapped};
    memset(memory + bytes, PATTERN, size - bytes);
    return memory;
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    size_t all;

    if (!heap)
        return __real_calloc(count, bytes);
    if (__builtin_mul_overflow(count, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return __wrap_malloc(all); /* its pages are new and zero */
}

void __wrap_free(void *memory)
{
    if (!heap_has(memory)) {
        __real_free(memory);
        return;
    }
    const struct heap_block block = *heap_block(memory);
    const size_t size = heap_size(block.bytes);
    char *end = (char *)memory + size;
    for (const char *c = (char *)memory + block.bytes; c < end; c++) {
        if ((unsigned char)*c != PATTERN)
            abort();
    }
    madvise(end - block.mapped, block.mapped, MADV_DONTNEED);
    mprotect(end - block.mapped, block.mapped, PROT_NONE);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    if (memory && !heap_has(memory))
        return __real_realloc(memory, bytes);
    void *moved = __wrap_malloc(bytes);
    if (memory && moved) {
        const size_t before = heap_block(memory)->bytes;
        memcpy(moved, memory, before < bytes ? before : bytes);
        __wrap_free(memory);
    }
    return moved;
}

/* --- runs ----------------------------------------------------------------------------------------
 */

#define COMMAND_BYTES ((size_t)1 << 17)
#define WORDS_MAX     ((size_t)1 << 12)
#define FRAME_BYTES   ((off_t)1 << 20)

enum input { INPUT_LINES, INPUT_PIPE, INPUT_WIDE, INPUT_WIDE_PIPE, INPUT_OBJECT, INPUT_FRAMES };

/* Runs with one array element per line of the input or item of the command. */
struct family {
    const char *what;
    const char *before; /* the command before the items 1 to n */
    const char *item;
    const char *after; /* the command after the items and before the file */
    enum input input;
    size_t max;        /* largest n */
    long lines;        /* lines of the result; less than 1: relative to n */
    const char *merge; /* a command that reads the saved state; or NULL */
};

static const struct family families[] = {
    {"groups", "uniq -f 2 --by 1", "", "", INPUT_LINES, 1 << 9, 0, NULL},
    {"groups with quantiles", "reduce p50 -f 2 --by 1 --threads 2", "", "", INPUT_LINES, 1 << 8, 0,
     NULL},
    {"groups of a state", "uniq -f 2 --by 1 -o /dev/null --save STATE", "", "", INPUT_LINES, 1 << 8,
     0, "merge STATE"},
    {"texts", "uniq -f 1:text", "", "", INPUT_LINES, 1 << 12, 0, NULL},
    {"texts of a state", "uniq -f 1:text -o /dev/null --save STATE", "", "", INPUT_LINES, 1 << 9, 0,
     "merge STATE"},
    {"values", "uniq -f 1", "", "", INPUT_LINES, 1 << 10, 0, NULL},
    {"values of a pipe", "uniq -f 1 --chunk-size 4096", "", "", INPUT_PIPE, 1 << 10, 0, NULL},
    {"bins of a pipe", "histogram -f 1 --width 1", "", "", INPUT_PIPE, 1 << 9, 0, NULL},
    {"sorted lines", "uniq -f 1 --sort count", "", "", INPUT_LINES, 1 << 9, 0, NULL},
    {"values of a list", "count -f 1 --any-of ", "%zu,", "", INPUT_LINES, 1 << 9, 1, NULL},
    {"values of a condition", "uniq -f 1 --where 1=", "%zu,", "", INPUT_LINES, 1 << 9, 0, NULL},
    {"texts of a condition", "uniq -f 1 --where 1:text=", "%zu,", "", INPUT_LINES, 1 << 9, 0, NULL},
    {"edges", "histogram -f 1 --outside ignore --edges 0,", "%zu,", "", INPUT_LINES, 1 << 9, -1,
     NULL},
    {"predicates", "count -f 1", " --eq %zu", "", INPUT_LINES, 1 << 8, 0, NULL},
    {"quantiles", "uniq -f 1 --quantiles ", "1.%03zu,", "", INPUT_LINES, 999, 0, NULL},
    {"columns", "reduce count -f ", "1,", "", INPUT_LINES, 32, 0, NULL},
    {"members of objects", "reduce count --jsonl -f ", ".a.k%zu,", "", INPUT_OBJECT, 32, 0, NULL},
    {"paths of objects", "reduce count --jsonl -f ", ".a%zu.b,", "", INPUT_OBJECT, 32, 0, NULL},
    {"elements of arrays", "reduce count --jsonl -f ", ".b[%zu],", "", INPUT_OBJECT, 31, 0, NULL},
    {"bytes of a text", "uniq -f 1:text --by 1:text --format jsonl", "", "", INPUT_WIDE, 1 << 16, 1,
     NULL},
    {"bytes of a text in csv", "count --by 1:text --format csv", "", "", INPUT_WIDE, 1 << 13, 2,
     NULL},
    {"bytes of a line", "reduce count -f 2 --chunk-size 4096", "", "", INPUT_WIDE_PIPE, 1 << 18, 1,
     NULL},
    {"frames", "uniq -f 1 --threads 2", "", "", INPUT_FRAMES, 17, 0, NULL},
};

static char command[COMMAND_BYTES];
static char *words[WORDS_MAX];

/* Divides the command into words, and adds those of the file. Returns their number. */
static int divide_command(const char *name, const char *state, bool has_input)
{
    static char optional[] = "gpuhist";
    int count = 0;

    words[count++] = optional;
    for (char *word = strtok(command, " "); word; word = strtok(NULL, " "))
        words[count++] = strcmp(word, "STATE") == 0 ? (char *)state : word;
    if (has_input)
        words[count++] = (char *)"--engine=cpu";
    if (name)
        words[count++] = (char *)name;
    words[count] = NULL;
    return count;
}

static void make_command(const struct family *family, size_t n)
{
    size_t length = (size_t)snprintf(command, sizeof command, "%s", family->before);

    for (size_t i = 1; *family->item && i <= n; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        length += (size_t)snprintf(command + length, sizeof command - length, family->item, i);
#pragma GCC diagnostic pop
    }
    length -= length > 0 && command[length - 1] == ',';
    snprintf(command + length, sizeof command - length, "%s", family->after);
}

static void write_frames(FILE *file, size_t n)
{
    for (size_t i = 1; i <= n;
         i++) { /* an empty frame, mostly a hole, so that there are few parts */
        const unsigned char skippable[8] = {0x50, 0x2a, 0x4d, 0x18, 0, 0, 0x10, 0};
        char line[32];
        char packed[128];
        const int bytes = snprintf(line, sizeof line, "%zu\n", i);
        fwrite(skippable, 1, sizeof skippable, file);
        fseeko(file, FRAME_BYTES, SEEK_CUR);
        fwrite(packed, 1, ZSTD_compress(packed, sizeof packed, line, (size_t)bytes, 1), file);
    }
}

static void write_input(FILE *file, enum input input, size_t n)
{
    switch (input) {
    case INPUT_LINES:
    case INPUT_PIPE:
        for (size_t i = 1; i <= n; i++)
            fprintf(file, "%zu 7\n", i);
        break;
    case INPUT_WIDE:
    case INPUT_WIDE_PIPE:
        for (size_t i = 0; i < n; i++)
            fputc('x', file);
        fputs(" 5\n", file);
        break;
    case INPUT_OBJECT:
        fputs("{\"a\":{", file);
        for (size_t i = 1; i <= n; i++)
            fprintf(file, "\"k%zu\":5,", i);
        fputs("\"z\":1}", file);
        for (size_t i = 1; i <= n; i++)
            fprintf(file, ",\"a%zu\":{\"b\":5}", i);
        fputs(",\"b\":[0", file);
        for (size_t i = 1; i <= n; i++)
            fputs(",5", file);
        fputs("]}\n", file);
        break;
    case INPUT_FRAMES:
        write_frames(file, n);
        break;
    }
}

/* Runs the command in a process of its own. Returns its status; -1: it ended by a signal. */
static int run_command(const char *name, const char *state, bool has_input, int input, int output)
{
    const int argc = divide_command(name, state, has_input);
    int status;
    const pid_t child = fork();

    if (child == 0) {
        struct options options;
        struct failure failure;
        bool is_thread_left = false;
        dup2(input, STDIN_FILENO);
        dup2(output, STDOUT_FILENO);
        page_bytes = (size_t)sysconf(_SC_PAGESIZE);
        char *mapped =
            mmap(NULL, HEAP_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        heap = mapped == MAP_FAILED ? NULL : mapped;
        enum status ended = options_parse(&options, argc, words, false, NULL, &failure);
        if (ended == STATUS_OK)
            ended = run_options(&options, &is_thread_left, &failure);
        if (ended != STATUS_OK)
            fprintf(stderr, "# %s\n", failure.message);
        options_destroy(&options);
        _exit(heap ? (int)ended : 77);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : -1;
}

static long count_lines(int fd)
{
    char buffer[1 << 14];
    long lines = 0;
    ssize_t n;

    lseek(fd, 0, SEEK_SET);
    while ((n = read(fd, buffer, sizeof buffer)) > 0) {
        for (ssize_t i = 0; i < n; i++)
            lines += buffer[i] == '\n';
    }
    return lines;
}

/* Returns whether runs of n elements end well, and print as many lines as they should. */
static bool try(const struct family *family, size_t n)
{
    FILE *file = tmpfile();
    const int output = memfd_create("output", 0);
    const int nothing = open("/dev/null", O_RDONLY);
    char name[64];
    char state[64];
    const bool is_pipe = family->input == INPUT_PIPE || family->input == INPUT_WIDE_PIPE;
    const long lines = family->lines > 0 ? family->lines : (long)n + family->lines;

    snprintf(state, sizeof state, "array_bounds.%ld.state", (long)getpid());
    write_input(file, family->input, n);
    fflush(file);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fileno(file));
    lseek(fileno(file), 0, SEEK_SET);
    make_command(family, n);
    int status =
        run_command(is_pipe ? NULL : name, state, true, is_pipe ? fileno(file) : nothing, output);
    if (family->merge && status == 0) {
        snprintf(command, sizeof command, "%s", family->merge);
        status = run_command(NULL, state, false, nothing, output);
    }
    const long found = count_lines(output);
    unlink(state);
    close(output);
    close(nothing);
    fclose(file);
    return (status == 0 && found == lines) || tap_note("%zu of %s: status %d, %ld lines, not %ld",
                                                       n, family->what, status, found, lines);
}

int main(void)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const struct family *family = &families[i];
        bool passed = true;
        for (size_t power = 1; power <= family->max && passed; power *= 2) {
            for (size_t n = power - (power > 2); n <= power + 1 && passed; n++)
                passed = n > family->max || try(family, n);
        }
        tap_ok(passed, "%s: a power of 2 of them, one fewer and one more", family->what);
    }
    return tap_done();
}
