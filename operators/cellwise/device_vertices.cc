#include "operators/cellwise/device_vertices.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "kernels/vector/cuda.h"

namespace tensormg
{
namespace
{
  namespace kernels = vector_kernels::cuda;
  /// In sums_: products of residual and correction of this step and the one before, and one that is not asked for.
  constexpr int denominator = 2, unused = 3, largest = 4, mean = 5, n_sums = 6;

  DeviceArray<double> padded(std::int64_t size, Stream stream)
  {
    return DeviceArray<double>((size + sparse::slice - 1) / sparse::slice * sparse::slice, stream);
  }

  template <typename T>
  DeviceArray<T> on_device(const std::vector<T> &from, Stream stream)
  {
    DeviceArray<T> result(std::ssize(from), Unset());
    result.copy_from_host(from.data(), stream);
    device::synchronize(stream); // what lies on the host may go
    return result;
  }
} // namespace

DeviceSparseMatrix::DeviceSparseMatrix(const SparseRows &from, Stream stream)
{
  const std::int64_t slices = (from.rows() + sparse::slice - 1) / sparse::slice;
  std::vector<std::int64_t> begin{0};
  for (std::int64_t s = 0; s < slices; ++s)
  {
    std::int64_t longest = 0;
    for (std::int64_t row = s * sparse::slice; row < std::min(from.rows(), (s + 1) * sparse::slice);
         ++row)
      longest = std::max(longest, from.begin[row + 1] - from.begin[row]);
    begin.push_back(begin.back() + longest * sparse::slice);
  }
  std::vector<std::int32_t> columns(static_cast<std::size_t>(begin.back()), 0);
  std::vector<double> values(columns.size(), 0.);
  for (std::int64_t row = 0; row < from.rows(); ++row)
    for (std::int64_t e = from.begin[row]; e < from.begin[row + 1]; ++e)
    {
      const std::int64_t to =
          begin[row / sparse::slice] + (e - from.begin[row]) * sparse::slice + row % sparse::slice;
      columns[to] = from.columns[e];
      values[to] = from.values[e];
    }
  begin_ = on_device(begin, stream);
  columns_ = on_device(columns, stream);
  values_ = on_device(values, stream);
  view_ = {from.rows(), begin_.data(), columns_.data(), values_.data()};
}

DeviceVertexMultigrid::DeviceVertexMultigrid(
    const VertexHierarchy &from, bool is_singular, Stream stream)
  : stream_(stream)
  , is_singular_(is_singular)
{
  for (std::size_t l = 0; l < from.levels.size(); ++l)
  {
    const VertexHierarchy::Level &host = from.levels[l];
    const bool is_coarsest = l + 1 == from.levels.size();
    Level &level = levels_.emplace_back();
    level.x = padded(host.matrix.rows(), stream);
    level.b = padded(host.matrix.rows(), stream);
    level.matrix = DeviceSparseMatrix(host.matrix, stream);
    if (is_coarsest)
      continue;
    level.work = padded(host.matrix.rows(), stream);
    level.inverse_diagonal = on_device(host.inverse_diagonal, stream);
    level.steps = chebyshev_fourth_kind(VertexHierarchy::smoothing_steps, host.lambda_max);
    level.prolongation = DeviceSparseMatrix(host.prolongation, stream);
    level.restriction =
        DeviceSparseMatrix(host.prolongation.transposed(from.levels[l + 1].matrix.rows()), stream);
  }
  inverse_ = on_device(from.coarsest_inverse, stream);
  std::vector<std::int64_t> places(static_cast<std::size_t>(from.levels.back().matrix.rows()));
  std::iota(places.begin(), places.end(), 0);
  places_ = on_device(places, stream);
  count_iterations();
}

void DeviceVertexMultigrid::smooth(Level &level, bool zero_start)
{
  for (std::size_t k = 0; k < level.steps.size(); ++k)
  {
    const auto [theta, alpha] = level.steps[k];
    const bool from_zero = zero_start && k == 0;
    sparse::step(level.matrix.view(), theta, alpha, level.inverse_diagonal.data(), level.b.data(),
        from_zero ? nullptr : level.x.data(), level.work.data(), stream_);
    if (from_zero)
      device::fill_bytes(
          level.x.data(), 0, static_cast<std::size_t>(level.x.size()) * sizeof(double), stream_);
    std::swap(level.x, level.work);
  }
}

void DeviceVertexMultigrid::cycle(std::size_t l)
{
  Level &level = levels_[l];
  if (l + 1 == levels_.size())
    return kernels::dense_product(
        places_.size(), inverse_.data(), places_.data(), level.b.data(), level.x.data(), stream_);
  Level &coarse = levels_[l + 1];
  smooth(level, true);
  sparse::residual(level.matrix.view(), level.b.data(), level.x.data(), level.work.data(), stream_);
  sparse::product(level.restriction.view(), level.work.data(), coarse.b.data(), stream_);
  cycle(l + 1);
  sparse::add_product(level.prolongation.view(), coarse.x.data(), level.x.data(), stream_);
  smooth(level, false);
}

void DeviceVertexMultigrid::subtract_mean(double *x)
{
  kernels::dot(size(), ones_.data(), x, scratch_.data(), sums_.data() + mean, stream_);
  sparse::subtract(levels_.front().matrix.view().rows, sums_.data() + mean, x, stream_);
}

void DeviceVertexMultigrid::start()
{
  if (is_singular_)
    subtract_mean(b());
  device::fill_bytes(
      solution_.data(), 0, static_cast<std::size_t>(size()) * sizeof(double), stream_);
}

void DeviceVertexMultigrid::iterate(int step)
{
  Level &finest = levels_.front();
  double *now = sums_.data() + step % 2, *before = sums_.data() + (step + 1) % 2;
  cycle(0);
  kernels::dot(size(), finest.b.data(), finest.x.data(), scratch_.data(), now, stream_);
  if (step == 0)
    kernels::axpby(size(), 1., finest.x.data(), 0., direction_.data(), stream_);
  else
    kernels::axpby(size(), 1., finest.x.data(), {1., now, before}, direction_.data(), stream_);
  sparse::product(finest.matrix.view(), direction_.data(), product_.data(), stream_);
  kernels::dot(size(), direction_.data(), product_.data(), scratch_.data(),
      sums_.data() + denominator, stream_);
  kernels::cg_update(size(), {1., now, sums_.data() + denominator}, 1., direction_.data(),
      product_.data(), solution_.data(), finest.b.data(), scratch_.data(), sums_.data() + unused,
      sums_.data() + largest, stream_);
}

void DeviceVertexMultigrid::solve()
{
  start();
  for (int step = 0; step < n_iterations_; ++step)
    iterate(step);
  if (is_singular_)
    subtract_mean(solution_.data());
}

double DeviceVertexMultigrid::bytes() const
{
  double of_cycle = 0.;
  for (const Level &level : levels_)
    of_cycle += static_cast<double>(2 * level.steps.size()) * level.matrix.bytes() +
        level.prolongation.bytes() + level.restriction.bytes();
  return n_iterations_ * (of_cycle + levels_.front().matrix.bytes());
}

/// For a right-hand side with long and with short waves.
void DeviceVertexMultigrid::count_iterations()
{
  const std::int64_t rows = levels_.front().matrix.view().rows;
  for (DeviceArray<double> *vector : {&solution_, &direction_, &product_})
    *vector = DeviceArray<double>(size(), stream_);
  sums_ = DeviceArray<double>(n_sums, stream_);
  scratch_ = DeviceArray<double>(kernels::scratch_size(2), stream_);
  std::vector<double> some(static_cast<std::size_t>(size()), 0.);
  if (is_singular_)
  {
    std::fill_n(some.begin(), rows, 1.);
    ones_ = on_device(some, stream_);
  }
  for (std::int64_t i = 0; i < rows; ++i)
    some[static_cast<std::size_t>(i)] = std::sin(static_cast<double>(i * i % 1013)) +
        std::cos(6. * static_cast<double>(i) / static_cast<double>(rows));
  levels_.front().b.copy_from_host(some.data(), stream_);
  start();
  double first = 0.;
  std::array<double, n_sums> sums{};
  for (n_iterations_ = 0; n_iterations_ < most_vertex_iterations; ++n_iterations_)
  {
    iterate(n_iterations_);
    sums_.copy_to_host(sums.data(), stream_);
    const double product = sums[static_cast<std::size_t>(n_iterations_ % 2)];
    if (n_iterations_ == 0)
      first = product;
    else if (!(product > vertex_accuracy * vertex_accuracy * first))
      break; // the steps before were enough
  }
}
} // namespace tensormg
