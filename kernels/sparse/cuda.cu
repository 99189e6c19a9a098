#include "kernels/device/launch.cuh"
#include "kernels/sparse/sparse.h"

namespace tensormg::sparse
{
namespace
{
  constexpr int threads = 128;

  struct Place
  {
    std::int64_t row;
    bool exists;
    __device__ explicit Place(const Matrix &a)
      : row(std::int64_t(blockIdx.x) * threads + threadIdx.x)
      , exists(row < a.rows)
    {}
  };

  __device__ double row_times(const Matrix &a, std::int64_t row, const double *x)
  {
    const std::int64_t which = row / slice, end = a.begin[which + 1];
    double sum = 0.;
    for (std::int64_t at = a.begin[which] + row % slice; at < end; at += slice)
      sum = fma(a.values[at], x[a.columns[at]], sum);
    return sum;
  }

  /// y = factor A x + start
  __global__ void __launch_bounds__(threads)
      product_kernel(Matrix a, double factor, const double *start, const double *x, double *y)
  {
    const Place place(a);
    if (place.exists)
      y[place.row] =
          fma(factor, row_times(a, place.row, x), start != nullptr ? start[place.row] : 0.);
  }

  __global__ void __launch_bounds__(threads) step_kernel(Matrix a, double theta, double alpha,
      const double *d, const double *b, const double *x, double *old)
  {
    const Place place(a);
    if (!place.exists)
      return;
    const std::int64_t i = place.row;
    const double factor = alpha * d[i];
    if (x == nullptr)
      old[i] = factor * b[i];
    else
      old[i] = x[i] + theta * (x[i] - old[i]) + factor * (b[i] - row_times(a, i, x));
  }

  __global__ void __launch_bounds__(threads)
      subtract_kernel(std::int64_t count, const double *sum, double *x)
  {
    if (const std::int64_t i = std::int64_t(blockIdx.x) * threads + threadIdx.x; i < count)
      x[i] -= *sum / double(count);
  }

  unsigned blocks(std::int64_t rows)
  {
    return static_cast<unsigned>((rows + threads - 1) / threads);
  }

  void launch_product(const Matrix &a, double factor, const double *start, const double *x,
      double *y, Stream stream)
  {
    launch("launching the product with a sparse matrix", product_kernel, blocks(a.rows), threads, 0,
        stream, a, factor, start, x, y);
  }
} // namespace

void product(const Matrix &a, const double *x, double *y, Stream stream)
{
  launch_product(a, 1., nullptr, x, y, stream);
}

void add_product(const Matrix &a, const double *x, double *y, Stream stream)
{
  launch_product(a, 1., y, x, y, stream);
}

void residual(const Matrix &a, const double *b, const double *x, double *y, Stream stream)
{
  launch_product(a, -1., b, x, y, stream);
}

void step(const Matrix &a, double theta, double alpha, const double *d, const double *b,
    const double *x, double *old, Stream stream)
{
  launch("launching a step of a smoother on vertices", step_kernel, blocks(a.rows), threads, 0,
      stream, a, theta, alpha, d, b, x, old);
}
void subtract(std::int64_t count, const double *sum, double *x, Stream stream)
{
  launch("launching the subtraction of a mean", subtract_kernel, blocks(count), threads, 0, stream,
      count, sum, x);
}
} // namespace tensormg::sparse
