#include "operators/multigrid/device_coarse_solver.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "kernels/vector/cuda.h"
#include "operators/cellwise/cholesky.h"
#include "operators/constant/start_vector.h"
#include "operators/multigrid/eigenvalue_estimate.h"

namespace tensormg
{
namespace
{
  /// lambda_max / lambda_min of D^-1 B, about: the smallest eigenvalue belongs to the longest wave, whose mean in a cell D multiplies by
  /// sums of c lambda_0. Coefficients that vary without large jumps change both alike, up to a factor for which there is a margin.
  double spread(const LevelGrid &level, const CellBasis &basis, double lambda_max)
  {
    constexpr double margin = 4.;
    const auto longest = static_cast<double>(
        *std::max_element(level.global_cells.begin(), level.global_cells.end()));
    const double wave = std::numbers::pi / (2. * longest);
    return margin * lambda_max * basis.lambda[0] / (wave * wave);
  }
} // namespace

template <typename Number>
DeviceCellwiseSolver<Number>::DeviceCellwiseSolver(
    const LevelGrid &level, const CellBasis &basis, bool is_singular, const DeviceContext &context)
  : level_(level)
  , basis_(basis)
  , is_singular_(is_singular)
  , context_(context)
  , space_(context.make_space(level.block, level.communicator))
{
  if (!DenseLevel::suits(level))
  {
    operator_ = std::make_unique<Operator>(level, basis, laplace::Backend::cuda, context);
    for (DeviceVector<double> *vector : {&x_, &b_, &work_})
      *vector = operator_->make_vector();
  }
  update();
}

template <typename Number>
void DeviceCellwiseSolver<Number>::update()
{
  if (operator_ == nullptr)
    return invert();
  operator_->update_cells();
  make_steps();
}

template <typename Number>
void DeviceCellwiseSolver<Number>::invert()
{
  LaplaceOperator<double> on_host(level_, basis_, laplace::Backend::cpu);
  DenseLevel dense(on_host, is_singular_);
  std::vector<double> inverse =
      Cholesky(std::move(dense.matrix), "the matrix of the coarsest level").inverse();
  const std::size_t size = dense.places.size();
  for (std::size_t j = 0; j < size && !dense.constant.empty(); ++j)
    for (std::size_t i = 0; i < size; ++i)
      inverse[j * size + i] -= dense.constant[i] * dense.constant[j] / dense.shift;
  if (places_.size() == 0)
  {
    inverse_ = DeviceArray<double>(static_cast<std::int64_t>(size * size), Unset());
    places_ = DeviceArray<std::int64_t>(static_cast<std::int64_t>(size), Unset());
  }
  inverse_.copy_from_host(inverse.data(), context_.stream);
  places_.copy_from_host(dense.places.data(), context_.stream);
  device::synchronize(context_.stream); // what lies on the host goes
}

template <typename Number>
void DeviceCellwiseSolver<Number>::make_steps()
{
  constexpr int lanczos_steps = 12, most_steps = 2000;
  constexpr double safety = 1.05;
  const double lambda_max = safety *
      lanczos_lambda_max(*operator_, space_, pseudo_random_vector(level_, context_), lanczos_steps);
  const double range = spread(level_, basis_, lambda_max);
  const double steps = 0.5 * std::sqrt(range) * std::log(2. / accuracy);
  steps_.emplace(*operator_,
      chebyshev_first_kind(
          static_cast<int>(std::min<double>(most_steps, std::ceil(steps))), lambda_max, range));
}

template <typename Number>
void DeviceCellwiseSolver<Number>::solve(DeviceVector<Number> &x, const DeviceVector<Number> &b)
{
  if (operator_ == nullptr)
    return vector_kernels::cuda::dense_product(
        places_.size(), inverse_.data(), places_.data(), b.data(), x.data(), context_.stream);
  space_.convert(DeviceVectorSpace::scale(1.), b, b_);
  steps_->smooth(x_, b_, work_, true, true);
  space_.convert(DeviceVectorSpace::scale(1.), x_, x);
  if (steps_->exchanges(true) % 2 != 0)
    x_.swap(work_); // a replay finds vectors where the recording had them
}

template <typename Number>
std::int64_t DeviceCellwiseSolver<Number>::bytes(const LevelGrid &level)
{
  const std::int64_t dofs = level.block.dofs(), size = level.block.size();
  return (DenseLevel::suits(level) ? dofs * (dofs + 1) : 3 * size) * std::int64_t{sizeof(double)};
}

template class DeviceCellwiseSolver<double>;
template class DeviceCellwiseSolver<float>;
template class DeviceCellwiseSolver<Half>;
} // namespace tensormg
