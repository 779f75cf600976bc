/*
 * Text kernel: parses bytes to a dense array of values, in one pass.
 *
 * Blocks take the tiles in order. A block loads a tile and a halo into shared memory, and each
 * thread parses the units that begin in its span (text_span.h) into its local memory. A scan over
 * the block and look-back over the tiles then give the position of each thread's values. A unit
 * that extends beyond the halo is read from global memory byte by byte, which is right but slow.
 *
 * The number of values stays on the device, where the kernels that follow read it.
 */
#include "cuda/launch.cuh"
#include "cuda/look_back.cuh"
#include "cuda/text_span.h"

#include <cub/block/block_scan.cuh>

namespace
{

constexpr unsigned BLOCK_THREADS = 256;
constexpr unsigned BLOCKS_PER_MULTIPROCESSOR = 8;
constexpr uint32_t TILE_BYTES = BLOCK_THREADS * TEXT_SPAN_BYTES;
constexpr uint32_t BEFORE_BYTES = sizeof(uint4); /* loaded before a tile: one byte is needed */

/* Number of bytes loaded after a tile: numbers are short, and most lines end within it. */
template <enum text_span_unit UNIT>
constexpr uint32_t HALO_BYTES = UNIT == TEXT_SPAN_LINES ? 1024 : 64;

/* The head of the control memory. It and the states after it are zeros before the kernel. */
struct control {
    struct cuda_text_parsed parsed;
    uint32_t next; /* the tile that a block takes next */
};

/* The arguments of the kernel: a text and the control memory. */
struct workspace {
    const unsigned char *d_text;
    uint32_t bytes;
    uint32_t tiles;
    struct control *head;
    uint64_t *states; /* [tiles] */
};

/* Returns 16 bytes of the text at `first`; newlines precede and follow the text. */
__device__ __forceinline__ uint4 load_vector(const struct workspace &work, uint32_t first)
{
    if (first < work.bytes && work.bytes - first >= sizeof(uint4))
        return __ldcs((const uint4 *)(work.d_text + first));
    union {
        uint4 vector;
        unsigned char bytes[sizeof(uint4)];
    } loaded;
#pragma unroll
    for (uint32_t i = 0; i < sizeof(uint4); i++)
        loaded.bytes[i] = first + i < work.bytes ? work.d_text[first + i] : '\n';
    return loaded.vector;
}

/* Returns the number of tiles for the positions 0 to bytes, inclusive (text_span.h). */
uint32_t count_tiles(size_t bytes)
{
    return (uint32_t)(bytes / TILE_BYTES) + 1;
}

template <typename T, enum text_span_unit UNIT, enum text_notation NOTATION>
__global__ void __launch_bounds__(BLOCK_THREADS)
    text_parse_kernel(struct workspace work, struct text_span_rules rules, T *d_values)
{
    using Sums = cub::BlockScan<uint32_t, BLOCK_THREADS>;
    constexpr uint32_t around_bytes = BEFORE_BYTES + TILE_BYTES + HALO_BYTES<UNIT>;
    __shared__ uint4
        around[around_bytes / sizeof(uint4)]; /* a tile, and text before and after it */
    __shared__ typename Sums::TempStorage storage;
    __shared__ uint64_t before_tile; /* number of values before the tile */
    __shared__ uint32_t next;

    rules.notation = NOTATION;
    for (;;) {
        if (threadIdx.x == 0)
            next = atomicAdd(&work.head->next, 1u);
        __syncthreads();
        const uint32_t tile = next;
        if (tile >= work.tiles)
            return;
        const uint32_t first = tile * TILE_BYTES;
        for (uint32_t i = threadIdx.x; i < around_bytes / sizeof(uint4); i += BLOCK_THREADS)
            around[i] = load_vector(work, first - BEFORE_BYTES + i * (uint32_t)sizeof(uint4));
        __syncthreads();

        uint64_t values[TEXT_SPAN_VALUES];
        struct text_span_sink sink = {values, 0, 0, 0};
        const struct text_span_view view = {work.d_text, work.bytes, (const unsigned char *)around,
                                            first - BEFORE_BYTES, around_bytes};
        text_span_parse(&view, &rules, UNIT, first + threadIdx.x * TEXT_SPAN_BYTES, &sink);
        if (sink.invalid != 0)
            atomicAdd(&work.head->parsed.invalid, sink.invalid);
        if (NOTATION == TEXT_TIME && sink.zeros != 0)
            atomicAdd(&work.head->parsed.zeros, sink.zeros);

        uint32_t before; /* number of the tile's values before those of this thread */
        uint32_t tile_values;
        Sums(storage).ExclusiveSum(sink.count, before, tile_values);
        if (threadIdx.x < 32) {
            uint64_t sum = look_back(work.states, tile, tile_values);
            if (threadIdx.x == 0) {
                before_tile = sum;
                if (tile == work.tiles - 1)
                    work.head->parsed.values = (uint32_t)sum + tile_values;
            }
        }
        __syncthreads();
        T *d_next = d_values + before_tile + before;
        for (uint32_t i = 0; i < sink.count; i++)
            d_next[i] = (T)values[i];
    }
}

/* Removes all values of a text with invalid tokens, which the CPU may read. */
__global__ void text_withdraw_kernel(struct control *head)
{
    if (head->parsed.invalid > 0)
        head->parsed.values = 0;
}

template <typename T, enum text_notation NOTATION>
auto choose_kernel(enum text_span_unit unit)
{
    auto of_lines = text_parse_kernel<T, TEXT_SPAN_LINES, NOTATION>;

    if constexpr (NOTATION == TEXT_TIME || NOTATION == TEXT_IP)
        return of_lines;
    else
        return unit == TEXT_SPAN_TOKENS  ? text_parse_kernel<T, TEXT_SPAN_TOKENS, NOTATION>
               : unit == TEXT_SPAN_PARTS ? text_parse_kernel<T, TEXT_SPAN_PARTS, NOTATION>
                                         : of_lines;
}

template <typename T>
cudaError_t launch(const struct cuda_device *device, enum text_span_unit unit,
                   const struct text_span_rules &rules, bool reads_less,
                   const struct workspace &work, void *d_values, cudaStream_t stream)
{
    auto kernel = rules.notation == TEXT_FIXED ? choose_kernel<T, TEXT_FIXED>(unit)
                  : rules.notation == TEXT_HEX ? choose_kernel<T, TEXT_HEX>(unit)
                                               : choose_kernel<T, TEXT_INTEGERS>(unit);

    if constexpr (sizeof(T) == sizeof(uint64_t)) { /* the only width of timestamps and addresses */
        kernel = rules.notation == TEXT_TIME ? choose_kernel<T, TEXT_TIME>(unit)
                 : rules.notation == TEXT_IP ? choose_kernel<T, TEXT_IP>(unit)
                                             : kernel;
    }
    unsigned blocks = (unsigned)device->multiprocessors * BLOCKS_PER_MULTIPROCESSOR;

    if (blocks > work.tiles)
        blocks = work.tiles;
    kernel<<<blocks, BLOCK_THREADS, 0, stream>>>(work, rules, (T *)d_values);
    if (reads_less)
        text_withdraw_kernel<<<1, 1, 0, stream>>>(work.head);
    return cudaGetLastError();
}

} // namespace

size_t cuda_text_control_bytes(size_t text_bytes)
{
    return sizeof(struct control) + count_tiles(text_bytes) * sizeof(uint64_t);
}

cudaError_t cuda_text_launch(const struct cuda_device *device, const struct text_rules *rules,
                             const struct column *column, const void *d_text, size_t text_bytes,
                             void *d_values, void *d_control, cudaStream_t stream)
{
    const enum text_span_unit unit = text_span_unit_of(rules);
    const struct text_span_rules span_rules = text_span_rules_of(rules, column);
    struct workspace work;

    work.d_text = (const unsigned char *)d_text;
    work.bytes = (uint32_t)text_bytes;
    work.tiles = count_tiles(text_bytes);
    work.head = (struct control *)d_control;
    work.states = (uint64_t *)(work.head + 1);
    cudaError_t error = cudaMemsetAsync(d_control, 0, cuda_text_control_bytes(text_bytes), stream);
    if (error != cudaSuccess)
        return error;
    return launch_by_width(&column->element, [=](auto word) {
        return launch<decltype(word)>(device, unit, span_rules, cuda_text_reads_less(rules), work,
                                      d_values, stream);
    });
}
