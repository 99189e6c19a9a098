#include "operators/constant/device_box_solver.h"

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

  /// Whether three small kernels do.
  bool is_small(const LevelGrid &level)
  {
    return level.communicator == MPI_COMM_SELF && fd::is_small(level.block);
  }
} // namespace

template <typename Number>
DeviceBoxSolver<Number>::DeviceBoxSolver(const LevelGrid &level, const CellBasis &basis,
    const Problem &problem, const DeviceContext &context)
  : block_(level.block)
  , all_planes_(level.global_cells[2] * block_.nz())
  , stream_(context.stream)
{
  const BoxSolver host(level, basis, problem);
  const bool small = is_small(level);
  for (int d = 0; d < 3; ++d)
  {
    // In 2D the third direction is the number one.
    const std::vector<double> q = d < block_.dim ? host.eigenvectors(d) : std::vector<double>{1.};
    const auto columns = static_cast<std::size_t>(d < 2 ? fd::length(block_, d) : all_planes_);
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
    work_ = DeviceArray<C>(coefficients(block_), stream_);
    small_.block = block_;
    small_.work = work_.data();
    small_.stream = stream_;
    return;
  }
  blas_ = std::make_unique<DeviceBlas>(stream_);
  t_ = DeviceArray<double>(coefficients(block_), stream_);
  if constexpr (!std::is_same_v<Number, double>)
    u_ = DeviceArray<double>(block_.size(), stream_);
  if (level.communicator == MPI_COMM_SELF)
    return;
  transposition_ = std::make_unique<DeviceTransposition>(level, fd::length(block_, 0), context);
  rows_ = DeviceArray<double>(transposition_->size_of_rows(), stream_);
  products_ = DeviceArray<double>(transposition_->size_of_rows(), stream_);
}

template <typename Number>
std::int64_t DeviceBoxSolver<Number>::memory(const LevelGrid &level)
{
  const Block &block = level.block;
  const bool small = is_small(level);
  const std::int64_t bytes = small ? sizeof(C) : sizeof(double);
  std::int64_t numbers = coefficients(block);
  for (int d = 0; d < 3; ++d)
  {
    const std::int64_t length = d < 2 ? fd::length(block, d) : level.global_cells[2] * block.nz(),
                       rows = d == 0 ? block.row() : length;
    numbers += (small ? 2 : 1) * rows * length + length;
  }
  if (!small && !std::is_same_v<Number, double>)
    numbers += block.size();
  const std::int64_t among_ranks = level.communicator == MPI_COMM_SELF
      ? 0
      : DeviceTransposition::bytes(level, fd::length(block, 0));
  return numbers * bytes + among_ranks;
}

template <typename Number>
void DeviceBoxSolver<Number>::multiply_x(bool back, const double *from, double *to) const
{
  const std::int64_t nx = fd::length(block_, 0), row = block_.row();
  MatrixProduct p;
  p.transpose_b = back;
  p.m = fd::length(block_, 1) * planes();
  p.n = back ? row : nx;
  p.k = back ? nx : row;
  p.a = from;
  p.lda = p.k;
  p.b = q_[0].data();
  p.ldb = nx;
  p.c = to;
  p.ldc = p.n;
  blas_->multiply(p);
}

template <typename Number>
void DeviceBoxSolver<Number>::multiply_y(bool back, const double *from, double *to) const
{
  MatrixProduct p;
  p.transpose_a = !back;
  p.m = p.k = fd::length(block_, 1);
  p.n = fd::length(block_, 0);
  p.a = q_[1].data();
  p.lda = p.m;
  p.b = from;
  p.c = to;
  p.ldb = p.ldc = p.n;
  p.stride_b = p.stride_c = p.m * p.n;
  p.batch = planes();
  blas_->multiply(p);
}

template <typename Number>
void DeviceBoxSolver<Number>::multiply_z(
    bool back, std::int64_t rows, const double *from, double *to) const
{
  MatrixProduct p;
  p.transpose_a = !back;
  p.m = p.k = all_planes_;
  p.n = rows * fd::length(block_, 0);
  p.a = q_[2].data();
  p.lda = all_planes_;
  p.b = from;
  p.c = to;
  p.ldb = p.ldc = p.n;
  blas_->multiply(p);
}

template <typename Number>
void DeviceBoxSolver<Number>::divide(std::int64_t first, std::int64_t rows, double *u) const
{
  const std::int64_t nx = fd::length(block_, 0);
  const ProfiledOperation operation(stream_,
      2. * static_cast<double>(nx * rows * all_planes_) * sizeof(double),
      "division by eigenvalues");
  fd::divide_cuda({nx, rows, all_planes_},
      {lambda_[0].data(), lambda_[1].data() + first, lambda_[2].data()}, u, stream_);
}

template <typename Number>
void DeviceBoxSolver<Number>::multiply_all(double *x, const double *b)
{
  double *t = t_.data();
  // x serves as the second array: it has at least as many numbers as there are coefficients.
  multiply_x(false, b, t);
  multiply_y(false, t, x);
  if (transposition_ == nullptr)
  {
    const std::int64_t rows = fd::length(block_, 1);
    multiply_z(false, rows, x, t);
    divide(0, rows, t);
    multiply_z(true, rows, t, x);
  }
  else
  {
    const std::int64_t rows = transposition_->rows();
    transposition_->to_rows(x, rows_.data());
    if (rows > 0)
    {
      multiply_z(false, rows, rows_.data(), products_.data());
      divide(transposition_->first_row(), rows, products_.data());
      multiply_z(true, rows, products_.data(), rows_.data());
    }
    transposition_->to_planes(rows_.data(), x);
  }
  multiply_y(true, x, t);
  multiply_x(true, t, x);
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
