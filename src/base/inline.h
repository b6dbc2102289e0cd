/* Small functions that the host and CUDA kernels share. */
#ifndef ND_BASE_INLINE_H
#define ND_BASE_INLINE_H

#ifdef __CUDACC__
#define ND_INLINE static __host__ __device__ __forceinline__
#else
#define ND_INLINE static inline
#endif

#endif
