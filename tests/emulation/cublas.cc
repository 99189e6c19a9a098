// The functions of cuBLAS that the project calls, on the CPU: plain loops, queued like launches.
#include "kernels/device/cublas_functions.h"
#include "tests/emulation/stream.h"

struct cublasContext
{
  cudaStream_t stream = nullptr;
};

namespace
{
/// Column-major, as BLAS is.
struct Matrix
{
  bool transpose;
  const double *data;
  long long ld;
  double operator()(int row, int column) const
  {
    return transpose ? data[row * ld + column] : data[column * ld + row];
  }
};

cublasStatus_t create(cublasHandle_t *handle)
{
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t destroy(cublasHandle_t handle)
{
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t set_stream(cublasHandle_t handle, cudaStream_t stream)
{
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t set_atomics_mode(cublasHandle_t, cublasAtomicsMode_t)
{
  return CUBLAS_STATUS_SUCCESS;
}
const char *status_string(cublasStatus_t) { return "an error of the emulation"; }

cublasStatus_t multiply(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
    int m, int n, int k, const double *alpha, const double *a, int lda, long long int stride_a,
    const double *b, int ldb, long long int stride_b, const double *beta, double *c, int ldc,
    long long int stride_c, int batch)
{
  const double factor = *alpha, keep = *beta;
  tensormg::emulation::queue(handle->stream, [=] {
    for (int i = 0; i < batch; ++i)
    {
      const Matrix left{transa == CUBLAS_OP_T, a + i * stride_a, lda},
          right{transb == CUBLAS_OP_T, b + i * stride_b, ldb};
      for (int column = 0; column < n; ++column)
        for (int row = 0; row < m; ++row)
        {
          double sum = 0.;
          for (int s = 0; s < k; ++s)
            sum += left(row, s) * right(s, column);
          double &to = c[i * stride_c + static_cast<long long>(column) * ldc + row];
          to = factor * sum + (keep == 0. ? 0. : keep * to);
        }
    }
  });
  return CUBLAS_STATUS_SUCCESS;
}
} // namespace

namespace tensormg
{
const CublasFunctions &cublas()
{
  static const CublasFunctions functions{
      create, destroy, set_stream, set_atomics_mode, status_string, multiply};
  return functions;
}
} // namespace tensormg
