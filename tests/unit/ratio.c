/*
 * Compares quotients and roots as decimal strings with Python's decimal module (the constants are
 * its results, with 500 digits and then 17, half to even), with snprintf, and with each other.
 */
#include "config.h"

#include "lib/ratio.h"
#include "tap.h"
#include "wide_hex.h"

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof *(array))

struct quotient {
    const char *numerator;
    const char *denominator;
    const char *text;
    const char *root;
};

/*
 * Quotients and roots: small and large ones, ties and values next to ties; the limits; random ones
 * of all lengths; nines that round to the next power of ten.
 */
static const struct quotient rows[] = {
    {"0", "1", "0", "0"},
    {"0", "7", "0", "0"},
    {"1", "1", "1", "1"},
    {"1", "2", "0.5", "0.70710678118654752"},
    {"1", "3", "0.33333333333333333", "0.57735026918962576"},
    {"2", "3", "0.66666666666666667", "0.81649658092772603"},
    {"a", "1", "10", "3.1622776601683793"},
    {"64", "1", "100", "10"},
    {"1", "a", "0.1", "0.31622776601683793"},
    {"1", "64", "0.01", "0.1"},
    {"1", "2710", "0.0001", "0.01"},
    {"1", "186a0", "1e-05", "0.0031622776601683793"},
    {"1", "5f5e100", "1e-08", "0.0001"},
    {"9", "18696", "9.0009000900090009e-05", "0.0094873073577327518"},
    {"1", "8", "0.125", "0.35355339059327376"},
    {"3039", "3e8", "12.345", "3.5135452181521729"},
    {"2386f26fc10000", "1", "10000000000000000", "100000000"},
    {"16345785d89ffff", "1", "99999999999999999", "316227766.01683793"},
    {"16345785d8a0000", "1", "1e+17", "316227766.01683793"},
    {"16345785d8a0001", "1", "1e+17", "316227766.01683793"},
    {"6b14e9f7e4f5a5000", "1", "1.23456789e+20", "11111111060.555555"},
    {"314dc6448d9338c15b0a00000000", "1", "1e+33", "31622776601683793"},
    {"1ed09bead87c0378d8e6400000000", "1", "1e+34", "1e+17"},
    {"8000000000000000", "1", "9.2233720368547758e+18", "3037000499.9760497"},
    {"ffffffffffffffff", "1", "1.8446744073709552e+19", "4294967296"},
    {"10000000000000000", "1", "1.8446744073709552e+19", "4294967296"},
    {"ffffffffffffffffffffffffffffffff", "1", "3.4028236692093846e+38", "1.8446744073709552e+19"},
    {"100000000000000000000000000000000", "1", "3.4028236692093846e+38", "1.8446744073709552e+19"},
    {"8000000000000000000000000000000000000000000000000000000000000000", "1",
     "5.7896044618658098e+76", "2.4061596916800451e+38"},
    {"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", "1",
     "1.157920892373162e+77", "3.4028236692093846e+38"},
    {"470de4df820001", "2", "10000000000000000", "100000000"},
    {"1812f9cf7920e30d25e9c4d631000000000000000000000000000000", "20000000000000000000000000",
     "1e+36", "1e+18"},
    {"a56fa5b99019a81c0be400", "3ac653e386b9497f5773eac20000000000", "1e-14", "1e-07"},
    {"82818f1281ed4675f2980d4444d51c5fbf5610000000001", "3ac653e386b9497f5773eac20000000000",
     "10000000000000001", "100000000"},
    {"82818f1281ed4675f2980d4444d51c5fbf560ffffffffff", "3ac653e386b9497f5773eac20000000000",
     "10000000000000000", "100000000"},
    {"470de4df820003", "2", "10000000000000002", "100000000.00000001"},
    {"1812f9cf7920e3ba9ed58a8293000000000000000000000000000000", "20000000000000000000000000",
     "1.0000000000000002e+36", "1.0000000000000001e+18"},
    {"a56fa5b99019acc423ac00", "3ac653e386b9497f5773eac20000000000", "1.0000000000000002e-14",
     "1.0000000000000001e-07"},
    {"82818f1281ed4a2257d645afd96d11d6fe0230000000001", "3ac653e386b9497f5773eac20000000000",
     "10000000000000002", "100000000.00000001"},
    {"82818f1281ed4a2257d645afd96d11d6fe022ffffffffff", "3ac653e386b9497f5773eac20000000000",
     "10000000000000001", "100000000.00000001"},
    {"2c68af0bb13ffff", "2", "1e+17", "316227766.01683793"},
    {"f0bdc21abb48dac96210f129cf000000000000000000000000000000", "20000000000000000000000000",
     "1e+37", "3.1622776601683793e+18"},
    {"6765c793fa100777bf41c00", "3ac653e386b9497f5773eac20000000000", "1e-13",
     "3.1622776601683793e-07"},
    {"5190f96b91344ac674d1a4e5aff0f55ada0a9f0000000001", "3ac653e386b9497f5773eac20000000000",
     "1e+17", "316227766.01683793"},
    {"5190f96b91344ac674d1a4e5aff0f55ada0a9effffffffff", "3ac653e386b9497f5773eac20000000000",
     "99999999999999999", "316227766.01683793"},
    {"57b8a8bad6970f", "2", "12345678901234568", "111111110.61111111"},
    {"1db89cafccd3d661fa5b9773df000000000000000000000000000000", "20000000000000000000000000",
     "1.2345678901234568e+36", "1.1111111061111111e+18"},
    {"cc3dfbe2b1e54e882e5c00", "3ac653e386b9497f5773eac20000000000", "1.2345678901234568e-14",
     "1.1111111061111111e-07"},
    {"a11e5e5d55e44b6f0ebf3d0f71ee958b797af0000000001", "3ac653e386b9497f5773eac20000000000",
     "12345678901234568", "111111110.61111111"},
    {"a11e5e5d55e44b6f0ebf3d0f71ee958b797aeffffffffff", "3ac653e386b9497f5773eac20000000000",
     "12345678901234567", "111111110.61111111"},
    {"57b8a8bad69711", "2", "12345678901234568", "111111110.61111111"},
    {"1db89cafccd3d70f73475d2041000000000000000000000000000000", "20000000000000000000000000",
     "1.2345678901234568e+36", "1.1111111061111111e+18"},
    {"cc3dfbe2b1e55330462400", "3ac653e386b9497f5773eac20000000000", "1.2345678901234568e-14",
     "1.1111111061111111e-07"},
    {"a11e5e5d55e44f1b73fd757b06868b02b82710000000001", "3ac653e386b9497f5773eac20000000000",
     "12345678901234569", "111111110.61111111"},
    {"a11e5e5d55e44f1b73fd757b06868b02b8270ffffffffff", "3ac653e386b9497f5773eac20000000000",
     "12345678901234568", "111111110.61111111"},
    {"13b8b5b5056e1741d9cdbf040001", "4", "1.0000000000000001e+32", "10000000000000000"},
    {"13b8b5b5056e1741d9cdbf040002", "4", "1.0000000000000001e+32", "10000000000000001"},
    {"13b8b5b5056e1741d9cdbf040000", "4", "1.0000000000000001e+32", "10000000000000000"},
    {"6ae91c5255f4c336988c3746e8c7a535da6d63100000",
     "27d3c9c985e688914075d8908b2519643644000000000000000", "1.0000000000000001e-08", "0.0001"},
    {"13b8b5b5056e1741d9cdbf0400010000000000000000000000001", "40000000000000000000000000",
     "1.0000000000000001e+32", "10000000000000001"},
    {"13b8b5b5056e185e11613d0c0009", "4", "1.0000000000000003e+32", "10000000000000002"},
    {"13b8b5b5056e185e11613d0c000a", "4", "1.0000000000000003e+32", "10000000000000002"},
    {"13b8b5b5056e185e11613d0c0008", "4", "1.0000000000000003e+32", "10000000000000001"},
    {"6ae91c5255f4c93b5700158f21a09dcdc4587b900000",
     "27d3c9c985e688914075d8908b2519643644000000000000000", "1.0000000000000003e-08",
     "0.00010000000000000002"},
    {"13b8b5b5056e185e11613d0c00090000000000000000000000001", "40000000000000000000000000",
     "1.0000000000000003e+32", "10000000000000002"},
    {"7b426fab61f00d8a923ae89d80001", "4", "9.9999999999999999e+33", "1e+17"},
    {"7b426fab61f00d8a923ae89d80002", "4", "9.9999999999999999e+33", "1e+17"},
    {"7b426fab61f00d8a923ae89d80000", "4", "9.9999999999999999e+33", "99999999999999999"},
    {"29c30f1029939af64eabe0d62ebe97b0f683ad63100000",
     "27d3c9c985e688914075d8908b2519643644000000000000000", "9.9999999999999999e-07", "0.001"},
    {"7b426fab61f00d8a923ae89d800010000000000000000000000001", "40000000000000000000000000",
     "9.9999999999999999e+33", "1e+17"},
    {"1e0f07e1f9a4e75a5b12b236b2e1", "4", "1.5241578753238836e+32", "12345678901234568"},
    {"1e0f07e1f9a4e75a5b12b236b2e2", "4", "1.5241578753238836e+32", "12345678901234568"},
    {"1e0f07e1f9a4e75a5b12b236b2e0", "4", "1.5241578753238836e+32", "12345678901234567"},
    {"a2f2d8734d648e06b3454f302a456d495a2531100000",
     "27d3c9c985e688914075d8908b2519643644000000000000000", "1.5241578753238836e-08",
     "0.00012345678901234568"},
    {"1e0f07e1f9a4e75a5b12b236b2e10000000000000000000000001", "40000000000000000000000000",
     "1.5241578753238836e+32", "12345678901234568"},
    {"1e0f07e1f9a4e8b93db59d910f21", "4", "1.5241578753238838e+32", "12345678901234568"},
    {"1e0f07e1f9a4e8b93db59d910f22", "4", "1.5241578753238838e+32", "12345678901234569"},
    {"1e0f07e1f9a4e8b93db59d910f20", "4", "1.5241578753238838e+32", "12345678901234568"},
    {"a2f2d8734d649574da7142651ff39afdb8b7b5100000",
     "27d3c9c985e688914075d8908b2519643644000000000000000", "1.5241578753238838e-08",
     "0.00012345678901234568"},
    {"1e0f07e1f9a4e8b93db59d910f210000000000000000000000001", "40000000000000000000000000",
     "1.5241578753238838e+32", "12345678901234569"},
    {"1", "ffffffffffffffffffffffffffffffff", "2.9387358770557188e-39", "5.4210108624275222e-20"},
    {"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
     "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", "1", "1"},
    {"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
     "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe", "1", "1"},
    {"fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe",
     "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", "1", "1"},
    {"1", "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
     "8.6361685550944446e-78", "2.9387358770557188e-39"},
    {"1", "8000000000000000000000000000000000000000000000000000000000000000",
     "1.7272337110188889e-77", "4.1560001335645899e-39"},
    {"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
     "8000000000000000000000000000000000000000000000000000000000000000", "2", "1.414213562373095"},
    {"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", "3",
     "3.8597363079105398e+76", "1.9646211614228683e+38"},
    {"dd15fe86affad91249ef0eb713f39ebeaa987b6e6fd2a0000000000000000000", "7",
     "1.4285714285714286e+76", "1.1952286093343936e+38"},
    {"ffffffffffffffffffffffffffffffffffffffffffffffff", "ffffffffffffffff",
     "3.4028236692093846e+38", "1.8446744073709552e+19"},
    {"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
     "ffffffffffffffffffffffffffffffff", "3.4028236692093846e+38", "1.8446744073709552e+19"},
    {"fffffffffffffffffffffffffffffffe00000000000000000000000000000001",
     "fffffffffffffffe0000000000000001", "3.4028236692093846e+38", "1.8446744073709552e+19"},
    {"7b0c11fdecb91ce375bc8fbbcbde5c099", "6b91", "9.503299035496834e+34",
     "3.0827421292571382e+17"},
    {"e7d2827688de6a16a3b0d464138a62332553fc1ea36f17fd374c6a53877",
     "d0d7f438b33e968617959ce3f1f65a8de5271007814e8a3", "312445230230335.84", "17676120.338760309"},
    {"687c966c377b9aa2bb2edb20035b7399", "63b2c4069545de11cc9dea959c212e9c82b1",
     "1.5991646835109576e-05", "0.0039989557180731042"},
    {"49a8cc11d357c30d8b76", "719e115e4b9e30691d", "165.96743483313744", "12.882834891169623"},
    {"10074513021da8978", "1", "1.8479484438176238e+19", "4298777086.3556345"},
    {"6fab2a759159fb7ff337f5cae3bf", "3d88da504b74ba4a0fe75d", "30446107.944068315",
     "5517.799193887751"},
    {"28ad864c44e049548e8a0a8c96", "161f7f35634f0e3cd972e81d66d", "0.1149193330742307",
     "0.33899754139850439"},
    {"ce4cc4132f7108e96f770c226", "1df20372a7c18806a3753915c76f18a0585a01d",
     "9.5606975122814954e-17", "9.7778819343871684e-09"},
    {"2a710acff0043892dfc", "4c4909c00ddb74d960d5a8f9a656aafd1412585", "4.6020455548007179e-25",
     "6.7838378185218416e-13"},
    {"1ec44e5a3a26d18a669a5af84e6b4f59672710e6d8e6", "2d1634b4b465325278f845f57b3120df2f4d4c87",
     "44721.225690245295", "211.47393619603645"},
    {"bf3001cee05da8467f06313fff9a01fe8", "6b3843c9a937a68c8f95ef04a012e8677fd139d84a1d3b",
     "3.9593587400028011e-16", "1.9898137450532402e-08"},
    {"bf64ef73ec28d00252f615d75b1e249419cf4d60597bdc", "1e8a6649f486ab739faba827",
     "1.9395039731550887e+27", "44039799876419.61"},
    {"1d3eff8b3fc177f1131e782196", "ecfc68deb5d403a960a8652dbd0e488b6c85ad3ba328332f05a58296819",
     "2.266656403614295e-41", "4.7609415073221547e-21"},
    {"bf970396fabb7b", "1f4e92d2f21ff5eb6ed78f5d0960afe94bbdbb01dc14ed57", "7.0251037847604312e-41",
     "8.381589219688848e-21"},
    {"2b9d355f2af4", "2cf7823ec9837044692ba035707967025f02628eb07c30d", "6.9588134661663986e-43",
     "8.3419502912486829e-22"},
    {"af9b4ffcbf42", "1a07657d61404ab1ecc7c6d812d6f2efc4e613a37", "8.120931938571182e-35",
     "9.0116213516609662e-18"},
    {"636f51eb85a5cd22959fea37bd9e8a1ff297d0e", "267fc985001", "1.341055519758985e+34",
     "1.1580395156293178e+17"},
    {"400dd3881a5058056ed0980dc6ffbd953dc23cc217790825c7cc",
     "21a36939efea83854afaa30fac0e42d43c2547f19c6bf84914a6a5bc99", "1.1349900810198496e-07",
     "0.00033689613844920361"},
    {"1e64bff790656c8fbb4e5c11fb368220216d27a23501e088d6a34d3e558d2adb", "ce580c35ea161d909",
     "5.7786842177376729e+55", "7.6017657276041288e+27"},
    {"d84070f0b97522634f16f5f7cc5d86f3f02402b37d8171b4c24c2",
     "da2d3b9ed2aa0cffd21f09ec08693c7401f5ce2425d75a4b78dc3d", "0.061948564016000098",
     "0.24889468458767877"},
    {"3a0d9985ae8770f9dba1db", "19d7af8785737974a807546462731417aa286ac5154ef5fbac0d757b057c163",
     "9.6066376148410991e-50", "3.099457632367492e-25"},
    {"d2760831ef21cd0c151", "7fd3989efe8b3b5a080c6a5", "2.5122957793194834e-05",
     "0.0050122806977657221"},
    {"320c83e2c32845b61df27deaab6416d1b5ac2e1c5d3a",
     "163a22f5b0f13b0c65fb8a2cb8f1137c938c68d1027e5d3", "0.00054973293343840408",
     "0.023446384229522557"},
    {"309de", "8fcbd71ab163406b4581e378f2f39495d09dd29", "3.8811327345713389e-42",
     "1.9700590688025927e-21"},
    {"de0b6b3a763ffff", "de0b6b3a7640000", "1", "1"},
    {"1d6329f1c35ca4bfabb9f560ffffffffff", "3e8", "1e+37", "3.1622776601683793e+18"},
    {"de0b6b3a763fffc", "a", "1e+17", "316227766.01683793"},
    {"56bc75e2d630fffcd", "3e8", "1e+17", "316227766.01683793"},
};

static bool is_text(const char *found, size_t length, const char *expected)
{
    return (length == strlen(expected) && memcmp(found, expected, length) == 0) ||
           tap_note("'%.*s' instead of '%s'", (int)length, found, expected);
}

static void test_constants(void)
{
    bool quotients = true;
    bool negative = true;
    bool roots = true;

    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        struct wide numerator = wide_hex(rows[i].numerator);
        struct wide denominator = wide_hex(rows[i].denominator);
        char found[RATIO_SIZE];
        char minus[RATIO_SIZE + 1];
        size_t length = ratio_write(found, false, &numerator, &denominator, false);
        quotients = is_text(found, length, rows[i].text) && quotients;
        snprintf(minus, sizeof minus, "%s%s", strcmp(rows[i].text, "0") == 0 ? "" : "-",
                 rows[i].text);
        length = ratio_write(found, true, &numerator, &denominator, false);
        negative = is_text(found, length, minus) && negative;
        length = ratio_write(found, false, &numerator, &denominator, true);
        roots = is_text(found, length, rows[i].root) && roots;
    }
    tap_ok(quotients, "quotients");
    tap_ok(negative, "negative quotients; 0 has no sign");
    tap_ok(roots, "square roots");
}

/* A double is a quotient by a power of two; snprintf rounds it correctly. */
static void test_doubles(void)
{
    bool same = true;
    uint64_t state = 4;

    for (unsigned i = 0; i < 20000; i++) {
        uint64_t numerator = tap_random(&state) >> (11 + i % 53);
        unsigned shift = (unsigned)(tap_random(&state) % 100);
        struct wide wide_numerator = wide_from(numerator);
        struct wide denominator = wide_from((unsigned __int128)1 << shift);
        char found[RATIO_SIZE];
        char expected[64];
        size_t length = ratio_write(found, false, &wide_numerator, &denominator, false);
        snprintf(expected, sizeof expected, "%.17g",
                 (double)numerator / (double)((unsigned __int128)1 << shift));
        char *exponent = strchr(expected, 'e');
        char *end = exponent ? exponent : expected + strlen(expected);
        if (memchr(expected, '.', (size_t)(end - expected))) {
            char *zeros = end;
            while (zeros[-1] == '0')
                zeros--;
            zeros -= zeros[-1] == '.';
            memmove(zeros, end, strlen(end) + 1);
        }
        same = is_text(found, length, expected) && same;
    }
    tap_ok(same, "quotients by powers of two are as snprintf writes them");
}

static void test_squares(void)
{
    bool same = true;
    uint64_t state = 5;

    for (unsigned i = 0; i < 5000; i++) {
        struct wide a = wide_from(tap_random(&state) >> i % 64);
        struct wide b = wide_from(tap_random(&state) >> i / 64 % 64 | 1);
        struct wide aa = wide_multiply(&a, &a);
        struct wide bb = wide_multiply(&b, &b);
        char quotient[RATIO_SIZE];
        char root[RATIO_SIZE];
        size_t length = ratio_write(quotient, false, &a, &b, false);
        same = same && ratio_write(root, false, &aa, &bb, true) == length &&
               memcmp(root, quotient, length) == 0;
    }
    tap_ok(same, "roots of squares are the quotients that were squared");
}

int main(void)
{
    test_constants();
    test_doubles();
    test_squares();
    return tap_done();
}
