/*
 * The header of a file of NumPy (.npy), of the versions 1.0, 2.0 and 3.0
 * (numpy.lib.format, "Format Version 1.0" and the next two).
 *
 * All functions are pure and thread-safe.
 */
#ifndef GPUHIST_NPY_H
#define GPUHIST_NPY_H

#include "value/element.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest header that is read. NumPy itself pads those of arrays of integers to 128 bytes. */
#define NPY_HEADER_MAX ((size_t)32 << 10)

/* The array that a header describes. */
struct npy {
    size_t header_bytes; /* in front of the data, magic included */
    struct element element;
    char type[16]; /* its name with the byte order, such as "u16be" or "u8" */
    size_t dimensions;
    uint64_t rows;        /* the length of the first dimension; 1 if there is none */
    uint64_t columns;     /* the elements of a row: the product of the other lengths */
    uint64_t data_bytes;  /* of all elements */
    bool is_column_major; /* several columns, each of several elements, which follow each other */
    bool is_whole;        /* all elements are read, in the order of the file (npy_flatten) */
};

enum npy_result {
    NPY_NONE, /* it is not such a file */
    NPY_MORE, /* too few bytes to tell */
    NPY_ARRAY,
    NPY_UNSUPPORTED, /* damaged, or no array of integers or floats */
};

/* The capacity for a reason, with a NUL. */
#define NPY_REASON_SIZE 192

/*
 * Reads the header at the beginning of data[0..bytes). Sets *npy if it is that of an array; if
 * that is not supported, writes why, as "its array is of type '<f8', not of integers". Reads any
 * literal of Python that describes such an array, as numpy.load does.
 */
enum npy_result npy_read(const void *data, size_t bytes, struct npy *npy,
                         char reason[NPY_REASON_SIZE]);

/* Makes an array of any dimensions the one-dimensional array of all its elements. */
void npy_flatten(struct npy *npy);

#endif
