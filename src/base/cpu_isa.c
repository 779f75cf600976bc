/* Implements cpu_isa.h: asks the processor and the environment. */
#include "config.h"

#include "base/cpu_isa.h"

#include <stdlib.h>
#include <string.h>

const char *const cpu_isa_names[CPU_ISA_COUNT] = {
#define CPU_ISA_NAME(id, name) [CPU_ISA_##id] = #name,
    CPU_ISAS(CPU_ISA_NAME)
#undef CPU_ISA_NAME
};

static bool cpu_isa_supported(enum cpu_isa isa)
{
#if defined(__x86_64__)
    if (isa == CPU_ISA_AVX512VBMI2)
        return cpu_isa_supported(CPU_ISA_AVX512) && __builtin_cpu_supports("avx512ifma") &&
               __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2");
    if (isa == CPU_ISA_AVX512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2");
    if (isa == CPU_ISA_AVX2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
#endif
    return isa == CPU_ISA_PLAIN;
}

enum cpu_isa cpu_isa_best(void)
{
    const char *allowed = getenv("GPUHIST_ISA");
    int isa = 0;

    for (int i = 0; allowed && i < CPU_ISA_COUNT; i++) {
        if (strcmp(allowed, cpu_isa_names[i]) == 0)
            isa = i;
    }
    while (!cpu_isa_supported((enum cpu_isa)isa))
        isa++;
    return (enum cpu_isa)isa;
}

bool cpu_isa_has_avx512(void)
{
#if defined(__x86_64__)
    return cpu_isa_best() <= CPU_ISA_AVX512;
#else
    return false;
#endif
}
