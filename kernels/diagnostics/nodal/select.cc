// THE table: (number type, backend, arithmetic, staging, instruction, sizes) -> kernel. Where a variant
// leaves something open, the first row that fits is taken.
#include <span>
#include <stdexcept>

#include "kernels/diagnostics/nodal/cuda.h"
#include "kernels/diagnostics/nodal/mma.h"
#include "kernels/diagnostics/nodal/nodal.h"
#include "kernels/diagnostics/nodal/reference.h"
#include "kernels/diagnostics/nodal/wmma.h"
#include "kernels/tensor/capability.h"
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
    Kernel<Number> (*get)(const Variant &, int dim, int n);

    constexpr Variant variant() const { return {backend, arithmetic, staging, instruction}; }
    /// Compute capability times ten that the instruction needs.
    constexpr int min_capability() const
    {
      return arithmetic == Arithmetic::fp64 && instruction > Instruction::m8n8k4 ? 90 : 80;
    }
  };

  template <typename Number>
  Kernel<Number> reference_kernel(const Variant &, int, int)
  {
    return {&apply_reference<Number>, &pack_reference, nullptr};
  }

  template <typename Number>
  constexpr Row<Number> reference_row{Backend::reference, Arithmetic::fp64, Staging::standard,
      Instruction::standard, Sizes::all, &reference_kernel<Number>};

  template <typename Number>
  Kernel<Number> get_cuda(const Variant &, int dim, int n)
  {
    return cuda_kernel<Number>(dim, n);
  }

  template <typename Number>
  constexpr Row<Number> cuda_row{Backend::cuda,
      sizeof(Number) == 8 ? Arithmetic::fp64 : Arithmetic::fp32, Staging::standard,
      Instruction::standard, Sizes::all, &get_cuda<Number>};

  /// The shape is that of the library, 8 x 8 x 4 for FP64.
  template <typename Number>
  constexpr Row<Number> wmma_row(Arithmetic arithmetic)
  {
    return {Backend::wmma, arithmetic, Staging::standard, Instruction::standard, Sizes::all,
        &wmma_kernel<Number>};
  }

  /// mma with the tensors in registers or, for those that do not fit, in shared memory.
  template <typename Number>
  constexpr Row<Number> registers_row(
      Arithmetic arithmetic, Instruction instruction, Sizes sizes = Sizes::small)
  {
    return {
        Backend::mma, arithmetic, Staging::registers, instruction, sizes, &mma_registers<Number>};
  }
  template <typename Number>
  constexpr Row<Number> staged_row(
      Arithmetic arithmetic, Staging staging, Instruction instruction, Sizes sizes)
  {
    return {Backend::mma, arithmetic, staging, instruction, sizes,
        sizes == Sizes::others || sizes == Sizes::largest ? &mma_staged<Number>
                                                          : &mma_staged_compared<Number>};
  }

  Kernel<Half> get_chained(const Variant &, int, int) { return mma_chained(); }
  constexpr Row<Half> chained_row{Backend::mma, Arithmetic::fp16, Staging::chained,
      Instruction::m16n8k16, Sizes::sixteen, &get_chained};

  template <typename Number>
  std::span<const Row<Number>> rows();
  template <>
  std::span<const Row<double>> rows()
  {
    constexpr Arithmetic fp64 = Arithmetic::fp64;
    using enum Instruction;
    static constexpr Row<double> table[] = {reference_row<double>, cuda_row<double>,
        wmma_row<double>(fp64), registers_row<double>(fp64, m16n8k8),
        registers_row<double>(fp64, m8n8k4), registers_row<double>(fp64, m16n8k4, Sizes::eight),
        staged_row<double>(fp64, Staging::permuted, m16n8k16, Sizes::sixteen),
        staged_row<double>(fp64, Staging::permuted, m16n8k4, Sizes::others),
        staged_row<double>(fp64, Staging::permuted, m8n8k4, Sizes::others),
        staged_row<double>(fp64, Staging::plain, m16n8k4, Sizes::largest),
        staged_row<double>(fp64, Staging::plain, m8n8k4, Sizes::largest),
        staged_row<double>(fp64, Staging::permuted, m16n8k8, Sizes::compared),
        staged_row<double>(fp64, Staging::permuted, m16n8k4, Sizes::compared),
        staged_row<double>(fp64, Staging::permuted, m8n8k4, Sizes::compared),
        staged_row<double>(fp64, Staging::permuted, m16n8k16, Sizes::eight),
        staged_row<double>(fp64, Staging::plain, m8n8k4, Sizes::compared),
        staged_row<double>(fp64, Staging::plain, m16n8k4, Sizes::compared),
        staged_row<double>(fp64, Staging::plain, m16n8k8, Sizes::compared),
        staged_row<double>(fp64, Staging::plain, m16n8k16, Sizes::compared),
        staged_row<double>(fp64, Staging::padded, m8n8k4, Sizes::compared),
        staged_row<double>(fp64, Staging::padded, m16n8k4, Sizes::compared),
        staged_row<double>(fp64, Staging::padded, m16n8k8, Sizes::compared),
        staged_row<double>(fp64, Staging::padded, m16n8k16, Sizes::compared)};
    return table;
  }
  template <>
  std::span<const Row<float>> rows()
  {
    using enum Arithmetic;
    using enum Instruction;
    static constexpr Row<float> table[] = {reference_row<float>, cuda_row<float>,
        wmma_row<float>(tf32), wmma_row<float>(tf32x3), wmma_row<float>(fp16x3),
        registers_row<float>(tf32, m16n8k8), registers_row<float>(tf32x3, m16n8k8),
        registers_row<float>(fp16x3, m16n8k8),
        staged_row<float>(tf32, Staging::permuted, m16n8k8, Sizes::others),
        staged_row<float>(tf32x3, Staging::permuted, m16n8k8, Sizes::others),
        staged_row<float>(fp16x3, Staging::permuted, m16n8k16, Sizes::others),
        staged_row<float>(tf32, Staging::permuted, m16n8k8, Sizes::largest),
        staged_row<float>(tf32x3, Staging::permuted, m16n8k8, Sizes::largest),
        staged_row<float>(fp16x3, Staging::permuted, m16n8k16, Sizes::largest),
        staged_row<float>(tf32, Staging::permuted, m16n8k8, Sizes::compared),
        staged_row<float>(tf32x3, Staging::permuted, m16n8k8, Sizes::compared),
        staged_row<float>(fp16x3, Staging::permuted, m16n8k16, Sizes::compared),
        staged_row<float>(tf32, Staging::plain, m16n8k8, Sizes::compared),
        staged_row<float>(tf32x3, Staging::plain, m16n8k8, Sizes::compared),
        staged_row<float>(fp16x3, Staging::plain, m16n8k16, Sizes::compared),
        staged_row<float>(tf32, Staging::padded, m16n8k8, Sizes::compared),
        staged_row<float>(tf32x3, Staging::padded, m16n8k8, Sizes::compared),
        staged_row<float>(fp16x3, Staging::padded, m16n8k16, Sizes::compared)};
    return table;
  }
  template <>
  std::span<const Row<Half>> rows()
  {
    constexpr Arithmetic fp16 = Arithmetic::fp16;
    using enum Instruction;
    static constexpr Row<Half> table[] = {reference_row<Half>, cuda_row<Half>, wmma_row<Half>(fp16),
        registers_row<Half>(fp16, m16n8k8), chained_row,
        staged_row<Half>(fp16, Staging::permuted, m16n8k16, Sizes::others),
        staged_row<Half>(fp16, Staging::permuted, m16n8k16, Sizes::largest),
        staged_row<Half>(fp16, Staging::permuted, m16n8k16, Sizes::compared),
        staged_row<Half>(fp16, Staging::plain, m16n8k16, Sizes::compared),
        staged_row<Half>(fp16, Staging::padded, m16n8k16, Sizes::compared)};
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
      if (!is_device_backend(row.backend))
        return row.get(variant, dim, n);
      if (device_count() == 0)
        throw DeviceError(words(row) + ": " + why_no_device());
      if (row.min_capability() <= tensor::device_capability())
        return row.get(row.variant(), dim, n);
    }
    there += (there.empty() ? "" : ", ") + words(row);
  }
  throw std::invalid_argument("no nodal operator " +
      words(Row<Number>{variant.backend, variant.arithmetic, variant.staging, variant.instruction,
          Sizes::all, nullptr}) +
      " in " + std::to_string(dim) + "D with " + std::to_string(n) + " numbers per direction of " +
      std::to_string(8 * sizeof(Number)) + " bits; there are " + there +
      "; FP64 with m = 16 needs a device of compute capability 9.0");
}

const char *to_string(Backend backend)
{
  constexpr const char *names[] = {"reference", "cuda", "wmma", "mma"};
  return names[static_cast<int>(backend)];
}

const char *to_string(Staging staging)
{
  constexpr const char *names[] = {
      "standard", "registers", "plain", "padded", "permuted", "chained"};
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
