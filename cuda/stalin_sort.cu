/*
 * Stalin-sort kernels: tile maxima first, then only the tiles with kept elements.
 *
 * Values are compared as *ranks*: unsigned numbers of the same width that ascend in the wanted
 * order. A tile only needs the largest rank of all elements before it. Therefore the first kernel
 * takes the maximum of each tile. The second kernel, of one block, scans the maxima, and lists the
 * tiles whose maximum passes the largest rank before them; in random values, nearly none. The third
 * kernel compacts the listed tiles. If dropped elements are wanted, all tiles are listed.
 *
 * The first kernel also speculates that no element is dropped: it copies each tile that is in
 * order, also with the element before it in the input, to the same position among the kept
 * elements. That is right for the *leading* tiles, those before the first tile out of order, which
 * are then done and never listed. The third kernel overwrites later tiles that were copied before
 * all blocks knew of that tile, or they lie after the last kept element.
 *
 * Thus each byte is read once; leading tiles are written once; listed tiles are read again, and
 * their kept elements written.
 */
#include "cuda/elements.cuh"
#include "cuda/launch.cuh"
#include "cuda/look_back.cuh"

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

namespace
{

constexpr unsigned BLOCK_THREADS = 512;
constexpr unsigned THREAD_BYTES = 64; /* per tile; a bit for each byte fits a 64-bit word */
constexpr unsigned THREAD_VECTORS = THREAD_BYTES / sizeof(uint4);
constexpr unsigned TILE_BYTES = BLOCK_THREADS * THREAD_BYTES;
constexpr unsigned LIST_THREADS = 1024;
constexpr unsigned LIST_ITEMS = 8; /* tiles per thread */

/*
 * Maximum number of threads of a multiprocessor. The first kernel uses all of them, for many loads
 * in flight; that leaves 32 registers for each of 2,048 threads.
 */
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || \
    __CUDA_ARCH__ == 1000 || __CUDA_ARCH__ == 1030
constexpr unsigned MULTIPROCESSOR_THREADS = 2048;
#elif __CUDA_ARCH__ < 800
constexpr unsigned MULTIPROCESSOR_THREADS = 1024;
#else
constexpr unsigned MULTIPROCESSOR_THREADS = 1536;
#endif

/* The head of the control memory. It and the states are zeros before the first kernel. */
struct control {
    unsigned long long kept; /* number of all kept elements */
    unsigned unordered;      /* ~ of the first tile out of order, or 0 if none is known */
    unsigned listed;         /* number of tiles in the list */
    unsigned next;           /* the position in the list that a block takes next */
    unsigned padding[11];
};
static_assert(sizeof(struct control) == 64, "the states after it are aligned");

/* The control memory, divided. */
struct workspace {
    struct control *head;
    uint64_t *states; /* [1 + tiles], for look-back: all leading tiles, then the list */
    uint64_t *maxima; /* [tiles], ranks */
    uint64_t *before; /* [tiles], the largest rank before each */
    uint32_t *list;   /* [tiles], in ascending order */
};

/* The order of elements, as unsigned words of their width; and the rank before the first. */
struct rules {
    uint64_t flip; /* a value ^ flip is its rank */
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
__device__ __forceinline__ T rank_of(const struct rules &rules, T value)
{
    return (T)((rules.swapped ? swap_bytes(value) : value) ^ (T)rules.flip);
}

/*
 * This thread's vectors of a whole tile. A warp has consecutive vectors: the first of each lane,
 * then the second of each lane, and so on.
 */
template <typename T>
struct part {
    static constexpr uint32_t width = element_vector<T>::width;
    element_vector<T> vectors[THREAD_VECTORS];

    static __device__ __forceinline__ uint32_t position(uint32_t k)
    {
        return (threadIdx.x / 32 * THREAD_VECTORS + k) * 32 + threadIdx.x % 32;
    }

    __device__ __forceinline__ part(const T *d_tile)
    {
#pragma unroll
        for (uint32_t k = 0; k < THREAD_VECTORS; k++)
            vectors[k].loaded = ((const uint4 *)d_tile)[position(k)];
    }

    __device__ __forceinline__ void store(T *d_tile) const
    {
#pragma unroll
        for (uint32_t k = 0; k < THREAD_VECTORS; k++)
            ((uint4 *)d_tile)[position(k)] = vectors[k].loaded;
    }

    __device__ __forceinline__ T rank(const struct rules &rules, uint32_t k, uint32_t i) const
    {
        return rank_of(rules, vectors[k].values[i]);
    }

    /*
     * Returns whether each element passes the one before it; for the warp's first element, lane 0
     * gives the answer in `ordered`. All lanes call it.
     */
    __device__ __forceinline__ bool is_in_order(const struct rules &rules, bool ordered) const
    {
        const unsigned lane = threadIdx.x % 32;
#pragma unroll
        for (uint32_t k = 0; k < THREAD_VECTORS; k++) {
            T given = rank(rules, k, width - 1);
            if (k > 0 && lane == 31) /* for lane 0: its vector k follows that one */
                given = rank(rules, k - 1, width - 1);
            T before = (T)__shfl_sync(~0u, given, (lane + 31) % 32);
#pragma unroll
            for (uint32_t i = 0; i < width; i++) {
                T own = rank(rules, k, i);
                bool is_first = lane == 0 && k == 0 && i == 0;
                ordered &= is_first || passes(rules, own, before);
                before = own;
            }
        }
        return ordered;
    }
};

/*
 * Copies the tiles of this block to their positions in d_kept, up to the first tile that is out of
 * order, or follows one that is. Returns that tile; it and later tiles have no maximum yet.
 */
template <typename T>
__device__ __forceinline__ uint32_t write_leading(const T *d_elements, uint32_t elements,
                                                  const struct rules &rules,
                                                  const struct workspace &work, T *d_kept)
{
    constexpr uint32_t tile_elements = TILE_BYTES / sizeof(T);
    const uint32_t whole = elements / tile_elements;
    uint32_t tile = blockIdx.x;

    for (; tile < whole; tile += gridDim.x) {
        const uint32_t first = tile * tile_elements;
        const uint32_t position = first + part<T>::position(0) * part<T>::width;
        const part<T> own(d_elements + first);
        uint32_t unordered = 0;
        T before = 0;

        /* Loaded with the tile, by one thread, because all blocks read the same slice of L2. */
        if (threadIdx.x == 0)
            unordered = *(const volatile unsigned *)&work.head->unordered;
        if (threadIdx.x % 32 == 0 && position > 0)
            before = d_elements[position - 1];
        before = position > 0 ? rank_of(rules, before) : (T)rules.floor;
        bool ordered = threadIdx.x % 32 > 0 || (position == 0 && !rules.has_floor) ||
                       passes(rules, own.rank(rules, 0, 0), before);
        ordered = own.is_in_order(rules, ordered);
        if (ordered)
            own.store(d_kept + first);
        if (!__syncthreads_and(ordered && tile < ~unordered))
            break;
        if (threadIdx.x == BLOCK_THREADS - 1)
            work.maxima[tile] = own.rank(rules, THREAD_VECTORS - 1, part<T>::width - 1);
    }
    if (tile < whole && threadIdx.x == 0)
        atomicMax(&work.head->unordered, ~tile);
    return tile;
}

template <typename T>
__global__ void __launch_bounds__(BLOCK_THREADS, MULTIPROCESSOR_THREADS / BLOCK_THREADS)
    stalin_sort_maxima_kernel(struct cuda_elements input, struct rules rules, struct workspace work,
                              T *d_kept)
{
    using Reduce = cub::BlockReduce<T, BLOCK_THREADS>;
    constexpr uint32_t tile_elements = TILE_BYTES / sizeof(T);
    constexpr uint32_t width = element_vector<T>::width;
    __shared__ typename Reduce::TempStorage storage;
    const T *d_elements = (const T *)input.d_data;
    const uint32_t elements = count_elements(input);
    const uint32_t tiles = count_tiles(elements * sizeof(T));
    uint32_t tile = write_leading(d_elements, elements, rules, work, d_kept);

    for (; tile < tiles; tile += gridDim.x) {
        const T *d_tile = d_elements + tile * tile_elements;
        const uint32_t count = min(elements - tile * tile_elements, tile_elements);
        T greatest = 0;
        if (count == tile_elements) {
            element_vector<T> vectors[THREAD_VECTORS];
#pragma unroll
            for (uint32_t k = 0; k < THREAD_VECTORS; k++)
                vectors[k].loaded = ((const uint4 *)d_tile)[k * BLOCK_THREADS + threadIdx.x];
#pragma unroll
            for (uint32_t i = 0; i < THREAD_VECTORS * width; i++)
                greatest =
                    maximum()(greatest, rank_of(rules, vectors[i / width].values[i % width]));
        } else {
            for (uint32_t i = threadIdx.x; i < count; i += BLOCK_THREADS)
                greatest = maximum()(greatest, rank_of(rules, d_tile[i]));
        }
        greatest = Reduce(storage).Reduce(greatest, maximum());
        if (threadIdx.x == 0)
            work.maxima[tile] = greatest;
        __syncthreads(); /* the storage is used again */
    }
}

/*
 * Lists the tiles after the leading tiles that have kept elements, or all of them, and stores the
 * largest rank before each. Has one block.
 */
__global__ void __launch_bounds__(LIST_THREADS)
    stalin_sort_list_kernel(struct cuda_elements input, uint32_t element_bytes, struct rules rules,
                            struct workspace work, bool all)
{
    using Maxima = cub::BlockScan<uint64_t, LIST_THREADS, cub::BLOCK_SCAN_WARP_SCANS>;
    using Sums = cub::BlockScan<uint32_t, LIST_THREADS, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ typename Maxima::TempStorage maxima_storage;
    __shared__ typename Sums::TempStorage sums_storage;
    const uint32_t elements = count_elements(input);
    const uint32_t tile_elements = TILE_BYTES / element_bytes;
    const uint32_t tiles = count_tiles((size_t)elements * element_bytes);
    const uint32_t leading = min(~work.head->unordered, elements / tile_elements);
    uint64_t greatest = rules.has_floor ? rules.floor : 0; /* largest rank so far */
    uint32_t listed = 0;

    if (leading > 0)
        greatest = work.maxima[leading - 1];
    for (uint32_t tile = leading; tile < tiles; tile += LIST_THREADS * LIST_ITEMS) {
        const uint32_t first = tile + threadIdx.x * LIST_ITEMS;
        uint64_t own[LIST_ITEMS];
        uint64_t before[LIST_ITEMS];
        uint64_t greatest_here;
        uint32_t wanted[LIST_ITEMS];
        uint32_t positions[LIST_ITEMS];
        uint32_t count;

        for (uint32_t i = 0; i < LIST_ITEMS; i++)
            own[i] = first + i < tiles ? work.maxima[first + i] : 0;
        Maxima(maxima_storage).ExclusiveScan(own, before, greatest, maximum(), greatest_here);
        for (uint32_t i = 0; i < LIST_ITEMS; i++) {
            bool starts = first + i == 0 && !rules.has_floor;
            wanted[i] = first + i < tiles && (all || starts || passes(rules, own[i], before[i]));
        }
        Sums(sums_storage).ExclusiveSum(wanted, positions, count);
        for (uint32_t i = 0; i < LIST_ITEMS; i++) {
            if (wanted[i]) {
                work.before[first + i] = before[i];
                work.list[listed + positions[i]] = first + i;
            }
        }
        greatest = maximum()(greatest, greatest_here);
        listed += count;
        __syncthreads(); /* the shared memory is used again */
    }
    if (threadIdx.x == 0) {
        work.head->listed = listed;
        work.head->kept = (uint64_t)leading * tile_elements; /* unless a tile is listed */
        work.states[0] = LOOK_BACK_ALL | work.head->kept;    /* the list's kept elements follow */
    }
}

/* This thread's share of a tile: consecutive elements in memory order. */
template <typename T>
struct share {
    static constexpr uint32_t size = THREAD_BYTES / sizeof(T);
    union {
        uint4 vectors[THREAD_VECTORS];
        T values[size];
    };
    uint32_t count;

    __device__ __forceinline__ share(const T *d_tile, uint32_t tile_count)
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

    __device__ __forceinline__ T maximum_of(const struct rules &rules) const
    {
        T greatest = 0;
#pragma unroll
        for (uint32_t i = 0; i < size; i++) {
            if (i < count)
                greatest = maximum()(greatest, rank_of(rules, values[i]));
        }
        return greatest;
    }

    /* Returns a bit for each kept element, if `last` is the largest rank before them; `starts`:
     * there are no elements before them. */
    __device__ __forceinline__ uint64_t mark_kept(const struct rules &rules, T last,
                                                  bool starts) const
    {
        uint64_t keeps = 0;
#pragma unroll
        for (uint32_t i = 0; i < size; i++) {
            T rank = rank_of(rules, values[i]);
            bool keep = i < count && ((starts && i == 0) || passes(rules, rank, last));
            last = keep ? rank : last;
            keeps |= (uint64_t)keep << i;
        }
        return keeps;
    }
};

/*
 * Returns the place of element `position` of a compacted tile: one word is free after each row of
 * banks, so that threads which store whole shares do not conflict in a bank.
 */
template <typename T>
__host__ __device__ constexpr uint32_t compacted_position(uint32_t position)
{
    constexpr uint32_t row = 128 / sizeof(T);
    constexpr uint32_t spare = sizeof(T) < 4 ? 4 / sizeof(T) : 1;
    return position + position / row * spare;
}

/* The shared memory of a block that compacts tiles. */
template <typename T>
struct keep_memory {
    using Maxima = cub::BlockScan<T, BLOCK_THREADS, cub::BLOCK_SCAN_WARP_SCANS>;
    using Sums = cub::BlockScan<uint32_t, BLOCK_THREADS, cub::BLOCK_SCAN_WARP_SCANS>;
    typename Maxima::TempStorage maxima;
    typename Sums::TempStorage sums;
    T compacted[compacted_position<T>(TILE_BYTES / sizeof(T))]; /* kept elements, then dropped */
    uint64_t before;                                            /* kept elements of earlier tiles */
    uint32_t next;                                              /* the block's place in the list */
};

/* Compacts the listed tiles: their kept elements, and the dropped elements if wanted. */
template <typename T>
__global__ void __launch_bounds__(BLOCK_THREADS)
    stalin_sort_keep_kernel(struct cuda_elements input, struct rules rules, struct workspace work,
                            T *d_kept, T *d_purged)
{
    using memory = keep_memory<T>;
    constexpr uint32_t tile_elements = TILE_BYTES / sizeof(T);
    __shared__ memory shared;
    const T *d_elements = (const T *)input.d_data;
    const uint32_t elements = count_elements(input);

    for (;;) {
        if (threadIdx.x == 0)
            shared.next = atomicAdd(&work.head->next, 1u);
        __syncthreads();
        const uint32_t position = shared.next; /* of the tile in the list */
        if (position >= work.head->listed)
            return;
        const uint32_t tile = work.list[position];
        const uint32_t first = tile * tile_elements;
        const uint32_t count = min(elements - first, tile_elements);
        const share<T> own(d_elements + first, count);
        const bool starts = !rules.has_floor && tile == 0 && threadIdx.x == 0;
        uint32_t kept, tile_kept;
        T last;

        typename memory::Maxima(shared.maxima)
            .ExclusiveScan(own.maximum_of(rules), last, (T)work.before[tile], maximum());
        const uint64_t keeps = own.mark_kept(rules, last, starts);
        typename memory::Sums(shared.sums).ExclusiveSum((uint32_t)__popcll(keeps), kept, tile_kept);
        if (threadIdx.x < 32) {
            uint64_t sum = look_back(work.states, position + 1, tile_kept);
            if (threadIdx.x == 0) {
                shared.before = sum;
                if (position == work.head->listed - 1)
                    work.head->kept = sum + tile_kept;
            }
        }
        uint32_t purged = tile_kept + threadIdx.x * share<T>::size - kept;
#pragma unroll
        for (uint32_t i = 0; i < share<T>::size; i++) {
            if (keeps >> i & 1)
                shared.compacted[compacted_position<T>(kept++)] = own.values[i];
            else if (d_purged && i < own.count)
                shared.compacted[compacted_position<T>(purged++)] = own.values[i];
        }
        __syncthreads();
        const uint64_t before = shared.before;
        for (uint32_t i = threadIdx.x; i < tile_kept; i += BLOCK_THREADS)
            d_kept[before + i] = shared.compacted[compacted_position<T>(i)];
        if (d_purged) {
            for (uint32_t i = tile_kept + threadIdx.x; i < count; i += BLOCK_THREADS)
                d_purged[first - before + i - tile_kept] =
                    shared.compacted[compacted_position<T>(i)];
        }
        __syncthreads(); /* the shared memory is used again */
    }
}

template <typename T>
cudaError_t launch(const struct cuda_device *device, const struct cuda_elements *elements,
                   const struct rules &rules, const struct cuda_stalin_sort_buffers *buffers,
                   cudaStream_t stream)
{
    const uint32_t tiles = count_tiles(elements->count * sizeof(T));
    const unsigned maximum = (unsigned)device->multiprocessors * 4;
    const unsigned blocks = tiles < maximum ? tiles : maximum;
    T *d_kept = (T *)buffers->d_kept;
    T *d_purged = (T *)buffers->d_purged;
    struct workspace work;

    work.head = (struct control *)buffers->d_control;
    work.states = (uint64_t *)(work.head + 1);
    work.maxima = work.states + 1 + tiles;
    work.before = work.maxima + tiles;
    work.list = (uint32_t *)(work.before + tiles);
    cudaError_t error =
        cudaMemsetAsync(work.head, 0, (size_t)((char *)work.maxima - (char *)work.head), stream);
    if (error != cudaSuccess || blocks == 0)
        return error;
    stalin_sort_maxima_kernel<T>
        <<<blocks, BLOCK_THREADS, 0, stream>>>(*elements, rules, work, d_kept);
    stalin_sort_list_kernel<<<1, LIST_THREADS, 0, stream>>>(*elements, (uint32_t)sizeof(T), rules,
                                                            work, d_purged != nullptr);
    stalin_sort_keep_kernel<T>
        <<<blocks, BLOCK_THREADS, 0, stream>>>(*elements, rules, work, d_kept, d_purged);
    return cudaGetLastError();
}

} // namespace

size_t cuda_stalin_sort_control_bytes(size_t elements_bytes)
{
    return sizeof(struct control) + sizeof(uint64_t) +
           count_tiles(elements_bytes) * (3 * sizeof(uint64_t) + sizeof(uint32_t));
}

cudaError_t cuda_stalin_sort_launch(const struct cuda_device *device, const struct plan *plan,
                                    const struct cuda_elements *elements, const uint64_t *floor,
                                    const struct cuda_stalin_sort_buffers *buffers,
                                    cudaStream_t stream)
{
    const struct element *element = &plan->element;
    const uint64_t mask = ~0ull >> (64 - element->bytes * 8); /* a rank has the type's width */
    struct rules rules = {};

    rules.flip = element->is_signed ? 1ull << (element->bytes * 8 - 1) : 0;
    rules.flip ^= plan->stalin_sort.descending ? mask : 0;
    rules.has_floor = floor != nullptr;
    rules.floor = floor ? (*floor & mask) ^ rules.flip : 0;
    rules.strict = plan->stalin_sort.strict;
    rules.swapped = element->swapped;
    return launch_by_width(element, [=](auto word) {
        return launch<decltype(word)>(device, elements, rules, buffers, stream);
    });
}
