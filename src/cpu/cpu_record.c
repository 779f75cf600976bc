/*
 * Implements cpu_record.h with a load and a store for each element. Seconds for 256 MiB of records
 * of 16 bytes in the page cache, one core: cat 0.023, the sum of a u32 of each 0.032, the sum of
 * all their u32 0.044.
 */
#include "config.h"

#include "cpu/cpu_record.h"

#include <string.h>

static inline __attribute__((always_inline)) void cpu_record_copy(char *to, const char *from,
                                                                  size_t record_bytes, size_t count,
                                                                  size_t width)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t element = 0;
        memcpy(&element, from + i * record_bytes, width);
        memcpy(to + i * width, &element, width);
    }
}

void cpu_record_gather(const void *first, size_t record_bytes, size_t count, size_t width,
                       void *elements)
{
    switch (width) {
    case 1:
        cpu_record_copy(elements, first, record_bytes, count, 1);
        break;
    case 2:
        cpu_record_copy(elements, first, record_bytes, count, 2);
        break;
    case 4:
        cpu_record_copy(elements, first, record_bytes, count, 4);
        break;
    default:
        cpu_record_copy(elements, first, record_bytes, count, 8);
        break;
    }
}

#define CPU_RECORD_KEYS(id, name, ctype)                                                    \
    static void cpu_record_keys_##name(const char *from, size_t record_bytes, size_t count, \
                                       bool swapped, uint64_t *keys)                        \
    {                                                                                       \
        for (size_t i = 0; i < count; i++) {                                                \
            ctype value;                                                                    \
            memcpy(&value, from + i * record_bytes, sizeof value);                          \
            if (swapped)                                                                    \
                value = (ctype)element_swap((uint64_t)value, sizeof value);                 \
            keys[i] = (uint64_t)(int64_t)value;                                             \
        }                                                                                   \
    }
ELEMENT_TYPES(CPU_RECORD_KEYS)

void cpu_record_gather_keys(const struct element *element, const void *first, size_t record_bytes,
                            size_t count, uint64_t *keys)
{
    static void (*const functions[])(const char *, size_t, size_t, bool, uint64_t *) = {
#define CPU_RECORD_ENTRY(id, name, ctype) [ELEMENT_##id] = cpu_record_keys_##name,
        ELEMENT_TYPES(CPU_RECORD_ENTRY)
#undef CPU_RECORD_ENTRY
    };

    functions[element->type](first, record_bytes, count, element->swapped, keys);
}
