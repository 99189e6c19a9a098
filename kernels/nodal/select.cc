// THE table: (number type, backend, arithmetic, staging, instruction, sizes) -> kernel. Where a variant
// leaves something open, the first row that fits is taken.
#include <span>
#include <stdexcept>

#include "kernels/nodal/cuda.h"
#include "kernels/nodal/nodal.h"
#include "kernels/nodal/reference.h"
#include "kernels/tensor/sizes.h"

namespace tensormg::nodal
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
    Staging staging;
    Instruction instruction;
    Sizes sizes;
    Kernel<Number> (*get)(int dim, int n);
  };

  template <typename Number>
  Kernel<Number> reference_kernel(int, int)
  {
    return {&apply_reference<Number>, &pack_reference, nullptr};
  }

  template <typename Number>
  constexpr Row<Number> reference_row{Backend::reference, Arithmetic::fp64, Staging::standard,
      Instruction::standard, Sizes::all, &reference_kernel<Number>};

  template <typename Number>
  constexpr Row<Number> cuda_row{Backend::cuda,
      sizeof(Number) == 8 ? Arithmetic::fp64 : Arithmetic::fp32, Staging::standard,
      Instruction::standard, Sizes::all, &cuda_kernel<Number>};

  template <typename Number>
  std::span<const Row<Number>> rows();
  template <>
  std::span<const Row<double>> rows()
  {
    static constexpr Row<double> table[] = {reference_row<double>, cuda_row<double>};
    return table;
  }
  template <>
  std::span<const Row<float>> rows()
  {
    static constexpr Row<float> table[] = {reference_row<float>, cuda_row<float>};
    return table;
  }
  template <>
  std::span<const Row<Half>> rows()
  {
    static constexpr Row<Half> table[] = {reference_row<Half>, cuda_row<Half>};
    return table;
  }

  template <typename Number>
  std::string words(const Row<Number> &row)
  {
    std::string text = std::string(to_string(row.backend)) + " " + to_string(row.arithmetic);
    if (row.staging != Staging::standard)
      text += std::string(" ") + to_string(row.staging);
    if (row.instruction != Instruction::standard)
      text += std::string(" ") + to_string(row.instruction);
    return text + " (" + tensor::words(row.sizes) + ")";
  }
} // namespace

template <typename Number>
Kernel<Number> select(const Variant &variant, int dim, int n)
{
  std::string there;
  for (const Row<Number> &row : rows<Number>())
  {
    if (row.backend == variant.backend && row.arithmetic == variant.arithmetic &&
        (variant.staging == Staging::standard || variant.staging == row.staging) &&
        (variant.instruction == Instruction::standard || variant.instruction == row.instruction) &&
        tensor::has(row.sizes, dim, n))
    {
      if (is_device_backend(row.backend) && !built_with_cuda())
        throw DeviceError(std::string(to_string(row.backend)) + ": " + why_no_device());
      return row.get(dim, n);
    }
    there += (there.empty() ? "" : ", ") + words(row);
  }
  throw std::invalid_argument("no nodal operator " +
      words(Row<Number>{variant.backend, variant.arithmetic, variant.staging, variant.instruction,
          Sizes::all, nullptr}) +
      " in " + std::to_string(dim) + "D with " + std::to_string(n) + " numbers per direction of " +
      std::to_string(8 * sizeof(Number)) + " bits; there are " + there);
}

const char *to_string(Backend backend)
{
  constexpr const char *names[] = {"reference", "cuda", "wmma", "mma"};
  return names[static_cast<int>(backend)];
}

const char *to_string(Staging staging)
{
  constexpr const char *names[] = {"standard", "registers", "plain", "padded", "permuted"};
  return names[static_cast<int>(staging)];
}

const char *to_string(Instruction instruction)
{
  constexpr const char *names[] = {"standard", "m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"};
  return names[static_cast<int>(instruction)];
}

template <typename Number>
std::vector<Variant> variants(int dim, int n)
{
  std::vector<Variant> result;
  for (const Row<Number> &row : rows<Number>())
    if (tensor::has(row.sizes, dim, n))
      result.push_back({row.backend, row.arithmetic, row.staging, row.instruction});
  return result;
}

template std::vector<Variant> variants<double>(int, int);
template std::vector<Variant> variants<float>(int, int);
template std::vector<Variant> variants<Half>(int, int);
template Kernel<double> select(const Variant &, int, int);
template Kernel<float> select(const Variant &, int, int);
template Kernel<Half> select(const Variant &, int, int);
} // namespace tensormg::nodal
