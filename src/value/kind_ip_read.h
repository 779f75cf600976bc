/*
 * Reads IPv4 addresses and makes their prefixes (kind_ip.h), compiled for host and device. Pure and
 * thread-safe.
 */
#ifndef GPUHIST_KIND_IP_READ_H
#define GPUHIST_KIND_IP_READ_H

#include "lib/bytes.h"
#include "value/kind_ip.h"

#define KIND_IP_V4_BYTES_MIN 7
#define KIND_IP_V4_BYTES_MAX 15

/* Returns the number of the lowest set bit; `bits` is not 0. */
HOST_DEVICE_INLINE unsigned kind_ip_lowest_bit(unsigned bits)
{
#ifdef __CUDA_ARCH__
    return (unsigned)__ffs((int)bits) - 1;
#else
    return (unsigned)__builtin_ctz(bits);
#endif
}

/*
 * Reads an address of IPv4. All points are found at once, as Lemire does ("Parsing IP addresses
 * crazily fast", 2023), and each part is shifted to where its digits have their weights.
 */
HOST_DEVICE_INLINE bool kind_ip_read_v4(const char *text, size_t bytes, uint64_t *address)
{
    uint64_t low;
    uint64_t high = 0;
    uint64_t number = 0;

    if (bytes < KIND_IP_V4_BYTES_MIN || bytes > KIND_IP_V4_BYTES_MAX)
        return false;
    if (bytes >= 8) { /* shifts out the bytes that both words have */
        low = bytes_load(text);
        high = bytes_load(text + bytes - 8) >> 8 * (15 - bytes) >> 8;
    } else {
        char padded[8] = {0};
        memcpy(padded, text, KIND_IP_V4_BYTES_MIN);
        low = bytes_load(padded);
    }
    unsigned __int128 rest = (unsigned __int128)high << 64 | low;
    unsigned points = (unsigned)(bytes_gather(bytes_zeros(low ^ BYTES_OF('.'))) |
                                 bytes_gather(bytes_zeros(high ^ BYTES_OF('.'))) << 8);
    unsigned ends = points | 1u << bytes;
    unsigned begin = 0;
    unsigned misfits = 0;

    for (unsigned i = 0; i < 4; i++) { /* no branch depends on a part */
        unsigned end = kind_ip_lowest_bit(ends | 1u << 31);
        unsigned count = end - begin;
        unsigned digits = ((unsigned)rest ^ 0x303030) << 8 * ((3 - count) & 3) & 0xffffff;
        unsigned part = (digits & 0xff) * 100 + (digits >> 8 & 0xff) * 10 + (digits >> 16);
        unsigned has_zero = (count > 1) & (((unsigned)rest & 0xff) == '0');
        misfits |=
            (((digits + 0x767676) | digits) & 0x808080) | has_zero | (count - 1 > 2) | (part > 255);
        number = number << 8 | part;
        rest = rest >> 8 * (count & 3) >> 8;
        ends &= ends - 1;
        begin = end + 1;
    }
    *address = number;
    return (misfits | ends) == 0;
}

/* Returns a word whose first `bits` of 64 are set; none if negative, all if more. */
HOST_DEVICE_INLINE uint64_t kind_ip_mask(int bits)
{
    return bits <= 0 ? 0 : bits >= 64 ? UINT64_MAX : UINT64_MAX << (64 - bits);
}

/* Returns the first IPv4 address with the same first bits as an address. */
HOST_DEVICE_INLINE uint64_t kind_ip_first_v4(uint64_t address, unsigned bits)
{
    return address & kind_ip_mask((int)bits + 32);
}

#endif
