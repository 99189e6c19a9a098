// D^-1 with exact directions in device memory against the host; outputs are NaN before the call and lie between guard zones.
#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/constant/line_inverse.h"
#include "tests/support/exact_lines.h"
#include "tests/support/few_cases.h"
#include "tests/support/guarded.h"
#include "tests/support/random_vector.h"

namespace tensormg
{
namespace
{
  using Case = test::ExactLines;
  // Rows of more and of fewer numbers than a block of threads has.
  const Case cases[] = {{2, {1, 5, 1}, {true, false, false}, "DNPP"},
      {2, {140, 3, 1}, {false, true, false}, "DDNN"}, {2, {3, 4, 1}, {true, false, false}, "PPDD"},
      {3, {140, 3, 1}, {false, false, true}, "DDDNPP"},
      {3, {1, 9, 1}, {true, false, true}, "NNDDNN"}, {3, {1, 1, 5}, {true, true, false}, "DNDDPP"},
      {3, {9, 3, 2}, {false, true, false}, "DDDNDD"}};

  template <typename Number>
  class LineInverseDevice : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }
    OwnedStream stream_;
  };
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(LineInverseDevice, Numbers);

  TYPED_TEST(LineInverseDevice, EqualsTheHost)
  {
    using Number = TypeParam;
    const double tolerance = std::is_same_v<Number, double> ? 1e-12
        : std::is_same_v<Number, float>                     ? 1e-5
                                                            : 2e-3;
    const Stream stream = this->stream_.get();
    for (const Case &c : cases)
      for (const int degree : {1, 4, 8})
      {
        SCOPED_TRACE(testing::Message() << c.dim << "D " << c.boundary << ", degree " << degree);
        if (test::has_few_cases() && degree == 4)
          continue;
        const CellBasis basis = make_cell_basis(degree);
        const LevelGrid level = c.level(degree);
        const auto r = test::random_vector<Number>(level.block, 1),
                   start = test::random_vector<Number>(level.block, 2),
                   old = test::random_vector<Number>(level.block, 3);
        Vector<Number> expected(level.block), found(level.block);
        LineSpectra spectra;
        LineInverse<Number, HostContext> host(level, basis, spectra, HostContext());
        LineInverse<Number, DeviceContext> device(level, basis, spectra, DeviceContext(stream));
        test::Guarded<Number> d_r(r), d_start(start), d_old(old), dst(level.block.size());
        const auto compare = [&](const Number *s, const Number *o, const Number *ds,
                                 const Number *d_o, Number *to) {
          host.step(expected.data(), s, o, r.data(), 0.4, 1.5);
          device.step(to, ds, d_o, d_r.data(), 0.4, 1.5);
        };
        compare(nullptr, nullptr, nullptr, nullptr, dst.data());
        EXPECT_TRUE(dst.read(found.data(), stream)) << "written beyond the end";
        EXPECT_LT(test::relative_difference(found, expected), tolerance);
        EXPECT_TRUE(test::padding_is_zero(found));
        compare(start.data(), nullptr, d_start.data(), nullptr, dst.data());
        EXPECT_TRUE(dst.read(found.data(), stream)) << "written beyond the end";
        EXPECT_LT(test::relative_difference(found, expected), tolerance);
        compare(start.data(), old.data(), d_start.data(), d_old.data(), d_old.data());
        EXPECT_TRUE(d_old.read(found.data(), stream)) << "written beyond the end";
        EXPECT_LT(test::relative_difference(found, expected), tolerance);
        EXPECT_TRUE(test::padding_is_zero(found));
      }
  }
} // namespace
} // namespace tensormg
