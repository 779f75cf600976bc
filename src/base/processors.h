/* How many processors there are to work with. Thread-safe. */
#ifndef GPUHIST_PROCESSORS_H
#define GPUHIST_PROCESSORS_H

/* The processors that this process may use; at least 1. */
unsigned processors_available(void);

#endif
