/* Implements element.h: the table of types, and elements in either byte order. */
#include "config.h"

#include "value/element.h"

#include <string.h>

static const struct element element_rows[ELEMENT_TYPE_COUNT] = {
#define ELEMENT_ROW(id, label, ctype) [ELEMENT_##id] = ELEMENT_OF(id, label, ctype),
    ELEMENT_TYPES(ELEMENT_ROW)
#undef ELEMENT_ROW
};

static const char *const element_reals[] = {
#define ELEMENT_REAL_NAME(id, name, bytes) [REAL_##id] = #name,
    REAL_FORMATS(ELEMENT_REAL_NAME)
#undef ELEMENT_REAL_NAME
};

const char *element_stored_name(const struct element *element)
{
    return element->real != REAL_NONE ? element_reals[element->real] : element->name;
}

bool element_parse(const char *text, struct element *element)
{
    const size_t reals = sizeof element_reals / sizeof *element_reals;

    for (size_t i = REAL_NONE + 1; i < reals + ELEMENT_TYPE_COUNT; i++) {
        const bool is_real = i < reals;
        const struct element *row = &element_rows[is_real ? ELEMENT_I64 : i - reals];
        const char *name = is_real ? element_reals[i] : row->name;
        const size_t length = strlen(name);
        if (strncmp(text, name, length) != 0)
            continue;
        const char *order = text + length;
        if (*order && strcmp(order, "le") != 0 && strcmp(order, "be") != 0)
            continue;
        const bool is_swapped = (*order == 'b') != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
        *element = *row;
        if (is_real) {
            element->real = (enum real_format)i;
            element->is_real_swapped = is_swapped;
        } else {
            element->swapped = is_swapped;
        }
        return true;
    }
    return false;
}

uint64_t element_key(const struct element *element, const void *bytes)
{
    unsigned char ordered[8];

    for (unsigned i = 0; i < element->bytes; i++) {
        unsigned from = element->swapped ? element->bytes - 1 - i : i;
        ordered[i] = ((const unsigned char *)bytes)[from];
    }
    return element_load(element->type, ordered);
}

__int128 element_min(const struct element *element)
{
    if (element_is_wide(element))
        return element_address((struct kind_ip){0, 0});
    return element->is_signed ? -((__int128)1 << (element->bytes * 8 - 1)) : 0;
}

__int128 element_limit(const struct element *element)
{
    if (element_is_wide(element))
        return (__int128)(UINT64_MAX >> 1) << 64 | UINT64_MAX; /* 1 less: the limit does not fit */
    return (__int128)1 << (element->bytes * 8 - (element->is_signed ? 1 : 0));
}

size_t element_write(char *out, const struct element *element, __int128 value)
{
    return kind_rows[element->kind].write(out, element, value);
}

size_t element_write_json(char *out, const struct element *element, __int128 value)
{
    if (kind_rows[element->kind].scale == KIND_NUMBERS)
        return element_write(out, element, value);
    *out = '"';
    const size_t length = 1 + element_write(out + 1, element, value);
    out[length] = '"';
    return length + 1;
}

void element_format(char out[ELEMENT_TEXT_SIZE], const struct element *element, __int128 value)
{
    out[element_write(out, element, value)] = '\0';
}

bool element_read(const struct element *element, const char *text, size_t bytes, __int128 *value)
{
    return kind_rows[element->kind].read(element, text, bytes, value);
}

bool element_read_range(const struct element *element, const char *text, __int128 *low,
                        __int128 *high)
{
    for (const char *colon = text; (colon = strchr(colon, ':')) != NULL; colon++) {
        if (element_read(element, text, (size_t)(colon - text), low) &&
            element_read(element, colon + 1, strlen(colon + 1), high))
            return true;
    }
    return false;
}
