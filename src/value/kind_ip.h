/*
 * IP addresses (IPv4 and IPv6) in text, and their prefixes.
 *
 * Input: 10.1.2.3 without leading zeros and with all four parts; the forms of RFC 4291 for IPv6,
 * also with the last four bytes as in IPv4; each with or without brackets and a port: 10.1.2.3:80,
 * [::1], [::1]:80. Brackets and port are dropped. ::ffff:10.1.2.3 is the IPv4 address in every
 * notation (RFC 4291, 2.5.5.2). A zone (fe80::1%eth0) is invalid: such addresses are distinct per
 * link, and have no numerical order.
 *
 * A key is a 128-bit number that is distinct for each address. All of IPv4 is before all of IPv6,
 * both in numerical order. IPv4 has the first 2^32 keys. An IPv6 address is its own key; those
 * below ::ffff:0:0 are moved up by 2^32, over the 2^32 mapped addresses, which are IPv4. Thus each
 * number is the key of exactly one address.
 *
 * Output has the form of RFC 5952, all in hexadecimal.
 *
 * Million addresses per second, one core of a Zen 4 (bench/RESULTS.md), gcc -O3, random addresses:
 * read IPv4 58, IPv4 with a port 40, IPv6 with eight groups 11, with four groups 25; write 46.
 *
 * All functions are pure and thread-safe.
 */
#ifndef GPUHIST_KIND_IP_H
#define GPUHIST_KIND_IP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Size of a buffer for any address with a prefix length, without a NUL. */
#define KIND_IP_SIZE 44

/* The key of an address: its higher and lower word. */
struct kind_ip {
    uint64_t high;
    uint64_t low;
};

/* The lengths of prefixes in bits; 32 and 128: whole addresses. */
struct kind_ip_prefix {
    unsigned v4; /* 0 to 32 */
    unsigned v6; /* 0 to 128 */
};

/*
 * Reads all of text[0..bytes), and nothing outside; (10.1.2.3) and [10.1.2.3:80] are addresses,
 * also if quoted. Returns false if the text is not an address.
 */
bool kind_ip_read(const char *text, size_t bytes, struct kind_ip *key);

/*
 * Reads the address at the start of a word, optionally after [ ( or ". It ends with its word, or
 * before a mark (one of , ; | ] ) "), but not before a comma that a colon or a hexadecimal digit
 * follows. Returns false if there is none.
 */
bool kind_ip_read_word(const char *text, size_t bytes, struct kind_ip *key);

/*
 * Reads an address, or a prefix such as 10.0.0.0/8 or 2001:db8::/32, and stores its smallest and
 * largest key; bits after the length are ignored. A prefix of IPv6 contains IPv4 addresses only if
 * it is within ::ffff:0:0/96. Returns false if the text is neither.
 */
bool kind_ip_read_range(const char *text, size_t bytes, struct kind_ip *first,
                        struct kind_ip *last);

/*
 * Reads the lengths of prefixes: 24/48 for IPv4 and IPv6. A single length, such as 24, applies to
 * both, as in PostgreSQL's set_masklen; above 32, IPv4 addresses stay whole. Returns false if
 * text[0..bytes) has another form.
 */
bool kind_ip_prefix_parse(const char *text, size_t bytes, struct kind_ip_prefix *prefix);

/* Returns the key of the first address with the same prefix. */
struct kind_ip kind_ip_floor(struct kind_ip key, struct kind_ip_prefix prefix);

/* Writes an address: 10.1.2.3 or 2001:db8::1. Returns the length, less than KIND_IP_SIZE. */
size_t kind_ip_write(char *out, struct kind_ip key);

/* Writes a prefix by its first address: 10.1.2.0/24; if it has all bits, only the address. */
size_t kind_ip_write_prefix(char *out, struct kind_ip key, struct kind_ip_prefix prefix);

#endif
