// The transfer between degrees on a device against that on the host: all pairs of degrees, both dimensions, rows with padding, every way to add, outputs
// poisoned between guard zones; the same bits twice. The class, whose matrix is computed in another way, likewise.
#include <algorithm>
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "kernels/transfer/degree_cuda.h"
#include "operators/curved/degree_transfer.h"
#include "tests/support/guarded.h"
#include "tests/support/random_vector.h"

namespace tensormg
{
namespace
{
  using test::Guarded;

  /// Of arithmetic in Compute<Number>, and of a number that is stored.
  template <typename Number>
  constexpr double exact = sizeof(Compute<Number>) == 8 ? 1e-14 : 2e-6;
  template <typename Number>
  constexpr double stored = sizeof(Number) == 2 ? 1e-3 : exact<Number>;

  /// P' [i][a], from the coefficients of Legendre polynomials.
  template <typename C>
  std::vector<C> matrix(const CellBasis &fine, const CellBasis &coarse)
  {
    std::vector<C> result;
    for (int i = 0; i < coarse.n; ++i)
      for (int a = 0; a < fine.n; ++a)
      {
        double sum = 0.;
        for (int k = 0; k < coarse.n; ++k)
          sum += fine.legendre[k * fine.n + a] * coarse.legendre[k * coarse.n + i];
        result.push_back(static_cast<C>(sum));
      }
    return result;
  }

  /// How a prolongation adds.
  struct Adds
  {
    bool rest = false, add = false, add_rest = false;
  };

  template <typename Number>
  class Case
  {
    using C = Compute<Number>;
    using Host = Vector<Number>;
    using Device = DeviceVector<Number>;

  public:
    Case(int dim, int p, int q, std::array<std::int64_t, 3> cells)
      : fine_(dim, p, cells)
      , coarse_(dim, q, cells)
      , of_fine_(make_cell_basis(p))
      , of_coarse_(make_cell_basis(q))
      , matrix_(matrix<C>(of_fine_, of_coarse_))
      , host_(fine_, coarse_, of_fine_, of_coarse_)
      , device_(fine_, coarse_, of_fine_, of_coarse_, DeviceContext(nullptr))
      , fine_numbers_(test::random_vector<Number>(fine_, 1))
      , fine_rest_(test::random_vector<Number>(fine_, 2))
      , coarse_numbers_(test::random_vector<Number>(coarse_, 3))
      , coarse_rest_(test::random_vector<Number>(coarse_, 4))
    {}

    void compare() const
    {
      compare_restriction();
      for (bool add : {false, true})
      {
        compare_prolongation(add);
        for (bool rest : {false, true})
          for (bool add_rest : {false, true})
            compare_pair({rest, add, add_rest});
      }
    }

  private:
    Host restricted() const
    {
      Guarded<Number> src(fine_numbers_), dst(coarse_.size());
      transfer::restrict_degree_cuda<Number>(
          {fine_, coarse_, nullptr, 0.5, src.data(), dst.data()}, matrix_.data(), nullptr);
      return read(dst, coarse_);
    }
    void compare_restriction() const
    {
      Host expected(coarse_);
      host_.restrict_to(expected, fine_numbers_, 0.5);
      const Host found = restricted();
      EXPECT_LT(test::relative_difference(found, expected), stored<Number>);
      EXPECT_TRUE(test::same_bits(found, restricted()));
      Device src = uploaded(fine_numbers_), dst(coarse_, nullptr);
      device_.restrict_to(dst, src, 0.5);
      EXPECT_LT(test::relative_difference(downloaded(dst), expected), stored<Number>);
    }

    /// The sum, and what rounding took if there is a rest.
    std::array<Host, 2> prolongated(const Adds &adds, bool is_pair) const
    {
      Guarded<Number> src(coarse_numbers_), src_rest(coarse_rest_), x(fine_.size()),
          d(fine_.size());
      if (adds.add)
        x.write(fine_numbers_.data());
      if (adds.add_rest)
        d.write(fine_rest_.data());
      transfer::prolongate_degree_cuda<Number>(
          {fine_, coarse_, nullptr, 0.25, adds.add, src.data(), x.data(),
              adds.rest ? src_rest.data() : nullptr, is_pair ? d.data() : nullptr, adds.add_rest},
          matrix_.data(), nullptr);
      std::array<Host, 2> result{read(x, fine_), Host(fine_)};
      if (is_pair)
        result[1] = read(d, fine_);
      return result;
    }
    void compare_prolongation(bool add) const
    {
      Host expected = copied(fine_numbers_);
      host_.prolongate(expected, coarse_numbers_, 0.25, add);
      const Adds adds{false, add, false};
      const std::array<Host, 2> found = prolongated(adds, false);
      EXPECT_LT(test::relative_difference(found[0], expected), stored<Number>);
      EXPECT_TRUE(test::same_bits(found[0], prolongated(adds, false)[0]));
      Device dst = uploaded(fine_numbers_);
      device_.prolongate(dst, uploaded(coarse_numbers_), 0.25, add);
      EXPECT_LT(test::relative_difference(downloaded(dst), expected), stored<Number>);
    }
    void compare_pair(const Adds &adds) const
    {
      Host x = copied(fine_numbers_), d = copied(fine_rest_);
      host_.prolongate_pair(x, d, coarse_numbers_, adds.rest ? &coarse_rest_ : nullptr, 0.25,
          adds.add, adds.add_rest);
      const std::array<Host, 2> found = prolongated(adds, true);
      EXPECT_LT(test::relative_difference(found[0], x), stored<Number>);
      EXPECT_LT(test::relative_difference(sum(found[0], found[1]), sum(x, d)), exact<Number>);
      const std::array<Host, 2> again = prolongated(adds, true);
      EXPECT_TRUE(test::same_bits(found[0], again[0]) && test::same_bits(found[1], again[1]));
      Device on_device = uploaded(fine_numbers_), rest = uploaded(fine_rest_);
      const Device of_coarse = uploaded(coarse_rest_);
      device_.prolongate_pair(on_device, rest, uploaded(coarse_numbers_),
          adds.rest ? &of_coarse : nullptr, 0.25, adds.add, adds.add_rest);
      const Host of_class = downloaded(on_device), rest_of_class = downloaded(rest);
      EXPECT_LT(test::relative_difference(of_class, x), stored<Number>);
      EXPECT_LT(test::relative_difference(sum(of_class, rest_of_class), sum(x, d)), exact<Number>);
    }

    static Host read(Guarded<Number> &from, const Block &block)
    {
      Host result(block);
      EXPECT_TRUE(from.read(result.data(), nullptr)) << "written outside";
      EXPECT_TRUE(test::padding_is_zero(result));
      return result;
    }
    static Host copied(const Host &x)
    {
      Host result(x.block());
      std::copy_n(x.data(), x.size(), result.data());
      return result;
    }
    static Device uploaded(const Host &x)
    {
      Device result(x.block(), nullptr);
      copy_to_device(x, result, nullptr);
      return result;
    }
    static Host downloaded(const Device &x)
    {
      Host result(x.block());
      copy_to_host(x, result, nullptr);
      return result;
    }
    static Vector<double> sum(const Host &x, const Host &d)
    {
      Vector<double> result(x.block());
      for (std::int64_t at = 0; at < x.size(); ++at)
        result[at] = test::to_double(x[at]) + test::to_double(d[at]);
      return result;
    }

    Block fine_, coarse_;
    CellBasis of_fine_, of_coarse_;
    std::vector<C> matrix_;
    mutable DegreeTransfer<Number> host_;
    mutable DegreeTransfer<Number, DeviceContext> device_;
    Host fine_numbers_, fine_rest_, coarse_numbers_, coarse_rest_;
  };

  template <typename Number>
  class DegreesOnDevice : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }
    static void compare(int dim, int p, int q, std::array<std::int64_t, 3> cells)
    {
      SCOPED_TRACE(testing::Message() << dim << "D, " << p << " to " << q);
      Case<Number>(dim, p, q, cells).compare();
    }
  };
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(DegreesOnDevice, Numbers);

  TYPED_TEST(DegreesOnDevice, EqualTheHost)
  {
    for (int p = 2; p <= max_degree; ++p)
      for (int q = 1; q < p; ++q)
      {
        this->compare(2, p, q, {11, 5, 1});
        this->compare(3, p, q, {5, 3, 1});
      }
  }
  // Several blocks of threads, which begin and end within rows.
  TYPED_TEST(DegreesOnDevice, ManyCells)
  {
    this->compare(2, 4, 2, {157, 3, 1});
    this->compare(3, 3, 1, {23, 5, 3});
  }
} // namespace
} // namespace tensormg
