// THE table: (number type, backend, arithmetic, sizes) -> kernel. The first row that fits is taken.
#include <span>
#include <stdexcept>

#include "kernels/patch_inverse/cuda.h"
#include "kernels/patch_inverse/mma.h"
#include "kernels/patch_inverse/patch_inverse.h"
#include "kernels/patch_inverse/reference.h"
#include "kernels/tensor/capability.h"
#include "kernels/tensor/sizes.h"

namespace tensormg::patch_inverse
{
namespace
{
  using tensor::Arithmetic;
  using tensor::Sizes;

  template <typename Number>
  struct Row
  {
    Backend backend;
    Arithmetic arithmetic;
    Sizes sizes;
    Kernel<Number> (*get)(Arithmetic, int dim, int n);
    int min_capability = 80; ///< compute capability times ten
  };

  template <typename Number>
  Kernel<Number> get_reference(Arithmetic, int, int)
  {
    return {&apply_reference<Number>, &pack_reference, nullptr};
  }

  template <typename Number>
  Kernel<Number> get_cuda(Arithmetic, int dim, int n)
  {
    return cuda_kernel<Number>(dim, n);
  }

  template <typename Number>
  constexpr Row<Number> reference_row{
      Backend::reference, Arithmetic::fp64, Sizes::all, &get_reference<Number>};
  template <typename Number>
  constexpr Row<Number> cuda_row{Backend::cuda,
      sizeof(Number) == 8 ? Arithmetic::fp64 : Arithmetic::fp32, Sizes::all, &get_cuda<Number>};

  template <typename Number>
  std::span<const Row<Number>> rows();
  template <>
  std::span<const Row<double>> rows()
  {
    static constexpr Row<double> table[] = {reference_row<double>, cuda_row<double>,
        {Backend::mma, Arithmetic::fp64, Sizes::small, &mma_registers<double>},
        {Backend::mma, Arithmetic::fp64, Sizes::medium, &mma_staged<double>, 90},
        {Backend::mma, Arithmetic::fp64, Sizes::largest, &mma_staged<double>, 90},
        {Backend::mma, Arithmetic::fp64, Sizes::medium, &mma_staged_m8n8k4},
        {Backend::mma, Arithmetic::fp64, Sizes::largest, &mma_staged_m8n8k4}};
    return table;
  }
  template <>
  std::span<const Row<float>> rows()
  {
    static constexpr Row<float> table[] = {reference_row<float>, cuda_row<float>,
        {Backend::mma, Arithmetic::tf32, Sizes::small, &mma_registers<float>},
        {Backend::mma, Arithmetic::tf32, Sizes::medium, &mma_staged<float>},
        {Backend::mma, Arithmetic::tf32, Sizes::largest, &mma_staged<float>},
        {Backend::mma, Arithmetic::tf32x3, Sizes::small, &mma_registers<float>},
        {Backend::mma, Arithmetic::tf32x3, Sizes::medium, &mma_staged<float>},
        {Backend::mma, Arithmetic::tf32x3, Sizes::largest, &mma_staged<float>},
        {Backend::mma, Arithmetic::fp16x3, Sizes::small, &mma_registers<float>},
        {Backend::mma, Arithmetic::fp16x3, Sizes::medium, &mma_staged<float>},
        {Backend::mma, Arithmetic::fp16x3, Sizes::largest, &mma_staged<float>}};
    return table;
  }
  template <>
  std::span<const Row<Half>> rows()
  {
    static constexpr Row<Half> table[] = {reference_row<Half>, cuda_row<Half>,
        {Backend::mma, Arithmetic::fp16, Sizes::small, &mma_registers<Half>},
        {Backend::mma, Arithmetic::fp16, Sizes::medium, &mma_staged<Half>},
        {Backend::mma, Arithmetic::fp16, Sizes::largest, &mma_staged<Half>}};
    return table;
  }

  std::string words(Backend backend, Arithmetic arithmetic)
  {
    return std::string(to_string(backend)) + " " + to_string(arithmetic);
  }
} // namespace

template <typename Number>
Kernel<Number> select(const Variant &variant, int dim, int n)
{
  std::string there;
  for (const Row<Number> &row : rows<Number>())
  {
    if (row.backend == variant.backend && row.arithmetic == variant.arithmetic &&
        tensor::has(row.sizes, dim, n))
    {
      if (!is_device_backend(row.backend))
        return row.get(row.arithmetic, dim, n);
      if (device_count() == 0)
        throw DeviceError(words(row.backend, row.arithmetic) + ": " + why_no_device());
      if (row.min_capability <= tensor::device_capability())
        return row.get(row.arithmetic, dim, n);
    }
    there += (there.empty() ? "" : ", ") + words(row.backend, row.arithmetic) + " (" +
        tensor::words(row.sizes) + ")";
  }
  throw std::invalid_argument("no local inverse " + words(variant.backend, variant.arithmetic) +
      " in " + std::to_string(dim) + "D with " + std::to_string(n) + " numbers per direction of " +
      std::to_string(8 * sizeof(Number)) + " bits; there are " + there);
}

template <typename Number>
std::vector<Variant> variants(int dim, int n)
{
  std::vector<Variant> result;
  for (const Row<Number> &row : rows<Number>())
    if (tensor::has(row.sizes, dim, n) &&
        (result.empty() || result.back().backend != row.backend ||
            result.back().arithmetic != row.arithmetic))
      result.push_back({row.backend, row.arithmetic});
  return result;
}

const char *to_string(Backend backend)
{
  constexpr const char *names[] = {"reference", "cuda", "mma"};
  return names[static_cast<int>(backend)];
}

template Kernel<double> select(const Variant &, int, int);
template Kernel<float> select(const Variant &, int, int);
template Kernel<Half> select(const Variant &, int, int);
template std::vector<Variant> variants<double>(int, int);
template std::vector<Variant> variants<float>(int, int);
template std::vector<Variant> variants<Half>(int, int);
} // namespace tensormg::patch_inverse
