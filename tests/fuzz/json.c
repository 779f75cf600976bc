/*
 * Compares src/text/json_lines.h with tests/unit/json_reference.h. The first byte, from '0' on,
 * chooses the instruction set and the row end, so that seeds can be written by hand. The rest is
 * scanned.
 */
#include "config.h"

#include "lib/cpu_isa.h"
#include "tests/unit/json_reference.h"

#include <stdio.h>

#define FUZZ_HEAD 1

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t bytes)
{
    static const struct reference_column columns[] = {
        {"a", {"a"}},
        {".b.c", {"b", "c"}},
        {".b", {"b"}},
        {"b.c", {"b.c"}},
        {".\"\"", {""}},
        {"a[1]", {"a[1]"}},
        {".a[1]", {"a", "[1]"}},
        {".b[-2].c", {"b", "[-2]", "c"}},
        {".c[0][]", {"c", "[0]", "[]"}},
    };
    const unsigned count = sizeof columns / sizeof *columns;
    size_t where;

    if (bytes < FUZZ_HEAD)
        return 0;
    const unsigned way = (unsigned)(input[0] - '0') & 255u;
    setenv("GPUHIST_ISA", cpu_isa_names[way % CPU_ISA_COUNT], 1);
    cpu_isa_forget();
    const char *wrong =
        reference_compare(columns, count, (const char *)input + FUZZ_HEAD, bytes - FUZZ_HEAD,
                          "\n\0\r"[way / CPU_ISA_COUNT % 3], &where);
    if (wrong) {
        fprintf(stderr, "%s at %zu\n", wrong, where);
        abort();
    }
    return 0;
}
