/* Implements cpu_isa.h: detects the CPU, and reads the environment. */
#include "config.h"

#include "lib/cpu_isa.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

const char *const cpu_isa_names[CPU_ISA_COUNT] = {
#define CPU_ISA_NAME(id, name) [CPU_ISA_##id] = #name,
    CPU_ISAS(CPU_ISA_NAME)
#undef CPU_ISA_NAME
};

/* The best set, once it is known; else CPU_ISA_COUNT. All threads find the same one. */
static _Atomic(enum cpu_isa) cpu_isa_known = CPU_ISA_COUNT;

void cpu_isa_forget(void)
{
    cpu_isa_known = CPU_ISA_COUNT;
}

enum cpu_isa cpu_isa_best(void)
{
    int isa = (int)atomic_load_explicit(&cpu_isa_known, memory_order_relaxed);

    if (isa < CPU_ISA_COUNT)
        return (enum cpu_isa)isa;
#if defined(__x86_64__)
    const bool has_avx512 =
        __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("bmi2");
    const bool has[CPU_ISA_COUNT] = {
        [CPU_ISA_AVX512VBMI2] = has_avx512 && __builtin_cpu_supports("avx512ifma") &&
                                __builtin_cpu_supports("avx512vbmi") &&
                                __builtin_cpu_supports("avx512vbmi2"),
        [CPU_ISA_AVX512] = has_avx512,
        [CPU_ISA_AVX2] = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                         __builtin_cpu_supports("bmi2"),
        [CPU_ISA_PLAIN] = true,
    };
#else
    const bool has[CPU_ISA_COUNT] = {[CPU_ISA_PLAIN] = true};
#endif
    const char *allowed = getenv("GPUHIST_ISA");
    while (isa > 0 && !(allowed && strcmp(allowed, cpu_isa_names[isa - 1]) == 0))
        isa--;
    isa = isa > 0 ? isa - 1 : 0; /* the named set, or the first */
    while (!has[isa])
        isa++;
    atomic_store_explicit(&cpu_isa_known, (enum cpu_isa)isa, memory_order_relaxed);
    return (enum cpu_isa)isa;
}

bool cpu_isa_is_intel(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_is("intel");
#else
    return false;
#endif
}
