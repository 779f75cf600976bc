/*
 * Instruction sets: the binary holds each hot loop for several of them, and uses the best that the
 * processor has. A file writes its loops once, as always-inline functions, and wraps them for each
 * instruction set with CPU_ISA_VARIANTS.
 *
 * The environment variable GPUHIST_ISA may name the best instruction set to use, for tests and
 * comparisons.
 */
#ifndef GPUHIST_CPU_ISA_H
#define GPUHIST_CPU_ISA_H

#include <stdbool.h>

/*
 * CPU_ISAS: X(ID, name) for each, the best first; `plain` is the target of the build.
 * CPU_ISA_VARIANTS: X(name, attribute of its functions, ...) in the same order; it passes further
 * arguments on, so that it can be used within another list.
 */
#if defined(__x86_64__)
#define CPU_ISAS(X)             \
    X(AVX512VBMI2, avx512vbmi2) \
    X(AVX512, avx512)           \
    X(AVX2, avx2)               \
    X(PLAIN, plain)
#define CPU_ISA_VARIANTS(X, ...)                            \
    X(avx512vbmi2, CPU_ISA_TARGET_AVX512VBMI2, __VA_ARGS__) \
    X(avx512, CPU_ISA_TARGET_AVX512, __VA_ARGS__)           \
    X(avx2, CPU_ISA_TARGET_AVX2, __VA_ARGS__)               \
    X(plain, , __VA_ARGS__)
/* Processors with VBMI2 also have BMI and LZCNT. */
#define CPU_ISA_TARGET_AVX512VBMI2                                                  \
    __attribute__((target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512ifma," \
                          "avx512vbmi,avx512vbmi2,bmi,bmi2,lzcnt")))
#define CPU_ISA_TARGET_AVX512 \
    __attribute__((target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,bmi,bmi2")))
#define CPU_ISA_TARGET_AVX2 __attribute__((target("avx2,bmi,bmi2")))
#else
#define CPU_ISAS(X)              X(PLAIN, plain)
#define CPU_ISA_VARIANTS(X, ...) X(plain, , __VA_ARGS__)
#endif

/*
 * True if the set can convert vectors of 64-bit words to doubles and count their leading zeros; or
 * if it has no such vectors, but does both word by word.
 */
#define CPU_ISA_HAS_WORDS(name)       CPU_ISA_HAS_WORDS_##name
#define CPU_ISA_HAS_WORDS_avx512vbmi2 true
#define CPU_ISA_HAS_WORDS_avx512      true
#define CPU_ISA_HAS_WORDS_avx2        false
#if defined(__x86_64__)
#define CPU_ISA_HAS_WORDS_plain false
#else
#define CPU_ISA_HAS_WORDS_plain true
#endif

enum cpu_isa {
#define CPU_ISA_ENUM(id, name) CPU_ISA_##id,
    CPU_ISAS(CPU_ISA_ENUM)
#undef CPU_ISA_ENUM
        CPU_ISA_COUNT
};

extern const char *const cpu_isa_names[CPU_ISA_COUNT];

/*
 * Returns the best instruction set that this CPU has and GPUHIST_ISA allows. Reads GPUHIST_ISA only
 * the first time. Thread-safe.
 */
enum cpu_isa cpu_isa_best(void);

/* Returns whether this is an Intel CPU. Thread-safe. */
bool cpu_isa_is_intel(void);

/* For tests that change GPUHIST_ISA: makes cpu_isa_best read it again. */
void cpu_isa_forget(void);

#endif
