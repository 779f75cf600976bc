#include "config.h"

#include "cpu/cpu_tree_find.h"

#include "base/cpu_isa.h"

cpu_tree_count_function *cpu_tree_find_choose(unsigned bytes, unsigned levels,
                                              enum cpu_tree_kind kind)
{
#if defined(__x86_64__)
#define CPU_TREE_IS(of_bytes, of_levels, of_kind) \
    (bytes == (of_bytes) && levels == (of_levels) && kind == CPU_TREE_##of_kind)
#define CPU_TREE_CHOOSE(of_bytes, of_levels, of_kind)                     \
    if (isa == CPU_ISA_AVX2 && CPU_TREE_IS(of_bytes, of_levels, of_kind)) \
        return cpu_tree_avx2_##of_bytes##_##of_levels##_##of_kind;
#define CPU_TREE_CHOOSE_MANY(of_bytes, of_levels, of_kind)                  \
    if (isa <= CPU_ISA_AVX512 && CPU_TREE_IS(of_bytes, of_levels, of_kind)) \
        return cpu_tree_avx512_##of_bytes##_##of_levels##_##of_kind;
#define CPU_TREE_CHOOSE16(of_bytes, of_levels, of_kind)                          \
    if (isa <= CPU_ISA_AVX512VBMI2 && CPU_TREE_IS(of_bytes, of_levels, of_kind)) \
        return cpu_tree_avx512vbmi2_##of_bytes##_##of_levels##_##of_kind;
    const enum cpu_isa isa = cpu_isa_best();
    CPU_TREE_FUNCTIONS(CPU_TREE_CHOOSE)
    CPU_TREE_FUNCTIONS(CPU_TREE_CHOOSE_MANY)
    CPU_TREE_FUNCTIONS_MANY(CPU_TREE_CHOOSE_MANY)
    CPU_TREE_FUNCTIONS16(CPU_TREE_CHOOSE16)
#endif
    (void)bytes;
    (void)levels;
    (void)kind;
    return NULL;
}

/* The rank of an element of 8 bytes. */
static uint32_t cpu_tree_find_one(const struct cpu_tree *tree, int64_t element)
{
    const bool is_mirrored = tree->kind == CPU_TREE_MIRRORED && element < 0;
    const int64_t magnitude = element == INT64_MIN ? INT64_MAX : -element;
    const int64_t word = is_mirrored ? magnitude : (int64_t)((uint64_t)element ^ tree->bias);
    const unsigned last = tree->levels - 1;
    uint32_t path = 0;

    for (unsigned level = 0; level < last; level++)
        path |= (uint32_t)(word > tree->nodes64[level][path]) << level;
    uint32_t rank = tree->ranks[path] + (word > tree->nodes64[last][path]);
    return is_mirrored ? 2 * tree->first - rank : rank;
}

void cpu_tree_find_exactly(const struct cpu_tree *tree, bool swapped, const void *elements,
                           size_t count, uint32_t *ranks)
{
    for (size_t i = 0; i < count; i++)
        ranks[i] =
            cpu_tree_find_one(tree, cpu_tree_element(8, swapped, (const char *)elements + 8 * i));
}
