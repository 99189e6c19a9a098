// The frame of the patch corrections in device memory: gather a group of patches, solve, add. How they are solved
// is a template's argument:
//   Solver::dim, N, group_size, threads, resident, shared_bytes; C, type of the arithmetic
//   Solver(memory, tables)         all threads; memory of shared_bytes
//   start(end)                     all threads, before the first patches that touch these ends
//   field(), Solver::offset(t, z, y, x)   entry of patch t in the field
//   solve()                        all threads: A^+ in place; begins and ends without a barrier
#pragma once

#include <cstdint>

#include "kernels/core/launch.cuh"
#include "kernels/core/pack.cuh"
#include "kernels/core/shared_memory.cuh"
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

/// A thread's part in the way between the vectors and the field. It has one cell column, that is patch t of the
/// group and cell s in x, and of this the lines (i, j, k) that its row of threads comes to. Lanes side by side have
/// neighbouring cells.
template <typename Solver>
class Carrier
{
  using C = typename Solver::C;
  static constexpr int N = Solver::N, n = N / 2, planes = Solver::dim == 3 ? N : 1;
  static constexpr int columns = 2 * Solver::group_size;
  static_assert(columns <= Solver::threads);
  static constexpr int rows = Solver::threads / columns;
  static constexpr int lines = n * N * planes;
  /// Accesses of a thread to global memory that are under way together.
  static constexpr int batch = 8;

public:
  __device__ Carrier(const Patches &patches, int box, unsigned first)
    : patches_(patches)
    , jump_(patches.jump[box])
    , row_(static_cast<int>(threadIdx.x) / columns)
    , patch_(static_cast<int>(threadIdx.x) % columns / 2)
    , cell_(static_cast<int>(threadIdx.x) % 2)
  {
    const unsigned q = first + static_cast<unsigned>(patch_);
    exists_ = q < patches.placement.boxes[box].n_tensors() && cell_ < patches.cells[0];
    if (exists_)
      start_ = patches.placement.position(box, q) + cell_ * jump_[0];
  }

  /// field = r, and zero where there is no cell.
  template <typename Number>
  __device__ void gather(const Number *r, C *field) const
  {
    for_each_batch([&](int first) {
      C value[batch];
#pragma unroll
      for (int i = 0; i < batch; ++i)
      {
        const Line line(first + i * rows);
        value[i] = is_inside(line) ? load_pack<1>(r + start_ + offset(line)).at[0] : C(0);
      }
#pragma unroll
      for (int i = 0; i < batch; ++i)
        if (const Line line(first + i * rows); line.exists)
          field[place(line)] = value[i];
    });
  }

  /// x += damping * field
  template <typename Number>
  __device__ void add(C damping, const C *field, Number *x) const
  {
    for_each_batch([&](int first) {
      C value[batch];
#pragma unroll
      for (int i = 0; i < batch; ++i)
        if (const Line line(first + i * rows); is_inside(line))
          value[i] = load_pack<1>(x + start_ + offset(line)).at[0];
#pragma unroll
      for (int i = 0; i < batch; ++i)
        if (const Line line(first + i * rows); is_inside(line))
          store_pack(
              x + start_ + offset(line), Pack<C, 1>(fma(damping, field[place(line)], value[i])));
    });
  }

private:
  /// Mode i in x, unknowns j and k of the patch in y and z.
  struct Line
  {
    int i, j, k;
    bool exists;
    __device__ explicit Line(int number)
      : i(number % n)
      , j(number / n % N)
      , k(number / (n * N))
      , exists(number < lines)
    {}
  };

  template <typename Function>
  __device__ void for_each_batch(Function f) const
  {
    if (row_ < rows)
      for (int first = row_; first < lines; first += batch * rows)
        f(first);
  }

  __device__ bool is_inside(const Line &line) const
  {
    return exists_ && line.exists && line.j < n * patches_.cells[1] &&
        (Solver::dim == 2 || line.k < n * patches_.cells[2]);
  }
  __device__ std::int64_t offset(const Line &line) const
  {
    const auto &stride = patches_.placement.stride;
    std::int64_t at = line.i * stride[0] + line.j % n * stride[1] + line.j / n * jump_[1];
    if constexpr (Solver::dim == 3)
      at += line.k % n * stride[2] + line.k / n * jump_[2];
    return at;
  }
  __device__ int place(const Line &line) const
  {
    return Solver::offset(patch_, line.k, line.j, cell_ * n + line.i);
  }

  const Patches &patches_;
  const std::array<std::int64_t, 3> &jump_;
  int row_, patch_, cell_;
  bool exists_;
  std::int64_t start_ = 0;
};

template <typename Solver, typename Number>
__global__ void __launch_bounds__(Solver::threads, Solver::resident)
    correct_kernel(const __grid_constant__ DeviceParameters<Number> p)
{
  if constexpr (Solver::is_available)
  {
    const tensor::Placement &placement = p.patches.placement;
    Solver solver(dynamic_shared(), p.tables);
    int box = -1;
    for (unsigned group = blockIdx.x; group < placement.n_groups(); group += gridDim.x)
    {
      if (const int now = placement.box_of(group); now != box)
      {
        box = now;
        solver.start(placement.boxes[box]);
      }
      const Carrier<Solver> carrier(
          p.patches, box, (group - placement.begin[box]) * Solver::group_size);
      carrier.gather(p.r, solver.field());
      __syncthreads();
      solver.solve();
      __syncthreads();
      // A thread takes from the field what it will replace in the next round: no barrier in between.
      carrier.add(p.damping, solver.field(), p.x);
    }
  }
}

template <typename Solver, typename Number>
void correct(const DeviceArguments<Number> &a)
{
  const unsigned groups = a.patches->placement.n_groups();
  if (groups == 0)
    return;
  const auto kernel = &correct_kernel<Solver, Number>;
  if constexpr (Solver::min_capability > 80)
    tensor::require_compiled_for(Solver::min_capability, kernel);
  launch("launching the patch correction", kernel,
      tensor::persistent_grid(kernel, Solver::threads, Solver::shared_bytes, groups),
      dim3(Solver::threads), Solver::shared_bytes, a.stream,
      DeviceParameters<Number>{
          *a.patches, a.tables, static_cast<Compute<Number>>(a.damping), a.r, a.x});
}

template <typename Solver, typename Number>
DeviceKernel<Number> kernel_of()
{
  return {&correct<Solver, Number>, Solver::pack, Solver::group_size, [] {
            return tensor::device_resources(
                &correct_kernel<Solver, Number>, Solver::threads, Solver::shared_bytes, 0.);
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
