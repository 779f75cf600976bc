/* Implements kind_ip.h. */
#include "config.h"

#include "value/kind_ip.h"

#include "lib/decimal.h"
#include "value/kind_ip_read.h"

#include <string.h>

/* ::ffff:0:0/96, the IPv6 addresses that mean IPv4 addresses. */
#define KIND_IP_MAPPED      UINT64_C(0xffff00000000)
#define KIND_IP_MAPPED_LAST UINT64_C(0xffffffffffff)
#define KIND_IP_V4_COUNT    (UINT64_C(1) << 32)

/* An address as its number in its family. */
struct kind_ip_address {
    bool is_v4;
    uint64_t high;
    uint64_t low;
};

/* Returns whether an IPv6 address means an IPv4 address. */
static inline bool kind_ip_is_mapped(uint64_t high, uint64_t low)
{
    return high == 0 && low >= KIND_IP_MAPPED && low <= KIND_IP_MAPPED_LAST;
}

/* Returns the key of an address; for the last mapped one, that of the IPv6 address before all. */
static inline struct kind_ip kind_ip_encode(struct kind_ip_address address)
{
    bool moves = !address.is_v4 && address.high == 0 && address.low < KIND_IP_MAPPED;
    return (struct kind_ip){address.high, address.low + (moves ? KIND_IP_V4_COUNT : 0)};
}

static inline struct kind_ip_address kind_ip_decode(struct kind_ip key)
{
    bool is_v4 = key.high == 0 && key.low < KIND_IP_V4_COUNT;
    bool moved = !is_v4 && key.high == 0 && key.low <= KIND_IP_MAPPED_LAST;
    return (struct kind_ip_address){is_v4, key.high, key.low - (moved ? KIND_IP_V4_COUNT : 0)};
}

/* Returns the value of a hexadecimal digit; 16 or more for another byte. */
static unsigned kind_ip_hex_digit(char c)
{
    unsigned digit = (unsigned char)c - (unsigned)'0';
    unsigned letter = ((unsigned char)c | 0x20u) - 'a';
    return digit < 10 ? digit : letter < 6 ? letter + 10 : 16;
}

/* Reads an IPv6 address, also a mapped one. */
static bool kind_ip_read_v6(const char *text, size_t bytes, struct kind_ip_address *address)
{
    const char *end = text + bytes;
    const char *at = text;
    unsigned groups[8];
    unsigned count = 0;
    const unsigned none = 9;
    unsigned gap = none; /* number of groups before :: */
    uint64_t v4;

    if (bytes >= 2 && at[0] == ':' && at[1] == ':') {
        gap = 0;
        at += 2;
    }
    while (at < end) {
        const char *begin = at;
        unsigned group = 0;
        for (; at < end && at - begin < 4 && kind_ip_hex_digit(*at) < 16; at++)
            group = group << 4 | kind_ip_hex_digit(*at);
        if (at < end && *at == '.' && count <= 6 &&
            kind_ip_read_v4(begin, (size_t)(end - begin), &v4)) {
            groups[count++] = (unsigned)(v4 >> 16);
            groups[count++] = v4 & 0xffff;
            break;
        }
        if (at == begin || count == 8)
            return false;
        groups[count++] = group;
        if (at == end)
            break;
        if (*at++ != ':' || at == end)
            return false;
        if (*at == ':') {
            if (gap < none)
                return false;
            gap = count;
            at++;
        }
    }
    if (gap < none ? count == 8 : count != 8)
        return false;
    uint64_t words[2] = {0};
    for (unsigned i = 0; i < count; i++) {
        unsigned at_group = i < gap ? i : i + 8 - count;
        words[at_group / 4] |= (uint64_t)groups[i] << (48 - 16 * (at_group % 4));
    }
    *address = (struct kind_ip_address){.high = words[0], .low = words[1]};
    return true;
}

/* Reads an address without brackets and port. */
static bool kind_ip_read_bare(const char *text, size_t bytes, struct kind_ip_address *address)
{
    *address = (struct kind_ip_address){.is_v4 = true};
    return kind_ip_read_v4(text, bytes, &address->low) || kind_ip_read_v6(text, bytes, address);
}

/* Reads a number of at most five digits, up to `max`. */
static bool kind_ip_read_number(const char *text, size_t bytes, unsigned max, unsigned *number)
{
    *number = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (i == 5 || text[i] < '0' || text[i] > '9')
            return false;
        *number = *number * 10 + (unsigned)(text[i] - '0');
    }
    return bytes > 0 && *number <= max;
}

/* Reads an address that is not a plain IPv4 address. */
static __attribute__((noinline)) bool kind_ip_read_other(const char *text, size_t bytes,
                                                         struct kind_ip *key)
{
    const char *end = text + bytes;
    const char *address_end = end;
    const char *colon;
    struct kind_ip_address address;
    unsigned port;

    if (bytes == 0)
        return false;
    if (*text == '[') {
        address_end = memchr(++text, ']', bytes - 1);
        if (!address_end)
            return false;
        colon = address_end + 1;
    } else {
        colon = memchr(text, ':', bytes);
        if (colon && !memchr(colon + 1, ':', (size_t)(end - colon) - 1))
            address_end = colon;
        else
            colon = end;
    }
    if (colon < end && (*colon != ':' || !kind_ip_read_number(colon + 1, (size_t)(end - colon) - 1,
                                                              UINT16_MAX, &port)))
        return false;
    if (!kind_ip_read_bare(text, (size_t)(address_end - text), &address))
        return false;
    if (!address.is_v4 && kind_ip_is_mapped(address.high, address.low))
        address = (struct kind_ip_address){.is_v4 = true, .low = address.low - KIND_IP_MAPPED};
    *key = kind_ip_encode(address);
    return true;
}

/* Reads an address without enclosing characters. */
static bool kind_ip_read_plain(const char *text, size_t bytes, struct kind_ip *key)
{
    uint64_t v4;

    if (!kind_ip_read_v4(text, bytes, &v4))
        return kind_ip_read_other(text, bytes, key);
    *key = (struct kind_ip){.low = v4};
    return true;
}

/* Returns the character that closes the first one; 0: there is none, or the first is doubled. */
static char kind_ip_find_mate(const char *text)
{
    const char opener = text[0] == text[1] ? '\0' : text[0];
    return opener == '[' ? ']' : opener == '(' ? ')' : opener == '"' ? '"' : '\0';
}

bool kind_ip_read(const char *text, size_t bytes, struct kind_ip *key)
{
    if (kind_ip_read_plain(text, bytes, key))
        return true;
    const char mate = bytes > 2 ? kind_ip_find_mate(text) : '\0';
    return mate && text[bytes - 1] == mate && kind_ip_read_plain(text + 1, bytes - 2, key);
}

bool kind_ip_read_word(const char *text, size_t bytes, struct kind_ip *key)
{
    if (kind_ip_read_plain(text, bytes, key))
        return true;
    const size_t first = bytes > 1 && kind_ip_find_mate(text) ? 1 : 0;
    for (size_t end = 1; end <= bytes; end++) {
        if (end < bytes && !memchr(",;|])\"", text[end], 6))
            continue;
        if (end < bytes && text[end] == ',' && end + 1 < bytes &&
            (text[end + 1] == ':' || kind_ip_hex_digit(text[end + 1]) < 16))
            continue;
        if (kind_ip_read_plain(text, end, key) ||
            (first > 0 && end > first && kind_ip_read_plain(text + first, end - first, key)))
            return true;
    }
    return false;
}

/* Returns the first address with the same first bits as an address. */
static struct kind_ip_address kind_ip_first(struct kind_ip_address address, unsigned bits)
{
    const int known = (int)bits;

    if (address.is_v4)
        address.low = kind_ip_first_v4(address.low, bits);
    else
        address = (struct kind_ip_address){.high = address.high & kind_ip_mask(known),
                                           .low = address.low & kind_ip_mask(known - 64)};
    return address;
}

bool kind_ip_read_range(const char *text, size_t bytes, struct kind_ip *first, struct kind_ip *last)
{
    const char *slash = memchr(text, '/', bytes);
    struct kind_ip_address address;
    unsigned bits;

    if (!slash) {
        if (!kind_ip_read(text, bytes, first))
            return false;
        *last = *first;
        return true;
    }
    if (!kind_ip_read_bare(text, (size_t)(slash - text), &address) ||
        !kind_ip_read_number(slash + 1, bytes - (size_t)(slash + 1 - text),
                             address.is_v4 ? 32 : 128, &bits))
        return false;
    if (!address.is_v4 && bits >= 96 && kind_ip_is_mapped(address.high, address.low)) {
        address = (struct kind_ip_address){.is_v4 = true, .low = address.low - KIND_IP_MAPPED};
        bits -= 96;
    }
    address = kind_ip_first(address, bits);
    *first = kind_ip_encode(address);
    address.high |= address.is_v4 ? 0 : ~kind_ip_mask((int)bits);
    address.low |= ~kind_ip_mask((int)bits + (address.is_v4 ? 32 : -64));
    *last = kind_ip_encode(address);
    return true;
}

bool kind_ip_prefix_parse(const char *text, size_t bytes, struct kind_ip_prefix *prefix)
{
    const char *slash = memchr(text, '/', bytes);
    size_t first = slash ? (size_t)(slash - text) : bytes;

    if (!kind_ip_read_number(text, first, slash ? 32 : 128, &prefix->v4))
        return false;
    prefix->v6 = prefix->v4;
    prefix->v4 = prefix->v4 < 32 ? prefix->v4 : 32;
    return !slash || kind_ip_read_number(slash + 1, bytes - first - 1, 128, &prefix->v6);
}

struct kind_ip kind_ip_floor(struct kind_ip key, struct kind_ip_prefix prefix)
{
    struct kind_ip_address address = kind_ip_decode(key);
    return kind_ip_encode(kind_ip_first(address, address.is_v4 ? prefix.v4 : prefix.v6));
}

/* Writes an address by RFC 5952: the longest run of zeros, the first of several, becomes :: */
static size_t kind_ip_write_v6(char *out, const struct kind_ip_address *address)
{
    unsigned groups[8];
    unsigned gap = 8;
    unsigned longest = 1;
    unsigned run = 0;
    char *at = out;

    for (unsigned i = 0; i < 8; i++) {
        groups[i] = (i < 4 ? address->high : address->low) >> (48 - 16 * (i % 4)) & 0xffff;
        run = groups[i] == 0 ? run + 1 : 0;
        if (run > longest) {
            longest = run;
            gap = i + 1 - run;
        }
    }
    for (unsigned i = 0; i < 8; i++) {
        if (i == gap) {
            *at++ = ':';
            i += longest - 1;
            if (i == 7)
                *at++ = ':';
            continue;
        }
        if (i > 0)
            *at++ = ':';
        for (int shift = groups[i] > 0xfff  ? 12
                         : groups[i] > 0xff ? 8
                         : groups[i] > 0xf  ? 4
                                            : 0;
             shift >= 0; shift -= 4)
            *at++ = "0123456789abcdef"[groups[i] >> shift & 0xf];
    }
    return (size_t)(at - out);
}

size_t kind_ip_write(char *out, struct kind_ip key)
{
    const struct kind_ip_address address = kind_ip_decode(key);
    char *at = out;

    if (!address.is_v4)
        return kind_ip_write_v6(out, &address);
    for (int shift = 24; shift >= 0; shift -= 8) {
        at += decimal_write(at, address.low >> shift & 0xff);
        *at++ = '.';
    }
    return (size_t)(at - out) - 1;
}

size_t kind_ip_write_prefix(char *out, struct kind_ip key, struct kind_ip_prefix prefix)
{
    const bool is_v4 = kind_ip_decode(key).is_v4;
    const unsigned bits = is_v4 ? prefix.v4 : prefix.v6;
    size_t length = kind_ip_write(out, kind_ip_floor(key, prefix));

    if (bits == (is_v4 ? 32 : 128))
        return length;
    out[length++] = '/';
    return length + decimal_write(out + length, bits);
}
