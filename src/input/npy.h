/*
 * Reads the header of a NumPy file (.npy), versions 1.0, 2.0 and 3.0 (numpy.lib.format, "Format
 * Version 1.0" and the next two).
 *
 * All functions are pure and thread-safe.
 */
#ifndef GPUHIST_NPY_H
#define GPUHIST_NPY_H

#include "value/element.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum length of a header. NumPy pads headers of integer arrays to 128 bytes. */
#define NPY_HEADER_MAX ((size_t)32 << 10)

/* The array that a header describes. */
struct npy {
    size_t header_bytes; /* length of the header, including the magic */
    struct element element;
    char type[16]; /* the element type with the byte order, such as "u16be" or "u8" */
    size_t dimensions;
    uint64_t rows;        /* length of the first dimension; 1 for a scalar */
    uint64_t columns;     /* elements per row: the product of the other lengths */
    uint64_t data_bytes;  /* size of all elements */
    bool is_column_major; /* several columns of several elements, stored column by column */
    bool is_whole;        /* all elements are read in file order (npy_flatten) */
};

enum npy_result {
    NPY_NONE, /* not a NumPy file */
    NPY_MORE, /* too few bytes to tell */
    NPY_ARRAY,
    NPY_UNSUPPORTED, /* corrupt, or not an array of integers or floats */
};

/* Size of a buffer for a reason and a NUL. */
#define NPY_REASON_SIZE 192

/*
 * Reads the header at the start of data[0..bytes). Sets *npy if it describes a supported array; if
 * the array is unsupported, writes the reason, such as "its array is of type '<f8', not of
 * integers". Like numpy.load, accepts any Python literal that describes such an array.
 */
enum npy_result npy_read(const void *data, size_t bytes, struct npy *npy,
                         char reason[NPY_REASON_SIZE]);

/* Turns an array of any dimensions into the one-dimensional array of all its elements. */
void npy_flatten(struct npy *npy);

#endif
