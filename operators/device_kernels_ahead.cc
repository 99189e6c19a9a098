#include "operators/device_kernels_ahead.h"

#include <exception>
#include <system_error>

#include "operators/multigrid_implementation.h"

namespace tensormg
{
namespace
{
  using laplace::Form;

  /// To ask what a kernel takes of the device loads it.
  template <typename Number>
  void load(laplace::Backend backend, Form form, int dim, int degree)
  {
    const bool on_tensor_cores =
        backend == laplace::Backend::mma || backend == laplace::Backend::wmma;
    if (on_tensor_cores && !laplace::has_every_form<Number>)
      backend = laplace::Backend::cuda;
    std::optional<laplace::Arithmetic> arithmetic;
    if (on_tensor_cores && laplace::has_every_form<Number>)
      arithmetic = laplace::solver_arithmetic<Number>(form);
    laplace::kernel_resources<Number>(backend, form, dim, degree, arithmetic);
  }

  template <typename Number>
  void load_cycle(laplace::Backend backend, int dim, int degree)
  {
    load<Number>(backend, Form::chebyshev, dim, degree);
    load<Number>(backend, Form::residual, dim, degree);
  }

  void load_preconditioner(laplace::Backend backend, int dim, int degree, Precision precision)
  {
    switch (precision)
    {
      case Precision::double_precision:
        load_cycle<double>(backend, dim, degree);
        break;
      case Precision::single_precision:
      case Precision::tf32_precision:
        load_cycle<float>(backend, dim, degree);
        break;
      case Precision::half_precision:
        load_cycle<Half>(backend, dim, degree);
        break;
    }
  }

  void load_all(
      laplace::Backend backend, int dim, int degree, const SolverOptions &options, bool smooths)
  {
    const bool has_single_basis = options.has_single_basis();
    // The products by which the largest eigenvalue is estimated are in FP64.
    if ((smooths && needs_lambda_max(options.multigrid)) || !has_single_basis)
      load<double>(backend, Form::apply, dim, degree);
    if (smooths)
      load_preconditioner(backend, dim, degree, options.multigrid.precision);
    load<double>(backend, Form::residual, dim, degree);
    if (has_single_basis)
      load<WideFloat>(backend, Form::apply, dim, degree);
  }
} // namespace

DeviceKernelsAhead::DeviceKernelsAhead(
    laplace::Backend backend, int dim, int degree, const SolverOptions &options, bool smooths)
{
  try
  {
    loading_ = std::async(std::launch::async, [=] {
      try
      {
        load_all(backend, dim, degree, options, smooths);
      }
      catch (const std::exception &)
      {
        // The solve itself launches these kernels and says what is wrong.
      }
    });
  }
  catch (const std::system_error &)
  {
    // No thread is to be had: the kernels are loaded when they are launched.
  }
}

void DeviceKernelsAhead::wait() const
{
  if (loading_.valid())
    loading_.wait();
}
} // namespace tensormg
