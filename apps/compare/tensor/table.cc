// The rows of the comparison for kernels on batches of tensors, from the tables of these kernels.
#include <algorithm>
#include <array>
#include <optional>

#include "apps/compare/tensor/tensor.h"
#include "apps/parameters/text.h"

namespace tensormg
{
namespace
{
  using nodal::Backend;
  using nodal::Instruction;
  using nodal::Staging;
  using tensor::Arithmetic;

  /// A word for a backend, and what it leaves open.
  struct Word
  {
    const char *word;
    Backend backend;
    Staging staging = Staging::standard;
    Instruction instruction = Instruction::standard;

    bool fits(const nodal::Variant &variant) const
    {
      return backend == variant.backend &&
          (staging == Staging::standard || staging == variant.staging) &&
          (instruction == Instruction::standard || instruction == variant.instruction);
    }
  };

  constexpr std::array words_of_backends{Word{"reference", Backend::reference},
      Word{"cuda", Backend::cuda}, Word{"wmma", Backend::wmma}, Word{"mma", Backend::mma},
      Word{"mma_registers", Backend::mma, Staging::registers},
      Word{"mma_registers_m8n8k4", Backend::mma, Staging::registers, Instruction::m8n8k4},
      Word{"mma_registers_m16n8k4", Backend::mma, Staging::registers, Instruction::m16n8k4},
      Word{"mma_registers_m16n8k8", Backend::mma, Staging::registers, Instruction::m16n8k8},
      Word{"mma_staged_plain", Backend::mma, Staging::plain},
      Word{"mma_staged_plain_m8n8k4", Backend::mma, Staging::plain, Instruction::m8n8k4},
      Word{"mma_staged_plain_m16n8k4", Backend::mma, Staging::plain, Instruction::m16n8k4},
      Word{"mma_staged_plain_m16n8k8", Backend::mma, Staging::plain, Instruction::m16n8k8},
      Word{"mma_staged_plain_m16n8k16", Backend::mma, Staging::plain, Instruction::m16n8k16},
      Word{"mma_staged_padded", Backend::mma, Staging::padded},
      Word{"mma_staged_padded_m8n8k4", Backend::mma, Staging::padded, Instruction::m8n8k4},
      Word{"mma_staged_padded_m16n8k4", Backend::mma, Staging::padded, Instruction::m16n8k4},
      Word{"mma_staged_padded_m16n8k8", Backend::mma, Staging::padded, Instruction::m16n8k8},
      Word{"mma_staged_padded_m16n8k16", Backend::mma, Staging::padded, Instruction::m16n8k16},
      Word{"mma_staged_permuted", Backend::mma, Staging::permuted},
      Word{"mma_staged_permuted_m8n8k4", Backend::mma, Staging::permuted, Instruction::m8n8k4},
      Word{"mma_staged_permuted_m16n8k4", Backend::mma, Staging::permuted, Instruction::m16n8k4},
      Word{"mma_staged_permuted_m16n8k8", Backend::mma, Staging::permuted, Instruction::m16n8k8},
      Word{"mma_staged_permuted_m16n8k16", Backend::mma, Staging::permuted, Instruction::m16n8k16},
      Word{"mma_staged_chained_m16n8k16", Backend::mma, Staging::chained, Instruction::m16n8k16}};

  const Word *find_word(const std::string &backend)
  {
    for (const Word &word : words_of_backends)
      if (backend == word.word)
        return &word;
    return nullptr;
  }

  /// A precision: the products on CUDA cores and on tensor cores where there are such, what they may be wrong
  /// by relative to the largest entry, and the unit that does the products on tensor cores.
  struct PrecisionRow
  {
    const char *word;
    int bytes; ///< of a number in memory
    std::optional<Arithmetic> cuda_cores;
    std::optional<Arithmetic> tensor_cores;
    double tolerance;
    peak::Unit tensor_unit;

    std::optional<Arithmetic> arithmetic(Backend backend) const
    {
      if (backend == Backend::reference)
        return cuda_cores ? std::optional(Arithmetic::fp64) : std::nullopt;
      return backend == Backend::cuda ? cuda_cores : tensor_cores;
    }
  };

  // The reference has the number types, the others are ways of multiplying single numbers.
  constexpr std::array precisions{
      PrecisionRow{"double", 8, Arithmetic::fp64, Arithmetic::fp64, 1e-13, peak::Unit::fp64_tensor},
      PrecisionRow{"single", 4, Arithmetic::fp32, std::nullopt, 1e-5, peak::Unit::fp32},
      PrecisionRow{"tf32", 4, std::nullopt, Arithmetic::tf32, 4e-3, peak::Unit::tf32_tensor},
      PrecisionRow{"3xtf32", 4, std::nullopt, Arithmetic::tf32x3, 1e-5, peak::Unit::tf32_tensor},
      PrecisionRow{"half", 2, Arithmetic::fp32, Arithmetic::fp16, 4e-3, peak::Unit::fp16_tensor},
      PrecisionRow{"3xfp16", 4, std::nullopt, Arithmetic::fp16x3, 1e-5, peak::Unit::fp16_tensor}};

  const PrecisionRow *find_precision(const std::string &precision)
  {
    for (const PrecisionRow &row : precisions)
      if (precision == row.word)
        return &row;
    return nullptr;
  }

  /// f(number type in memory).
  template <typename Function>
  auto with_number(const PrecisionRow &precision, Function f)
  {
    return precision.bytes == 8 ? f(double()) : precision.bytes == 4 ? f(float()) : f(Half());
  }

  template <typename Number>
  std::vector<nodal::Variant> kernels_of(const std::string &form, int dim, int n)
  {
    if (form != patch_inverse_form)
      return nodal::variants<Number>(dim, n);
    std::vector<nodal::Variant> result;
    for (const patch_inverse::Variant &variant : patch_inverse::variants<Number>(dim, n))
    {
      using patch_inverse::Backend;
      result.push_back({variant.backend == Backend::reference ? nodal::Backend::reference
              : variant.backend == Backend::cuda              ? nodal::Backend::cuda
                                                              : nodal::Backend::mma,
          variant.arithmetic});
    }
    return result;
  }

  peak::Unit unit_of(const Word &word, const PrecisionRow &precision)
  {
    if (word.backend == Backend::reference || word.backend == Backend::cuda)
      return word.backend == Backend::reference || precision.bytes == 8 ? peak::Unit::fp64
                                                                        : peak::Unit::fp32;
    const bool small = word.backend == Backend::wmma || word.instruction == Instruction::m8n8k4;
    return precision.bytes == 8 && small ? peak::Unit::fp64_tensor_m8n8k4 : precision.tensor_unit;
  }

  /// Is there a kernel for any dimension and degree?
  bool exists(const char *form, const PrecisionRow &precision, const Word &word)
  {
    for (const int dim : {2, 3})
      for (int degree = 1; degree < max_n; ++degree)
        for (const nodal::Variant &variant : tensor_kernels(form, dim, degree, precision.word))
          if (word.fits(variant))
            return true;
    return false;
  }

  Implementation make_row(const char *form, const PrecisionRow &precision, const Word &word)
  {
    const bool host = word.backend == Backend::reference;
    return with_number(precision, [&](auto number) {
      using Number = decltype(number);
      const auto make = form == std::string(patch_inverse_form)
          ? (host ? make_host_tensors<LocalInverse, Number>
                  : make_device_tensors<LocalInverse, Number>)
          : (host ? make_host_tensors<NodalOperator, Number>
                  : make_device_tensors<NodalOperator, Number>);
      return Implementation{word.word, form, precision.word, host ? Place::host : Place::device,
          unit_of(word, precision), precision.tolerance, make};
    });
  }
} // namespace

std::vector<nodal::Variant> tensor_kernels(
    const std::string &form, int dim, int degree, const std::string &precision)
{
  const PrecisionRow *row = find_precision(precision);
  if (row == nullptr)
    return {};
  std::vector<nodal::Variant> all = with_number(*row, [&](auto number) {
    return kernels_of<decltype(number)>(form, dim, tensor_size(form, degree));
  });
  std::erase_if(all, [&](const nodal::Variant &variant) {
    return row->arithmetic(variant.backend) != variant.arithmetic;
  });
  return all;
}

std::string backend_word(const nodal::Variant &variant)
{
  std::string word = to_string(variant.backend);
  if (variant.staging != Staging::standard)
    word += (variant.staging == Staging::registers ? "_" : "_staged_") +
        std::string(to_string(variant.staging));
  if (variant.instruction != Instruction::standard)
    word += '_' + std::string(to_string(variant.instruction));
  return word;
}

std::vector<nodal::Variant> find_tensor_kernels(const Choice &choice)
{
  const Word *word = find_word(choice.backend);
  std::vector<nodal::Variant> found;
  std::vector<std::string> there;
  for (const nodal::Variant &variant :
      tensor_kernels(choice.form, choice.dim, choice.degree, choice.precision))
  {
    if (word != nullptr && word->fits(variant))
      found.push_back(variant);
    there.push_back(backend_word(variant));
  }
  if (found.empty())
    throw NotAvailable("no kernel for " + choice.form + ' ' + choice.precision + " of degree " +
        std::to_string(choice.degree) + " in " + std::to_string(choice.dim) + "D; there are " +
        join(there, ", "));
  return found;
}

nodal::Variant requested_variant(const Choice &choice)
{
  const Word *word = find_word(choice.backend);
  const PrecisionRow *precision = find_precision(choice.precision);
  if (word == nullptr || precision == nullptr || !precision->arithmetic(word->backend))
    throw NotAvailable("no kernel " + choice.backend + ' ' + choice.precision);
  return {word->backend, *precision->arithmetic(word->backend), word->staging, word->instruction};
}

std::span<const Implementation> tensor_implementations()
{
  static const std::vector<Implementation> rows = [] {
    std::vector<Implementation> result;
    for (const char *form : tensor_forms)
      for (const PrecisionRow &precision : precisions)
        for (const Word &word : words_of_backends)
          if (exists(form, precision, word))
            result.push_back(make_row(form, precision, word));
    return result;
  }();
  return rows;
}
} // namespace tensormg
