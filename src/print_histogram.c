/* How a histogram is printed: in one of several formats. */
#include "config.h"

#include "print.h"

#include <string.h>

static const struct print_format *const print_formats[] = {&print_tsv, &print_raw};

bool print_format_find(const char *name, const struct print_format **format)
{
    for (size_t i = 0; i < sizeof print_formats / sizeof *print_formats; i++) {
        if (strcmp(name, print_formats[i]->name) == 0) {
            *format = print_formats[i];
            return true;
        }
    }
    return false;
}

static void print_histogram_result(struct writer *writer, const struct job *job,
                                   const void *partial, const struct print_options *options)
{
    const struct print_format *format = options->format ? options->format : &print_tsv;
    format->histogram(writer, job, partial, options);
}

const struct print_operation print_histogram = {.result = print_histogram_result};
