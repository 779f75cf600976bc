/* A buffered writer that keeps its first error. */
#include "config.h"

#include "lib/writer.h"

#include "lib/output_file.h"
#include "lib/stage.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WRITER_BUFFER_BYTES  ((size_t)256 << 10)
#define WRITER_RESERVE_BYTES ((size_t)64 << 10)

struct writer {
    const char *name;        /* NULL: standard output, or memory */
    struct output_file file; /* only its fd is used for standard output; -1: memory */
    int error;               /* errno of the first write that failed */
    uint64_t written;        /* number of bytes in the file so far */
    uint64_t skipped;        /* number of next bytes that the file already has */
    struct stage *stage;     /* not owned; NULL: unused */
    size_t used;
    size_t capacity;
    char *buffer; /* [capacity], owned */
};

static enum status writer_fail(const char *name, int error, struct failure *failure)
{
    return status_fail(failure, STATUS_DATA, "cannot write " STATUS_NAME ": %s",
                       name ? name : "standard output", strerror(error));
}

struct writer *writer_create_memory(size_t capacity)
{
    struct writer *created = malloc(sizeof *created);
    char *buffer = malloc(capacity);

    if (!created || !buffer) {
        free(created);
        free(buffer);
        return NULL;
    }
    *created = (struct writer){.file = {.fd = -1}, .capacity = capacity, .buffer = buffer};
    return created;
}

const char *writer_memory(const struct writer *memory, size_t *bytes)
{
    *bytes = memory->used;
    return memory->error == 0 ? memory->buffer : NULL;
}

enum status writer_open(struct writer **writer, const char *name, struct failure *failure)
{
    struct writer *created = writer_create_memory(WRITER_BUFFER_BYTES);
    if (!created)
        return status_fail(failure, STATUS_DATA, "not enough memory for the output");

    created->name = name;
    created->file.fd = STDOUT_FILENO;
    created->error = name ? output_file_open(&created->file, name) : 0;
    if (created->error != 0) {
        writer_fail(name, created->error, failure);
        writer_discard(created);
        return failure->status;
    }
    *writer = created;
    return STATUS_OK;
}

/* Writes data[0..bytes) without the bytes to skip, or keeps the error. */
static void writer_put(struct writer *writer, const char *data, size_t bytes)
{
    size_t done = writer->skipped < bytes ? (size_t)writer->skipped : bytes;

    writer->skipped -= done;
    while (done < bytes && writer->error == 0) {
        ssize_t n = write(writer->file.fd, data + done, bytes - done);
        if (n >= 0) {
            done += (size_t)n;
            writer->written += (uint64_t)n;
            stage_add(writer->stage, (uint64_t)n);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) { /* another process made it so */
            struct pollfd output = {.fd = writer->file.fd, .events = POLLOUT};
            poll(&output, 1, -1);
        } else if (errno != EINTR) {
            writer->error = errno;
        }
    }
}

/* Writes out the buffer; or, in memory, makes room in the buffer for `bytes` more. */
static void writer_empty(struct writer *writer, size_t bytes)
{
    size_t capacity = 2 * writer->capacity;

    if (writer->file.fd >= 0) {
        writer_put(writer, writer->buffer, writer->used);
        writer->used = 0;
        return;
    }
    while (capacity - writer->used < bytes)
        capacity *= 2;
    char *grown = realloc(writer->buffer, capacity);
    if (grown) {
        writer->buffer = grown;
        writer->capacity = capacity;
    } else {
        writer->error = ENOMEM;
        writer->used = 0;
    }
}

char *writer_reserve(struct writer *writer, size_t bytes)
{
    if (bytes > writer->capacity - writer->used)
        writer_empty(writer, bytes);
    return writer->buffer + writer->used;
}

void writer_commit(struct writer *writer, size_t bytes)
{
    writer->used += bytes;
}

void writer_write(struct writer *writer, const void *data, size_t bytes)
{
    if (bytes >= WRITER_RESERVE_BYTES && writer->file.fd >= 0) {
        writer_empty(writer, 0);
        writer_put(writer, data, bytes);
    } else if (bytes > 0) {
        char *space = writer_reserve(writer, bytes);
        if (bytes > writer->capacity - writer->used) /* there is no memory: the error is kept */
            return;
        memcpy(space, data, bytes);
        writer_commit(writer, bytes);
    }
}

void writer_write_text(struct writer *writer, const char *text)
{
    writer_write(writer, text, strlen(text));
}

void writer_print(struct writer *writer, const char *format, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, format);
    const int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length >= 0) {
        writer_write(writer, text, (size_t)length);
        free(text);
    } else if (writer->error == 0) {
        writer->error = ENOMEM;
    }
}

bool writer_write_memory(struct writer *writer, struct writer *memory)
{
    if (writer->error == 0)
        writer->error = memory->error;
    writer_write(writer, memory->buffer, memory->used);
    memory->used = 0;
    return writer->error == 0;
}

void writer_set_stage(struct writer *writer, struct stage *stage)
{
    writer->stage = stage;
}

bool writer_is_stream(const struct writer *writer)
{
    return !writer->file.replaces;
}

enum status writer_flush(struct writer *writer, struct failure *failure)
{
    writer_empty(writer, 0);
    return writer->error == 0 ? STATUS_OK : writer_fail(writer->name, writer->error, failure);
}

void writer_restart(struct writer *writer)
{
    writer->used = 0;
    writer->skipped = writer->written;
}

_Static_assert(WRITER_TOGETHER == OUTPUT_FILE_TOGETHER, "each may have a file");

/* For all writers, does all that may fail before files are replaced, and closes standard output. */
enum status writer_close_all(struct writer *const *writers, size_t count, struct failure *failure)
{
    struct output_file *files[WRITER_TOGETHER] = {NULL};
    bool replaces = false;
    enum status status = STATUS_OK;
    size_t failed = 0;

    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct writer *writer = writers[i];
        files[i] = &writer->file;
        replaces = replaces || writer->file.replaces;
        writer_empty(writer, 0);
        if (writer->error == 0 && writer->skipped > 0)
            status =
                status_fail(failure, STATUS_DATA, "the input has changed since it was first read");
        else if (writer->error == 0 && writer->name)
            writer->error = output_file_prepare(&writer->file);
        else if (!writer->name && close(STDOUT_FILENO) != 0 && writer->error == 0)
            writer->error = errno;
        if (writer->error != 0)
            status = writer_fail(writer->name, writer->error, failure);
    }
    int error = status == STATUS_OK && replaces ? output_file_complete(files, count, &failed) : 0;
    if (error != 0)
        status = writer_fail(writers[failed]->name, error, failure);
    for (size_t i = 0; i < count; i++)
        writer_discard(writers[i]);
    return status;
}

enum status writer_close(struct writer *writer, struct failure *failure)
{
    return writer_close_all(&writer, 1, failure);
}

void writer_discard(struct writer *writer)
{
    if (!writer)
        return;
    if (writer->name)
        output_file_close(&writer->file);
    free(writer->buffer);
    free(writer);
}
