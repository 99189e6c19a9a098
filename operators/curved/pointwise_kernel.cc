#include "operators/curved/pointwise_kernel.h"

#include <algorithm>
#include <stdexcept>

namespace tensormg
{
namespace
{
  template <typename C>
  Array<C> converted(const double *from, std::int64_t size)
  {
    Array<C> result(size);
    std::transform(from, from + size, result.begin(), [](double x) { return static_cast<C>(x); });
    return result;
  }
} // namespace

template <typename Number>
PointwiseKernel<Number>::PointwiseKernel(const BlockLevels::Level &level)
  : level_(level)
  , traces_(laplace::trace_size(level.grid.block))
  , exchange_(level.make_exchange<C>(level.grid.block.n, 2))
{
  set_numbers();
  arguments_.block = level.grid.block;
  arguments_.per_direction = level.shape.per_direction;
  arguments_.basis = &level.basis;
  arguments_.tables = &level.tables;
  arguments_.links = level.links->data();
  arguments_.traces = traces_.data();
  arguments_.remote_traces = exchange_.received();
}

template <typename Number>
void PointwiseKernel<Number>::set_numbers()
{
  const Block &block = level_.grid.block;
  const int degree = block.degree();
  if (level_.has_one_metric_per_cell())
    throw std::invalid_argument("a level with one metric per cell has no metric at points");
  const auto numbers = level_.metric.view();
  apply_ = laplace::pointwise_cpu<Number>(block.dim, degree);
  if constexpr (is_double)
    arguments_.numbers = numbers;
  else if (level_.is_held_by_half)
  {
    in_half_.emplace(block, numbers);
    arguments_.in_half = in_half_->view();
    apply_ = laplace::pointwise_cpu<Number, Half>(block.dim, degree);
  }
  else
  {
    volume_ = converted<C>(numbers.volume, laplace::volume_size(block));
    face_ = converted<C>(numbers.face, laplace::face_size(block));
    if (numbers.reaction != nullptr)
      reaction_ = converted<C>(numbers.reaction, laplace::reaction_size(block));
    arguments_.numbers = {
        volume_.data(), face_.data(), numbers.reaction != nullptr ? reaction_.data() : nullptr};
  }
}

template <typename Number>
std::int64_t PointwiseKernel<Number>::bytes(const BlockLevels::Level &level)
{
  const Block &block = level.grid.block;
  const bool has_reaction = level.metric.view().reaction != nullptr;
  const std::int64_t in_full = laplace::volume_size(block) + laplace::face_size(block) +
      (has_reaction ? laplace::reaction_size(block) : 0);
  const std::int64_t of_metric = is_double ? 0
      : level.is_held_by_half              ? laplace::HalfMetric::bytes(block, has_reaction)
                                           : in_full * std::int64_t{sizeof(C)};
  return of_metric + laplace::trace_size(block) * std::int64_t{sizeof(C)};
}

template <typename Number>
void PointwiseKernel<Number>::exchange_traces()
{
  const Block &block = level_.grid.block;
  exchange_.run([&](const auto &cell, int side, std::int64_t q, int number) {
    return traces_[laplace::trace_index(
        block, cell[2] * block.cells[1] + cell[1], side, q, number, cell[0])];
  });
}

template <typename Number>
void PointwiseKernel<Number>::run(const BlockStep<Number> &step)
{
  auto a = with_step(arguments_, step);
  if (level_.shared != nullptr)
    a.traces_are_written = {
        [](void *self) { static_cast<PointwiseKernel *>(self)->exchange_traces(); }, this};
  apply_(a);
}

template class PointwiseKernel<double>;
template class PointwiseKernel<float>;
template class PointwiseKernel<Half>;
} // namespace tensormg
