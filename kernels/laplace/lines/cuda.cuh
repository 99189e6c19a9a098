// Sums of the line kernel on CUDA cores: a lane has a line of one cell, and what a neighbour adds goes through its two
// traces, 6 n FMA per line instead of 2 n^2.
#pragma once

#include "kernels/laplace/lines/launch.cuh"

namespace tensormg::laplace::lines
{
template <Arithmetic arithmetic_, int n_>
class CudaProduct
{
public:
  static constexpr Arithmetic arithmetic = arithmetic_;
  static constexpr int n = n_;
  static constexpr int warps_alone = n < 7 ? 16 : 8; ///< registers limit it
  static constexpr int unrolled = n < 6 ? n : 1; ///< lines of a unit; the compiler's time limits it
  static constexpr int scratch(int) { return 0; }
  static constexpr int halves = 4; ///< strips of 8 cells: a warp

private:
  using Number = StorageOf<arithmetic>;
  using C = Compute<Number>;

public:
  __device__ __forceinline__ explicit CudaProduct(unsigned char *) {}

  /// Weights are read where they are used.
  template <typename Weights>
  __device__ __forceinline__ void prepare(const Weights &)
  {}

  /// Something for each result of a product.
  template <typename Extra>
  struct Extras
  {
    Extra of[n];
  };
  /// get(half, cell, i) for each result.
  template <typename Extra, typename Get>
  __device__ __forceinline__ void fetch(Extras<Extra> &extras, Get get) const
  {
#pragma unroll
    for (int i = 0; i < n; ++i)
      extras.of[i] = get(half(), cell(), i);
  }

  /// What is summed: the modes of the lower, then of the upper neighbour.
  struct Operands
  {
    Number of[2 * n];
  };
  /// Whose operands are asked for at a time.
  static constexpr int under_way(bool from_memory) { return unrolled > 1 && from_memory ? 2 : 1; }
  /// get(half, cell, m): number m < 2n of a cell of strip `half`.
  template <typename Get>
  __device__ __forceinline__ void load(Operands &operands, Get get) const
  {
#pragma unroll
    for (int m = 0; m < 2 * n; ++m)
      operands.of[m] = get(half(), cell(), m);
  }

  /// Sums of one line with the traces V = sum v_m u_m and D = sum h_m u_m of its neighbours on the faces to it:
  ///   even i: v_i (D_l + D_u) + g_i (V_l + V_u)      odd i: v_i (D_u - D_l) + g_i (V_u - V_l)
  /// consume(half, cell, i, sum i, extra).
  template <typename Weights, typename Extra, typename Consume>
  __device__ __forceinline__ void run(const Weights &weights, const Operands &operands,
      const Extras<Extra> &extras, Consume consume) const
  {
    const auto traces = [&](bool upper, C &v, C &d) {
      C sum_v[2] = {0, 0}, sum_d[2] = {0, 0}; // of even and odd modes
#pragma unroll
      for (int m = 0; m < n; ++m)
      {
        const C value = operands.of[upper ? n + m : m];
        sum_v[m % 2] = fma(weights.v(m), value, sum_v[m % 2]);
        sum_d[m % 2] = fma(weights.h(m), value, sum_d[m % 2]);
      }
      const C even = weights.sign(upper, false), odd = weights.sign(upper, true);
      v = fma(even, sum_v[0], odd * sum_v[1]);
      d = fma(even, sum_d[0], odd * sum_d[1]);
    };
    C v_lower, d_lower, v_upper, d_upper;
    traces(false, v_lower, d_lower);
    traces(true, v_upper, d_upper);
    const C v[2] = {v_upper + v_lower, v_upper - v_lower};
    const C d[2] = {d_upper + d_lower, d_upper - d_lower};
    __syncwarp(); // what has been loaded may be overwritten
#pragma unroll
    for (int i = 0; i < n; ++i)
      consume(half(), cell(), i, fma(weights.face_v(i), d[i % 2], weights.face_g(i) * v[i % 2]),
          extras.of[i]);
  }

private:
  __device__ __forceinline__ static int half() { return int(threadIdx.x) % 32 / 8; }
  __device__ __forceinline__ static int cell() { return int(threadIdx.x) % 8; }
};
} // namespace tensormg::laplace::lines

namespace tensormg::laplace
{
template <typename Number>
LinesKernel<Number> cuda_lines(int, int degree)
{
  constexpr Arithmetic arithmetic =
      sizeof(Compute<Number>) == 8 ? Arithmetic::fp64 : Arithmetic::fp32;
  return lines_of_degree<lines::CudaProduct, arithmetic, Number, 3>(degree);
}
} // namespace tensormg::laplace
