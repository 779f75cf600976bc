/*
 * Prints results as tables of a terminal: the lines of tsv in aligned columns. Not thread-safe.
 */
#ifndef GPUHIST_PRINT_TABLE_H
#define GPUHIST_PRINT_TABLE_H

#include "print/print.h"

struct writer;

/*
 * Writes a result as result_print does, in the format print_table. Keeps all of its text in memory.
 * The writer records write errors. Fails with STATUS_DATA if there is no memory.
 */
enum status print_table_result(struct writer *writer, const struct job *job, const void *partial,
                               const struct print_options *options, struct failure *failure);

#endif
