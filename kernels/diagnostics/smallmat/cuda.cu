#include "kernels/device/launch.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/diagnostics/smallmat/fma.cuh"
#include "kernels/mma/bank_conflicts.h"
#include "kernels/mma/shared_layout.h"
#include "kernels/tensor/device_resources.cuh"

namespace tensormg::smallmat
{
namespace
{
  constexpr int threads = 128, warps = threads / 32;

  /// F in shared memory, padded against bank conflicts.
  template <int n>
  struct Staged
  {
    using Layout = mma::RowMajor<n + 4>;
    static_assert(mma::fragment_wavefronts<S, Operand::a>(Layout()).conflicts() == 0);
    static constexpr int size = n * (n + 4);
  };

  /// C = F B by tensor cores. entry(i, k) is F's.
  template <int n, typename Entry>
  __device__ void multiply(int lane, const Entry &entry, const double *b, double *c)
  {
    constexpr int chunks = RightFactor<n>::chunks, columns = RightFactor<n>::columns;
    const RightFactor<n> right(lane, b);
#pragma unroll
    for (int row = 0; row < n; row += S::m)
    {
      mma::FragmentC<S> sums[columns]{};
#pragma unroll
      for (int chunk = 0; chunk < chunks; ++chunk)
      {
        const auto left = mma::make_fragment<S, Operand::a>(
            lane, [&](int i, int k) { return entry(row + i, chunk * S::k + k); });
#pragma unroll
        for (int column = 0; column < columns; ++column)
          mma::mma_sync(sums[column], left, right.at[chunk][column]);
      }
      store<n>(lane, row, sums, c);
    }
  }

  template <Task task, int n>
  __device__ void by_map(int lane, const double *factor, const double *b, double *c)
  {
    multiply<n>(
        lane, [&](int i, int k) { return factor_entry(task, n, factor, i, k); }, b, c);
  }

  template <Task task, int n>
  __device__ void by_staging(int lane, const double *factor, const double *b, double *c)
  {
    using Layout = typename Staged<n>::Layout;
    double *const shared = reinterpret_cast<double *>(dynamic_shared()) +
        static_cast<int>(threadIdx.x) / 32 * Staged<n>::size;
    for (int e = lane; e < n * n; e += 32)
      shared[Layout()(e / n, e % n)] = factor_entry(task, n, factor, e / n, e % n);
    __syncwarp();
    multiply<n>(
        lane, [&](int i, int k) { return shared[Layout()(i, k)]; }, b, c);
    __syncwarp(); // before the next matrix is staged
  }

  template <Task task, Unit unit, int n>
  __global__ void __launch_bounds__(threads) batch_kernel(std::int64_t count,
      const double *__restrict__ factors, const double *__restrict__ b, double *__restrict__ c)
  {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const std::int64_t matrix =
        static_cast<std::int64_t>(blockIdx.x) * warps + static_cast<int>(threadIdx.x) / 32;
    if (matrix >= count)
      return; // the whole warp
    const double *const factor = factors + matrix * factor_size(task, n);
    const double *const from = b + matrix * n * n;
    double *const to = c + matrix * n * n;
    if constexpr (unit == Unit::fma)
      by_fma<task, n>(lane, factor, from, to);
    else if constexpr (mma::is_available<S> && unit == Unit::mma_map)
      by_map<task, n>(lane, factor, from, to);
    else if constexpr (mma::is_available<S>)
      by_staging<task, n>(lane, factor, from, to);
  }

  /// What a launch needs.
  struct Batch
  {
    std::int64_t count;
    const double *factors, *b;
    double *c;
    Stream stream;
  };

  template <Task task, Unit unit, int n>
  void run(const Batch &batch)
  {
    const auto kernel = batch_kernel<task, unit, n>;
    if constexpr (unit != Unit::fma)
      tensor::require_compiled_for(S::min_capability, kernel);
    constexpr std::size_t shared_bytes =
        unit == Unit::mma_staged ? warps * Staged<n>::size * sizeof(double) : 0;
    launch("launching the batch of small matrices", kernel,
        dim3(static_cast<unsigned>((batch.count + warps - 1) / warps)), dim3(threads), shared_bytes,
        batch.stream, batch.count, batch.factors, batch.b, batch.c);
  }

  template <Task task, int n>
  void run_unit(Unit unit, const Batch &batch)
  {
    switch (unit)
    {
      case Unit::fma:
        return run<task, Unit::fma, n>(batch);
      case Unit::mma_map:
        return run<task, Unit::mma_map, n>(batch);
      case Unit::mma_staged:
        return run<task, Unit::mma_staged, n>(batch);
    }
  }

  template <int n>
  void run_task(Task task, Unit unit, const Batch &batch)
  {
    switch (task)
    {
      case Task::product:
        return run_unit<Task::product, n>(unit, batch);
      case Task::householder:
        return run_unit<Task::householder, n>(unit, batch);
      case Task::givens:
        return run_unit<Task::givens, n>(unit, batch);
    }
  }
} // namespace

void cuda(Task task, Unit unit, int n, std::int64_t count, const double *factors, const double *b,
    double *c, Stream stream)
{
  require_size(n);
  if (count == 0)
    return;
  const Batch batch{count, factors, b, c, stream};
  if (n == 16)
    run_task<16>(task, unit, batch);
  else
    run_task<32>(task, unit, batch);
}
} // namespace tensormg::smallmat
