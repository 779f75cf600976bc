/* Calls that a GPU test needs: if one fails, the program ends with "Bail out!". */
#ifndef GPUHIST_MUST_CUDA_H
#define GPUHIST_MUST_CUDA_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static inline void must(bool good, const char *what)
{
    if (good)
        return;
    printf("Bail out! %s\n", what);
    exit(1);
}

static inline void must_cuda(cudaError_t error)
{
    must(error == cudaSuccess, cudaGetErrorString(error));
}

#endif
