/* The number of usable processors. Thread-safe. */
#ifndef GPUHIST_PROCESSORS_H
#define GPUHIST_PROCESSORS_H

/* The number of processors that this process may use, at least 1. */
unsigned processors_available(void);

#endif
