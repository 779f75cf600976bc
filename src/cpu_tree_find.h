/*
 * The loops of search trees (cpu_tree.h), for processors with AVX-512. All functions are
 * thread-safe.
 */
#ifndef GPUHIST_CPU_TREE_FIND_H
#define GPUHIST_CPU_TREE_FIND_H

#include "cpu_tree.h"

/*
 * The function for a tree of that kind and so many levels, 4 to 6, or of elements of 8 bytes 5 or
 * 6. NULL if this machine lacks the instructions.
 */
cpu_tree_find_function *cpu_tree_find_choose(unsigned bytes, unsigned levels,
                                             enum cpu_tree_kind kind);

/* The one of elements of 8 bytes for which none is doubtful: by nodes64, of 6 levels. */
cpu_tree_find_function *cpu_tree_find_choose_exact(void);

#endif
