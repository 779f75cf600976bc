/* IP addresses in text: reading, the order of keys, prefixes, and writing. */
#include "config.h"

#include "tap.h"
#include "value/kind_ip.h"

#include <stdlib.h>
#include <string.h>

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof *(array))

/* Reads from memory of the text's size, so that a sanitizer detects reads outside. */
static bool read_exactly(const char *text, struct kind_ip *key)
{
    size_t bytes = strlen(text);
    char *copy = malloc(bytes > 0 ? bytes : 1);

    if (!copy)
        abort();
    memcpy(copy, text, bytes);
    bool is_read = kind_ip_read(copy, bytes, key);
    free(copy);
    return is_read;
}

static bool is_text(const char *out, size_t length, const char *text)
{
    return length < KIND_IP_SIZE && length == strlen(text) && memcmp(out, text, length) == 0;
}

static int compare(struct kind_ip a, struct kind_ip b)
{
    return a.high != b.high ? (a.high > b.high) - (a.high < b.high)
                            : (a.low > b.low) - (a.low < b.low);
}

static void test_read(void)
{
    static const char *const rows[][2] = {
        {"10.1.2.3", "10.1.2.3"},
        {"0.0.0.0", "0.0.0.0"},
        {"255.255.255.255", "255.255.255.255"},
        {"1.2.3.4:80", "1.2.3.4"},
        {"255.255.255.255:65535", "255.255.255.255"},
        {"[1.2.3.4]", "1.2.3.4"},
        {"[1.2.3.4]:0", "1.2.3.4"},
        {"::ffff:1.2.3.4", "1.2.3.4"},
        {"::FFFF:102:304", "1.2.3.4"},
        {"[0:0:0:0:0:ffff:1.2.3.4]:443", "1.2.3.4"},
        {"::ffff:0:0", "0.0.0.0"},
        {"::fffe:ffff:ffff", "::fffe:ffff:ffff"},
        {"::1:0:0:0", "::1:0:0:0"},
        {"::", "::"},
        {"::1", "::1"},
        {"[::1]", "::1"},
        {"[::1]:80", "::1"},
        {"1::", "1::"},
        {"::1.2.3.4", "::102:304"},
        {"64:ff9b::1.2.3.4", "64:ff9b::102:304"},
        {"1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"},
        {"2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
        {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
        {"2001:db8::1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
        {"1:0:0:2:0:0:0:3", "1:0:0:2::3"},
        {"0001:0020:0300:4000:0:0:0:0", "1:20:300:4000::"},
        {"::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"},
        {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
        {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
    };
    bool all = true;
    struct kind_ip key;
    char out[KIND_IP_SIZE];

    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        size_t length = read_exactly(rows[i][0], &key) ? kind_ip_write(out, key) : 0;
        if (!is_text(out, length, rows[i][1]))
            all = tap_note("%s: %.*s", rows[i][0], (int)length, out);
    }
    tap_ok(all, "read and write: every form");
}

static void test_invalid(void)
{
    static const char *const broken[] = {
        "",
        "1",
        "10.1",
        "10.1.2",
        "1.2.3.4.5",
        "1.2.3.",
        "1.2..4",
        ".1.2.3",
        "1.2.3.4.",
        "256.1.1.1",
        "1.1.1.256",
        "1.1.1.999",
        "010.1.1.1",
        "1.1.1.01",
        "00.0.0.0",
        "1.1.1.1000",
        "1.2.3.a",
        "1.2.3.4 ",
        " 1.2.3.4",
        "+1.2.3.4",
        "1.2.3.-4",
        "1.2.3.\xb4",
        "0x1.2.3.4",
        "1.2.3.4:",
        "1.2.3.4:65536",
        "1.2.3.4:x",
        "1.2.3.4:000080",
        "1.2.3.4/8",
        "[1.2.3.4",
        "1.2.3.4]",
        "[]",
        "[",
        "[1.2.3.4]80",
        "[1.2.3.4]:",
        "[[1.2.3.4]]",
        ":",
        ":::",
        ":1",
        "1:",
        "1::2::3",
        "::1:",
        ":1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:8:9",
        "1:2:3:4:5:6:7:8::",
        "::1:2:3:4:5:6:7:8",
        "12345::",
        "g::",
        "::1%eth0",
        "fe80::1%1",
        "[fe80::1%1]:80",
        "::1.2.3",
        "::1.2.3.4:5",
        "1.2.3.4::",
        "::1.2.3.256",
        "::01.2.3.4",
        "1:2:3:4:5:6:7:1.2.3.4",
        "::12345.2.3.4",
        "1:2:3:4:5:1.2.3.4",
        "localhost",
        "1.2.3.4:80:90",
        "::/0",
    };
    bool all = true;
    struct kind_ip key;
    char out[KIND_IP_SIZE];

    for (size_t i = 0; i < ARRAY_LENGTH(broken); i++) {
        if (read_exactly(broken[i], &key))
            all = tap_note("'%s' is %.*s", broken[i], (int)kind_ip_write(out, key), out);
    }
    tap_ok(all, "read: refuses what is none");
}

static void test_order(void)
{
    /* ascending; no other key lies between marked neighbours */
    static const struct {
        const char *text;
        bool is_next;
    } rows[] = {
        {"0.0.0.0", false},
        {"0.0.0.1", true},
        {"9.255.255.255", false},
        {"10.0.0.0", true},
        {"255.255.255.255", false},
        {"::", true},
        {"::1", true},
        {"::1:0:0", false},
        {"::fffe:ffff:fffe", false},
        {"::fffe:ffff:ffff", true},
        {"::1:0:0:0", true},
        {"0:0:0:ffff:ffff:ffff:ffff:ffff", false},
        {"0:0:1::", true},
        {"2001:db8::1", false},
        {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false},
    };
    bool all = true;
    struct kind_ip last = {0, 0};

    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        struct kind_ip key = {0, 0};
        struct kind_ip next = {last.high + (last.low == UINT64_MAX), last.low + 1};
        all &= read_exactly(rows[i].text, &key);
        if (i > 0 && (compare(last, key) >= 0 || (compare(next, key) == 0) != rows[i].is_next))
            all = tap_note("%s", rows[i].text);
        last = key;
    }
    tap_ok(all && last.high == UINT64_MAX && last.low == UINT64_MAX,
           "keys: IPv4 before IPv6, each in order, and none is left out");
}

/* Every key is that of the address written for it. */
static void test_keys(void)
{
    uint64_t random = 7;
    bool all = true;

    for (int i = 0; i < 200000; i++) {
        uint64_t high = tap_random(&random) >> tap_random(&random) % 64;
        uint64_t low = tap_random(&random) >> tap_random(&random) % 64;
        struct kind_ip key = {i % 2 == 0 ? high : 0, low};
        struct kind_ip again = {0, 0};
        char out[KIND_IP_SIZE];
        size_t length = kind_ip_write(out, key);
        if (length >= KIND_IP_SIZE || !kind_ip_read(out, length, &again) ||
            compare(key, again) != 0)
            all = tap_note("%.*s", (int)length, out);
    }
    tap_ok(all, "keys: each is written, and read again");
}

static void test_prefixes(void)
{
    static const char *const rows[][3] = {
        {"24", "10.1.2.3", "10.1.2.0/24"},
        {"24/48", "2001:db8:1:2::3", "2001:db8:1::/48"},
        {"24/48", "10.1.2.3", "10.1.2.0/24"},
        {"24", "2001:db8:1:2::3", "2001:d00::/24"},
        {"48", "10.1.2.3", "10.1.2.3"},
        {"48", "2001:db8:1:2::3", "2001:db8:1::/48"},
        {"32/128", "2001:db8:1:2::3", "2001:db8:1:2::3"},
        {"0/0", "10.1.2.3", "0.0.0.0/0"},
        {"0", "ffff::1", "::/0"},
        {"0", "::fffe:ffff:ffff", "::/0"},
        {"0/95", "::fffe:ffff:ffff", "::fffe:0:0/95"},
        {"0/100", "::fffe:ffff:ffff", "::fffe:f000:0/100"},
        {"0/64", "1:2:3:4:5:6:7:8", "1:2:3:4::/64"},
        {"0/65", "1:2:3:4:f000:6:7:8", "1:2:3:4:8000::/65"},
        {"31/127", "10.1.2.3", "10.1.2.2/31"},
        {"8", "::ffff:10.1.2.3", "10.0.0.0/8"},
    };
    static const char *const broken[] = {"",    "/", "24/", "/48",     "33/48", "24/129",
                                         "129", "x", "-1",  "24/48/1", "1.5",   "000000"};
    struct kind_ip_prefix prefix;
    bool all = true;

    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        struct kind_ip key = {0, 0};
        char out[KIND_IP_SIZE];
        bool is_prefix = kind_ip_prefix_parse(rows[i][0], strlen(rows[i][0]), &prefix) &&
                         read_exactly(rows[i][1], &key);
        size_t length = is_prefix ? kind_ip_write_prefix(out, key, prefix) : 0;
        struct kind_ip first = kind_ip_floor(key, prefix);
        if (!is_text(out, length, rows[i][2]) || compare(first, key) > 0 ||
            compare(kind_ip_floor(first, prefix), first) != 0)
            all = tap_note("/%s of %s: %.*s", rows[i][0], rows[i][1], (int)length, out);
    }
    tap_ok(all, "prefixes: of both families");
    all = true;
    for (size_t i = 0; i < ARRAY_LENGTH(broken); i++) {
        if (kind_ip_prefix_parse(broken[i], strlen(broken[i]), &prefix))
            all = tap_note("'%s' is a length", broken[i]);
    }
    tap_ok(all, "prefixes: refuses what is no length");
}

static void test_ranges(void)
{
    static const char *const rows[][3] = {
        {"10.1.2.3", "10.1.2.3", "10.1.2.3"},
        {"[::1]:80", "::1", "::1"},
        {"10.0.0.0/8", "10.0.0.0", "10.255.255.255"},
        {"10.1.2.3/8", "10.0.0.0", "10.255.255.255"},
        {"0.0.0.0/0", "0.0.0.0", "255.255.255.255"},
        {"1.2.3.4/32", "1.2.3.4", "1.2.3.4"},
        {"::ffff:10.0.0.0/104", "10.0.0.0", "10.255.255.255"},
        {"::ffff:0:0/96", "0.0.0.0", "255.255.255.255"},
        {"::ffff:0:0/95", "::fffe:0:0", "::fffe:ffff:ffff"},
        {"::/80", "::", "::fffe:ffff:ffff"},
        {"::/79", "::", "::1:ffff:ffff:ffff"},
        {"::/0", "::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
        {"2001:db8::/32", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"},
        {"2001:db8::1/128", "2001:db8::1", "2001:db8::1"},
        {"2001:db8::1/64", "2001:db8::", "2001:db8::ffff:ffff:ffff:ffff"},
    };
    static const char *const broken[] = {"",       "10/8",        "1.2.3.4/",         "1.2.3.4/33",
                                         "::/129", "1.2.3.4:1/8", "[::1]/64",         "1.2.3.4/8/8",
                                         "/8",     "1.2.3.4/-1",  "1.2.3.4/255.0.0.0"};
    bool all = true;
    struct kind_ip first = {0, 0};
    struct kind_ip last = {0, 0};

    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        struct kind_ip wanted_first = {0, 0};
        struct kind_ip wanted_last = {0, 0};
        all &= read_exactly(rows[i][1], &wanted_first) && read_exactly(rows[i][2], &wanted_last);
        if (!kind_ip_read_range(rows[i][0], strlen(rows[i][0]), &first, &last) ||
            compare(first, wanted_first) != 0 || compare(last, wanted_last) != 0)
            all = tap_note("%s", rows[i][0]);
    }
    tap_ok(all, "ranges: the first and the last address");
    all = true;
    for (size_t i = 0; i < ARRAY_LENGTH(broken); i++) {
        if (kind_ip_read_range(broken[i], strlen(broken[i]), &first, &last))
            all = tap_note("'%s' is a range", broken[i]);
    }
    tap_ok(all, "ranges: refuses what is none");
}

int main(void)
{
    test_read();
    test_invalid();
    test_order();
    test_keys();
    test_prefixes();
    test_ranges();
    return tap_done();
}
