/* Implements definition.h: a growing text of lines, and looking up keys. */
#include "config.h"

#include "partial/definition.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFINITION_ROOM_MIN ((size_t)1024)

void definition_destroy(struct definition *definition)
{
    free(definition->text);
}

/* Makes room for `bytes` more and a NUL. Returns false, and sets is_lost, if there is no memory. */
static bool definition_reserve(struct definition *definition, size_t bytes)
{
    size_t room = definition->room > 0 ? definition->room : DEFINITION_ROOM_MIN;

    if (definition->is_lost)
        return false;
    while (room - definition->length <= bytes)
        room *= 2;
    if (room == definition->room)
        return true;
    char *grown = realloc(definition->text, room);
    definition->is_lost = !grown;
    if (!grown)
        return false;
    definition->text = grown;
    definition->room = room;
    return true;
}

void definition_append(struct definition *definition, const char *text, size_t bytes)
{
    if (!definition_reserve(definition, bytes))
        return;
    memcpy(definition->text + definition->length, text, bytes);
    definition->length += bytes;
    definition->text[definition->length] = '\0';
}

void definition_print(struct definition *definition, const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof text)
        definition->is_lost = true;
    else
        definition_append(definition, text, (size_t)length);
}

void definition_append_typed(struct definition *definition, const char *typed)
{
    for (const char *c = typed; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 127 || *c == '\\')
            definition_print(definition, "\\%03o", (unsigned)(unsigned char)*c);
        else
            definition_append(definition, c, 1);
    }
}

char *definition_read_typed(const char *text, size_t length)
{
    char *typed = malloc(length + 1);
    char *out = typed;

    for (size_t i = 0; typed && i < length; i++) {
        bool is_code = text[i] == '\\' && length - i > 3;
        unsigned code = is_code
                            ? (unsigned)(text[i + 1] - '0') * 64 +
                                  (unsigned)(text[i + 2] - '0') * 8 + (unsigned)(text[i + 3] - '0')
                            : (unsigned char)text[i];
        *out++ = (char)code;
        i += is_code ? 3 : 0;
    }
    if (typed)
        *out = '\0';
    return typed;
}

const char *definition_find(const struct definition *definition, const char *key, const char *from,
                            size_t *length)
{
    const char *end = definition->text + definition->length;
    const char *line = from ? from : definition->text;
    size_t key_length = strlen(key);

    if (from) { /* `from` is within a line: start at the next one */
        line = memchr(from, '\n', (size_t)(end - from));
        line = line ? line + 1 : end;
    }
    while (line && line < end) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *stop = newline ? newline : end;
        if ((size_t)(stop - line) > key_length && line[key_length] == '\t' &&
            memcmp(line, key, key_length) == 0) {
            *length = (size_t)(stop - line) - key_length - 1;
            return line + key_length + 1;
        }
        line = newline ? newline + 1 : end;
    }
    return NULL;
}

bool definition_get(const struct definition *definition, const char *key, char *value, size_t size)
{
    size_t length;
    const char *found = definition_find(definition, key, NULL, &length);

    if (!found || length >= size)
        return false;
    memcpy(value, found, length);
    value[length] = '\0';
    return true;
}
