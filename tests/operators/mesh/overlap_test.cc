// Computing the interior while messages travel gives the bits of exchange, then compute.
// ranks: 1 2 3 4 8
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/constant/laplace_operator.h"
#include "tests/support/boxes.h"

namespace tensormg
{
namespace
{
  using laplace::Backend;
  using laplace::Form;
  using test::hashed_vector;

  /// All of the block after the whole exchange.
  template <typename Number>
  class ExchangeThenCompute
  {
  public:
    ExchangeThenCompute(const LevelGrid &level, const CellBasis &basis, Backend backend)
      : exchange_(level, basis)
      , backend_(backend)
    {
      arguments_.block = level.block;
      arguments_.basis = &basis;
      arguments_.factor = level.direction_factors();
      arguments_.sides = level.sides;
      arguments_.ghost = exchange_.ghosts();
    }

    void operator()(Form form, Vector<Number> &dst, const Vector<Number> &src,
        const Vector<Number> *b = nullptr, const Vector<Number> *old = nullptr, double theta = 0.,
        double alpha = 0.)
    {
      exchange_.start(src.data());
      exchange_.finish();
      laplace::Arguments<Number> a = arguments_;
      a.src = src.data();
      a.dst = dst.data();
      a.b = b ? b->data() : nullptr;
      a.old = old ? old->data() : nullptr;
      a.theta = theta;
      a.alpha = alpha;
      laplace::select<Number>(backend_, form, a.block.dim, a.block.degree())(a);
    }

  private:
    GhostExchange<Number> exchange_;
    laplace::Arguments<Number> arguments_;
    Backend backend_;
  };

  template <typename Number>
  bool same_bits(const Vector<Number> &x, const Vector<Number> &y)
  {
    return x.size() == y.size() &&
        std::memcmp(x.data(), y.data(), static_cast<std::size_t>(x.size()) * sizeof(Number)) == 0;
  }

  /// How many of the tested blocks had which parts, on this rank.
  struct Seen
  {
    int overlapping = 0, without_interior = 0, local_ghosts = 0, both_directions = 0;
  };

  template <typename Number>
  void compare(const Problem &problem, Backend backend, Seen &seen)
  {
    const CellBasis basis = make_cell_basis(problem.degree);
    const Grid grid = make_grid(problem, MPI_COMM_WORLD);
    const LevelGrid &level = grid.finest();
    LaplaceOperator<Number> op(level, basis, backend);
    ExchangeThenCompute<Number> expected(level, basis, backend);
    const GhostExchange<Number> exchange(level, basis);
    const auto &remote = exchange.remote();
    const RowSplit split = split_rows(level.block, remote);
    seen.overlapping += !split.interior.empty() && !split.boundary.empty();
    seen.without_interior += split.interior.empty();
    seen.both_directions += (remote[2] || remote[3]) && (remote[4] || remote[5]);
    for (int s = 2; s < 2 * problem.dim; ++s)
      seen.local_ghosts += level.sides[s] == Side::ghost && !remote[s];

    const auto u = hashed_vector<Number>(level, 1), b = hashed_vector<Number>(level, 2);
    Vector<Number> x(level.block), y(level.block);
    const auto expect_same = [&](const char *what) {
      EXPECT_TRUE(same_bits(x, y)) << what;
      EXPECT_TRUE(test::padding_is_zero(x)) << what;
      test::poison(x);
      test::poison(y);
    };
    test::poison(x);
    op.vmult(x, u);
    expected(Form::apply, y, u);
    expect_same("vmult");
    op.residual(x, u, b);
    expected(Form::residual, y, u, &b);
    expect_same("residual");
    op.chebyshev_step(x, u, nullptr, b, 0., 0.7);
    expected(Form::chebyshev, y, u, &b, nullptr, 0., 0.7);
    expect_same("first step");
    op.chebyshev_step(x, u, nullptr, b, 0.3, 0.9);
    expected(Form::chebyshev, y, u, &b, nullptr, 0.3, 0.9);
    expect_same("step from zero");
    // In place, several in a row: what one exchange leaves behind must not serve the next.
    x = hashed_vector<Number>(level, 3);
    y = hashed_vector<Number>(level, 3);
    auto x1 = hashed_vector<Number>(level, 4), y1 = hashed_vector<Number>(level, 4);
    for (int step = 0; step < 3; ++step)
    {
      op.chebyshev_step(x, x1, &x, b, 0.3, 0.9);
      expected(Form::chebyshev, y, y1, &b, &y, 0.3, 0.9);
      x.swap(x1);
      y.swap(y1);
    }
    expect_same("in place");
    EXPECT_TRUE(same_bits(x1, y1)) << "in place, the step before";
  }

  template <typename Number>
  class Overlap : public testing::Test
  {};
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(Overlap, Numbers);

  TYPED_TEST(Overlap, SameBitsAsExchangeThenCompute)
  {
    int n_ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    std::mt19937 generator(17); // the same on every rank
    const auto from = [&](int low, int high) {
      return std::uniform_int_distribution<int>(low, high)(generator);
    };
    Seen seen;
    for (const int dim : {2, 3})
      for (const std::string &boundary : test::boundary_mixtures(dim))
      {
        // From one cell per rank to blocks with an interior, divided in y, in z or in both.
        const std::array<std::int64_t, 3> cells{
            from(1, 9), from(1, dim == 2 ? 5 * n_ranks : 9), from(1, 9)};
        const int degree = from(1, dim == 2 ? 5 : 3);
        SCOPED_TRACE(testing::Message()
            << "dim " << dim << ", degree " << degree << ", cells " << cells[0] << " x " << cells[1]
            << " x " << cells[2] << ", " << boundary);
        const Problem problem = test::box(dim, degree, cells, 0, boundary);
        compare<TypeParam>(problem, Backend::cpu, seen);
        if (degree == 1)
          compare<TypeParam>(problem, Backend::reference, seen);
      }
    if (n_ranks > 1)
    {
      EXPECT_GT(seen.overlapping, 10);
      EXPECT_GT(seen.without_interior, 10);
    }
    if (n_ranks % 4 == 0)
    {
      EXPECT_GT(seen.both_directions, 0);
    }
    EXPECT_GT(seen.local_ghosts, 0);
  }
} // namespace
} // namespace tensormg
