/* Wide integers, compared with Python's: the constants are its results, modulo 2^384. */
#include "config.h"

#include "tap.h"
#include "wide_hex.h"

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof *(array))

struct operands {
    const char *a;
    const char *b;
    const char *sum;
    const char *product;
};

static const struct operands rows[] = {
    {"1", "1", "2", "1"},
    {"c462ebfc5f915ef0", "afa73207237751aa", "1740a1e038308b09a",
     "86bfe23a42f78530e9d154f26722fb60"},
    {"1ad38835eddd6ff55", "80b65386569c8036", "22deed6e534737f8b",
     "d7cdf3e763c11da191b0c33670d05bee"},
    {"94b044d79acd8acde5f6db1d76b67451", "9ddcc6f8efb6fbfe8de4ab47558298e2",
     "1328d0bd08a8486cc73db8664cc390d33",
     "5bb055444e75614f670f47a657aa1731f7ffcf5f97e507d1a4d8293c1844c782"},
    {"b4174a672b5ebaa061076dc3ba6ace6c0a78250fb339a476", "f3b7a490f23b2cc4",
     "b4174a672b5ebaa061076dc3ba6ace6cfe2fc9a0a574d13a",
     "ab734c0b011682e048fc5f91b2a69bc0485f76300ab856345c87f8f393983258"},
    {"bcee5e2c2b1e1885283b73a66c2ea417b99de255f3868254",
     "ec801bdfdf2965b3819ad93b21e6a46f1c670ea90d243a16",
     "1a96e7a0c0a477e38a9d64ce18e154886d604f0ff00aabc6a",
     "ae8a4a922a1a2ff0d3941dd11b187c0e74fbd620865a755568e4b17e04720f1126e45f14760dbaa4a905a18bfee63"
     "b38"},
    {"bf00188dca22e4c76237dbe6b03da701c632976a10363c5f972651dafdb119a9",
     "ca8aa593eb40a9b81a070205e323bb2a",
     "bf00188dca22e4c76237dbe6b03da70290bd3cfdfb76e617b12d53e0e0d4d4d3",
     "971d84f68a555138ee2bf483fa69e702caa25d7501c35a9983ddddeb3f4a803ec0d1a259d4b79e175e40f08259e7a"
     "8ba"},
    {"c44c5c7d1861674518de3bb41b36bf82959cb01c357b9c7e435396bcb8fac9abb0c3478442b",
     "e583d35bb5c11e9502700",
     "c44c5c7d1861674518de3bb41b36bf82959cb01c357b9c7e435397a23cce256171e1dc86b2b",
     "affd63e07d90a931fc0b656e6d1a131632c11fd62bac78fae1fa206fead53a8ebf7e108c99b8b6c488f5b279c2d28"
     "d00"},
    {"e553fb510e06acd4694398c5e11e99fb01597ac1e2eb17c8b573f6c5331155190b0ecf26cf3c17e55777039e47fbb"
     "3b4",
     "1",
     "e553fb510e06acd4694398c5e11e99fb01597ac1e2eb17c8b573f6c5331155190b0ecf26cf3c17e55777039e47fbb"
     "3b5",
     "e553fb510e06acd4694398c5e11e99fb01597ac1e2eb17c8b573f6c5331155190b0ecf26cf3c17e55777039e47fbb"
     "3b4"},
    {"98cae043f6c986f21caf107ad9c98c23e80a86cfbc79ce036cbaccf13c9a8df50602fe0c239edd3a7de0d208d886c"
     "5d0",
     "95607df9e4794195021cd6ff548914ef33fb4b4fda298adee5329b4e329a86139425b3e2c3ad4d991f0916cb00fde"
     "d65",
     "2e2b5e3ddb42c8871ecbe77a2e52a1131c05d21f96a358e251ed683f6f3514089a28b1eee74c2ad39ce9e8d3d984b"
     "335",
     "809173caabef0d8a9a931e9d5703e5ac42345bd4c4d82af37b553832dfdb4579ba7604196ac1dd6ccb11c713b0dd9"
     "b10"},
    {"9215b7d95f8034a6a704789365eaeb999b8a2e547e22184e82",
     "c3da382fe103131b13d65ec29f8119e333a6b8c290d32bba064ebc1d3d2899f57f77f2a75ec",
     "c3da382fe103131b13d65ec2a8a27560c99ebc0cfb4373433cad6ad6d6e13cdac75a142c46e",
     "1a4e56864f1e37faa35ba97f7812bb2a95b8f48ba518d009e9af87217e5a90dd9d6ac5f22e1f78187bcf1e39e99dc"
     "9d8"},
    {"fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
     "fff",
     "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
     "fff",
     "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
     "ffe",
     "1"},
    {"fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
     "fff",
     "1", "0",
     "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
     "fff"},
    {"ffffffffffffffff", "ffffffffffffffff", "1fffffffffffffffe",
     "fffffffffffffffe0000000000000001"},
    {"ffffffffffffffffffffffffffffffffffffffffffffffff",
     "ffffffffffffffffffffffffffffffffffffffffffffffff",
     "1fffffffffffffffffffffffffffffffffffffffffffffffe",
     "fffffffffffffffffffffffffffffffffffffffffffffffe000000000000000000000000000000000000000000000"
     "001"},
    {"0",
     "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
     "fff",
     "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
     "fff",
     "0"},
    {"100000000000000000000000000000000",
     "8000000000000000000000000000000000000000000000000000000000000000",
     "8000000000000000000000000000000100000000000000000000000000000000",
     "800000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
     "000"},
};

static bool equal(const struct wide *a, const struct wide *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static void test_sums(void)
{
    bool sums = true;
    bool differences = true;

    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        struct wide a = wide_hex(rows[i].a);
        struct wide b = wide_hex(rows[i].b);
        struct wide expected = wide_hex(rows[i].sum);
        struct wide sum = a;
        wide_add(&sum, &b);
        sums = sums && equal(&sum, &expected);
        wide_subtract(&sum, &b); /* undoes the addition, also modulo 2^384 */
        differences = differences && equal(&sum, &a);
    }
    tap_ok(sums, "sums, with carries through all words");
    tap_ok(differences, "differences, with borrows through all words");
}

static void test_products(void)
{
    bool products = true;
    bool scaled = true;

    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        struct wide a = wide_hex(rows[i].a);
        struct wide b = wide_hex(rows[i].b);
        struct wide expected = wide_hex(rows[i].product);
        struct wide product = wide_multiply(&a, &b);
        struct wide reverse = wide_multiply(&b, &a);
        products = products && equal(&product, &expected) && equal(&reverse, &expected);

        struct wide word = wide_from(b.words[0]);
        product = wide_multiply(&a, &word);
        wide_scale(&a, b.words[0]);
        scaled = scaled && equal(&a, &product);
    }
    tap_ok(products, "products, in either order");
    tap_ok(scaled, "products with a word");
}

/* Returns a random number with that many bits. */
static struct wide make_random(uint64_t *state, unsigned bits)
{
    struct wide number = {{0}};

    for (unsigned i = 0; i < bits; i++)
        number.words[i / 64] |= (i + 1 == bits ? 1 : tap_random(state) >> 63) << i % 64;
    return number;
}

/* Divides a quotient times a divisor plus a remainder: the largest, zero or a random one. */
static void test_quotients(void)
{
    bool quotients = true;
    bool lengths = true;
    uint64_t state = 5;

    for (unsigned i = 0; i < 4000; i++) {
        const unsigned bits = 1 + i % 255;
        const struct wide divisor = make_random(&state, bits);
        const struct wide quotient = make_random(&state, (unsigned)(tap_random(&state) % 129));
        const struct wide one = wide_from(1);
        struct wide remainder = divisor;
        if (i % 3 == 0)
            wide_subtract(&remainder, &one);
        else
            remainder = i % 3 == 1 ? wide_from(0) : make_random(&state, bits - 1);
        struct wide number = wide_multiply(&quotient, &divisor);
        wide_add(&number, &remainder);
        lengths = lengths && wide_bits(&divisor) == bits;
        const struct wide found = wide_from(wide_divide(&number, &divisor));
        quotients = quotients && equal(&found, &quotient) && equal(&number, &remainder);
    }
    tap_ok(quotients, "quotients and remainders");
    tap_ok(lengths, "numbers of binary digits");
}

static void test_order(void)
{
    bool ordered = true;

    for (unsigned word = 0; word < WIDE_WORDS; word++) {
        struct wide less = {{0}};
        struct wide more = {{0}};
        for (unsigned i = 0; i < word; i++)
            less.words[i] = UINT64_MAX;
        more.words[word] = 1;
        ordered = ordered && wide_compare(&less, &more) < 0 && wide_compare(&more, &less) > 0 &&
                  wide_compare(&less, &less) == 0 && wide_compare(&more, &more) == 0;
    }
    tap_ok(ordered, "order, by each word");
}

int main(void)
{
    struct wide from = wide_from((unsigned __int128)7 << 64 | 5);
    struct wide expected = {{5, 7}};

    tap_ok(equal(&from, &expected), "128 bits to a wide integer");
    test_sums();
    test_products();
    test_quotients();
    test_order();
    return tap_done();
}
