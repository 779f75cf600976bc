/* A text that grows. All functions are thread-safe on distinct buffers. */
#ifndef GPUHIST_TEXT_BUFFER_H
#define GPUHIST_TEXT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

/* Zero-initialised, it is empty. The owner frees `text` with free(). */
struct text_buffer {
    char *text;    /* [length] and a NUL; NULL if nothing was appended */
    size_t length; /* in bytes */
    size_t capacity;
    bool is_lost; /* there was no memory for a part */
};

/* Appends text[0..bytes). Sets is_lost if there is no memory; nothing is appended after that. */
void text_buffer_append(struct text_buffer *buffer, const char *text, size_t bytes);

/* Appends text as printf does. Sets is_lost likewise, or if the text has 512 bytes or more. */
void text_buffer_print(struct text_buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
