/*
 * Implements first_block.h: the upper halves of 64-bit integers, the exponents of
 * floating-point numbers, names that end in a type, the columns of uniq -c and of a histogram, and
 * quoted fields.
 */
#include "config.h"

#include "input/first_block.h"

#include "value/element.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The minimum numbers of things that are evidence. */
#define FIRST_BLOCK_PAIRS_MIN  4  /* pairs of elements with one that is 0 or -1 */
#define FIRST_BLOCK_LINES_MIN  2  /* lines of counts or of a histogram */
#define FIRST_BLOCK_NULS_MIN   2  /* numbers with NULs after them */
#define FIRST_BLOCK_SIGNS_MIN  64 /* pairs of elements, if only their signs are evidence */
#define FIRST_BLOCK_FLOATS_MIN 32 /* floating-point numbers */

bool first_block_has_nuls(const void *block, size_t bytes)
{
    const char *text = block;
    size_t longest = 0; /* length of the longest number */
    size_t begin = 0;   /* the start of the current number */
    size_t digits = 0;
    size_t points = 0;
    size_t numbers = 0; /* count of numbers with a NUL after them */

    for (size_t i = 0; i < bytes; i++) {
        const char c = text[i];
        const bool is_sign = (c == '-' || c == '+') && i == begin;
        if (c == '\0' && digits > 0) {
            longest = i - begin > longest ? i - begin : longest;
            begin = i + 1;
            digits = points = 0;
            numbers++;
        } else if (c >= '0' && c <= '9') {
            digits++;
        } else if (!is_sign && (c != '.' || points++ > 0)) {
            return false;
        }
    }
    return numbers >= FIRST_BLOCK_NULS_MIN && longest > 1;
}

/*
 * Returns whether the block is IEEE 754 numbers of `width` bytes, 4 or 8, of moderate size. Numbers
 * of 4 bytes must differ in sign, or much in size with a frequent exponent, because 32-bit
 * integers, such as seconds since 1970, may look like other numbers.
 */
static bool first_block_is_float(const char *block, size_t bytes, size_t width)
{
    const unsigned bias = width == 8 ? 1023 : 127;
    const unsigned far = 8 * (unsigned)width; /* maximum distance of exponents from the bias */
    size_t exponents[2 * 8 * 8 + 1] = {0};    /* count of each exponent, from bias - far */
    unsigned min = UINT32_MAX;
    unsigned max = 0;
    size_t most_frequent = 0;
    size_t negatives = 0;
    size_t count = 0;

    for (size_t i = 0; i + width <= bytes; i += width) {
        uint64_t number = 0;
        memcpy(&number, block + i, width);
        number <<= 64 - 8 * width;
        const unsigned exponent = (unsigned)(number << 1 >> (width == 8 ? 53 : 56));
        if (number << 1 == 0)
            continue;
        if (exponent + far < bias || exponent > bias + far)
            return false;
        min = exponent < min ? exponent : min;
        max = exponent > max ? exponent : max;
        const size_t same = ++exponents[exponent + far - bias];
        most_frequent = same > most_frequent ? same : most_frequent;
        negatives += number >> 63;
        count++;
    }
    return count >= FIRST_BLOCK_FLOATS_MIN &&
           (width == 8 || (max - min >= 8 && most_frequent >= count / 5) ||
            (negatives > 0 && negatives < count));
}

void first_block_advise_binary(const char *name, const void *data, size_t bytes,
                               char advice[FIRST_BLOCK_ADVICE_SIZE])
{
    const char *block = data;
    const char *type = strrchr(name, '.');
    struct element element;

    advice[0] = '\0';
    if (type && element_parse(type + 1, &element) &&
        (element.type != ELEMENT_I32 || element.swapped)) {
        snprintf(advice, FIRST_BLOCK_ADVICE_SIZE, "its name ends in %s (try -t %s)", type,
                 type + 1);
        return;
    }
    const size_t pairs = bytes / 8;
    const bool has_pairs = pairs >= FIRST_BLOCK_PAIRS_MIN;
    struct {          /* properties of every second element of 4 bytes */
        bool is_zero; /* all are 0 */
        bool is_sign; /* all are 0 or -1, like the upper halves of small 64-bit integers */
        size_t negatives;
    } halves[2] = {{true, true, 0}, {true, true, 0}}, *even = &halves[0], *odd = &halves[1];
    for (size_t i = 0; i + 4 <= bytes; i += 4) {
        uint32_t word;
        memcpy(&word, block + i, 4);
        halves[i / 4 % 2].is_zero &= word == 0;
        halves[i / 4 % 2].is_sign &= word == 0 || word == UINT32_MAX;
        halves[i / 4 % 2].negatives += word >> 31;
    }
    const bool is_zero = odd->is_sign ? odd->is_zero : even->is_zero;
    const bool has_upper = has_pairs && odd->is_sign != even->is_sign;
    /* The lower halves of doubles are all 0, or have random signs. */
    const bool may_be_double = even->is_zero || even->negatives > pairs / 8;
    const bool is_double = may_be_double && first_block_is_float(block, bytes, 8);
    if (is_double || (!has_upper && first_block_is_float(block, bytes, 4)))
        snprintf(advice, FIRST_BLOCK_ADVICE_SIZE,
                 "it looks like floating-point numbers (try %s --decimals round.6)",
                 is_double ? "-t f64" : "-t f32");
    else if (has_upper)
        snprintf(advice, FIRST_BLOCK_ADVICE_SIZE, "every second element is 0%s (try -t %s)",
                 is_zero ? "" : " or -1", odd->is_sign ? "i64" : "i64be");
    /*
     * About half of the lower halves of large 64-bit integers are negative, and none of the upper
     * halves. Integers that use all 64 bits cannot be told from pairs of 32-bit integers.
     */
    else if (pairs >= FIRST_BLOCK_SIGNS_MIN && odd->negatives == 0 &&
             even->negatives >= pairs / 4 && even->negatives <= pairs - pairs / 4)
        strcpy(advice, "only every second element is ever negative (try -t i64)");
}

/* A line of two integers and their separator. */
struct first_block_line {
    size_t indent;   /* number of blanks before the first integer */
    size_t end;      /* the end of the first integer */
    bool is_tab;     /* the separator is a tab */
    uint64_t digits; /* the first integer, if it has at most 18 digits */
};

/* Splits line[0..length). Returns false if it is not such a line. */
static bool first_block_split_line(const char *line, size_t length, struct first_block_line *taken)
{
    size_t i = 0;

    *taken = (struct first_block_line){.indent = 0};
    while (i < length && line[i] == ' ')
        i++;
    taken->indent = i;
    for (; i < length && line[i] >= '0' && line[i] <= '9' && i - taken->indent < 18; i++)
        taken->digits = taken->digits * 10 + (uint64_t)(line[i] - '0');
    taken->end = i;
    if (i == taken->indent || i == length || (line[i] != ' ' && line[i] != '\t'))
        return false;
    taken->is_tab = line[i++] == '\t';
    i += i < length && line[i] == '-';
    size_t second = i;
    while (i < length && line[i] >= '0' && line[i] <= '9')
        i++;
    return i > second && i == length;
}

void first_block_advise_text(const void *data, size_t bytes, char advice[FIRST_BLOCK_ADVICE_SIZE])
{
    const char *block = data;
    struct first_block_line before = {.indent = 0};
    bool is_counted = true; /* uniq -c: right-aligned counts, a blank */
    bool is_table = true;   /* a histogram: ascending values, a tab */
    bool is_indented = false;
    const char *newline;
    size_t lines = 0;

    advice[0] = '\0';
    for (; (newline = memchr(block, '\n', bytes)) != NULL && (is_counted || is_table); lines++) {
        struct first_block_line line;
        size_t length = (size_t)(newline - block);
        if (!first_block_split_line(block, length, &line))
            return;
        is_indented = is_indented || line.indent > 0;
        is_counted = is_counted && !line.is_tab && (lines == 0 || line.end == before.end);
        is_table = is_table && line.is_tab && line.indent == 0 &&
                   (lines == 0 || line.digits > before.digits);
        before = line;
        block += length + 1;
        bytes -= length + 1;
    }
    if (lines < FIRST_BLOCK_LINES_MIN)
        return;
    if (is_counted && is_indented)
        strcpy(advice, "its lines look like those of uniq -c, with the values in column 2 (-f 2) "
                       "and their counts in column 1 (--weight 1)");
    else if (is_table)
        strcpy(advice, "its lines look like values and counts, with the values in column 1 (-f 1) "
                       "and the counts in column 2 (--weight 2)");
}

/*
 * Returns the end of the quoted field at the start of text[0..length), if it contains a delimiter;
 * else 0. Two quotes in it mean one.
 */
static size_t first_block_end_quoted(const char *text, size_t length, char delimiter)
{
    bool has_delimiter = false;
    size_t i = 1;

    if (length == 0 || text[0] != '"')
        return 0;
    for (; i < length && text[i] != '\n'; i++) {
        if (text[i] == '"' && (i + 1 == length || text[i + 1] != '"'))
            break;
        i += text[i] == '"';
        has_delimiter = has_delimiter || text[i] == delimiter;
    }
    if (!has_delimiter || i >= length || text[i] == '\n')
        return 0;
    return i + 1 == length || memchr("\r\n", text[i + 1], 2) || text[i + 1] == delimiter ? i + 1
                                                                                         : 0;
}

bool first_block_splits_quotes(const struct text_rules *rules, const void *block, size_t bytes)
{
    const char delimiter = (char)rules->delimiter;
    const char *text = block;
    int32_t number = 1; /* the number of the field */

    for (size_t i = 0; i < bytes; i++) {
        bool begins_line = i == 0 || text[i - 1] == '\n';
        bool begins_field = begins_line || text[i - 1] == delimiter;
        number = begins_line ? 1 : number + begins_field;
        size_t length = begins_field ? first_block_end_quoted(text + i, bytes - i, delimiter) : 0;
        if (length == 0)
            continue;
        /* The split shifts fields on the far side, counted from either end. */
        int32_t rest = 1; /* number of fields from this one on */
        for (size_t end = i + length; end < bytes && text[end] != '\n'; end++)
            rest += text[end] == delimiter;
        for (size_t k = 0; k < TEXT_COLUMNS_MAX; k++) {
            const int32_t field = text_rules_field(rules, k); /* 0: none */
            if (field > number || field < -rest)
                return true;
        }
    }
    return false;
}
