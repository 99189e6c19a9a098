#include "operators/constant/device_laplace_operator.h"

#include <stdexcept>
#include <string>

#include "kernels/device/launch_profile.h"
#include "kernels/laplace/cuda.h"
#include "kernels/tensor/capability.h"
#include "kernels/vector/cuda.h"

namespace tensormg
{
namespace
{
  constexpr const char *name_of(laplace::Form form)
  {
    return form == laplace::Form::apply   ? "B u"
        : form == laplace::Form::residual ? "b - B u"
                                          : "Chebyshev step";
  }
} // namespace

template <typename Number>
DeviceLaplaceOperator<Number>::DeviceLaplaceOperator(const LevelGrid &level, const CellBasis &basis,
    laplace::Backend backend, Stream stream, std::optional<laplace::Arithmetic> steps,
    LineSpectra *exact)
  : level_(level)
  , basis_(basis)
  , backend_(backend)
  , stream_(stream)
  , progress_(2, stream)
{
  if (!laplace::is_device_backend(backend))
    throw std::invalid_argument(std::string("backend ") + laplace::to_string(backend) +
        " does not work on vectors in device memory");
  if (level.communicator != MPI_COMM_SELF)
    throw std::invalid_argument(std::string("backend ") + laplace::to_string(backend) +
        " cannot be distributed over several ranks yet");
  for (const laplace::Form form :
      {laplace::Form::apply, laplace::Form::residual, laplace::Form::chebyshev})
  {
    if (!laplace::has_every_form<Number> && form != laplace::Form::apply)
      continue;
    const int dim = level.block.dim, degree = level.block.degree();
    const bool on_tensor_cores =
        backend == laplace::Backend::mma || backend == laplace::Backend::wmma;
    const laplace::Backend fastest = laplace::fastest_device_backend<Number>(
        form, dim, degree, tensor::device_capability_if_any());
    // Of numbers that are wider than what they are stored in there is the fastest product alone.
    laplace::Backend chosen =
        laplace::has_every_form<Number> || !on_tensor_cores ? backend : fastest;
    std::optional<laplace::Arithmetic> arithmetic;
    if (steps && form == laplace::Form::chebyshev)
    {
      arithmetic = steps;
      if (backend == laplace::Backend::automatic)
        chosen = laplace::Backend::mma;
    }
    else if (on_tensor_cores && chosen == backend)
      arithmetic = laplace::solver_arithmetic<Number>(form);
    kernels_[static_cast<std::size_t>(form)] =
        laplace::select<Number>(chosen, form, dim, degree, arithmetic);
    backends_[static_cast<std::size_t>(form)] =
        laplace::to_string(chosen == laplace::Backend::automatic ? fastest : chosen);
  }
  arguments_.block = level.block;
  arguments_.basis = &basis;
  arguments_.factor = level.direction_factors();
  arguments_.sides = level.sides;
  for (int s = 2; s < 2 * level.block.dim; ++s)
    if (level.sides[s] == Side::ghost)
    {
      traces_[s] = DeviceArray<Compute<Number>>(laplace::ghost_size(level.block, s), stream);
      arguments_.ghost[s] = traces_[s].data();
    }
  arguments_.stream = stream;
  arguments_.progress = progress_.data();
  if constexpr (laplace::has_every_form<Number>)
    if (exact != nullptr && level.has_exact_directions())
    {
      lines_ = std::make_unique<LineInverse<Number, DeviceLines>>(
          level, basis, *exact, DeviceLines{stream});
      rest_ = make_vector();
    }
}

template <typename Number>
void DeviceLaplaceOperator<Number>::run(
    laplace::Form form, const laplace::Arguments<Number> &arguments)
{
  // What leaves at one side enters at the opposite one.
  for (int s = 2; s < 6; ++s)
    if (arguments.ghost[s] != nullptr)
    {
      const Block &block = level_.block;
      const std::int64_t in_layer = block.dofs() / block.cells[s / 2];
      const double layer = static_cast<double>(in_layer) * sizeof(Number);
      const double traces = static_cast<double>(traces_[s].size()) * sizeof(Compute<Number>);
      const launch_profile::Operation operation(layer + traces, "traces of a periodic side");
      laplace::pack_traces_cuda(
          level_.block, basis_, s ^ 1, arguments.src, traces_[s].data(), stream_);
    }
  const double vectors =
      2. + (arguments.b != nullptr ? 1. : 0.) + (arguments.old != nullptr ? 1. : 0.);
  const launch_profile::Operation operation(
      vectors * static_cast<double>(level_.block.dofs()) * sizeof(Number), name_of(form),
      backends_[static_cast<std::size_t>(form)]);
  kernels_[static_cast<std::size_t>(form)](arguments);
}

template <typename Number>
void DeviceLaplaceOperator<Number>::vmult(VectorType &dst, const VectorType &src)
{
  laplace::Arguments<Number> a = arguments_;
  a.src = src.data();
  a.dst = dst.data();
  run(laplace::Form::apply, a);
}

template <typename Number>
void DeviceLaplaceOperator<Number>::residual(VectorType &dst, const VectorType &src,
    const VectorType &b) requires laplace::has_every_form<Number>
{
  laplace::Arguments<Number> a = arguments_;
  a.src = src.data();
  a.dst = dst.data();
  a.b = b.data();
  run(laplace::Form::residual, a);
}

template <typename Number>
void DeviceLaplaceOperator<Number>::chebyshev_step(VectorType &dst, const VectorType &src,
    const VectorType *old, const VectorType &b, double theta,
    double alpha) requires laplace::has_every_form<Number>
{
  if (lines_ != nullptr)
  {
    residual(rest_, src, b);
    const launch_profile::Operation operation(
        (old != nullptr ? 4. : 3.) * dst.bytes(), "lines of a step");
    return lines_->step(
        dst.data(), src.data(), old ? old->data() : nullptr, rest_.data(), theta, alpha);
  }
  laplace::Arguments<Number> a = arguments_;
  a.src = src.data();
  a.dst = dst.data();
  a.b = b.data();
  a.old = old ? old->data() : nullptr;
  a.theta = theta;
  a.alpha = alpha;
  run(laplace::Form::chebyshev, a);
}

template <typename Number>
void DeviceLaplaceOperator<Number>::inverse_diagonal(VectorType &dst, const VectorType &b,
    double alpha) const requires laplace::has_every_form<Number>
{
  const launch_profile::Operation operation(dst.bytes() + b.bytes(), "a D^-1 b");
  if (lines_ != nullptr)
    return lines_->step(dst.data(), nullptr, nullptr, b.data(), 0., alpha);
  const double factor[3] = {arguments_.factor[0], arguments_.factor[1], arguments_.factor[2]};
  vector_kernels::cuda::inverse_diagonal(
      level_.block, basis_, factor, alpha, b.data(), dst.data(), stream_);
}

template class DeviceLaplaceOperator<double>;
template class DeviceLaplaceOperator<float>;
template class DeviceLaplaceOperator<Half>;
template class DeviceLaplaceOperator<WideFloat>;
} // namespace tensormg
