/*
 * A fake device for tests, only in builds configured with --enable-faults: with the environment
 * variable GPUHIST_FAULT_DEVICE it replaces engine "cuda" (faults.c). It counts on the CPU, and
 * fails where GPUHIST_FAULT lets one of these functions fail. Each is a slot of struct engine,
 * which describes it.
 *
 * The CPU engine then waits a little until the device got some chunks, so that small inputs are
 * also shared. With GPUHIST_FAULT_DEVICE=both, each waits for the other without limit: for runs in
 * which the device does not fail before it counts.
 */
#ifndef GPUHIST_FAULT_DEVICE_H
#define GPUHIST_FAULT_DEVICE_H

#include "engine/engine.h"

bool fault_device_probe(unsigned device, char *description, size_t size);
enum status fault_device_prepare(unsigned device, struct failure *failure);
enum status fault_device_open(const struct plan *plan, const struct engine_options *options,
                              void *aggregate, void **session, unsigned *workers,
                              struct failure *failure);
enum status fault_device_merge(void *session, struct failure *failure);
enum status fault_device_consumer_open(void *session, void **consumer, struct failure *failure);
enum status fault_device_consumer_buffer(void *consumer, struct chunk_buffer *buffer,
                                         struct failure *failure);
enum status fault_device_consumer_accumulate(void *consumer, const struct chunk *chunk,
                                             struct failure *failure);
enum status fault_device_consumer_flush(void *consumer, struct failure *failure);
enum status fault_device_consumer_merge(void *consumer, struct failure *failure);

/* Writes the failure of each function from `prepare` on. */
enum status fault_device_fail(struct failure *failure);

/* The CPU's consumer_accumulate if there is a fake device. */
enum status fault_device_wait(void *consumer, const struct chunk *chunk, struct failure *failure);

#endif
