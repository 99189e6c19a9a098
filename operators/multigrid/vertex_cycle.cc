#include "operators/multigrid/vertex_cycle.h"

#include <algorithm>

#include "operators/constant/start_vector.h"
#include "operators/multigrid/eigenvalue_estimate.h"
#include "operators/multigrid/smoothing_choices.h"

namespace tensormg
{
template <typename Number, typename Context>
VertexCycle<Number, Context>::VertexCycle(const LevelGrid &level, const CellBasis &basis,
    laplace::Backend backend, const Problem &problem, const MultigridOptions &options,
    const CoarseningChoice &choice, const Context &context)
  : level_(level)
  , basis_(basis)
  , backend_(backend)
  , options_(options)
  , choice_(choice)
  , context_(context)
  , relaxation_(level, basis, backend, choice.lines, context)
  , vertices_(level, basis, problem, choice.algebraic, context)
  , r_(relaxation_.make_vector())
  , old_(relaxation_.make_vector())
{
  choose_steps();
}

template <typename Number, typename Context>
void VertexCycle<Number, Context>::choose_steps()
{
  if (needs_lambda_max(options_))
  {
    CellsAndLines<double, Context> in_double(level_, basis_, backend_, choice_.lines, context_);
    lambda_max_ = options_.eigenvalue_safety *
        lanczos_lambda_max(in_double, context_.make_space(level_.block, level_.communicator),
            pseudo_random_vector(level_, context_), options_.eigenvalue_steps);
  }
  steps_ = smoothing_steps(options_, lambda_max_);
}

template <typename Number, typename Context>
void VertexCycle<Number, Context>::update()
{
  relaxation_.update_cells();
  vertices_.update();
  choose_steps();
}

template <typename Number, typename Context>
std::int64_t VertexCycle<Number, Context>::bytes(
    const LevelGrid &level, const CoarseningChoice &choice)
{
  return 2 * level.block.size() * std::int64_t{sizeof(Number)} +
      CellsAndLines<Number, Context>::bytes(level, choice.lines) +
      Correction::bytes(level, choice.algebraic);
}

template <typename Number, typename Context>
void VertexCycle<Number, Context>::set_zero(VectorType &x) const
{
  if constexpr (Context::on_device)
    device::fill_bytes(
        x.data(), 0, static_cast<std::size_t>(x.size()) * sizeof(Number), context_.stream);
  else
    std::fill_n(x.data(), x.size(), Number{});
}

template <typename Number, typename Context>
void VertexCycle<Number, Context>::smooth(VectorType &x, const VectorType &b, bool zero_start)
{
  for (std::size_t k = 0; k < steps_.size(); ++k)
  {
    const auto [theta, alpha] = steps_[k];
    const bool from_zero = zero_start && k == 0;
    if (!from_zero)
      relaxation_.residual(r_, x, b);
    relaxation_.step(old_, from_zero ? nullptr : &x, from_zero ? b : r_, theta, alpha);
    if (from_zero && steps_.size() > 1)
      set_zero(x);
    x.swap(old_); // an even number of times in all: what is recorded finds vectors where they were
  }
}

template <typename Number, typename Context>
void VertexCycle<Number, Context>::solve(VectorType &x, const VectorType &b)
{
  smooth(x, b, true);
  relaxation_.residual(r_, x, b);
  vertices_.add(x, r_);
  smooth(x, b, false);
}

template class VertexCycle<double, HostContext>;
template class VertexCycle<float, HostContext>;
template class VertexCycle<Half, HostContext>;
template class VertexCycle<double, DeviceContext>;
template class VertexCycle<float, DeviceContext>;
template class VertexCycle<Half, DeviceContext>;
} // namespace tensormg
