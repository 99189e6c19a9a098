// THE table: (number type, backend, arithmetic, dimension, degree, form) -> function. Where the arithmetic is left
// open, the first row that fits is taken.
#include <algorithm>
#include <span>
#include <stdexcept>
#include <type_traits>

#include "kernels/laplace/cuda.h"
#include "kernels/laplace/laplace.h"
#include "kernels/laplace/lines/lines.h"
#include "kernels/laplace/mma.h"
#include "kernels/laplace/pack_traces.h"
#include "kernels/laplace/reference/reference.h"
#include "kernels/laplace/reference/reference_device.h"
#include "kernels/laplace/strips_2d/strips_2d.h"
#include "kernels/tensor/capability.h"

namespace tensormg::laplace
{
/// Defined in cpu/instances.h.
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

  /// One kind of kernel: for one dimension or, 0, for both, degrees up to max_degree.
  template <typename Number>
  struct Row
  {
    Backend backend;
    Arithmetic arithmetic;
    int dim;
    int max_degree;
    int capability; ///< compute capability times ten that it needs; 0: runs on the host
    Apply<Number> *(*get)(Form, int dim, int degree);
    std::optional<KernelResources> (*resources)(Form, int dim, int degree, std::int64_t cells_x);
    int min_degree = 1;
    std::optional<Form> only = std::nullopt; ///< the one form that it has; nothing: all

    constexpr bool has(Form form, int in_dim, int degree) const
    {
      return (dim == 0 || dim == in_dim) && degree >= min_degree && degree <= max_degree &&
          (!only || *only == form);
    }
  };

  constexpr std::optional<KernelResources> (*no_count)(Form, int, int, std::int64_t) = nullptr;

  template <typename Number>
  Apply<Number> *get_reference(Form form, int, int)
  {
    return reference_instance<Number, false>(form);
  }
  template <typename Number>
  Apply<Number> *get_device_reference(Form form, int, int)
  {
    return reference_instance<Number, true>(form);
  }
  template <typename Number>
  Apply<Number> *get_cpu(Form form, int dim, int degree)
  {
    return dim == 2 ? cpu_instance<2, Number>(form, degree) : cpu_instance<3, Number>(form, degree);
  }
  template <typename Number>
  std::optional<KernelResources> resources_of_cuda(
      Form form, int dim, int degree, std::int64_t cells_x)
  {
    return dim == 2 ? cuda_2d_resources<Number>(form, degree)
                    : cuda_resources<Number>(form, degree, cells_x);
  }
  template <Arithmetic arithmetic>
  Apply<Half> *get_mma(Form form, int, int degree)
  {
    return mma_instance(form, arithmetic, degree);
  }
  template <Arithmetic arithmetic>
  std::optional<KernelResources> resources_of_mma(Form form, int, int degree, std::int64_t cells_x)
  {
    return mma_resources(form, arithmetic, degree, cells_x);
  }

  template <typename Number>
  constexpr Arithmetic own_arithmetic = sizeof(Compute<Number>) == 8 ? Arithmetic::fp64
                                                                     : Arithmetic::fp32;
  template <typename Number>
  constexpr Row<Number> reference_row{
      Backend::reference, Arithmetic::fp64, 0, max_degree, 0, &get_reference<Number>, no_count};
  template <typename Number>
  constexpr Row<Number> cpu_row{
      Backend::cpu, own_arithmetic<Number>, 0, max_degree, 0, &get_cpu<Number>, no_count};
  template <typename Number>
  constexpr Row<Number> device_reference_row{Backend::device_reference, Arithmetic::fp64, 0,
      max_degree, 80, &get_device_reference<Number>, no_count};
  template <typename Number>
  constexpr Row<Number> cuda_row_2d{Backend::cuda, own_arithmetic<Number>, 2, max_degree, 80,
      &cuda_instance<Number>, &resources_of_cuda<Number>};
  template <typename Number>
  constexpr Row<Number> cuda_row_3d{Backend::cuda, own_arithmetic<Number>, 3, max_degree, 90,
      &cuda_instance<Number>, &resources_of_cuda<Number>};

  /// `served`: in what these degrees are called for.
  template <Arithmetic arithmetic>
  constexpr Row<Half> mma_row(
      Arithmetic served, int min_degree, int max_degree, std::optional<Form> only = std::nullopt)
  {
    return {Backend::mma, served, 3, max_degree, 90, &get_mma<arithmetic>,
        &resources_of_mma<arithmetic>, min_degree, only};
  }

  /// The kernel of lines (lines.h).
  template <auto *lines>
  auto get_lines(Form form, int dim, int degree)
  {
    return lines(dim, degree).apply[static_cast<std::size_t>(form)];
  }
  template <auto *lines>
  std::optional<KernelResources> resources_of_lines(Form, int dim, int degree, std::int64_t)
  {
    return lines(dim, degree).resources();
  }
  template <auto *lines, typename Number>
  constexpr Row<Number> lines_row(Backend backend, Arithmetic arithmetic, int dim = 0)
  {
    return {
        backend, arithmetic, dim, max_degree, 80, &get_lines<lines>, &resources_of_lines<lines>};
  }

  template <typename Number>
  std::span<const Row<Number>> rows();
  template <>
  std::span<const Row<double>> rows()
  {
    static constexpr Row<double> table[] = {reference_row<double>, cpu_row<double>,
        device_reference_row<double>, cuda_row_2d<double>, cuda_row_3d<double>,
        lines_row<&cuda_lines<double>, double>(Backend::cuda, Arithmetic::fp64, 3),
        lines_row<&wmma_lines<Arithmetic::fp64>, double>(Backend::wmma, Arithmetic::fp64),
        lines_row<&mma_lines<Arithmetic::fp64>, double>(Backend::mma, Arithmetic::fp64)};
    return table;
  }
  template <>
  std::span<const Row<float>> rows()
  {
    static constexpr Row<float> table[] = {reference_row<float>, cpu_row<float>,
        device_reference_row<float>, cuda_row_2d<float>, cuda_row_3d<float>,
        lines_row<&cuda_lines<float>, float>(Backend::cuda, Arithmetic::fp32, 3),
        lines_row<&wmma_lines<Arithmetic::tf32>, float>(Backend::wmma, Arithmetic::tf32),
        lines_row<&mma_lines<Arithmetic::tf32>, float>(Backend::mma, Arithmetic::tf32)};
    return table;
  }
  template <>
  std::span<const Row<Half>> rows()
  {
    using enum Arithmetic;
    static constexpr Row<Half> table[] = {reference_row<Half>, cpu_row<Half>,
        device_reference_row<Half>, cuda_row_2d<Half>, cuda_row_3d<Half>,
        lines_row<&cuda_lines<Half>, Half>(Backend::cuda, Arithmetic::fp32, 3),
        lines_row<&wmma_lines<Arithmetic::fp16>, Half>(Backend::wmma, Arithmetic::fp16),
        lines_row<&wmma_lines<Arithmetic::fp16x2>, Half>(Backend::wmma, Arithmetic::fp16x2),
        mma_row<fp16>(fp16, mma_layers_min_degree, max_degree),
        mma_row<fp16>(fp16, mma_column_degree, mma_column_degree, Form::residual),
        mma_row<fp16>(fp16, mma_column_degree, mma_column_degree, Form::chebyshev),
        mma_row<fp16>(fp16x2, mma_column_degree, mma_column_degree, Form::residual),
        mma_row<fp16x2>(fp16x2, mma_accurate_min_degree, max_degree, Form::residual),
        lines_row<&mma_lines<Arithmetic::fp16>, Half>(Backend::mma, Arithmetic::fp16),
        lines_row<&mma_lines<Arithmetic::fp16x2>, Half>(Backend::mma, Arithmetic::fp16x2)};
    return table;
  }
  template <>
  std::span<const Row<WideFloat>> rows()
  {
    static constexpr Row<WideFloat> table[] = {reference_row<WideFloat>, cpu_row<WideFloat>,
        cuda_row_2d<WideFloat>, cuda_row_3d<WideFloat>,
        lines_row<&cuda_lines<WideFloat>, WideFloat>(Backend::cuda, Arithmetic::fp64, 3)};
    return table;
  }

  template <typename Number>
  std::string words(const Row<Number> &row)
  {
    std::string text = std::string(to_string(row.backend)) + " " + to_string(row.arithmetic) + " (";
    text += row.dim == 0 ? "2D and 3D" : row.dim == 2 ? "2D" : "3D";
    text += ", degrees " + std::to_string(row.min_degree) + ".." + std::to_string(row.max_degree);
    if (row.only)
      text += *row.only == Form::residual ? ", residual alone" : ", Chebyshev step alone";
    if (row.capability > 80)
      text += ", compute capability 9.0";
    return text + ")";
  }

  template <typename Number>
  const Row<Number> &find(
      Backend backend, Form form, int dim, int degree, std::optional<Arithmetic> arithmetic)
  {
    backend_from_string(to_string(backend)); // throws if it is not in this build
    std::string there;
    for (const Row<Number> &row : rows<Number>())
    {
      const bool in_this_build = row.capability == 0 || built_with_cuda();
      const bool fits = row.capability == 0 || row.capability <= tensor::device_capability_if_any();
      if (row.backend == backend && row.has(form, dim, degree) &&
          (!arithmetic || *arithmetic == row.arithmetic) && fits &&
          (has_every_form<Number> || form == Form::apply))
        return row;
      if (in_this_build)
        there += (there.empty() ? "" : ", ") + words(row);
    }
    throw std::invalid_argument(std::string("no Laplace operator by ") + to_string(backend) +
        (arithmetic ? std::string(" ") + to_string(*arithmetic) : "") + " in " +
        std::to_string(dim) + "D for degree " + std::to_string(degree) + " and numbers of " +
        std::to_string(8 * sizeof(Number)) + " bits; there are " + there +
        (has_every_form<Number>
                ? ""
                : "; numbers stored in FP32 with arithmetic in FP64 have B u (apply) alone"));
  }

  template <typename Number>
  void resolve_automatic(
      Backend &backend, std::optional<Arithmetic> &arithmetic, Form form, int dim, int degree)
  {
    if (backend != Backend::automatic)
      return;
    backend = fastest_device_backend<Number>(form, dim, degree, tensor::device_capability_if_any());
    if (backend != Backend::cuda && !arithmetic)
      arithmetic = solver_arithmetic<Number>(form);
  }

  /// traits() goes by the position in the table.
  constexpr bool in_order()
  {
    for (std::size_t i = 0; i < backends.size(); ++i)
      if (backends[i].backend != static_cast<Backend>(i))
        return false;
    return true;
  }
  static_assert(in_order());

  bool in_this_build(const BackendTraits &backend)
  {
    return backend.place == Place::host || built_with_cuda();
  }
} // namespace

void require_every_row(const RowRange &range, const Block &block)
{
  if (range.y_begin > 0 || range.y_end < block.cells[1] || range.z_begin > 0 ||
      range.z_end < block.cells[2])
    throw std::invalid_argument(
        "the Laplace operator on a device computes whole blocks or layers, not a range of rows; "
        "the backends cpu and reference do");
}

std::array<int, 2> require_layers(const RowRange &range, const Block &block)
{
  RowRange without_layers = range;
  without_layers.z_begin = 0;
  without_layers.z_end = RowRange::unbounded;
  require_every_row(without_layers, block);
  const std::array<int, 2> layers{static_cast<int>(std::max<std::int64_t>(range.z_begin, 0)),
      static_cast<int>(std::min(range.z_end, block.cells[2]))};
  if (layers[0] >= layers[1])
    throw std::invalid_argument("a range of the Laplace operator has no layers");
  return layers;
}

template <typename Number>
Apply<Number> *select(
    Backend backend, Form form, int dim, int degree, std::optional<Arithmetic> arithmetic)
{
  resolve_automatic<Number>(backend, arithmetic, form, dim, degree);
  return find<Number>(backend, form, dim, degree, arithmetic).get(form, dim, degree);
}

template <typename Number>
Choice<Number> choose(
    Backend backend, Form form, int dim, int degree, std::optional<Arithmetic> steps)
{
  std::optional<Arithmetic> arithmetic = steps;
  const char *reason = "asked for";
  if (steps && backend == Backend::automatic)
  {
    backend = Backend::mma;
    reason = "smoothing steps are asked for in an arithmetic of tensor cores";
  }
  else if (backend == Backend::automatic ||
      (!steps && on_tensor_cores(backend) && !solver_arithmetic<Number>(form)))
  {
    const Preference &preferred =
        preference<Number>(form, dim, degree, tensor::device_capability_if_any());
    backend = preferred.backend;
    reason = preferred.reason;
  }
  if (!arithmetic && on_tensor_cores(backend))
    arithmetic = solver_arithmetic<Number>(form);
  const Row<Number> &row = find<Number>(backend, form, dim, degree, arithmetic);
  return {row.get(form, dim, degree), backend, row.arithmetic, reason};
}

template <typename Number>
std::vector<Variant> variants()
{
  std::vector<Variant> result;
  for (const Row<Number> &row : rows<Number>())
  {
    const auto is_same = [&](const Variant &other) {
      return other.backend == row.backend && other.arithmetic == row.arithmetic;
    };
    if (std::none_of(result.begin(), result.end(), is_same))
      result.push_back({row.backend, row.arithmetic});
  }
  return result;
}

template <typename Number>
std::optional<KernelResources> kernel_resources(Backend backend, Form form, int dim, int degree,
    std::optional<Arithmetic> arithmetic, std::int64_t cells_x)
{
  resolve_automatic<Number>(backend, arithmetic, form, dim, degree);
  const Row<Number> &row = find<Number>(backend, form, dim, degree, arithmetic);
  return row.resources ? row.resources(form, dim, degree, cells_x) : std::nullopt;
}

template <typename Number>
PackTraces<Number> *select_pack(int)
{
  return &pack_traces<Number>;
}

Backend backend_from_string(const std::string &name)
{
  std::string known;
  for (const BackendTraits &entry : backends)
  {
    if (!in_this_build(entry))
      continue;
    if (name == entry.name)
      return entry.backend;
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw std::invalid_argument("backend '" + name + "' is not in this build; available: " + known);
}

const char *to_string(Backend backend)
{
  return backend == Backend::automatic ? "cuda and mma" : traits(backend).name;
}

template Apply<double> *select<double>(Backend, Form, int, int, std::optional<Arithmetic>);
template Apply<float> *select<float>(Backend, Form, int, int, std::optional<Arithmetic>);
template Apply<Half> *select<Half>(Backend, Form, int, int, std::optional<Arithmetic>);
template Apply<WideFloat> *select<WideFloat>(Backend, Form, int, int, std::optional<Arithmetic>);
template std::vector<Variant> variants<double>();
template std::vector<Variant> variants<float>();
template std::vector<Variant> variants<Half>();
template Choice<double> choose<double>(Backend, Form, int, int, std::optional<Arithmetic>);
template Choice<float> choose<float>(Backend, Form, int, int, std::optional<Arithmetic>);
template Choice<Half> choose<Half>(Backend, Form, int, int, std::optional<Arithmetic>);
template Choice<WideFloat> choose<WideFloat>(Backend, Form, int, int, std::optional<Arithmetic>);
template std::optional<KernelResources> kernel_resources<double>(
    Backend, Form, int, int, std::optional<Arithmetic>, std::int64_t);
template std::optional<KernelResources> kernel_resources<float>(
    Backend, Form, int, int, std::optional<Arithmetic>, std::int64_t);
template std::optional<KernelResources> kernel_resources<Half>(
    Backend, Form, int, int, std::optional<Arithmetic>, std::int64_t);
template std::optional<KernelResources> kernel_resources<WideFloat>(
    Backend, Form, int, int, std::optional<Arithmetic>, std::int64_t);
template PackTraces<double> *select_pack<double>(int);
template PackTraces<float> *select_pack<float>(int);
template PackTraces<Half> *select_pack<Half>(int);
template PackTraces<WideFloat> *select_pack<WideFloat>(int);
} // namespace tensormg::laplace
