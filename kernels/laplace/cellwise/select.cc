#include <stdexcept>
#include <string>

#include "kernels/laplace/cellwise/cellwise.h"
#include "kernels/laplace/cellwise/cuda.h"

namespace tensormg::laplace
{
/// Defined in cpu/instances.h.
template <int dim, typename Number>
ApplyCellwise<Number> *cellwise_cpu_instance(Form form, int degree);

namespace
{
  template <Form form, typename Number>
  void reference(const CellwiseArguments<Number> &arguments)
  {
    apply_cellwise_reference(arguments, form);
  }

  template <typename Number>
  ApplyCellwise<Number> *reference_instance(Form form)
  {
    return form == Form::apply   ? &reference<Form::apply, Number>
        : form == Form::residual ? &reference<Form::residual, Number>
                                 : &reference<Form::chebyshev, Number>;
  }
} // namespace

template <typename Number>
ApplyCellwise<Number> *select_cellwise(Backend backend, Form form, int dim, int degree)
{
  const bool exists = (dim == 2 || dim == 3) && degree >= 1 && degree <= max_degree &&
      (has_every_form<Number> || form == Form::apply);
  ApplyCellwise<Number> *kernel = nullptr;
  if (exists && backend == Backend::reference)
    kernel = reference_instance<Number>(form);
  if (exists && backend == Backend::cpu)
    kernel = dim == 2 ? cellwise_cpu_instance<2, Number>(form, degree)
                      : cellwise_cpu_instance<3, Number>(form, degree);
  if (exists && backend == Backend::cuda && built_with_cuda())
    kernel = cellwise_cuda<Number>(form, dim, degree);
  if (kernel == nullptr)
    throw std::invalid_argument(
        std::string("no kernel for cells of their own sizes and coefficients: backend ") +
        to_string(backend) + ", form " + std::to_string(static_cast<int>(form)) + ", dimension " +
        std::to_string(dim) + ", degree " + std::to_string(degree) + "; there are reference, cpu" +
        (built_with_cuda() ? " and cuda" : "") + ", in 2D and 3D, degrees 1 to " +
        std::to_string(max_degree));
  return kernel;
}

template ApplyCellwise<double> *select_cellwise(Backend, Form, int, int);
template ApplyCellwise<float> *select_cellwise(Backend, Form, int, int);
template ApplyCellwise<Half> *select_cellwise(Backend, Form, int, int);
template ApplyCellwise<WideFloat> *select_cellwise(Backend, Form, int, int);
} // namespace tensormg::laplace
