/*
 * Compares src/text/text.h with tests/unit/text_reference.h. The first four bytes choose how the
 * rest is parsed, so that seeds can be written by hand: the field above '0' ('/' is -1), the
 * delimiter
 * ('.' is none; '"': CSV), the type above '0' (above '8': hexadecimal, above '@': with a point),
 * and the instruction set, capacity and decimal places.
 */
#include "config.h"

#include "lib/cpu_isa.h"
#include "tests/unit/text_reference.h"

#define FUZZ_HEAD 4

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t bytes);

/* Checks that functions for lines and encodings end, and read nothing else. */
static void fuzz_text(const struct text_rules *rules, enum element_type type, size_t room,
                      const char *text, size_t bytes)
{
    struct reference all = reference_parse(rules, type, text, bytes);
    const char *wrong = reference_compare(&all, bytes, room);

    free(all.items);
    if (wrong) {
        fprintf(stderr, "%s\n", wrong);
        abort();
    }
    text_count_lines(text, bytes);
    if (text_is_text(text, bytes, true) && !text_is_text(text, bytes, false))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t bytes)
{
    static const size_t rooms[] = {1, 2, 7, 1000};

    if (bytes < FUZZ_HEAD)
        return 0;
    const struct text_rules rules = {
        .field = (int8_t)(input[0] - '0'),
        .delimiter = input[1] == '.'   ? TEXT_NO_DELIMITER
                     : input[1] == '"' ? ','
                                       : input[1],
        .is_quoted = input[1] == '"',
        .notation = input[2] / ELEMENT_TYPE_COUNT == '8' / 8   ? TEXT_HEX
                    : input[2] / ELEMENT_TYPE_COUNT == '@' / 8 ? TEXT_FIXED
                                                               : TEXT_INTEGERS,
        .decimals = input[3] % (TEXT_DECIMALS_MAX + 1),
        .is_rounded = input[3] >= 128,
    };
    enum element_type type = (enum element_type)(input[2] % ELEMENT_TYPE_COUNT);
    char *text = reference_must(malloc(bytes - FUZZ_HEAD + !(bytes - FUZZ_HEAD)));

    memcpy(text, input + FUZZ_HEAD, bytes - FUZZ_HEAD); /* reads after it are invalid */
    setenv("GPUHIST_ISA", cpu_isa_names[input[3] % CPU_ISA_COUNT], 1);
    cpu_isa_forget();
    fuzz_text(&rules, type, rooms[input[3] / CPU_ISA_COUNT % 4], text, bytes - FUZZ_HEAD);
    free(text);
    return 0;
}
