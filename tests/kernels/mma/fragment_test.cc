// Fragments of mma.sync without a GPU: the maps against the tables of the PTX manual, the products of
// an emulated warp against plain ones, the primitives, the chained products, ldmatrix.
#include "kernels/mma/fragment.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/mma/chaining.h"
#include "tests/support/device/emulated_warp.h"

namespace tensormg
{
namespace
{
  using namespace mma;
  using test::DenseMatrix;
  using test::integer_matrix;

  template <typename S>
  class MmaFragment : public testing::Test
  {};

  template <typename List>
  struct TestTypes;
  template <typename... S>
  struct TestTypes<ShapeList<S...>>
  {
    using type = testing::Types<S...>;
  };
  TYPED_TEST_SUITE(MmaFragment, TestTypes<AllShapes>::type);

  // Instruction counts that the work models use.
  static_assert(M8N8K4<double>::flops == 512 && M16N8K16<Half>::flops == 4096);
  static_assert(M8N8K4<double>::min_capability == 80 && M16N8K4<double>::min_capability == 90 &&
      M16N8K8<Tf32>::min_capability == 80);
  static_assert(FragmentA<M16N8K16<double>>::n_registers == 8 &&
      FragmentB<M16N8K16<double>>::n_registers == 4 &&
      FragmentC<M16N8K16<double>>::n_registers == 4);
  static_assert(FragmentA<M16N8K16<Half>>::n_registers == 4 &&
      FragmentB<M16N8K16<Half>>::n_registers == 2 && FragmentB<M16N8K8<Half>>::n_registers == 1);
  static_assert(sizeof(FragmentA<M16N8K8<double>>) == 32 && sizeof(FragmentA<M16N8K8<Half>>) == 8);

  // The formulas as the PTX manual has them, element by element, for lane = 4 groupID + threadID.
  template <typename S>
  Entry ptx_a(int group, int thread, int i)
  {
    if (is_packed<S> && S::k == 8)
      return {i == 0 || i == 1 ? group : group + 8, thread * 2 + (i & 1)};
    if (is_packed<S>)
      return {
          i < 2 || (4 <= i && i < 6) ? group : group + 8, thread * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
    if (S::m == 8)
      return {group, thread};
    if (S::k == 4)
      return {i == 0 ? group : group + 8, thread};
    if (S::k == 8)
      return {i == 0 || i == 2 ? group : group + 8, i < 2 ? thread : thread + 4};
    return {i % 2 == 0 ? group : group + 8, i % 2 == 0 ? i * 2 + thread : i * 2 - 2 + thread};
  }

  template <typename S>
  Entry ptx_b(int group, int thread, int i)
  {
    if (is_packed<S>)
      return {i < 2 ? thread * 2 + (i & 1) : thread * 2 + (i & 1) + 8, group};
    return {S::k == 4 ? thread : thread + i * 4, group};
  }

  template <typename S>
  Entry ptx_c(int group, int thread, int i)
  {
    return {i < 2 ? group : group + 8, thread * 2 + (i & 1)};
  }

  TYPED_TEST(MmaFragment, MapsAreThoseOfThePtxManual)
  {
    using S = TypeParam;
    for (int group = 0; group < 8; ++group)
      for (int thread = 0; thread < 4; ++thread)
      {
        const int lane = 4 * group + thread;
        for (int i = 0; i < FragmentA<S>::n_elements; ++i)
          EXPECT_EQ((entry_of<S, Operand::a>(lane, i)), ptx_a<S>(group, thread, i));
        for (int i = 0; i < FragmentB<S>::n_elements; ++i)
          EXPECT_EQ((entry_of<S, Operand::b>(lane, i)), ptx_b<S>(group, thread, i));
        for (int i = 0; i < FragmentC<S>::n_elements; ++i)
          EXPECT_EQ((entry_of<S, Operand::c>(lane, i)), ptx_c<S>(group, thread, i));
      }
  }

  template <typename S, Operand operand>
  std::size_t n_different_entries()
  {
    std::set<std::pair<int, int>> entries;
    for (int lane = 0; lane < warp_size; ++lane)
      for (int i = 0; i < Fragment<S, operand>::n_elements; ++i)
      {
        const Entry entry = entry_of<S, operand>(lane, i);
        entries.emplace(entry.row, entry.column);
      }
    return entries.size();
  }

  TYPED_TEST(MmaFragment, EveryEntryIsHeldOnce)
  {
    using S = TypeParam;
    EXPECT_EQ((n_different_entries<S, Operand::a>()), std::size_t(S::m * S::k));
    EXPECT_EQ((n_different_entries<S, Operand::b>()), std::size_t(S::k * S::n));
    EXPECT_EQ((n_different_entries<S, Operand::c>()), std::size_t(S::m * S::n));
  }

  TYPED_TEST(MmaFragment, MatricesComeBack)
  {
    using S = TypeParam;
    const DenseMatrix a = integer_matrix(S::m, S::k, 1);
    const DenseMatrix b = integer_matrix(S::k, S::n, 2);
    const DenseMatrix c = integer_matrix(S::m, S::n, 3);
    EXPECT_EQ((test::collect<S, Operand::a>(test::distribute<S, Operand::a>(a))), a);
    EXPECT_EQ((test::collect<S, Operand::b>(test::distribute<S, Operand::b>(b))), b);
    EXPECT_EQ((test::collect<S, Operand::c>(test::distribute<S, Operand::c>(c))), c);
  }

  TYPED_TEST(MmaFragment, EmulatedProductIsTheProduct)
  {
    using S = TypeParam;
    const DenseMatrix a = integer_matrix(S::m, S::k, 4);
    const DenseMatrix b = integer_matrix(S::k, S::n, 5);
    const DenseMatrix c = integer_matrix(S::m, S::n, 6);
    const auto d = test::mma_sync<S>(test::distribute<S, Operand::a>(a),
        test::distribute<S, Operand::b>(b), test::distribute<S, Operand::c>(c));
    EXPECT_EQ((test::collect<S, Operand::c>(d)), test::multiply_add(a, b, c));
  }

  TYPED_TEST(MmaFragment, ForeachEditsAndReads)
  {
    using S = TypeParam;
    const DenseMatrix c = integer_matrix(S::m, S::n, 7);
    auto warp = test::distribute<S, Operand::c>(c);
    DenseMatrix twice(S::m, S::n);
    for (int lane = 0; lane < warp_size; ++lane)
    {
      auto &fragment = warp[std::size_t(lane)];
      foreach_ij(fragment, lane, [](int i, int j, auto &value) { value = 2 * value + i - j; });
      foreach_ij(
          std::as_const(fragment), lane, [&](int i, int j, double value) { twice(i, j) += value; });
    }
    for (int i = 0; i < S::m; ++i)
      for (int j = 0; j < S::n; ++j)
        EXPECT_EQ(twice(i, j), 2 * c(i, j) + i - j);
  }

  // One element of a multiplicand changes, its neighbour in the same register does not.
  TYPED_TEST(MmaFragment, ElementsAreIndependent)
  {
    using S = TypeParam;
    using Element = typename S::Multiplicand;
    const DenseMatrix a = integer_matrix(S::m, S::k, 8);
    for (int row = 0; row < S::m; ++row)
    {
      auto warp = test::distribute<S, Operand::a>(a);
      DenseMatrix expected = a;
      expected(row, row % S::k) = 77.;
      for (int lane = 0; lane < warp_size; ++lane)
        foreach_ij(warp[std::size_t(lane)], lane, [&](int i, int j, Element &value) {
          if (i == row && j == row % S::k)
            value = RoundTo<Element>()(77.);
        });
      EXPECT_EQ((test::collect<S, Operand::a>(warp)), expected);
    }
  }

  // map at compile time, as in a kernel that builds the identity.
  template <typename S>
  constexpr double diagonal_sum()
  {
    double sum = 0;
    for (int lane = 0; lane < warp_size; ++lane)
    {
      auto identity = make_fragment<S, Operand::c>(
          lane, [](int i, int j) { return typename S::Accumulator(i == j ? 1 : 0); });
      map(identity, lane, [&](int i, int j) { return typename S::Accumulator(i == j ? 2 : 0); });
      foreach_ij(std::as_const(identity), lane, [&](int, int, double value) { sum += value; });
    }
    return sum;
  }
  static_assert(diagonal_sum<M8N8K4<double>>() == 16.);
  static_assert(diagonal_sum<M16N8K8<Tf32>>() == 16.);

  /// The tiles [D0 D1] of X in the accumulators of one lane.
  template <typename S>
  void tiles_of_lane(const DenseMatrix &x, int lane, FragmentC<S> (&tiles)[n_chain_tiles<S>])
  {
    for (int tile = 0; tile < n_chain_tiles<S>; ++tile)
      map(tiles[tile], lane,
          [&](int i, int j) { return static_cast<typename S::Accumulator>(x(i, j + 8 * tile)); });
  }

  // E = X V, two instructions where k = 4.
  template <typename S, int step>
  void add_chain_step_a(const DenseMatrix &x, const DenseMatrix &v, test::Warp<S, Operand::c> &e)
  {
    test::Warp<S, Operand::a> a{};
    test::Warp<S, Operand::b> b{};
    for (int lane = 0; lane < warp_size; ++lane)
    {
      FragmentC<S> tiles[n_chain_tiles<S>];
      tiles_of_lane<S>(x, lane, tiles);
      a[std::size_t(lane)] = a_from_accumulators<S, step>(tiles);
      b[std::size_t(lane)] = make_fragment<S, Operand::b>(lane, [&](int k, int n) {
        return RoundTo<typename S::Multiplicand>()(v(source_column<S>(step, k), n));
      });
    }
    e = test::mma_sync<S>(a, b, e);
  }

  TYPED_TEST(MmaFragment, AccumulatorsAsA)
  {
    using S = TypeParam;
    const DenseMatrix x = integer_matrix(S::m, 8 * n_chain_tiles<S>, 9);
    const DenseMatrix v = integer_matrix(x.columns, S::n, 10);
    test::Warp<S, Operand::c> e{};
    add_chain_step_a<S, 0>(x, v, e);
    if constexpr (n_chain_steps<S> == 2)
      add_chain_step_a<S, 1>(x, v, e);
    EXPECT_EQ((test::collect<S, Operand::c>(e)), test::multiply_add(x, v, DenseMatrix(S::m, S::n)));
  }

  // Columns [8 half, 8 half + 8) of E = U X^T.
  template <typename S, int step, int half>
  void add_chain_step_b(const DenseMatrix &u, const DenseMatrix &x, test::Warp<S, Operand::c> &e)
  {
    test::Warp<S, Operand::a> a{};
    test::Warp<S, Operand::b> b{};
    for (int lane = 0; lane < warp_size; ++lane)
    {
      FragmentC<S> tiles[n_chain_tiles<S>];
      tiles_of_lane<S>(x, lane, tiles);
      b[std::size_t(lane)] = b_from_accumulators<S, step, half>(tiles);
      a[std::size_t(lane)] = make_fragment<S, Operand::a>(lane, [&](int i, int k) {
        return RoundTo<typename S::Multiplicand>()(u(i, source_column<S>(step, k)));
      });
    }
    e = test::mma_sync<S>(a, b, e);
  }

  template <typename S, int half>
  void check_accumulators_as_b()
  {
    const DenseMatrix x = integer_matrix(S::m, 8 * n_chain_tiles<S>, 11);
    const DenseMatrix u = integer_matrix(S::m, x.columns, 12);
    test::Warp<S, Operand::c> e{};
    add_chain_step_b<S, 0, half>(u, x, e);
    if constexpr (n_chain_steps<S> == 2)
      add_chain_step_b<S, 1, half>(u, x, e);
    DenseMatrix transposed(x.columns, 8);
    for (int k = 0; k < x.columns; ++k)
      for (int n = 0; n < 8; ++n)
        transposed(k, n) = x(n + 8 * half, k);
    EXPECT_EQ((test::collect<S, Operand::c>(e)),
        test::multiply_add(u, transposed, DenseMatrix(S::m, S::n)));
  }

  TYPED_TEST(MmaFragment, AccumulatorsAsB)
  {
    check_accumulators_as_b<TypeParam, 0>();
    if constexpr (TypeParam::m == 16)
      check_accumulators_as_b<TypeParam, 1>();
  }

  // Accumulators of one precision feed the instruction of another: TF32 results into FP16 products.
  static_assert(a_from_accumulators<M16N8K8<Half>, 0>(
                    {make_fragment<M16N8K4<Tf32>, Operand::c>(
                        5, [](int i, int j) { return static_cast<float>(i + j); })})
                    .get(3)
                    .bits == Half::from_float_portable(9.f + 3.f));

  /// Memory with 16-byte rows of the operand as ldmatrix wants them, and the fragments it gives.
  template <typename S, Operand operand>
  void check_ldmatrix(LdmatrixForm form)
  {
    using Element = typename OperandOf<S, operand>::Element;
    using Traits = OperandOf<S, operand>;
    const DenseMatrix matrix = integer_matrix(Traits::rows, Traits::columns, 13);
    // Consecutive elements along the columns of the operand or along its rows.
    const bool row_major = (operand == Operand::a) == (form == LdmatrixForm::plain);
    std::vector<Element> memory(matrix.entries.size());
    const auto offset = [&](int i, int j) {
      return std::size_t(row_major ? i * matrix.columns + j : j * matrix.rows + i);
    };
    for (int i = 0; i < matrix.rows; ++i)
      for (int j = 0; j < matrix.columns; ++j)
        memory[offset(i, j)] = RoundTo<Element>()(matrix(i, j));

    std::array<const unsigned char *, warp_size> rows{};
    for (int lane = 0; lane < warp_size; ++lane)
    {
      const Entry entry = ldmatrix_row<S, operand>(form, lane);
      rows[std::size_t(lane)] =
          reinterpret_cast<const unsigned char *>(&memory[offset(entry.row, entry.column)]);
    }
    EXPECT_EQ((test::collect<S, operand>(test::ldmatrix<S, operand>(form, rows))), matrix);
  }

  TYPED_TEST(MmaFragment, LdmatrixFillsMultiplicands)
  {
    using S = TypeParam;
    if constexpr (has_ldmatrix<S, Operand::a>(LdmatrixForm::plain))
    {
      check_ldmatrix<S, Operand::a>(LdmatrixForm::plain);
      check_ldmatrix<S, Operand::b>(LdmatrixForm::plain);
    }
    if constexpr (has_ldmatrix<S, Operand::a>(LdmatrixForm::transposed))
    {
      check_ldmatrix<S, Operand::a>(LdmatrixForm::transposed);
      check_ldmatrix<S, Operand::b>(LdmatrixForm::transposed);
    }
  }

  TEST(Tf32, RoundsToNearestTiesAway)
  {
    const float ulp = 0x1p-10f; // of TF32 at 1
    EXPECT_EQ(static_cast<float>(Tf32::round(1.f + 0.49f * ulp)), 1.f);
    EXPECT_EQ(static_cast<float>(Tf32::round(1.f + 0.5f * ulp)), 1.f + ulp);
    EXPECT_EQ(static_cast<float>(Tf32::round(-1.f - 0.5f * ulp)), -1.f - ulp);
    EXPECT_EQ(static_cast<float>(Tf32::round(1.f + 1.5f * ulp)), 1.f + 2.f * ulp);
    EXPECT_EQ(static_cast<float>(Tf32::round(2.f - 0x1p-23f)), 2.f);
    EXPECT_EQ(static_cast<float>(Tf32::truncate(2.f - 0x1p-23f)), 2.f - ulp);
    EXPECT_EQ(static_cast<float>(Tf32::truncate(-1.f - 0.9f * ulp)), -1.f);
    EXPECT_TRUE(std::signbit(static_cast<float>(Tf32::round(-0.f))));
  }

  TEST(Tf32, KeepsInfinityAndNan)
  {
    const float infinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ(static_cast<float>(Tf32::round(infinity)), infinity);
    EXPECT_EQ(static_cast<float>(Tf32::round(-infinity)), -infinity);
    EXPECT_EQ(static_cast<float>(Tf32::round(std::numeric_limits<float>::max())), infinity);
    EXPECT_TRUE(
        std::isnan(static_cast<float>(Tf32::round(std::numeric_limits<float>::quiet_NaN()))));
    EXPECT_TRUE(std::isnan(static_cast<float>(Tf32::round(std::bit_cast<float>(0x7f800001u)))));
  }
} // namespace
} // namespace tensormg
