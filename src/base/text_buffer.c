/* Implements text_buffer.h. */
#include "config.h"

#include "base/text_buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BUFFER_CAPACITY_MIN ((size_t)1024)

void text_buffer_append(struct text_buffer *buffer, const char *text, size_t bytes)
{
    size_t capacity = buffer->capacity > 0 ? buffer->capacity : TEXT_BUFFER_CAPACITY_MIN;

    while (capacity - buffer->length <= bytes)
        capacity *= 2;
    if (capacity != buffer->capacity && !buffer->is_lost) {
        char *grown = realloc(buffer->text, capacity);
        buffer->is_lost = !grown;
        buffer->text = grown ? grown : buffer->text;
        buffer->capacity = grown ? capacity : buffer->capacity;
    }
    if (buffer->is_lost)
        return;
    memcpy(buffer->text + buffer->length, text, bytes);
    buffer->length += bytes;
    buffer->text[buffer->length] = '\0';
}

void text_buffer_print(struct text_buffer *buffer, const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof text)
        buffer->is_lost = true;
    else
        text_buffer_append(buffer, text, (size_t)length);
}
