/*
 * Addresses of IPv4 and IPv6 in text, and their prefixes.
 *
 * What is read: 10.1.2.3 without leading zeros and with all four parts; the forms of RFC 4291 for
 * IPv6, also with the last four bytes as of IPv4; each with or without brackets, and a port:
 * 10.1.2.3:80, [::1], [::1]:80. Brackets and port are dropped. ::ffff:10.1.2.3 is the IPv4 address,
 * however it is written (RFC 4291, 2.5.5.2). A zone (fe80::1%eth0) is invalid: addresses of
 * different links are different, and compare by no number.
 *
 * A key is a number of 128 bits: of each address another, all of IPv4 before all of IPv6, both in
 * numerical order. IPv4 has the first 2^32. The addresses of IPv6 are their own numbers, but for
 * those below ::ffff:0:0, which are 2^32 more: they move up over the 2^32 mapped ones, which are
 * IPv4. So each number is the key of one address.
 *
 * What is written is as RFC 5952 has it, all in hexadecimal.
 *
 * One core of a Zen 4 (bench/RESULTS.md), gcc -O3, random addresses: 58 M a second are read of
 * IPv4, 40 M with a port, 11 M of IPv6 with all eight groups, 25 M of four groups; 46 M are
 * written.
 *
 * All functions are pure and thread-safe.
 */
#ifndef GPUHIST_KIND_IP_H
#define GPUHIST_KIND_IP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Capacity for any address with a prefix length; none has a NUL. */
#define KIND_IP_SIZE 44

/* A key. */
struct kind_ip {
    uint64_t high;
    uint64_t low;
};

/* The number of bits of prefixes: 32 and 128 for whole addresses. */
struct kind_ip_prefix {
    unsigned v4; /* 0 to 32 */
    unsigned v6; /* 0 to 128 */
};

/*
 * Reads all of text[0..bytes), and nothing outside; (10.1.2.3) and [10.1.2.3:80] are addresses, in
 * quotes as well. Returns false if it is no address.
 */
bool kind_ip_read(const char *text, size_t bytes, struct kind_ip *key);

/*
 * Reads the address that a word begins with, after [ ( or " and without. It ends with its word, or
 * before one of , ; | ] ) " - a comma that no digit follows, and no other address. Returns false if
 * there is none.
 */
bool kind_ip_read_word(const char *text, size_t bytes, struct kind_ip *key);

/*
 * Reads an address, or a prefix such as 10.0.0.0/8 or 2001:db8::/32, and stores the smallest and
 * the largest key that it has; bits after the length are ignored. A prefix of IPv6 has no addresses
 * of IPv4, unless it is one of ::ffff:0:0/96. Returns false if it is neither.
 */
bool kind_ip_read_range(const char *text, size_t bytes, struct kind_ip *first,
                        struct kind_ip *last);

/*
 * Reads the lengths of prefixes: 24/48 of IPv4 and IPv6. One length, such as 24, is of both, as
 * PostgreSQL's set_masklen has it; if it is above 32, addresses of IPv4 stay whole. Returns false
 * if text[0..bytes) is not such.
 */
bool kind_ip_prefix_parse(const char *text, size_t bytes, struct kind_ip_prefix *prefix);

/* Returns the key of the first address with the same prefix. */
struct kind_ip kind_ip_floor(struct kind_ip key, struct kind_ip_prefix prefix);

/* Writes an address: 10.1.2.3 or 2001:db8::1. Returns the length, less than KIND_IP_SIZE. */
size_t kind_ip_write(char *out, struct kind_ip key);

/* Writes a prefix by its first address: 10.1.2.0/24; if it is of all bits, the address alone. */
size_t kind_ip_write_prefix(char *out, struct kind_ip key, struct kind_ip_prefix prefix);

#endif
