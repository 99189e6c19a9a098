#include "apps/compare/tensor/conflicts.h"

#include "kernels/mma/shapes.h"
#include "kernels/tensor/shared_accesses.h"
#include "kernels/tensor/sizes_dispatch.h"

namespace tensormg
{
namespace
{
  using nodal::Backend;
  using nodal::Instruction;
  using nodal::Staging;
  using tensor::Arithmetic;
  using tensor::Sizes;

  std::optional<double> ratio(const mma::Wavefronts &wavefronts)
  {
    return static_cast<double>(wavefronts.count) / wavefronts.ideal;
  }

  template <typename Number>
  std::optional<double> lines_ratio(int dim, int n)
  {
    return tensor::dispatch_size<std::optional<double>, Sizes::all>(dim, n, [](auto size) {
      return ratio(tensor::all_line_wavefronts<tensor::LineTile<Number, size.dim, size.n>>());
    });
  }

  template <typename S, typename Layout, int n>
  std::optional<double> tile_ratio()
  {
    return ratio(tensor::staged_accesses<S, tensor::StagedTile<3, n, Layout>>().sum());
  }

  template <typename S>
  std::optional<double> staged_ratio(Staging staging, int dim, int n)
  {
    return tensor::dispatch_size<std::optional<double>, Sizes::all>(
        dim, n, [staging](auto size) -> std::optional<double> {
          constexpr int n = size.n, bytes = sizeof(typename S::Accumulator);
          if constexpr (size.dim == 3 && n >= 8)
          {
            if (staging == Staging::plain)
              return tile_ratio<S, tensor::PlainLayout<n>, n>();
            if (staging == Staging::permuted)
              return tile_ratio<S, typename tensor::PermutedLayoutOf<n, bytes>::type, n>();
            if constexpr (n == 8 || n == 16)
              if (staging == Staging::padded)
                return tile_ratio<S, typename tensor::PaddedLayoutOf<n, bytes>::type, n>();
          }
          return std::nullopt;
        });
  }

  std::optional<double> staged_fp64(const nodal::Variant &variant, int dim, int n)
  {
    switch (variant.instruction)
    {
      case Instruction::m8n8k4:
        return staged_ratio<mma::M8N8K4<double>>(variant.staging, dim, n);
      case Instruction::m16n8k4:
        return staged_ratio<mma::M16N8K4<double>>(variant.staging, dim, n);
      case Instruction::m16n8k8:
        return staged_ratio<mma::M16N8K8<double>>(variant.staging, dim, n);
      case Instruction::m16n8k16:
        return staged_ratio<mma::M16N8K16<double>>(variant.staging, dim, n);
      case Instruction::standard:
        break;
    }
    return std::nullopt;
  }
} // namespace

std::optional<double> predicted_wavefronts(const nodal::Variant &variant, int dim, int n)
{
  const bool is_double = variant.arithmetic == Arithmetic::fp64;
  if (variant.backend == Backend::cuda)
    return is_double ? lines_ratio<double>(dim, n) : lines_ratio<float>(dim, n);
  if (variant.backend != Backend::mma)
    return std::nullopt;
  if (variant.staging == Staging::chained)
    return 1.; // proved in tests/kernels/tensor/layout_test.cc
  if (is_double)
    return staged_fp64(variant, dim, n);
  const bool is_tf32 =
      variant.arithmetic == Arithmetic::tf32 || variant.arithmetic == Arithmetic::tf32x3;
  return is_tf32 ? staged_ratio<mma::M16N8K8<Tf32>>(variant.staging, dim, n)
                 : staged_ratio<mma::M16N8K16<Half>>(variant.staging, dim, n);
}
} // namespace tensormg
