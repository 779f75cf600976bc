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

/* Reads le, be or nothing after the name of a type. Returns false for anything else. */
static bool element_parse_order(const char *order, bool *is_swapped)
{
    const bool big_endian = strcmp(order, "be") == 0;

    *is_swapped = big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    return big_endian || *order == '\0' || strcmp(order, "le") == 0;
}

bool element_parse(const char *text, struct element *element)
{
    bool is_swapped;

    for (size_t i = REAL_NONE + 1; i < sizeof element_reals / sizeof *element_reals; i++) {
        const size_t length = strlen(element_reals[i]);
        if (strncmp(text, element_reals[i], length) != 0 ||
            !element_parse_order(text + length, &is_swapped))
            continue;
        *element = element_rows[ELEMENT_I64];
        element->real = (enum real_format)i;
        element->is_real_swapped = is_swapped;
        return true;
    }
    for (size_t i = 0; i < ELEMENT_TYPE_COUNT; i++) {
        size_t length = strlen(element_rows[i].name);
        if (strncmp(text, element_rows[i].name, length) != 0)
            continue;
        if (!element_parse_order(text + length, &is_swapped))
            continue;
        *element = element_rows[i];
        element->swapped = is_swapped;
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
