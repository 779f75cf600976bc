/*
 * A device made for tests, in builds configured with --enable-faults alone: with the environment
 * variable GPUHIST_FAULT_DEVICE it takes the place of engine "cuda" (faults.c). It counts on the
 * CPU, and fails wherever GPUHIST_FAULT lets one of these functions fail, each a slot of struct
 * engine, where all is said of it.
 *
 * The engine for the CPU then waits a little until the device has had some chunks, so that small
 * inputs are shared as well. With GPUHIST_FAULT_DEVICE=both each waits for the other as long as it
 * takes: for runs in which the device does not fail before it counts.
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

/* Writes the failure that each of the functions from `prepare` on ends with. */
enum status fault_device_fail(struct failure *failure);

/* The CPU's consumer_accumulate while there is such a device. */
enum status fault_device_wait(void *consumer, const struct chunk *chunk, struct failure *failure);

#endif
