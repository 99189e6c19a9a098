// Fragments on the GPU: every mma.sync shape, ldmatrix and the conversions against what the maps and
// the host say. Products are of small integers, exact in every precision, so results must be equal.
// Every case is skipped where there is no GPU, or none that has the instruction.
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "kernels/mma/instructions.cuh"
#include "kernels/mma/shared_layout.h"
#include "tests/support/device/emulated_warp.h"
#include "tests/support/device/warp.cuh"

namespace tensormg
{
namespace
{
  using namespace mma;
  using test::DenseMatrix;
  using test::DeviceArray;
  using test::integer_matrix;
  using test::load;
  using test::reason_to_skip;
  using test::result_of;
  using test::store;

  template <typename S>
  class MmaDevice : public testing::Test
  {};
  template <typename List>
  struct TestTypes;
  template <typename... S>
  struct TestTypes<ShapeList<S...>>
  {
    using type = testing::Types<S...>;
  };
  TYPED_TEST_SUITE(MmaDevice, TestTypes<AllShapes>::type);

  // ---- one product, and sums of products

  template <typename S>
  __global__ void product(const double *a, const double *b, const double *c, double *d)
  {
    if constexpr (is_available<S>)
    {
      const int lane = static_cast<int>(threadIdx.x);
      FragmentC<S> result;
      mma_sync(result, load<S, Operand::a>(lane, a), load<S, Operand::b>(lane, b),
          load<S, Operand::c>(lane, c));
      store(result, lane, d);
    }
  }

  TYPED_TEST(MmaDevice, ProductIsThatOfTheHost)
  {
    using S = TypeParam;
    if (const std::string reason = reason_to_skip(product<S>, S::min_capability); !reason.empty())
      GTEST_SKIP() << reason;
    for (unsigned seed = 0; seed < 8; ++seed)
    {
      const DenseMatrix a = integer_matrix(S::m, S::k, 3 * seed);
      const DenseMatrix b = integer_matrix(S::k, S::n, 3 * seed + 1);
      const DenseMatrix c = integer_matrix(S::m, S::n, 3 * seed + 2);
      DeviceArray<double> device_a(a.entries);
      DeviceArray<double> device_b(b.entries);
      DeviceArray<double> device_c(c.entries);
      EXPECT_EQ(result_of(product<S>, S::m, S::n, device_a, device_b, device_c),
          test::multiply_add(a, b, c));
    }
  }

  // One entry of A, one of B: shows the permutation of k if there were one.
  TYPED_TEST(MmaDevice, UnitMatrices)
  {
    using S = TypeParam;
    if (const std::string reason = reason_to_skip(product<S>, S::min_capability); !reason.empty())
      GTEST_SKIP() << reason;
    const DenseMatrix zero(S::m, S::n);
    DeviceArray<double> device_c(zero.entries);
    for (int k = 0; k < S::k; ++k)
      for (int other = 0; other < S::k; ++other)
      {
        DenseMatrix a(S::m, S::k);
        DenseMatrix b(S::k, S::n);
        a(k % S::m, k) = 2.;
        b(other, other % S::n) = 3.;
        DeviceArray<double> device_a(a.entries);
        DeviceArray<double> device_b(b.entries);
        EXPECT_EQ(result_of(product<S>, S::m, S::n, device_a, device_b, device_c),
            test::multiply_add(a, b, zero));
      }
  }

  template <typename S>
  __global__ void repeated_product(
      const double *a, const double *b, const double *c, int n_times, double *d)
  {
    if constexpr (is_available<S>)
    {
      const int lane = static_cast<int>(threadIdx.x);
      FragmentC<S> sum = load<S, Operand::c>(lane, c);
      for (int i = 0; i < n_times; ++i)
        mma_sync(sum, load<S, Operand::a>(lane, a), load<S, Operand::b>(lane, b));
      store(sum, lane, d);
    }
  }

  TYPED_TEST(MmaDevice, Accumulates)
  {
    using S = TypeParam;
    if (const std::string reason = reason_to_skip(repeated_product<S>, S::min_capability);
        !reason.empty())
      GTEST_SKIP() << reason;
    const int n_times = 100;
    const DenseMatrix a = integer_matrix(S::m, S::k, 31);
    const DenseMatrix b = integer_matrix(S::k, S::n, 32);
    const DenseMatrix c = integer_matrix(S::m, S::n, 33);
    DenseMatrix expected = c;
    for (int i = 0; i < n_times; ++i)
      expected = test::multiply_add(a, b, expected);
    DeviceArray<double> device_a(a.entries);
    DeviceArray<double> device_b(b.entries);
    DeviceArray<double> device_c(c.entries);
    EXPECT_EQ(result_of(repeated_product<S>, S::m, S::n, device_a, device_b, device_c, n_times),
        expected);
  }

  // ---- chained products: X = A B (one or two tiles), then X V and U X^T, all in registers

  template <typename S>
  __device__ void first_product(
      int lane, const double *a, const double *b, FragmentC<S> (&x)[n_chain_tiles<S>])
  {
    for (int tile = 0; tile < n_chain_tiles<S>; ++tile)
    {
      const auto columns = make_fragment<S, Operand::b>(lane, [&](int k, int n) {
        return RoundTo<typename S::Multiplicand>()(b[(k * n_chain_tiles<S> + tile) * 8 + n]);
      });
      x[tile] =
          make_fragment<S, Operand::c>(lane, [](int, int) { return typename S::Accumulator(0); });
      mma_sync(x[tile], load<S, Operand::a>(lane, a), columns);
    }
  }

  template <typename S, int step>
  __device__ void add_to_xv(
      int lane, const FragmentC<S> (&x)[n_chain_tiles<S>], const double *v, FragmentC<S> &sum)
  {
    const auto b = make_fragment<S, Operand::b>(lane, [&](int k, int n) {
      return RoundTo<typename S::Multiplicand>()(v[source_column<S>(step, k) * S::n + n]);
    });
    mma_sync(sum, a_from_accumulators<S, step>(x), b);
  }

  template <typename S>
  __global__ void chain_a(const double *a, const double *b, const double *v, double *e)
  {
    if constexpr (is_available<S>)
    {
      const int lane = static_cast<int>(threadIdx.x);
      FragmentC<S> x[n_chain_tiles<S>];
      first_product<S>(lane, a, b, x);
      FragmentC<S> sum{};
      add_to_xv<S, 0>(lane, x, v, sum);
      if constexpr (n_chain_steps<S> == 2)
        add_to_xv<S, 1>(lane, x, v, sum);
      store(sum, lane, e);
    }
  }

  template <typename S, int step, int half>
  __device__ void add_to_uxt(
      int lane, const FragmentC<S> (&x)[n_chain_tiles<S>], const double *u, FragmentC<S> &sum)
  {
    const auto a = make_fragment<S, Operand::a>(lane, [&](int i, int k) {
      return RoundTo<typename S::Multiplicand>()(
          u[i * 8 * n_chain_tiles<S> + source_column<S>(step, k)]);
    });
    mma_sync(sum, a, b_from_accumulators<S, step, half>(x));
  }

  template <typename S, int half>
  __global__ void chain_b(const double *a, const double *b, const double *u, double *e)
  {
    if constexpr (is_available<S>)
    {
      const int lane = static_cast<int>(threadIdx.x);
      FragmentC<S> x[n_chain_tiles<S>];
      first_product<S>(lane, a, b, x);
      FragmentC<S> sum{};
      add_to_uxt<S, 0, half>(lane, x, u, sum);
      if constexpr (n_chain_steps<S> == 2)
        add_to_uxt<S, 1, half>(lane, x, u, sum);
      store(sum, lane, e);
    }
  }

  TYPED_TEST(MmaDevice, ChainedProductsStayInRegisters)
  {
    using S = TypeParam;
    constexpr int width = 8 * n_chain_tiles<S>;
    if (const std::string reason = reason_to_skip(chain_a<S>, S::min_capability); !reason.empty())
      GTEST_SKIP() << reason;
    const DenseMatrix a = integer_matrix(S::m, S::k, 41);
    const DenseMatrix b = integer_matrix(S::k, width, 42);
    const DenseMatrix v = integer_matrix(width, S::n, 43);
    const DenseMatrix u = integer_matrix(S::m, width, 44);
    DenseMatrix x = test::multiply_add(a, b, DenseMatrix(S::m, width));
    if constexpr (std::is_same_v<typename S::Multiplicand, Bf16>) // which holds integers up to 256
      for (double &entry : x.entries)
        entry = static_cast<double>(static_cast<float>(Bf16::round(static_cast<float>(entry))));
    DeviceArray<double> device_a(a.entries);
    DeviceArray<double> device_b(b.entries);
    DeviceArray<double> device_v(v.entries);
    DeviceArray<double> device_u(u.entries);
    EXPECT_EQ(result_of(chain_a<S>, S::m, S::n, device_a, device_b, device_v),
        test::multiply_add(x, v, DenseMatrix(S::m, S::n)));

    DenseMatrix transposed(width, S::m);
    for (int i = 0; i < S::m; ++i)
      for (int j = 0; j < width; ++j)
        transposed(j, i) = x(i, j);
    const DenseMatrix uxt = test::multiply_add(u, transposed, DenseMatrix(S::m, S::m));
    const auto check_half = [&](const DenseMatrix &e, int first) {
      for (int i = 0; i < S::m; ++i)
        for (int j = 0; j < 8; ++j)
          EXPECT_EQ(e(i, j), uxt(i, first + j)) << i << ' ' << first + j;
    };
    check_half(result_of(chain_b<S, 0>, S::m, S::n, device_a, device_b, device_u), 0);
    if constexpr (S::m == 16)
      check_half(result_of(chain_b<S, 1>, S::m, S::n, device_a, device_b, device_u), 8);
  }

  // ---- operands in shared memory, one load per element

  /// Loads a fragment from a tile of shared memory in Layout. Its only loads from shared memory are
  /// those of the fragment: the profiler counts the wavefronts of fragment_wavefronts.
  template <typename S, Operand operand, typename Layout>
  __global__ void load_from_shared(const double *matrix, double *result)
  {
    using O = OperandOf<S, operand>;
    using Element = typename O::Element;
    __shared__ alignas(1024) Element tile[extent<Layout>(O::rows, O::columns)];
    const int lane = static_cast<int>(threadIdx.x);
    for (int i = lane; i < O::rows * O::columns; i += warp_size)
      tile[Layout()(i / O::columns, i % O::columns)] = RoundTo<Element>()(matrix[i]);
    __syncwarp();
    const auto fragment =
        make_fragment<S, operand>(lane, [&](int i, int j) { return tile[Layout()(i, j)]; });
    foreach_ij(fragment, lane, [&](int i, int j, Element value) {
      result[i * O::columns + j] = static_cast<double>(value);
    });
  }

  template <typename S, Operand operand, typename Layout>
  void check_load_from_shared()
  {
    using O = OperandOf<S, operand>;
    const DenseMatrix matrix = integer_matrix(O::rows, O::columns, 45);
    DeviceArray<double> device(matrix.entries);
    EXPECT_EQ(result_of(load_from_shared<S, operand, Layout>, O::rows, O::columns, device), matrix);
  }

  TEST(MmaSharedMemory, LayoutsHoldTheOperands)
  {
    using S = M16N8K8<double>;
    if (const std::string reason = reason_to_skip(load_from_shared<S, Operand::a, RowMajor<8>>, 80);
        !reason.empty())
      GTEST_SKIP() << reason;
    check_load_from_shared<S, Operand::a, RowMajor<8>>();
    check_load_from_shared<S, Operand::a, RowMajor<12>>();
    check_load_from_shared<S, Operand::a, RowMajor<16>>();
    check_load_from_shared<S, Operand::a, Fp64Tile<8>>();
    check_load_from_shared<S, Operand::a, TmaTile<double, Swizzle128B>>();
    check_load_from_shared<S, Operand::b, RowMajor<8>>();
    check_load_from_shared<S, Operand::b, Fp64Tile<8>>();
    check_load_from_shared<S, Operand::b, Fp64Tile<16>>();
    check_load_from_shared<S, Operand::a, Rotated<9>>();
  }

  // ---- ldmatrix

  /// Writes the operand to shared memory in Layout (of the operand's rows and columns) and reads it
  /// back by ldmatrix.
  template <typename S, Operand operand, LdmatrixForm form, typename Layout>
  __global__ void through_shared(const double *matrix, double *result)
  {
    using O = OperandOf<S, operand>;
    using Element = typename O::Element;
    __shared__ alignas(1024) Element tile[extent<Layout>(O::rows, O::columns)];
    const int lane = static_cast<int>(threadIdx.x);
    for (int i = lane; i < O::rows * O::columns; i += warp_size)
      tile[Layout()(i / O::columns, i % O::columns)] = RoundTo<Element>()(matrix[i]);
    __syncwarp();
    const Entry row = ldmatrix_row<S, operand>(form, lane);
    Fragment<S, operand> fragment;
    ldmatrix<form>(fragment, &tile[Layout()(row.row, row.column)]);
    foreach_ij(std::as_const(fragment), lane, [&](int i, int j, Element value) {
      if constexpr (std::is_same_v<Element, Half>)
        result[i * O::columns + j] = Half::to_float_portable(value.bits);
      else
        result[i * O::columns + j] = static_cast<float>(value);
    });
  }

  template <typename S, Operand operand, LdmatrixForm form, typename Layout>
  void check_ldmatrix()
  {
    using O = OperandOf<S, operand>;
    const DenseMatrix matrix = integer_matrix(O::rows, O::columns, 51);
    DeviceArray<double> device(matrix.entries);
    EXPECT_EQ(
        result_of(through_shared<S, operand, form, Layout>, O::rows, O::columns, device), matrix);
  }

  /// A plain, a padded and a swizzled tile of rows of 16 bytes and more.
  template <typename S, Operand operand, LdmatrixForm form>
  void check_ldmatrix_layouts()
  {
    using Element = typename OperandOf<S, operand>::Element;
    constexpr int n = 16 / sizeof(Element); // elements in 16 bytes
    const auto check = []<typename Layout>(Layout) {
      // The consecutive elements of the memory run along a row or along a column of the operand.
      constexpr bool row_major = (operand == Operand::a) == (form == LdmatrixForm::plain);
      if constexpr (row_major)
        check_ldmatrix<S, operand, form, Layout>();
      else
        check_ldmatrix<S, operand, form, Transposed<Layout>>();
    };
    check(RowMajor<2 * n>());
    check(RowMajor<3 * n>());
    check(TmaTile<Element, Swizzle32B>());
    check(TmaTile<Element, Swizzle128B>());
  }

  TYPED_TEST(MmaDevice, LdmatrixFillsMultiplicands)
  {
    using S = TypeParam;
    if constexpr (!has_ldmatrix<S, Operand::a>(LdmatrixForm::plain))
      GTEST_SKIP() << "ldmatrix has no form for double";
    else
    {
      if (const std::string reason = reason_to_skip(product<S>, 80); !reason.empty())
        GTEST_SKIP() << reason;
      check_ldmatrix_layouts<S, Operand::a, LdmatrixForm::plain>();
      check_ldmatrix_layouts<S, Operand::b, LdmatrixForm::plain>();
      if constexpr (has_ldmatrix<S, Operand::a>(LdmatrixForm::transposed))
      {
        check_ldmatrix_layouts<S, Operand::a, LdmatrixForm::transposed>();
        check_ldmatrix_layouts<S, Operand::b, LdmatrixForm::transposed>();
      }
    }
  }
} // namespace
} // namespace tensormg
