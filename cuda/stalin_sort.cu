/*
 * Stalin-sort kernels.
 *
 * Values are compared as *ranks*: unsigned numbers of the same width that ascend in the order
 * wanted. What survives before a tile matters only by its greatest rank, so the first kernel takes
 * the maximum of each tile, and its last block the running maximum before each tile and the list of
 * tiles that have a survivor: those whose maximum passes it. On random values nearly none has. The
 * second kernel compacts the tiles of the list. Each byte is read once, those of listed tiles once
 * more, and survivors are written: three bytes moved for one of the input if all survive. If the
 * purged are wanted, every tile is listed.
 */
#include "elements.cuh"
#include "kernels.h"
#include "look_back.cuh"

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <type_traits>

namespace
{

constexpr unsigned BLOCK_THREADS = 256;
constexpr unsigned THREAD_BYTES = 64; /* of a tile */
constexpr unsigned THREAD_VECTORS = THREAD_BYTES / sizeof(uint4);
constexpr unsigned TILE_BYTES = BLOCK_THREADS * THREAD_BYTES;
constexpr unsigned LIST_ITEMS = 8; /* tiles a thread, when the list is made */

/* The head of the control memory; zeros before the first kernel, as are the states. */
struct control {
    unsigned long long kept; /* survivors in all */
    unsigned done;           /* blocks of the first kernel */
    unsigned listed;         /* tiles in the list */
    unsigned next;           /* the place in the list that is taken next */
    unsigned padding[11];
};
static_assert(sizeof(struct control) == 64, "the states behind it are aligned");

/* The control memory of a chunk, as the kernels take it. */
struct workspace {
    struct control *head;
    uint64_t *states; /* [tiles], by place in the list */
    uint64_t *maxima; /* [tiles], ranks */
    uint64_t *before; /* [tiles], the greatest rank before each */
    uint32_t *list;   /* [tiles], in ascending order */
    uint32_t tiles;
};

/* How elements compare, and the floor to start from. */
struct rules {
    uint64_t flip; /* of a value's bits, to make its rank */
    uint64_t floor;
    bool has_floor;
    bool strict;
    bool swapped;
};

__host__ __device__ constexpr uint32_t count_tiles(size_t elements_bytes)
{
    return (uint32_t)((elements_bytes + TILE_BYTES - 1) / TILE_BYTES);
}

struct maximum {
    template <typename U>
    __device__ U operator()(U a, U b) const
    {
        return a > b ? a : b;
    }
};

template <typename U>
__device__ __forceinline__ bool passes(const struct rules &rules, U rank, U last)
{
    return rules.strict ? rank > last : rank >= last;
}

template <typename T>
__device__ __forceinline__ std::make_unsigned_t<T> rank_of(const struct rules &rules, T value)
{
    using U = std::make_unsigned_t<T>;
    return (U)((U)(rules.swapped ? swap_bytes(value) : value) ^ (U)rules.flip);
}

/* The greatest rank of this thread's share of a tile; any share will do, 0 for an empty one. */
template <typename T>
__device__ std::make_unsigned_t<T> thread_maximum(const T *d_tile, uint32_t count,
                                                  const struct rules &rules)
{
    using U = std::make_unsigned_t<T>;
    constexpr uint32_t width = sizeof(uint4) / sizeof(T);
    U best = 0;

    if (count == TILE_BYTES / sizeof(T)) {
        union {
            uint4 vectors[THREAD_VECTORS];
            T values[THREAD_VECTORS * width];
        } loaded;
#pragma unroll
        for (uint32_t i = 0; i < THREAD_VECTORS; i++)
            loaded.vectors[i] = ((const uint4 *)d_tile)[i * BLOCK_THREADS + threadIdx.x];
#pragma unroll
        for (uint32_t i = 0; i < THREAD_VECTORS * width; i++)
            best = maximum()(best, rank_of(rules, loaded.values[i]));
    } else {
        for (uint32_t i = threadIdx.x; i < count; i += BLOCK_THREADS)
            best = maximum()(best, rank_of(rules, d_tile[i]));
    }
    return best;
}

/* Whether every other block of the grid is done before this one. All threads call it. */
__device__ bool is_last_block(unsigned *done)
{
    __shared__ bool is_last;

    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence(); /* what this block has written is seen before its count */
        is_last = atomicAdd(done, 1u) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    return is_last;
}

/* Makes the list, and what is before each tile, from all maxima; by one block. */
__device__ void list_tiles(const struct workspace &work, const struct rules &rules, bool all)
{
    using Maxima = cub::BlockScan<uint64_t, BLOCK_THREADS>;
    using Sums = cub::BlockScan<uint32_t, BLOCK_THREADS>;
    __shared__ typename Maxima::TempStorage maxima_storage;
    __shared__ typename Sums::TempStorage sums_storage;
    uint64_t running = rules.has_floor ? rules.floor : 0;
    uint32_t listed = 0;

    for (uint32_t first = 0; first < work.tiles; first += BLOCK_THREADS * LIST_ITEMS) {
        uint64_t own[LIST_ITEMS];
        uint64_t before[LIST_ITEMS];
        uint64_t greatest;
        uint32_t wanted[LIST_ITEMS];
        uint32_t places[LIST_ITEMS];
        uint32_t count;

        for (uint32_t i = 0; i < LIST_ITEMS; i++) {
            uint32_t tile = first + threadIdx.x * LIST_ITEMS + i;
            own[i] = tile < work.tiles ? __ldcg(&work.maxima[tile]) : 0;
        }
        Maxima(maxima_storage).ExclusiveScan(own, before, running, maximum(), greatest);
        for (uint32_t i = 0; i < LIST_ITEMS; i++) {
            uint32_t tile = first + threadIdx.x * LIST_ITEMS + i;
            bool starts = tile == 0 && !rules.has_floor;
            wanted[i] = tile < work.tiles && (all || starts || passes(rules, own[i], before[i]));
        }
        Sums(sums_storage).ExclusiveSum(wanted, places, count);
        for (uint32_t i = 0; i < LIST_ITEMS; i++) {
            uint32_t tile = first + threadIdx.x * LIST_ITEMS + i;
            if (wanted[i]) {
                work.before[tile] = before[i];
                work.list[listed + places[i]] = tile;
            }
        }
        running = maximum()(running, greatest);
        listed += count;
        __syncthreads(); /* the scans' storage is used again */
    }
    if (threadIdx.x == 0)
        work.head->listed = listed;
}

template <typename T>
__global__ void __launch_bounds__(BLOCK_THREADS)
    stalin_sort_maxima_kernel(const T *d_elements, struct element_count counted, struct rules rules,
                              struct workspace work, bool all)
{
    using U = std::make_unsigned_t<T>;
    using Reduce = cub::BlockReduce<U, BLOCK_THREADS>;
    constexpr uint32_t tile_elements = TILE_BYTES / sizeof(T);
    __shared__ typename Reduce::TempStorage storage;
    const uint32_t elements = read_count(counted);

    work.tiles = count_tiles(elements * sizeof(T)); /* there is room for as many or more */
    for (uint32_t tile = blockIdx.x; tile < work.tiles; tile += gridDim.x) {
        uint32_t first = tile * tile_elements;
        U best = thread_maximum(d_elements + first, min(elements - first, tile_elements), rules);
        best = Reduce(storage).Reduce(best, maximum());
        if (threadIdx.x == 0)
            work.maxima[tile] = best;
        __syncthreads(); /* the storage is used again */
    }
    if (is_last_block(&work.head->done))
        list_tiles(work, rules, all);
}

/* This thread's share of a tile: consecutive elements, as they were read, and how many. */
template <typename T>
struct share {
    static constexpr uint32_t size = THREAD_BYTES / sizeof(T);
    union {
        uint4 vectors[THREAD_VECTORS];
        T values[size];
    };
    uint32_t count;

    __device__ share(const T *d_tile, uint32_t tile_count)
    {
        uint32_t first = threadIdx.x * size;
        count = tile_count > first ? min(tile_count - first, size) : 0;
        if (count == size) {
#pragma unroll
            for (uint32_t i = 0; i < THREAD_VECTORS; i++)
                vectors[i] = ((const uint4 *)(d_tile + first))[i];
        } else {
#pragma unroll
            for (uint32_t i = 0; i < size; i++)
                values[i] = i < count ? d_tile[first + i] : 0;
        }
    }
};

template <typename T, bool PURGED>
__global__ void __launch_bounds__(BLOCK_THREADS)
    stalin_sort_keep_kernel(const T *d_elements, struct element_count counted, struct rules rules,
                            struct workspace work, T *d_kept, T *d_purged)
{
    using U = std::make_unsigned_t<T>;
    using Maxima = cub::BlockScan<U, BLOCK_THREADS>;
    using Sums = cub::BlockScan<uint32_t, BLOCK_THREADS>;
    constexpr uint32_t tile_elements = TILE_BYTES / sizeof(T);
    __shared__ typename Maxima::TempStorage maxima_storage;
    __shared__ typename Sums::TempStorage sums_storage;
    __shared__ uint32_t place;
    __shared__ uint64_t kept_before;
    __shared__ T staged[tile_elements]; /* the tile's survivors, then the others */
    const uint32_t elements = read_count(counted);

    for (;;) {
        if (threadIdx.x == 0)
            place = atomicAdd(&work.head->next, 1u);
        __syncthreads();
        if (place >= work.head->listed)
            return;
        const uint32_t tile = work.list[place];
        const uint32_t first = tile * tile_elements;
        const uint32_t count = min(elements - first, tile_elements);
        const share<T> own(d_elements + first, count);

        U greatest = 0;
#pragma unroll
        for (uint32_t i = 0; i < share<T>::size; i++) {
            if (i < own.count)
                greatest = maximum()(greatest, rank_of(rules, own.values[i]));
        }
        U last;
        Maxima(maxima_storage).ExclusiveScan(greatest, last, (U)work.before[tile], maximum());
        uint64_t keeps = 0; /* a bit an element */
#pragma unroll
        for (uint32_t i = 0; i < share<T>::size; i++) {
            U rank = rank_of(rules, own.values[i]);
            bool starts = !rules.has_floor && tile == 0 && threadIdx.x == 0 && i == 0;
            bool keep = i < own.count && (starts || passes(rules, rank, last));
            last = keep ? rank : last;
            keeps |= (uint64_t)keep << i;
        }
        uint32_t kept = (uint32_t)__popcll(keeps);
        uint32_t tile_kept;
        Sums(sums_storage).ExclusiveSum(kept, kept, tile_kept);
        if (threadIdx.x < 32) {
            uint64_t before = look_back(work.states, place, tile_kept);
            if (threadIdx.x == 0) {
                kept_before = before;
                if (place == work.head->listed - 1)
                    work.head->kept = before + tile_kept;
            }
        }
        uint32_t purged = tile_kept + threadIdx.x * share<T>::size - kept;
#pragma unroll
        for (uint32_t i = 0; i < share<T>::size; i++) {
            if (keeps >> i & 1)
                staged[kept++] = own.values[i];
            else if (PURGED && i < own.count)
                staged[purged++] = own.values[i];
        }
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < tile_kept; i += BLOCK_THREADS)
            d_kept[kept_before + i] = staged[i];
        if (PURGED) {
            for (uint32_t i = threadIdx.x; i < count - tile_kept; i += BLOCK_THREADS)
                d_purged[first - kept_before + i] = staged[tile_kept + i];
        }
        __syncthreads(); /* the shared memory is used again */
    }
}

struct workspace lay_out(void *d_control, uint32_t tiles)
{
    struct workspace work;
    work.head = (struct control *)d_control;
    work.states = (uint64_t *)(work.head + 1);
    work.maxima = work.states + tiles;
    work.before = work.maxima + tiles;
    work.list = (uint32_t *)(work.before + tiles);
    work.tiles = tiles;
    return work;
}

template <typename T>
cudaError_t launch(const struct cuda_device *device, const struct cuda_elements *elements,
                   const struct rules &rules, const struct cuda_stalin_sort_buffers *buffers,
                   cudaStream_t stream)
{
    struct workspace work = lay_out(buffers->d_control, count_tiles(elements->count * sizeof(T)));
    struct element_count count = count_of(elements);
    const T *d_elements = (const T *)elements->d_data;
    unsigned most = (unsigned)device->multiprocessors * 8;
    unsigned blocks = work.tiles < most ? work.tiles : most;
    T *d_kept = (T *)buffers->d_kept;
    T *d_purged = (T *)buffers->d_purged;

    cudaError_t error =
        cudaMemsetAsync(work.head, 0, (size_t)((char *)work.maxima - (char *)work.head), stream);
    if (error != cudaSuccess || blocks == 0)
        return error;
    stalin_sort_maxima_kernel<T>
        <<<blocks, BLOCK_THREADS, 0, stream>>>(d_elements, count, rules, work, d_purged != nullptr);
    if (d_purged)
        stalin_sort_keep_kernel<T, true><<<blocks, BLOCK_THREADS, 0, stream>>>(d_elements, count,
                                                                               rules, work, d_kept,
                                                                               d_purged);
    else
        stalin_sort_keep_kernel<T, false>
            <<<blocks, BLOCK_THREADS, 0, stream>>>(d_elements, count, rules, work, d_kept, nullptr);
    return cudaGetLastError();
}

} // namespace

size_t cuda_stalin_sort_control_bytes(size_t elements_bytes)
{
    return sizeof(struct control) +
           count_tiles(elements_bytes) * (3 * sizeof(uint64_t) + sizeof(uint32_t));
}

cudaError_t cuda_stalin_sort_launch(const struct cuda_device *device, const struct job *job,
                                    const struct cuda_elements *elements, const uint64_t *floor,
                                    const struct cuda_stalin_sort_buffers *buffers,
                                    cudaStream_t stream)
{
    const struct element *element = &job->element;
    const uint64_t mask = ~0ull >> (64 - element->bytes * 8); /* a rank has the type's width */
    struct rules rules = {};

    rules.flip = element->is_signed ? 1ull << (element->bytes * 8 - 1) : 0;
    rules.flip ^= job->stalin_sort.descending ? mask : 0;
    rules.has_floor = floor != nullptr;
    rules.floor = floor ? (*floor & mask) ^ rules.flip : 0;
    rules.strict = job->stalin_sort.strict;
    rules.swapped = element->swapped;
    switch (element->type) {
#define LAUNCH_CASE(id, name, ctype) \
    case ELEMENT_##id:               \
        return launch<ctype>(device, elements, rules, buffers, stream);
        ELEMENT_TYPES(LAUNCH_CASE)
#undef LAUNCH_CASE
    case ELEMENT_TYPE_COUNT:
        break;
    }
    return cudaErrorInvalidValue;
}
