/*
 * Implements memory_plan.h: the needs of each kind of plan, measured as peaks of resident memory
 * with 1 to 128 threads.
 */
#include "config.h"

#include "engine/memory_plan.h"

#include "aggregate/store.h"
#include "engine/engine.h"
#include "lib/resources.h"
#include "value/context.h"

#define MEMORY_PLAN_MIB ((uint64_t)1 << 20)

/* The program itself: code, libraries, the buffers of the source and of output. */
#define MEMORY_PLAN_PROGRAM (8 * MEMORY_PLAN_MIB)

/* 1/RESERVE of the available memory stays free, for the kernel's pages for threads and pipes. */
#define MEMORY_PLAN_RESERVE 8

/* 1/BESIDE of the table's memory is for windows of uniq and the order of strings. */
#define MEMORY_PLAN_BESIDE 4

/* Default size of a CPU thread's chunk (cpu_engine.c). */
#define MEMORY_PLAN_CHUNK ((size_t)512 << 10)

/* Memory of a thread: its stack, tables of the allocator, the keys of a block. */
#define MEMORY_PLAN_THREAD MEMORY_PLAN_MIB

/* Memory of a thread that adds to a table: its local table, and the one for packing. */
#define MEMORY_PLAN_WRITER (3 * MEMORY_PLAN_MIB)

/* Blocks of a writer: for its local table and its input, one per partition. */
#define MEMORY_PLAN_BLOCKS (8 * MEMORY_PLAN_MIB)

/*
 * Buffers of a thread that counts in bins (cpu_counter_*.c): for many bins, which are partitioned;
 * private tables; slots for weights. The minimum of the first costs a third of the speed.
 */
#define MEMORY_PLAN_PARTITIONED     MEMORY_PLAN_MIB
#define MEMORY_PLAN_PARTITIONED_MAX (20 * MEMORY_PLAN_MIB)
#define MEMORY_PLAN_PRIVATE         (2 * MEMORY_PLAN_MIB)
#define MEMORY_PLAN_WEIGHTED        (6 * MEMORY_PLAN_MIB)

/* A bin has a 64-bit and a 32-bit part, but mostly only one is in use (histogram.c). */
#define MEMORY_PLAN_BIN        8
#define MEMORY_PLAN_BIN_MAPPED 12

/*
 * Number of chunks that wait for a thread if another decodes (relay.c), and of decoders of a
 * thread: for its part, and for one that was put down (parts.c).
 */
#define MEMORY_PLAN_WAITING  2
#define MEMORY_PLAN_DECODERS 2

/* A decoder without its window, and the window that is always allowed (RFC 8878, 3.1.1.1.2). */
#define MEMORY_PLAN_DECODER     MEMORY_PLAN_MIB
#define MEMORY_PLAN_WINDOW      (8 * MEMORY_PLAN_MIB)
#define MEMORY_PLAN_WINDOW_MAX  (128 * MEMORY_PLAN_MIB)
#define MEMORY_PLAN_WINDOW_PART 8

/* Frames that an ordered operation holds back (reader.h). */
#define MEMORY_PLAN_HELD (17 * MEMORY_PLAN_MIB)

/* Smaller needs are never refused: the program already has most of its own memory. */
#define MEMORY_PLAN_SMALL (4 * MEMORY_PLAN_MIB)

enum status memory_plan_make(const struct memory_needs *needs, uint64_t available,
                             const struct plan *plan, unsigned *threads, struct failure *failure)
{
    const uint64_t values = plan->value_count > 0 ? plan->value_count : 1;
    const uint64_t taken = available / MEMORY_PLAN_RESERVE + MEMORY_PLAN_PROGRAM;
    const uint64_t free = available > taken ? available - taken : 0;
    uint64_t table = needs->table;
    uint64_t buffers = needs->buffers; /* per thread */
    uint64_t counts;                   /* the table, which has a minimum size */
    uint64_t total;
    unsigned count = needs->threads;

    if (table == 0 || table > free - free / MEMORY_PLAN_BESIDE)
        table = available / 2;
    if (needs->table_per_thread == 0)
        table = 0;
    for (;; count--) { /* until `count` threads fit, with the smallest buffers */
        const uint64_t blocks = (count + 1) * needs->table_per_thread;
        counts = table > blocks ? table : blocks;
        total = needs->shared + counts + counts / MEMORY_PLAN_BESIDE +
                count * (needs->thread + needs->buffers);
        if (total <= free || count == 1)
            break;
    }
    if (total <= free) {
        table = counts;
        const uint64_t more = (free - total) / count;
        buffers = more < needs->buffers_max - buffers ? buffers + more : needs->buffers_max;
    } else if (total >= MEMORY_PLAN_SMALL && total + MEMORY_PLAN_PROGRAM > available) {
        if (needs->bins > 0 && needs->shared > available)
            return status_fail(
                failure, STATUS_DATA,
                "not enough memory for %llu bins: %llu MiB needed, %llu MiB available",
                (unsigned long long)needs->bins,
                (unsigned long long)(needs->shared / MEMORY_PLAN_MIB),
                (unsigned long long)(available / MEMORY_PLAN_MIB));
        return status_fail(failure, STATUS_DATA,
                           "not enough memory: %llu MiB needed, %llu MiB available",
                           (unsigned long long)((total + MEMORY_PLAN_PROGRAM) / MEMORY_PLAN_MIB),
                           (unsigned long long)(available / MEMORY_PLAN_MIB));
    }
    *threads = count;
    plan->context->dictionary_bytes = table / 2;
    plan->context->table_bytes = table / values;
    plan->context->counter_bytes = buffers / values;
    return STATUS_OK;
}

void memory_plan_needs(struct memory_needs *needs, const struct plan *plan, unsigned threads,
                       size_t chunk_bytes, uint64_t input_bytes, bool is_decoded,
                       uint64_t decoding_bytes)
{
    const struct store *store = store_of(plan);
    const struct store_memory memory =
        store->memory ? store->memory(plan) : (struct store_memory){.bins = 0};
    const uint64_t values = plan->value_count > 0 ? plan->value_count : 1;
    uint64_t buffers_max = 0;

    if (chunk_bytes == 0)
        chunk_bytes = MEMORY_PLAN_CHUNK;
    *needs = (struct memory_needs){
        .threads = engine_useful_workers(threads, chunk_bytes, input_bytes),
        .bins = memory.bins,
        .shared =
            memory.bins * (resources_limit_mapped() ? MEMORY_PLAN_BIN_MAPPED : MEMORY_PLAN_BIN),
        .thread = chunk_bytes + MEMORY_PLAN_THREAD,
        .table = plan->buffer_bytes,
    };
    if (store->stop) { /* besides the chunk, its kept and dropped elements */
        needs->thread += 2 * chunk_bytes;
        needs->shared += MEMORY_PLAN_HELD;
    }
    if (is_decoded)
        needs->thread +=
            MEMORY_PLAN_WAITING * chunk_bytes +
            MEMORY_PLAN_DECODERS *
                (MEMORY_PLAN_DECODER + (decoding_bytes > 0 ? decoding_bytes : MEMORY_PLAN_WINDOW));
    if (memory.has_table) {
        needs->thread += values * MEMORY_PLAN_WRITER;
        needs->table_per_thread = values * MEMORY_PLAN_BLOCKS * (plan_has_strings(plan) ? 2 : 1);
    }
    if (memory.has_counters) {
        const bool is_private =
            !memory.has_table && memory.bins * sizeof(uint32_t) <= MEMORY_PLAN_PRIVATE;
        needs->buffers = plan->has_weights ? MEMORY_PLAN_WEIGHTED
                         : is_private      ? MEMORY_PLAN_PRIVATE
                                           : MEMORY_PLAN_PARTITIONED;
        buffers_max =
            is_private || plan->has_weights ? needs->buffers : MEMORY_PLAN_PARTITIONED_MAX;
    }
    needs->buffers *= values;
    needs->buffers_max = buffers_max * values;
}

uint64_t memory_plan_decoding(uint64_t available)
{
    const uint64_t part = available / MEMORY_PLAN_WINDOW_PART;
    const uint64_t limit = part < MEMORY_PLAN_WINDOW_MAX ? part : MEMORY_PLAN_WINDOW_MAX;

    return limit > MEMORY_PLAN_WINDOW ? limit : MEMORY_PLAN_WINDOW;
}
