#include "kernels/laplace/mma_instances.cuh"

namespace tensormg::laplace
{
namespace
{
  constexpr int count = max_degree - mma_accurate_min_degree + 1;

  template <int... i>
  Apply<Half> *of_index(int index, std::integer_sequence<int, i...>)
  {
    static constexpr Apply<Half> *instances[] = {
        &launch_mma<MmaAccurateTile<mma_accurate_min_degree + 1 + i>, Form::residual>...};
    return instances[index];
  }
  template <int... i>
  KernelResources resources_of_index(int index, std::integer_sequence<int, i...>)
  {
    using Function = KernelResources();
    static constexpr Function *instances[] = {
        &resources_of_mma<MmaAccurateTile<mma_accurate_min_degree + 1 + i>, Form::residual>...};
    return instances[index]();
  }
} // namespace

Apply<Half> *mma_accurate_residual(int degree)
{
  return of_index(degree - mma_accurate_min_degree, std::make_integer_sequence<int, count>());
}
KernelResources mma_accurate_residual_resources(int degree)
{
  return resources_of_index(
      degree - mma_accurate_min_degree, std::make_integer_sequence<int, count>());
}
} // namespace tensormg::laplace
