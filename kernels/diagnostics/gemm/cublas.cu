#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include <cublas_v2.h>

#include "kernels/device/cuda_check.h"
#include "kernels/device/shared_library.h"
#include "kernels/diagnostics/gemm/device.h"

namespace tensormg::gemm
{
namespace
{
  /// One handle for the whole program: creating it takes a tenth of a second and device memory.
  class Cublas
  {
  public:
    static const Cublas &instance()
    {
      static const Cublas cublas;
      return cublas;
    }

    /// Column-major, as BLAS is: it sees the transposed matrices, and C' = B' A'.
    template <typename Number, typename Result>
    void multiply(const Size &size, const Number *a, const Number *b, Result *c, cudaDataType type,
        cudaDataType result_type, cublasComputeType_t compute, Stream stream) const
    {
      const int m = to_int(size.m), n = to_int(size.n), k = to_int(size.k);
      if (m == 0 || n == 0)
        return;
      check(set_stream_(handle_, stream), "choosing the stream");
      // Scalars have the type that sums have.
      const Result one = 1, zero = 0;
      check(multiply_(handle_, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, type, n, a, type,
                std::max(1, k), &zero, c, result_type, n, compute, CUBLAS_GEMM_DEFAULT),
          "multiplying");
    }

    /// In FP32 on CUDA cores, matrix after matrix.
    void multiply(const Size &size, std::int64_t count, const float *a, const float *b, float *c,
        Stream stream) const
    {
      const int m = to_int(size.m), n = to_int(size.n), k = to_int(size.k);
      if (m == 0 || n == 0 || count == 0)
        return;
      check(set_stream_(handle_, stream), "choosing the stream");
      const float one = 1, zero = 0;
      check(
          multiply_batch_(handle_, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, CUDA_R_32F, n,
              size.k * size.n, a, CUDA_R_32F, std::max(1, k), size.m * size.k, &zero, c, CUDA_R_32F,
              n, size.m * size.n, to_int(count), CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
          "multiplying a batch");
    }

  private:
    /// cublasGemmStridedBatchedEx, likewise.
    using MultiplyBatch = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int,
        int, int, const void *, const void *, cudaDataType, int, long long, const void *,
        cudaDataType, int, long long, const void *, void *, cudaDataType, int, long long, int,
        cublasComputeType_t, cublasGemmAlgo_t);
    /// cublasGemmEx, which is overloaded in C++.
    using Multiply = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
        int, const void *, const void *, cudaDataType, int, const void *, cudaDataType, int,
        const void *, void *, cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t);

    Cublas()
    {
      const SharedLibrary library("cuBLAS", "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR));
      library.find("cublasSetStream_v2", set_stream_);
      library.find("cublasGemmEx", multiply_);
      library.find("cublasGemmStridedBatchedEx", multiply_batch_);
      library.find("cublasGetStatusString", text_);
      decltype(&::cublasCreate_v2) create = nullptr;
      library.find("cublasCreate_v2", create);
      check(create(&handle_), "starting");
    }

    void check(cublasStatus_t status, const char *what) const
    {
      if (status != CUBLAS_STATUS_SUCCESS)
        throw DeviceError(std::string("cuBLAS, ") + what + ": " + text_(status));
    }

    static int to_int(std::int64_t size)
    {
      if (size > std::numeric_limits<int>::max())
        throw std::length_error("a matrix size of " + std::to_string(size) +
            "; cuBLAS takes at most " + std::to_string(std::numeric_limits<int>::max()));
      return static_cast<int>(size);
    }

    cublasHandle_t handle_ = nullptr;
    decltype(&::cublasSetStream_v2) set_stream_ = nullptr;
    Multiply *multiply_ = nullptr;
    MultiplyBatch *multiply_batch_ = nullptr;
    decltype(&::cublasGetStatusString) text_ = nullptr;
  };
} // namespace

void cublas_fp16(const Size &size, const Half *a, const Half *b, float *c, Stream stream)
{
  Cublas::instance().multiply(size, a, b, c, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, stream);
}

void cublas_bf16(const Size &size, const Bf16 *a, const Bf16 *b, float *c, Stream stream)
{
  Cublas::instance().multiply(size, a, b, c, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, stream);
}

void cublas_fp64(const Size &size, const double *a, const double *b, double *c, Stream stream)
{
  Cublas::instance().multiply(size, a, b, c, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, stream);
}

void cublas_fp32(const Size &size, const float *a, const float *b, float *c, Stream stream)
{
  Cublas::instance().multiply(size, a, b, c, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, stream);
}

void cublas_fp32_batched(
    const Size &size, std::int64_t count, const float *a, const float *b, float *c, Stream stream)
{
  Cublas::instance().multiply(size, count, a, b, c, stream);
}

void cublas_tf32(const Size &size, const float *a, const float *b, float *c, Stream stream)
{
  Cublas::instance().multiply(
      size, a, b, c, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, stream);
}
} // namespace tensormg::gemm
