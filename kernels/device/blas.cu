#include "kernels/device/blas.h"

#include <limits>
#include <stdexcept>
#include <string>

#include "kernels/device/cublas_functions.h"

namespace tensormg
{
namespace
{
  void check(cublasStatus_t status, const char *what)
  {
    if (status != CUBLAS_STATUS_SUCCESS)
      throw DeviceError(std::string("cuBLAS, ") + what + ": " + cublas().status_string(status));
  }

  int size_of(std::int64_t value)
  {
    if (value > std::numeric_limits<int>::max())
      throw std::length_error(
          "a matrix is too large for cuBLAS: " + std::to_string(value) + " rows");
    return static_cast<int>(value);
  }
} // namespace

DeviceBlas::DeviceBlas(Stream stream)
{
  check(cublas().create(&handle_), "starting");
  check(cublas().set_stream(handle_, stream), "choosing the stream");
  check(cublas().set_atomics_mode(handle_, CUBLAS_ATOMICS_NOT_ALLOWED), "forbidding atomics");
}

DeviceBlas::~DeviceBlas() { cublas().destroy(handle_); }

void DeviceBlas::multiply(const MatrixProduct &p) const
{
  const double one = 1., zero = 0.;
  const auto operation = [](bool transpose) { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; };
  // Column-major BLAS sees the transposes: C' = op(B)' op(A)'.
  check(cublas().multiply(handle_, operation(p.transpose_b), operation(p.transpose_a), size_of(p.n),
            size_of(p.m), size_of(p.k), &one, p.b, size_of(p.ldb), p.stride_b, p.a, size_of(p.lda),
            p.stride_a, &zero, p.c, size_of(p.ldc), p.stride_c, size_of(p.batch)),
      "multiplying");
}
} // namespace tensormg
