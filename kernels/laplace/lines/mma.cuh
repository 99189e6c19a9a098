// Products of the line kernel by mma.sync: nothing but the operands leaves the registers.
//
// Data are operand A, 16 (8) cells x modes of both neighbours; the constant matrix is B. Its columns are
// permuted: column c of 8 stands for mode c / 2 + 4 (c % 2), so that a lane has the modes t and t + 4 of its
// cells in the sums, as it has them in A. Accesses to shared memory look alike then: four modes, eight cells.
#pragma once

#include <algorithm>

#include <cuda_fp16.h>

#include "kernels/laplace/lines/launch.cuh"
#include "kernels/mma/instructions.cuh"

namespace tensormg::laplace::lines
{
/// Instruction for sums over `length` numbers.
template <Arithmetic arithmetic, int length>
struct MmaShape
{
  static constexpr int smallest = multiplies_halves(arithmetic) ? 8 : 4;
  static constexpr int largest = arithmetic == Arithmetic::tf32 ? 8 : 16;
  static constexpr int padded = (length + smallest - 1) / smallest * smallest;
  /// The largest that divides the padded length; TF32 prefers 8, padding included.
  static constexpr int k = largest == 8 ? (padded == 4 ? 4 : 8)
      : padded % 16 == 0                ? 16
      : padded % 8 == 0                 ? 8
                                        : 4;
  using Multiplicand = std::conditional_t<arithmetic == Arithmetic::fp64, double,
      std::conditional_t<largest == 8, Tf32, Half>>;
  using Wide = mma::Shape<16, 8, k, Multiplicand>;
  /// FP64 before compute capability 9.0 has one shape only.
  using type = std::conditional_t<mma::is_available<Wide>, Wide,
      mma::Shape<mma::is_available<Wide> ? 16 : 8, 8, mma::is_available<Wide> ? k : 4,
          Multiplicand>>;
};

template <Arithmetic arithmetic_, int n_>
class MmaProduct
{
public:
  static constexpr Arithmetic arithmetic = arithmetic_;
  static constexpr int n = n_;
  static constexpr int warps_alone =
      n == 9 ? 12 : 16;                          ///< of a block that is alone on a multiprocessor
  static constexpr int unrolled = n < 9 ? n : 1; ///< products of a unit; registers limit it
  static constexpr int scratch(int) { return 0; }

private:
  using Number = StorageOf<arithmetic>;
  using C = Compute<Number>;
  using S = typename MmaShape<arithmetic, 2 * n>::type;
  using A = mma::FragmentA<S>;
  using B = mma::FragmentB<S>;
  using Sum = mma::FragmentC<S>;
  static constexpr int steps = (2 * n + S::k - 1) / S::k, tiles = (n + 7) / 8;
  static constexpr int parts = arithmetic == Arithmetic::fp16x2 ? 2 : 1; ///< of weights

  B weight_[parts][tiles][steps];

public:
  static constexpr int halves = S::m / 8; ///< strips of 8 cells in a product

  __device__ __forceinline__ explicit MmaProduct(unsigned char *) {}

  /// weight(m, i): of number m in sum i; zero beyond both ranges.
  template <typename Weight>
  __device__ __forceinline__ void prepare(const Weight &weight)
  {
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile)
#pragma unroll
      for (int step = 0; step < steps; ++step)
#pragma unroll
        for (int e = 0; e < B::n_elements; ++e)
        {
          const mma::Entry at = mma::entry_of<S, mma::Operand::b>(lane(), e);
          C rest = weight(step * S::k + at.row, mode(tile, at.column));
#pragma unroll
          for (int part = 0; part < parts; ++part)
          {
            const auto rounded = multiplicand(rest);
            weight_[part][tile][step].set(e, rounded);
            rest -= number(rounded);
          }
        }
  }

  /// Something for each result of a product.
  template <typename Extra>
  struct Extras
  {
    Extra of[tiles][Sum::n_elements];
  };
  /// get(half, cell, i) for each result.
  template <typename Extra, typename Get>
  __device__ __forceinline__ void fetch(Extras<Extra> &extras, Get get) const
  {
    each_result([&](int tile, int e, int i) { extras.of[tile][e] = get(e / 2, lane() / 4, i); });
  }

  /// What is multiplied, as it is stored.
  struct Operands
  {
    Number of[steps][A::n_elements];
  };
  /// Whose operands are asked for at a time; registers limit it.
  static constexpr int under_way(bool from_memory)
  {
    constexpr int registers = int(sizeof(Operands)) / 4;
    return n == 9 ? 1 : from_memory ? std::max(2, 32 / registers) : 2;
  }
  /// get(half, cell, m): number m < 2n of a cell of strip `half`.
  template <typename Get>
  __device__ __forceinline__ void load(Operands &operands, Get get) const
  {
#pragma unroll
    for (int step = 0; step < steps; ++step)
#pragma unroll
      for (int e = 0; e < A::n_elements; ++e)
      {
        // Half and offset do not depend on the lane.
        const mma::Entry first = mma::entry_of<S, mma::Operand::a>(0, e);
        const mma::Entry at = mma::entry_of<S, mma::Operand::a>(lane(), e);
        operands.of[step][e] =
            get(first.row / 8, lane() / 4, min(step * S::k + at.column, 2 * n - 1));
      }
  }

  /// One product with the weights that were prepared. consume(half, cell, i, sum i, extra).
  template <typename Weights, typename Extra, typename Consume>
  __device__ __forceinline__ void run(
      const Weights &, const Operands &operands, const Extras<Extra> &extras, Consume consume) const
  {
    Sum sum[tiles]{};
    A a[steps];
#pragma unroll
    for (int step = 0; step < steps; ++step)
#pragma unroll
      for (int e = 0; e < A::n_elements; ++e)
        a[step].set(e, multiplicand(operands.of[step][e]));
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile)
#pragma unroll
      for (int step = 0; step < steps; ++step)
      {
        if constexpr (parts == 2)
          mma::mma_sync(sum[tile], a[step], weight_[1][tile][step]);
        mma::mma_sync(sum[tile], a[step], weight_[0][tile][step]);
      }
    __syncwarp(); // what has been loaded may be overwritten
    each_result([&](int tile, int e, int i) {
      consume(e / 2, lane() / 4, i, sum[tile].get(e), extras.of[tile][e]);
    });
  }

private:
  /// f(tile, element, i) for the results of this lane that are modes.
  template <typename Function>
  __device__ __forceinline__ static void each_result(Function f)
  {
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile)
#pragma unroll
      for (int e = 0; e < Sum::n_elements; ++e)
      {
        const int first = mode(tile, e % 2), i = mode(tile, 2 * (lane() % 4) + e % 2);
        if (first < n && (first + 3 < n || i < n))
          f(tile, e, i);
      }
  }
  __device__ __forceinline__ static int lane() { return int(threadIdx.x) % 32; }
  __device__ __forceinline__ static int mode(int tile, int column)
  {
    return 8 * tile + column / 2 + 4 * (column % 2);
  }
  __device__ __forceinline__ static auto multiplicand(C value)
  {
    using Multiplicand = typename S::Multiplicand;
    if constexpr (std::is_same_v<Multiplicand, double>)
      return value;
    else if constexpr (std::is_same_v<Multiplicand, Tf32>)
      return mma::to_tf32(value);
    else
      return mma::to_half(value);
  }
  __device__ __forceinline__ static Half multiplicand(Half value) { return value; }
  __device__ __forceinline__ static double number(double value) { return value; }
  __device__ __forceinline__ static float number(Tf32 value) { return __uint_as_float(value.bits); }
  __device__ __forceinline__ static float number(Half value)
  {
    return __half2float(std::bit_cast<__half>(value));
  }
};
} // namespace tensormg::laplace::lines

namespace tensormg::laplace
{
template <Arithmetic arithmetic>
LinesKernel<StorageOf<arithmetic>> mma_lines(int dim, int degree)
{
  using Number = StorageOf<arithmetic>;
  return dim == 2 ? lines_of_degree<lines::MmaProduct, arithmetic, Number, 2>(degree)
                  : lines_of_degree<lines::MmaProduct, arithmetic, Number, 3>(degree);
}
} // namespace tensormg::laplace
