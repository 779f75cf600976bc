/*
 * Bytes of elements in AVX-512 registers, from one byte order to the other.
 */
#ifndef GPUHIST_CPU_SWAP_H
#define GPUHIST_CPU_SWAP_H

#include "base/cpu_isa.h"

#include <immintrin.h>

/* The order that _mm512_shuffle_epi8 swaps those of elements of 2, 4 or 8 bytes by. */
CPU_ISA_TARGET_AVX512 static inline __attribute__((always_inline)) __m512i cpu_swap_order(
    unsigned bytes)
{
    switch (bytes) {
    case 2:
        return _mm512_set4_epi32(0x0e0f0c0d, 0x0a0b0809, 0x06070405, 0x02030001);
    case 4:
        return _mm512_set4_epi32(0x0c0d0e0f, 0x08090a0b, 0x04050607, 0x00010203);
    default:
        return _mm512_set4_epi32(0x08090a0b, 0x0c0d0e0f, 0x00010203, 0x04050607);
    }
}

#endif
