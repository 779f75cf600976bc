/*
 * Reads a value of a kind in each line of standard input, for tests/column_kinds.py:
 *
 *     read_kinds time|localtime DIGITS [FORMAT]   prints the value and the time
 *     read_kinds bucket DIGITS WIDTH              of values: where their bucket begins
 *     read_kinds ip                               prints the key in hexadecimal and the address
 *     read_kinds prefix LENGTHS                   of addresses: the prefix
 *     read_kinds range                            the addresses of the first and the last key
 *
 * Separates both with a TAB. Prints "-" for an invalid line, "out of range" for such a timestamp. A
 * line is a whole field. Exits with 2 after wrong usage.
 */
#include "config.h"

#include "value/kind_ip.h"
#include "value/kind_time.h"
#include "value/kind_time_bucket.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The contents of the lines, and how they are read. */
struct reading {
    const char *kind;
    struct kind_time_rules rules;
    struct kind_time_bucket bucket;
    struct kind_ip_prefix prefix;
};

static void print_time(const struct reading *reading, const char *line, size_t bytes)
{
    char out[KIND_TIME_SIZE];
    int64_t value;

    if (kind_time_read(&reading->rules, line, bytes, bytes, &value, NULL) > 0)
        printf("%" PRId64 "\t%.*s\n", value, (int)kind_time_write(out, &reading->rules, value),
               out);
    else
        puts(kind_time_is_out_of_range(&reading->rules, line, bytes, bytes) ? "out of range" : "-");
}

static void print_bucket(const struct reading *reading, const char *line)
{
    printf("%" PRId64 "\n", kind_time_bucket_floor(&reading->bucket, strtoll(line, NULL, 10)));
}

static void print_address(const struct reading *reading, const char *line, size_t bytes)
{
    char out[2][KIND_IP_SIZE];
    struct kind_ip key;
    struct kind_ip last;

    if (strcmp(reading->kind, "range") == 0) {
        if (kind_ip_read_range(line, bytes, &key, &last))
            printf("%.*s\t%.*s\n", (int)kind_ip_write(out[0], key), out[0],
                   (int)kind_ip_write(out[1], last), out[1]);
        else
            puts("-");
    } else if (!kind_ip_read(line, bytes, &key)) {
        puts("-");
    } else if (strcmp(reading->kind, "prefix") == 0) {
        printf("%.*s\n", (int)kind_ip_write_prefix(out[0], key, reading->prefix), out[0]);
    } else {
        printf("%016" PRIx64 "%016" PRIx64 "\t%.*s\n", key.high, key.low,
               (int)kind_ip_write(out[0], key), out[0]);
    }
}

int main(int argc, char **argv)
{
    const char *argument = argc > 3 ? argv[3] : "";
    struct reading reading = {.kind = argc > 1 ? argv[1] : ""};
    struct kind_time_format format;
    struct failure failure;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t bytes;

    const bool is_bucket = strcmp(reading.kind, "bucket") == 0;
    const bool is_time = is_bucket || strstr(reading.kind, "time");
    if (is_time && argc > 2)
        reading.rules.digits = (unsigned)atoi(argv[2]);
    reading.rules.is_local = strcmp(reading.kind, "localtime") == 0;
    reading.rules.is_cell = true;
    if (is_bucket &&
        !kind_time_bucket_parse(argument, strlen(argument), reading.rules.digits, &reading.bucket))
        return 2;
    if (is_time && !is_bucket && argc > 3) {
        if (kind_time_format_parse(&format, argument, &failure) != STATUS_OK)
            return fprintf(stderr, "%s\n", failure.message), 2;
        reading.rules.format = &format;
    }
    if (strcmp(reading.kind, "prefix") == 0 &&
        (argc < 3 || !kind_ip_prefix_parse(argv[2], strlen(argv[2]), &reading.prefix)))
        return 2;
    while ((bytes = getline(&line, &capacity, stdin)) > 0) {
        /* memory of the line's size, so that a sanitizer detects reads outside */
        size_t length = (size_t)bytes - (line[bytes - 1] == '\n');
        char *exact = malloc(length + is_bucket);
        if (!exact && length > 0)
            return 1;
        if (length > 0)
            memcpy(exact, line, length);
        if (is_bucket) {
            exact[length] = '\0';
            print_bucket(&reading, exact);
        } else if (is_time) {
            print_time(&reading, exact, length);
        } else {
            print_address(&reading, exact, length);
        }
        free(exact);
    }
    free(line);
    return fflush(stdout) == 0 ? 0 : 1;
}
