// The frame of the patch corrections in device memory: gather a group of patches, solve, add. How they are solved
// is a template's argument:
//   Solver::dim, N, group_size, threads, resident, shared_bytes; C, type of the arithmetic
//   Solver(memory, tables)         all threads; memory of shared_bytes
//   start(end)                     all threads, before the first patches that touch these ends
//   field(), Solver::offset(t, z, y, x)   entry of patch t in the field
//   solve()                        all threads: A^+ in place; begins and ends without a barrier
#pragma once

#include "kernels/device/launch.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/patch/carrier.cuh"
#include "kernels/patch/cuda.h"
#include "kernels/tensor/device_resources.cuh"
#include "kernels/tensor/sizes_dispatch.h"

namespace tensormg::patch
{
template <typename Number>
struct DeviceParameters
{
  Patches patches;
  const std::byte *tables;
  Compute<Number> damping;
  const Number *r;
  Number *x;
};

template <typename Number>
struct ReplaceParameters
{
  Patches patches;
  const std::byte *tables;
  Faces<Compute<Number>> faces;
  const Number *b;
  const Number *x;
  Number *y;
};

/// work(carrier) for each group of patches of this block, with the solver set up for the box that the group is in.
template <typename Solver, typename Work>
__device__ void for_each_group(const Patches &patches, Solver &solver, const Work &work)
{
  const tensor::Placement &placement = patches.placement;
  int box = -1;
  for (unsigned group = blockIdx.x; group < placement.n_groups(); group += gridDim.x)
  {
    if (const int now = placement.box_of(group); now != box)
    {
      box = now;
      solver.start(placement.boxes[box]);
    }
    work(Carrier<Solver>(patches, box, (group - placement.begin[box]) * Solver::group_size));
  }
}

template <typename Solver, typename Number>
__global__ void __launch_bounds__(Solver::threads, Solver::resident)
    correct_kernel(const __grid_constant__ DeviceParameters<Number> p)
{
  if constexpr (Solver::is_available)
  {
    Solver solver(dynamic_shared(), p.tables);
    for_each_group(p.patches, solver, [&](const Carrier<Solver> &carrier) {
      carrier.gather(p.r, solver.field());
      __syncthreads();
      solver.solve();
      __syncthreads();
      // A thread takes from the field what it will replace in the next round: no barrier in between.
      carrier.add(p.damping, solver.field(), p.x);
    });
  }
}

template <typename Solver, typename Number>
__global__ void __launch_bounds__(Solver::threads, Solver::resident)
    replace_kernel(const __grid_constant__ ReplaceParameters<Number> p)
{
  if constexpr (Solver::is_available)
  {
    Solver solver(dynamic_shared(), p.tables);
    for_each_group(p.patches, solver, [&](const Carrier<Solver> &carrier) {
      carrier.gather(p.b, solver.field());
      __syncthreads();
      if (p.x != nullptr)
      {
        carrier.template subtract_neighbours<0>(p.faces, p.x, solver.field());
        __syncthreads();
        carrier.template subtract_neighbours<1>(p.faces, p.x, solver.field());
        __syncthreads();
        if constexpr (Solver::dim == 3)
        {
          carrier.template subtract_neighbours<2>(p.faces, p.x, solver.field());
          __syncthreads();
        }
      }
      solver.solve();
      __syncthreads();
      carrier.store(solver.field(), p.y); // no barrier: as above
    });
  }
}

template <typename Solver, typename Parameters>
void launch_groups(const char *name, void (*kernel)(Parameters), unsigned groups, Stream stream,
    const Parameters &p)
{
  if constexpr (Solver::min_capability > 80)
    tensor::require_compiled_for(Solver::min_capability, kernel);
  launch(name, kernel,
      tensor::persistent_grid(kernel, Solver::threads, Solver::shared_bytes, groups),
      dim3(Solver::threads), Solver::shared_bytes, stream, p);
}

template <typename Solver, typename Number>
void correct(const DeviceArguments<Number> &a)
{
  const unsigned groups = a.patches->placement.n_groups();
  if (groups == 0)
    return;
  launch_groups<Solver>("launching the patch correction", &correct_kernel<Solver, Number>, groups,
      a.stream,
      DeviceParameters<Number>{
          *a.patches, a.tables, static_cast<Compute<Number>>(a.damping), a.r, a.x});
}

template <typename Solver, typename Number>
void replace(const ReplaceArguments<Number> &a)
{
  if (a.x != nullptr)
    copy_uncovered_cuda(a.block, *a.patches, a.x, a.y, a.stream);
  const unsigned groups = a.patches->placement.n_groups();
  if (groups == 0)
    return;
  using C = Compute<Number>;
  ReplaceParameters<Number> p{*a.patches, a.tables, {}, a.b, a.x, a.y};
  for (int i = 0; i < max_n; ++i)
  {
    p.faces.v[i] = static_cast<C>(a.basis->v[i]);
    p.faces.h[i] = static_cast<C>(a.basis->h[i]);
    p.faces.g[i] = static_cast<C>(a.basis->g[i]);
  }
  for (int d = 0; d < 3; ++d)
    p.faces.factor[d] = static_cast<C>(a.factor[d]);
  launch_groups<Solver>(
      "launching the patch solution", &replace_kernel<Solver, Number>, groups, a.stream, p);
}

template <typename Solver, typename Number>
DeviceKernel<Number> kernel_of()
{
  return {&correct<Solver, Number>, &replace<Solver, Number>, Solver::pack, Solver::group_size, [] {
            return tensor::device_resources(
                &replace_kernel<Solver, Number>, Solver::threads, Solver::shared_bytes, 0.);
          }};
}

/// Result of function(SizeConstant<dim, 2 n>()), first <= n <= last; a default Result for others.
template <typename Result, int first, int last, typename Function>
Result dispatch_modes(int dim, int n, Function function)
{
  Result result{};
  const auto try_size = [&]<int modes>(std::integral_constant<int, modes>) {
    if (n == modes && dim == 3)
      result = function(tensor::SizeConstant<3, 2 * modes>());
    else if (n == modes)
      result = function(tensor::SizeConstant<2, 2 * modes>());
  };
  [&]<int... i>(std::integer_sequence<int, i...>)
  {
    (try_size(std::integral_constant<int, first + i>()), ...);
  }
  (std::make_integer_sequence<int, last - first + 1>());
  return result;
}
} // namespace tensormg::patch
