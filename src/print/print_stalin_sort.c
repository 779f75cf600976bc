/* Prints stalin-sort: the partial writes the elements during the run. */
#include "config.h"

#include "count/stalin_sort.h"
#include "print/print.h"

static void print_stalin_sort_connect(void *partial, const struct print_output *output)
{
    stalin_sort_connect(partial, output->result, output->purged);
}

const struct print_operation print_stalin_sort = {.connect = print_stalin_sort_connect};
