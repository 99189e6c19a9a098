#include "operators/multigrid/device_coarse_solver.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "operators/cellwise/dense_level.h"
#include "operators/constant/start_vector.h"
#include "operators/multigrid/eigenvalue_estimate.h"

namespace tensormg
{
namespace
{
  constexpr double safety = 1.05;
  constexpr int most_steps = 2000;

  struct Spectrum
  {
    double least, largest;
  };

  /// Of D^-1 B but for constants in its kernel, by as many Lanczos steps as the least eigenvalue takes.
  template <typename Operator>
  Spectrum spectrum(Operator &op, const DeviceVectorSpace &space, const DeviceContext &context)
  {
    constexpr int first_steps = 32, most = 1024;
    constexpr double settled = 0.1, of_kernel = 1e-9;
    Spectrum result{0., 0.};
    for (int steps = first_steps; steps <= most; steps *= 2)
    {
      const std::vector<double> values =
          eigenvalues(lanczos(op, space, pseudo_random_vector(op.level(), context), steps));
      const double before = result.least;
      result = {values.back(), values.back()};
      for (auto value = values.rbegin();
           value != values.rend() && *value > of_kernel * values.back(); ++value)
        result.least = *value;
      if (before - result.least <= settled * result.least && before > 0.)
        break;
    }
    return result;
  }

  /// Steps for the range of the spectrum, or as many as may be for as much of it.
  std::vector<ThreeTermStep> chebyshev_steps(const Spectrum &of, double accuracy)
  {
    const double factor = 0.5 * std::log(2. / accuracy);
    const double range =
        std::min(safety * safety * of.largest / of.least, std::pow(most_steps / factor, 2));
    const int count = std::max(static_cast<int>(std::ceil(factor * std::sqrt(range))), 1);
    return chebyshev_first_kind(count, safety * of.largest, range);
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
  inverse_ = DeviceDenseInverse(
      level_, basis_, [&](auto &y, const auto &x) { on_host.vmult(y, x); }, is_singular_,
      context_.stream);
}

template <typename Number>
void DeviceCellwiseSolver<Number>::make_steps()
{
  steps_.emplace(*operator_, chebyshev_steps(spectrum(*operator_, space_, context_), accuracy));
}

template <typename Number>
void DeviceCellwiseSolver<Number>::solve(DeviceVector<Number> &x, const DeviceVector<Number> &b)
{
  if (operator_ == nullptr)
    return inverse_->multiply(b.data(), x.data());
  space_.convert(DeviceVectorSpace::scale(1.), b, b_);
  steps_->smooth(x_, b_, work_, true, true);
  space_.convert(DeviceVectorSpace::scale(1.), x_, x);
  if (steps_->exchanges(true) % 2 != 0)
    x_.swap(work_); // a replay finds vectors where the recording had them
}

template <typename Number>
std::int64_t DeviceCellwiseSolver<Number>::bytes(const LevelGrid &level)
{
  return DenseLevel::suits(level)
      ? DeviceDenseInverse::bytes(level)
      : 3 * level.block.size() * std::int64_t{sizeof(double)} + CellNumbersOf<double>::bytes(level);
}

template class DeviceCellwiseSolver<double>;
template class DeviceCellwiseSolver<float>;
template class DeviceCellwiseSolver<Half>;
} // namespace tensormg
