#include "operators/constant/device_box_solver.h"

#include <stdexcept>
#include <vector>

#include "kernels/device/meters/launch_profile.h"
#include "kernels/vector/cuda.h"
#include "operators/vectors/context.h"

namespace tensormg
{
namespace fd = fast_diagonalisation;

namespace
{
  /// Row-major with `columns` numbers per row.
  std::vector<double> transpose(const std::vector<double> &matrix, std::size_t columns)
  {
    const std::size_t rows = matrix.size() / columns;
    std::vector<double> result(matrix.size());
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < columns; ++c)
        result[c * rows + r] = matrix[r * columns + c];
    return result;
  }

  /// Numbers in rows of eigenvectors' coefficients.
  std::int64_t coefficients(const Block &block)
  {
    return fd::length(block, 0) * fd::length(block, 1) * fd::length(block, 2);
  }
} // namespace

template <typename Number>
DeviceBoxSolver<Number>::DeviceBoxSolver(
    const LevelGrid &level, const CellBasis &basis, const Problem &problem, Stream stream)
  : block_(level.block)
  , stream_(stream)
{
  if (level.communicator != MPI_COMM_SELF)
    throw std::invalid_argument(
        "the direct solver in device memory cannot be distributed over several ranks yet");
  const BoxSolver host(level, basis, problem);
  const bool small = fd::is_small(block_);
  const DeviceContext context(stream);
  for (int d = 0; d < 3; ++d)
  {
    // In 2D the third direction is the number one.
    const std::vector<double> q = d < block_.dim ? host.eigenvectors(d) : std::vector<double>{1.};
    const auto columns = static_cast<std::size_t>(fd::length(block_, d));
    if (small)
    {
      vectors_[d] = context.upload<C>(q);
      transposed_[d] = context.upload<C>(transpose(q, columns));
      values_[d] = context.upload<C>(host.eigenvalues(d));
      small_.vectors[d] = vectors_[d].data();
      small_.transposed[d] = transposed_[d].data();
      small_.eigenvalues[d] = values_[d].data();
    }
    else
    {
      q_[d] = context.upload<double>(q);
      lambda_[d] = context.upload<double>(host.eigenvalues(d));
    }
  }
  if (small)
  {
    work_ = DeviceArray<C>(coefficients(block_), stream);
    small_.block = block_;
    small_.work = work_.data();
    small_.stream = stream;
    return;
  }
  blas_ = std::make_unique<DeviceBlas>(stream);
  t_ = DeviceArray<double>(coefficients(block_), stream);
  if constexpr (!std::is_same_v<Number, double>)
    u_ = DeviceArray<double>(block_.size(), stream);
}

template <typename Number>
std::int64_t DeviceBoxSolver<Number>::memory(const Block &whole)
{
  const bool small = fd::is_small(whole);
  const std::int64_t bytes = small ? sizeof(C) : sizeof(double);
  std::int64_t numbers = coefficients(whole);
  for (int d = 0; d < 3; ++d)
  {
    const std::int64_t length = fd::length(whole, d), rows = d == 0 ? whole.row() : length;
    numbers += (small ? 2 : 1) * rows * length + length;
  }
  if (!small && !std::is_same_v<Number, double>)
    numbers += whole.size();
  return numbers * bytes;
}

template <typename Number>
void DeviceBoxSolver<Number>::multiply_all(double *x, const double *b)
{
  const std::int64_t nx = fd::length(block_, 0), ny = fd::length(block_, 1),
                     nz = fd::length(block_, 2), row = block_.row();
  double *t = t_.data();
  const auto along_x = [&](bool back, const double *from, double *to) {
    MatrixProduct p;
    p.transpose_b = back;
    p.m = ny * nz;
    p.n = back ? row : nx;
    p.k = back ? nx : row;
    p.a = from;
    p.lda = p.k;
    p.b = q_[0].data();
    p.ldb = nx;
    p.c = to;
    p.ldc = p.n;
    blas_->multiply(p);
  };
  const auto along_y = [&](bool back, const double *from, double *to) {
    MatrixProduct p;
    p.transpose_a = !back;
    p.m = p.k = ny;
    p.n = nx;
    p.a = q_[1].data();
    p.lda = ny;
    p.b = from;
    p.c = to;
    p.ldb = p.ldc = nx;
    p.stride_b = p.stride_c = ny * nx;
    p.batch = nz;
    blas_->multiply(p);
  };
  const auto along_z = [&](bool back, const double *from, double *to) {
    MatrixProduct p;
    p.transpose_a = !back;
    p.m = p.k = nz;
    p.n = ny * nx;
    p.a = q_[2].data();
    p.lda = nz;
    p.b = from;
    p.c = to;
    p.ldb = p.ldc = ny * nx;
    blas_->multiply(p);
  };
  // x serves as the second array: it has at least as many numbers as there are coefficients.
  along_x(false, b, t);
  along_y(false, t, x);
  along_z(false, x, t);
  {
    const ProfiledOperation operation(
        stream_, 2. * static_cast<double>(t_.size()) * sizeof(double), "division by eigenvalues");
    fd::divide_cuda(
        {nx, ny, nz}, {lambda_[0].data(), lambda_[1].data(), lambda_[2].data()}, t, stream_);
  }
  along_z(true, t, x);
  along_y(true, x, t);
  along_x(true, t, x);
}

template <typename Number>
void DeviceBoxSolver<Number>::solve(DeviceVector<Number> &x, const DeviceVector<Number> &b)
{
  if (!blas_)
  {
    const double work = static_cast<double>(work_.size()) * sizeof(C);
    const ProfiledOperation operation(
        stream_, b.bytes() + x.bytes() + 4. * work, "solution by fast diagonalisation");
    small_.b = b.data();
    small_.x = x.data();
    fd::solve_cuda(small_);
  }
  else if constexpr (std::is_same_v<Number, double>)
    multiply_all(x.data(), b.data());
  else
  {
    const double bytes = b.bytes() + static_cast<double>(b.block().dofs()) * sizeof(double);
    const ProfiledOperation operation(stream_, bytes, "conversion");
    vector_kernels::cuda::convert(b.size(), {}, b.data(), u_.data(), stream_);
    multiply_all(u_.data(), u_.data());
    const ProfiledOperation back(stream_, bytes, "conversion");
    vector_kernels::cuda::convert(x.size(), {}, u_.data(), x.data(), stream_);
  }
}

template class DeviceBoxSolver<double>;
template class DeviceBoxSolver<float>;
template class DeviceBoxSolver<Half>;
} // namespace tensormg
