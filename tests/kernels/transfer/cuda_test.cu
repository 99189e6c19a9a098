// The `cuda` transfer against the reference on the host: odd sizes, both dimensions, every degree and
// number type. Outputs are NaN before the call and lie between guard zones; two runs give the same bits.
#include "kernels/transfer/cuda.h"

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "kernels/transfer/cuda_tile.h"
#include "tests/support/few_cases.h"
#include "tests/support/guarded.h"
#include "tests/support/random_vector.h"

namespace tensormg
{
namespace
{
  using test::Guarded;

  struct Case
  {
    int dim;
    std::array<std::int64_t, 3> coarse;
    std::array<bool, 3> halved{true, true, true};
  };

  // Tiles are 8, 16 or 32 coarse cells wide and, in 2D, 4 high. Twice a pitch of the coarse block may be
  // more than that of the fine one (12 cells: 16 and 24).
  const Case cases[] = {{2, {1, 1, 1}}, {2, {5, 3, 1}}, {2, {12, 4, 1}}, {2, {33, 5, 1}},
      {2, {71, 2, 1}}, {2, {156, 2, 1}}, {2, {764, 1, 1}}, {3, {1, 1, 1}}, {3, {2, 3, 1}},
      {3, {12, 2, 1}}, {3, {9, 1, 2}}, {3, {33, 1, 1}},
      // Semicoarsening: lanes are coarse cells in x, otherwise neighbours in memory, 128 per block.
      {2, {71, 2, 1}, {true, false, false}}, {2, {5, 3, 1}, {false, true, false}},
      {3, {140, 1, 1}, {true, false, false}}, {3, {12, 2, 1}, {false, true, false}},
      {3, {9, 2, 3}, {false, false, true}}, {3, {3, 2, 1}, {true, true, false}},
      {3, {9, 3, 1}, {true, false, true}}, {3, {1, 1, 2}, {false, true, true}}};

  Block fine_block(const Case &c, int degree)
  {
    std::array<std::int64_t, 3> cells = c.coarse;
    for (int d = 0; d < c.dim; ++d)
      cells[d] *= c.halved[d] ? 2 : 1;
    return {c.dim, degree, cells};
  }

  template <typename Number>
  class TransferCuda : public testing::Test
  {
  protected:
    // FP16: one rounding of a result of size 4.
    static constexpr double tolerance = std::is_same_v<Number, double> ? 1e-14
        : std::is_same_v<Number, float>                                ? 1e-6
                                                                       : 1e-3;
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }

    void prolongate_vector(const Case &c, int degree, bool add)
    {
      const CellBasis basis = make_cell_basis(degree);
      const Block coarse(c.dim, degree, c.coarse), fine = fine_block(c, degree);
      const auto u = test::random_vector<Number>(coarse, 1);
      const auto before = test::random_vector<Number>(fine, 2);
      auto expected = test::random_vector<Number>(fine, 2);
      transfer::prolongate_reference<Number>(
          {fine, coarse, &basis, 1.5, add, u.data(), expected.data()});
      Guarded<Number> src(u);
      Guarded<Compute<Number>> between(transfer::between(fine, coarse).size());
      const auto run = [&] {
        Guarded<Number> dst(fine.size());
        if (add)
          dst.write(before.data());
        transfer::prolongate_cuda<Number>({fine, coarse, &basis, 1.5, add, src.data(), dst.data()},
            stream_.get(), between.data());
        Vector<Number> result(fine);
        EXPECT_TRUE(dst.read(result.data(), stream_.get())) << "written beyond the end";
        return result;
      };
      const auto found = run();
      EXPECT_LT(test::relative_difference(found, expected), tolerance);
      EXPECT_TRUE(test::padding_is_zero(found));
      if (test::runs_again())
      {
        EXPECT_TRUE(test::same_bits(found, run()));
      }
    }

    void prolongate_pair(const Case &c, int degree, bool add, bool add_rest)
    {
      const CellBasis basis = make_cell_basis(degree);
      const Block coarse(c.dim, degree, c.coarse), fine = fine_block(c, degree);
      const auto u = test::random_vector<Number>(coarse, 1),
                 v = test::random_vector<Number>(coarse, 4);
      auto x = test::random_vector<Number>(fine, 2), d = test::random_vector<Number>(fine, 3);
      Guarded<Number> src(u), src_rest(v), dst(fine.size()), dst_rest(fine.size());
      Guarded<Compute<Number>> between(transfer::between(fine, coarse).size());
      if (add)
        dst.write(x.data());
      if (add_rest)
        dst_rest.write(d.data());
      transfer::prolongate_cuda<Number>({fine, coarse, &basis, 1.5, add, src.data(), dst.data(),
                                            src_rest.data(), dst_rest.data(), add_rest},
          stream_.get(), between.data());
      transfer::prolongate_reference<Number>(
          {fine, coarse, &basis, 1.5, add, u.data(), x.data(), v.data(), d.data(), add_rest});
      Vector<Number> found(fine), found_rest(fine);
      EXPECT_TRUE(dst.read(found.data(), stream_.get())) << "written beyond the end";
      EXPECT_TRUE(dst_rest.read(found_rest.data(), stream_.get())) << "written beyond the end";
      Vector<double> sum(fine), expected(fine);
      const auto value = [](Number number) {
        return static_cast<double>(static_cast<Compute<Number>>(number));
      };
      for (std::int64_t i = 0; i < sum.size(); ++i)
      {
        sum[i] = value(found[i]) + value(found_rest[i]);
        expected[i] = value(x[i]) + value(d[i]);
      }
      // In binary16, 5e-6 is finer than one number and coarser than two.
      const double of_sums = std::is_same_v<Number, double> ? 1e-14 : 5e-6;
      EXPECT_LT(test::relative_difference(sum, expected), of_sums);
      EXPECT_LT(test::relative_difference(found, x), tolerance);
      EXPECT_TRUE(test::padding_is_zero(found) && test::padding_is_zero(found_rest));
    }

    void restrict_vector(const Case &c, int degree)
    {
      const CellBasis basis = make_cell_basis(degree);
      const Block coarse(c.dim, degree, c.coarse), fine = fine_block(c, degree);
      const auto r = test::random_vector<Number>(fine, 3);
      Vector<Number> expected(coarse);
      transfer::restrict_reference<Number>({fine, coarse, &basis, 0.75, r.data(), expected.data()});
      Guarded<Number> src(r);
      Guarded<Compute<Number>> between(transfer::between(fine, coarse).size());
      const auto run = [&] {
        Guarded<Number> dst(coarse.size());
        transfer::restrict_cuda<Number>(
            {fine, coarse, &basis, 0.75, src.data(), dst.data()}, stream_.get(), between.data());
        Vector<Number> result(coarse);
        EXPECT_TRUE(dst.read(result.data(), stream_.get())) << "written beyond the end";
        return result;
      };
      const auto found = run();
      EXPECT_LT(test::relative_difference(found, expected), tolerance);
      EXPECT_TRUE(test::padding_is_zero(found));
      if (test::runs_again())
      {
        EXPECT_TRUE(test::same_bits(found, run()));
      }
    }

  private:
    OwnedStream stream_;
  };
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(TransferCuda, Numbers);

  TYPED_TEST(TransferCuda, ProlongationEqualsReference)
  {
    for (const Case &c : cases)
      for (int degree = 1; degree <= max_degree; ++degree)
        for (const bool add : {false, true})
        {
          SCOPED_TRACE(testing::Message() << c.dim << "D, " << c.coarse[0] << " x " << c.coarse[1]
                                          << ", degree " << degree << (add ? ", add" : ""));
          this->prolongate_vector(c, degree, add);
          this->prolongate_pair(c, degree, add, false);
          if (add)
            this->prolongate_pair(c, degree, add, true);
        }
  }

  TYPED_TEST(TransferCuda, RestrictionEqualsReference)
  {
    for (const Case &c : cases)
      for (int degree = 1; degree <= max_degree; ++degree)
      {
        SCOPED_TRACE(testing::Message()
            << c.dim << "D, " << c.coarse[0] << " x " << c.coarse[1] << ", degree " << degree);
        this->restrict_vector(c, degree);
      }
  }

  TEST(TransferCudaTile, SharedMemoryFits)
  {
    EXPECT_LE((transfer::TransferTile<double, 3, max_n>::shared_bytes), 227 * 1024);
    EXPECT_LE((transfer::TransferTile<float, 3, max_n>::shared_bytes), 227 * 1024);
  }
} // namespace
} // namespace tensormg
