/* Implements element.h: the table of types, and elements in either byte order. */
#include "config.h"

#include "job/element.h"

#include <string.h>

static const struct element element_rows[ELEMENT_TYPE_COUNT] = {
#define ELEMENT_ROW(id, label, ctype) [ELEMENT_##id] = ELEMENT_OF(id, label, ctype),
    ELEMENT_TYPES(ELEMENT_ROW)
#undef ELEMENT_ROW
};

bool element_parse(const char *text, struct element *element)
{
    for (size_t i = 0; i < ELEMENT_TYPE_COUNT; i++) {
        size_t length = strlen(element_rows[i].name);
        if (strncmp(text, element_rows[i].name, length) != 0)
            continue;
        bool big_endian = strcmp(text + length, "be") == 0;
        if (!big_endian && text[length] != '\0' && strcmp(text + length, "le") != 0)
            continue;
        *element = element_rows[i];
        element->swapped = big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
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
    return element->is_signed ? -((__int128)1 << (element->bytes * 8 - 1)) : 0;
}

__int128 element_limit(const struct element *element)
{
    return (__int128)1 << (element->bytes * 8 - (element->is_signed ? 1 : 0));
}
