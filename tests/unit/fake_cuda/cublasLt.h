/* cuBLASLt's types, which headers of the backend name and its host code that is tested here does not use. */
#ifndef TESTS_FAKE_CUBLASLT_H
#define TESTS_FAKE_CUBLASLT_H

typedef void *cublasLtHandle_t, *cublasLtMatmulDesc_t, *cublasLtMatrixLayout_t;
typedef int cublasComputeType_t, cublasStatus_t, cublasLtMatmulAlgo_t, cublasLtMatmulHeuristicResult_t;

#endif
