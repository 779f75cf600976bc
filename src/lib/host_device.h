/* Attributes of functions that are compiled for host and device. */
#ifndef GPUHIST_HOST_DEVICE_H
#define GPUHIST_HOST_DEVICE_H

#ifdef __CUDACC__
#define HOST_DEVICE_INLINE static __host__ __device__ __forceinline__
#define HOST_DEVICE_COLD   static __host__ __device__ __noinline__
#else
#define HOST_DEVICE_INLINE static inline __attribute__((always_inline))
#define HOST_DEVICE_COLD   static __attribute__((noinline))
#endif

#endif
