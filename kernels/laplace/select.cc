// THE table: (backend, form, dimension, degree, number type) -> function.
#include <stdexcept>
#include <type_traits>

#include "kernels/laplace/cuda.h"
#include "kernels/laplace/laplace.h"
#include "kernels/laplace/mma.h"
#include "kernels/laplace/pack_traces.h"
#include "kernels/laplace/reference.h"
#include "kernels/laplace/reference_device.h"

namespace tensormg::laplace
{
/// Defined in cpu_instances.h, compiled in cpu_2d_*.cc and cpu_3d_*.cc.
template <int dim, typename Number>
Apply<Number> *cpu_instance(Form form, int degree);

namespace
{
  template <Form form, bool on_device, typename Number>
  void reference(const Arguments<Number> &arguments)
  {
    if constexpr (on_device)
      apply_device_reference(arguments, form);
    else
      apply_reference(arguments, form);
  }

  template <typename Number, bool on_device>
  Apply<Number> *reference_instance(Form form)
  {
    switch (form)
    {
      case Form::apply:
        return &reference<Form::apply, on_device, Number>;
      case Form::residual:
        return &reference<Form::residual, on_device, Number>;
      case Form::chebyshev:
        return &reference<Form::chebyshev, on_device, Number>;
    }
    return nullptr;
  }

  struct BackendName
  {
    Backend backend;
    const char *name;
    const char *degrees;
    bool needs_cuda;

    bool in_this_build() const { return !needs_cuda || built_with_cuda(); }
  };
  constexpr BackendName backends[] = {
      {Backend::reference, "reference", "any degree up to 8", false},
      {Backend::cpu, "cpu", "degrees 1..8", false},
      {Backend::device_reference, "device_reference", "any degree up to 8", true},
      {Backend::cuda, "cuda", "degrees 1..8", true},
      {Backend::mma, "mma", "3D, half precision, degrees 1..5", true},
  };
} // namespace

void require_every_row(const RowRange &range, const Block &block)
{
  if (range.y_begin > 0 || range.y_end < block.cells[1] || range.z_begin > 0 ||
      range.z_end < block.cells[2])
    throw std::invalid_argument(
        "the Laplace operator on a device computes whole blocks, not a range of rows; "
        "the backends cpu and reference do");
}

template <typename Number>
Apply<Number> *select(Backend backend, Form form, int dim, int degree)
{
  if ((dim != 2 && dim != 3) || degree < 1 || degree > max_degree)
  {
    std::string what = "no Laplace operator for dimension " + std::to_string(dim) + ", degree " +
        std::to_string(degree) + "; available in dimensions 2 and 3:";
    for (const BackendName &entry : backends)
      if (entry.in_this_build())
        what += std::string(" ") + entry.name + " (" + entry.degrees + ")";
    throw std::invalid_argument(what);
  }
  backend_from_string(to_string(backend)); // throws if it is not in this build
  if constexpr (!has_every_form<Number>)
    if (form != Form::apply || backend == Backend::device_reference || backend == Backend::mma)
      throw std::invalid_argument(std::string("no Laplace operator by ") + to_string(backend) +
          " in this form for numbers stored in FP32 with arithmetic in FP64; there is B u (apply) by "
          "reference, cpu and cuda");
  switch (backend)
  {
    case Backend::reference:
      return reference_instance<Number, false>(form);
    case Backend::cpu:
      return dim == 2 ? cpu_instance<2, Number>(form, degree)
                      : cpu_instance<3, Number>(form, degree);
    case Backend::device_reference:
      if constexpr (has_every_form<Number>)
        return reference_instance<Number, true>(form);
      break;
    case Backend::cuda:
      return cuda_instance<Number>(form, dim, degree);
    case Backend::mma:
      if constexpr (std::is_same_v<Number, Half>)
        if (degree <= mma_max_degree<Half>(dim))
          return mma_instance(form, degree);
      throw std::invalid_argument("no Laplace operator by mma for dimension " +
          std::to_string(dim) + ", degree " + std::to_string(degree) + ", " +
          std::to_string(8 * sizeof(Number)) +
          "-bit numbers; there is 3D, half precision (16 bits), degrees 1..5; cuda has the others");
  }
  return nullptr;
}

template <typename Number>
std::optional<KernelResources> kernel_resources(Backend backend, Form form, int dim, int degree)
{
  if ((backend != Backend::cuda && backend != Backend::mma) || dim != 3)
    return std::nullopt;
  select<Number>(backend, form, dim, degree); // throws if there is no such kernel
  if (backend == Backend::mma)
    return mma_resources(form, degree);
  return cuda_resources<Number>(form, degree);
}

template <typename Number>
PackTraces<Number> *select_pack(int)
{
  return &pack_traces<Number>;
}

Backend backend_from_string(const std::string &name)
{
  std::string known;
  for (const BackendName &entry : backends)
  {
    if (!entry.in_this_build())
      continue;
    if (name == entry.name)
      return entry.backend;
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw std::invalid_argument("backend '" + name + "' is not in this build; available: " + known);
}

const char *to_string(Backend backend)
{
  for (const BackendName &entry : backends)
    if (entry.backend == backend)
      return entry.name;
  return "unknown";
}

template Apply<double> *select<double>(Backend, Form, int, int);
template Apply<float> *select<float>(Backend, Form, int, int);
template Apply<Half> *select<Half>(Backend, Form, int, int);
template Apply<WideFloat> *select<WideFloat>(Backend, Form, int, int);
template std::optional<KernelResources> kernel_resources<double>(Backend, Form, int, int);
template std::optional<KernelResources> kernel_resources<float>(Backend, Form, int, int);
template std::optional<KernelResources> kernel_resources<Half>(Backend, Form, int, int);
template std::optional<KernelResources> kernel_resources<WideFloat>(Backend, Form, int, int);
template PackTraces<double> *select_pack<double>(int);
template PackTraces<float> *select_pack<float>(int);
template PackTraces<Half> *select_pack<Half>(int);
template PackTraces<WideFloat> *select_pack<WideFloat>(int);
} // namespace tensormg::laplace
