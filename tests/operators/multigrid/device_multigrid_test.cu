// The preconditioner in device memory as Krylov methods use it: iterations and solution as in host memory,
// for each precision, smoother and kind of boundary; the same bits twice, with and without a graph.
#include "operators/multigrid/multigrid_preconditioner.h"

#include <limits>

#include <gtest/gtest.h>

#include "solvers/cg.h"
#include "tests/support/device/multigrid_solve.h"
#include "tests/support/few_cases.h"

namespace tensormg
{
namespace
{
  using Solve = test::DeviceSolve;
  using test::with;

  constexpr Precision precisions[] = {
      Precision::double_precision, Precision::single_precision, Precision::half_precision};

  class DeviceMultigrid : public testing::Test
  {
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }
  };

  TEST_F(DeviceMultigrid, AsInHostMemoryForEachPrecisionAndBoundary)
  {
    int turn = 0;
    for (const int dim : {2, 3})
      for (const char *boundary : {"DD", "NN", "PPDDNN", "DDPPPP"})
      {
        Solve solve(test::cubes(dim, dim == 2 ? 3 : 2, {1, 1, 1}, dim == 2 ? 4 : 2, boundary));
        for (const Precision precision : precisions)
        {
          if ((turn++ + dim) % 2 != 0 && test::has_few_cases()) // what 2D leaves out 3D has
            continue;
          SCOPED_TRACE(testing::Message()
              << dim << "D " << boundary << ", precision " << static_cast<int>(precision));
          solve.compare(with(precision));
        }
      }
  }

  TEST_F(DeviceMultigrid, EveryDegree)
  {
    for (int degree = 1; degree <= max_degree; ++degree)
    {
      SCOPED_TRACE(degree);
      if (!test::has_few_cases() || degree % 2 != 0 || degree == max_degree)
        Solve(test::box(3, degree, {1, 1, 1}, degree < 5 ? 2 : 1, "DDNNDD"))
            .compare(with(Precision::half_precision));
      if (!test::has_few_cases() || degree % 2 == 0)
        Solve(test::box(2, degree, {2, 1, 1}, 3, "DDPP"))
            .compare(with(Precision::single_precision));
    }
    // Rows of 312 cells, padded to 320, and of half as many.
    Solve(test::cubes(2, 2, {39, 1, 1}, 3, "DDPP")).compare(with(Precision::half_precision));
  }

  // The result of a cycle is another one, the solve takes no longer.
  TEST_F(DeviceMultigrid, ArithmeticOfTensorCores)
  {
    using enum Precision;
    for (const auto &problem : {test::cubes(2, 3, {1, 1, 1}, 3, "DDNN"),
             test::box(3, 2, {1, 1, 1}, 2, "DDNNPP"), test::box(2, 5, {1, 2, 1}, 3, "PPDD")})
      for (const auto &[precision, plain, backend] :
          {std::tuple{tf32_precision, single_precision, laplace::Backend::mma},
              {tf32_precision, single_precision, laplace::Backend::wmma},
              {corrected_half_precision, half_precision, laplace::Backend::mma}})
      {
        if (test::has_few_cases() && problem.dim == (backend == laplace::Backend::mma ? 3 : 2))
          continue;
        Solve solve(problem);
        solve.backend = backend;
        const auto here = solve.make(with(precision)), there = solve.make(with(plain));
        const SolveReport found = solve.short_basis(*here);
        EXPECT_TRUE(found.converged()) << found.detail;
        const Vector<double> solution = solve.solution();
        EXPECT_LE(found.iterations, solve.short_basis(*there).iterations + 1);
        EXPECT_LT(test::relative_difference(solution, solve.solution()), 1e-6);
        here->apply(solve.x, solve.b, 1.);
        const Vector<double> cycle = solve.solution();
        there->apply(solve.x, solve.b, 1.);
        EXPECT_GT(test::relative_difference(cycle, solve.solution()), 1e-6);
        EXPECT_LT(test::relative_difference(cycle, solve.solution()), 1e-2);
      }
  }

  // The coarsest levels in single, as in host memory; recorded cycles have the same bits and visit the same levels.
  TEST_F(DeviceMultigrid, LevelsInSingle)
  {
    Solve solve(test::cubes(3, 2, {1, 1, 1}, 2, "DDDDPP"));
    MultigridOptions options = with(Precision::half_precision);
    options.single_levels = 2;
    solve.compare(options);
    options.cycle = Cycle::w;
    const auto prepared = solve.make(options), called = solve.make(options, true);
    prepared->prepare(true, false);
    Vector<double> results[] = {solve.solution(), solve.solution()};
    for (int i = 0; i < 2; ++i)
    {
      auto &multigrid = i == 0 ? *prepared : *called;
      auto z = solve.space.make_vector();
      multigrid.full_start(z, solve.b, 1);
      multigrid.apply(z, z, 1.);
      copy_to_host(z, results[i], solve.stream.get());
    }
    EXPECT_TRUE(test::same_bits(results[0], results[1]));
    for (std::size_t l = 0; l < solve.grid.levels.size(); ++l)
      EXPECT_EQ(prepared->times()[l].visits, called->times()[l].visits) << l;
    EXPECT_EQ(prepared->times().back().visits, 2);
    const Grid large = make_grid(test::cubes(3, 2, {1, 1, 1}, 7, "DD"), MPI_COMM_SELF);
    const std::int64_t in_half =
        multigrid_bytes<DeviceContext>(large, with(Precision::half_precision));
    options.single_levels = 7;
    EXPECT_GT(multigrid_bytes<DeviceContext>(large, options), in_half);
  }

  TEST_F(DeviceMultigrid, OtherSmoothersAndCycles)
  {
    Solve solve(test::cubes(3, 3, {1, 1, 1}, 2, "DDDDPP"));
    MultigridOptions options = with(Precision::single_precision);
    options.smoother = Smoother::jacobi;
    solve.compare(options);
    options = with(Precision::half_precision);
    options.chebyshev_kind = ChebyshevKind::first;
    options.degree = 3;
    options.cycle = Cycle::w;
    solve.compare(options);
  }

  // On CUDA cores and on tensor cores. Levels with one, two, four and eight colours.
  TEST_F(DeviceMultigrid, PatchSmoothers)
  {
    MultigridOptions multiplicative, additive;
    multiplicative.smoother = additive.smoother = Smoother::patch;
    multiplicative.degree = 1;
    additive.schwarz_kind = SchwarzKind::additive;
    additive.degree = 3;
    const auto compare = [](Solve &solve, laplace::Backend backend, Precision precision,
                             MultigridOptions options) {
      SCOPED_TRACE(testing::Message()
          << solve.problem.dim << "D, degree " << solve.problem.degree << ", precision "
          << static_cast<int>(precision) << ", " << laplace::to_string(backend) << ", "
          << (options.schwarz_kind == SchwarzKind::additive ? "additive" : "multiplicative"));
      solve.backend = backend;
      options.precision = precision;
      solve.compare(options);
    };
    constexpr auto cuda = laplace::Backend::cuda, mma = laplace::Backend::mma;
    for (const char *boundary : {"DDNN", "NN", "DDPP"})
    {
      Solve solve(test::cubes(2, 3, {1, 3, 1}, 2, boundary));
      for (const Precision precision : precisions)
        compare(solve, precision == Precision::single_precision ? mma : cuda, precision,
            multiplicative);
      compare(solve, cuda, Precision::half_precision, additive);
    }
    for (const int degree : {1, 6})
    {
      Solve solve(test::box(2, degree, {1, 2, 1}, 2, "DDPP"));
      compare(solve, mma, Precision::half_precision, multiplicative);
      compare(solve, mma, Precision::single_precision, additive);
    }
    Solve solve(test::cubes(3, 2, {1, 1, 1}, 2, "DDNNPP"));
    compare(solve, cuda, Precision::half_precision, multiplicative);
    compare(solve, mma, Precision::double_precision, multiplicative);
  }

  TEST_F(DeviceMultigrid, ServesConjugateGradients)
  {
    Solve solve(test::cubes(3, 2, {1, 1, 1}, 3, "DDNNPP"));
    const auto multigrid = solve.make(with(Precision::single_precision));
    const SolveReport report = solve.run(
        ConjugateGradients<DeviceVectorSpace>(solve.space, 1e-8, 40), solve.op, *multigrid);
    EXPECT_TRUE(report.converged()) << report.detail;
    EXPECT_LE(report.iterations, 9);
    using WideVector = DeviceVectorSpace::WideFloatVector;
    MixedOperator both(solve.op, solve.products);
    const auto half = solve.make(with(Precision::half_precision));
    const SolveReport with_short_vectors = solve.run(
        ConjugateGradients<DeviceVectorSpace, WideVector>(solve.space, 1e-8, 40), both, *half);
    EXPECT_TRUE(with_short_vectors.converged()) << with_short_vectors.detail;
    EXPECT_LE(with_short_vectors.iterations, 9);
  }

  // The first cycle runs as it is, the second records a graph, the others replay it; full
  // multigrid has a graph per level. What prepare() records beforehand is the same.
  TEST_F(DeviceMultigrid, SameBitsTwiceWithAndWithoutAGraph)
  {
    Solve solve(test::cubes(3, 2, {2, 1, 1}, 2, "PPDDPP"));
    for (const Precision precision : precisions)
    {
      const auto multigrid = solve.make(with(precision));
      const auto step_by_step = solve.make(with(precision), true);
      auto z = solve.space.make_vector();
      const double norm = solve.space.norm(solve.b);
      Vector<double> first(solve.level.block), again(solve.level.block), started(solve.level.block),
          started_again(solve.level.block);
      for (int cycle = 0; cycle < 6; ++cycle)
      {
        auto &preconditioner = cycle == 5 ? *step_by_step : *multigrid;
        if (cycle == 3)
        {
          multigrid->full_start(z, solve.b, 2);
          copy_to_host(z, started, solve.stream.get());
        }
        preconditioner.apply(z, solve.b, norm);
        copy_to_host(z, cycle == 0 ? first : again, solve.stream.get());
        if (cycle > 0)
        {
          EXPECT_TRUE(test::same_bits(first, again)) << cycle;
        }
      }
      const auto times = multigrid->times(), times_by_step = step_by_step->times();
      ASSERT_EQ(times.size(), solve.grid.levels.size());
      EXPECT_EQ(times.back().visits, 7); // five cycles and two of full multigrid
      EXPECT_EQ(times.back().total(), 0.);
      EXPECT_EQ(times_by_step.back().visits, 1);
      EXPECT_GT(times_by_step.back().smoothing, 0.);

      const auto prepared = solve.make(with(precision));
      prepared->prepare(true, false);
      prepared->full_start(z, solve.b, 2);
      copy_to_host(z, started_again, solve.stream.get());
      EXPECT_TRUE(test::same_bits(started, started_again));
      prepared->apply(z, solve.b, norm);
      copy_to_host(z, again, solve.stream.get());
      EXPECT_TRUE(test::same_bits(first, again));
      EXPECT_EQ(prepared->times().back().visits, 3);
    }
  }

  TEST_F(DeviceMultigrid, FullMultigridStartSavesIterations)
  {
    Solve solve(test::cubes(3, test::has_few_cases() ? 2 : 3, {1, 1, 1}, 3, "DD"));
    const auto multigrid = solve.make(with(Precision::half_precision));
    const SolveReport cold = solve.fgmres(*multigrid);
    device::fill_bytes(solve.x.data(), 0xff, solve.x.size() * sizeof(double), solve.stream.get());
    multigrid->full_start(solve.x, solve.b, 2);
    const SolveReport warm = Fgmres<DeviceVectorSpace>(solve.space, 1e-8, 40, 30)
                                 .solve(solve.op, *multigrid, solve.x, solve.b);
    EXPECT_TRUE(warm.converged());
    EXPECT_LE(warm.iterations, cold.iterations);
    EXPECT_LT(warm.residuals.front(), 0.5 * cold.residuals.front());
  }

  TEST_F(DeviceMultigrid, SizeOfTheRightHandSideIsIrrelevant)
  {
    Solve solve(test::cubes(2, 3, {1, 1, 1}, 3, "DD"));
    const Vector<double> b = test::hashed_vector<double>(solve.level, 1);
    std::vector<int> counts;
    for (const double size : {1., 1e-30, 1e30})
    {
      Vector<double> scaled(solve.level.block);
      solve.host_space.convert(size, b, scaled);
      copy_to_device(scaled, solve.b, solve.stream.get());
      for (const Precision precision : precisions)
      {
        for (const bool is_short : {false, true})
        {
          const auto multigrid = solve.make(with(precision));
          const SolveReport report =
              is_short ? solve.short_basis(*multigrid) : solve.fgmres(*multigrid);
          EXPECT_TRUE(report.converged()) << report.detail;
          counts.push_back(report.iterations);
        }
      }
    }
    const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
    EXPECT_LE(*most - *least, 1);
  }

  TEST_F(DeviceMultigrid, NamesWhatIsNotFinite)
  {
    Solve solve(test::cubes(2, 2, {1, 1, 1}, 3, "DD"));
    solve.host_b[7] = std::numeric_limits<double>::quiet_NaN();
    copy_to_device(solve.host_b, solve.b, solve.stream.get());
    const auto multigrid = solve.make(with(Precision::half_precision));
    auto z = solve.space.make_vector();
    multigrid->apply(z, solve.b, 1.);
    EXPECT_NE(multigrid->diagnose().find("NaN or Inf"), std::string::npos) << multigrid->diagnose();
  }

  TEST(DeviceCoarsestLevel, EndsWhereTheDirectSolverIsQuick)
  {
    const Grid grid = make_grid(test::cubes(3, 3, {1, 1, 2}, 5, "DD"), MPI_COMM_SELF);
    EXPECT_EQ(coarsest_level<DeviceContext>(grid), 3u); // 8 x 8 x 16 cells: 64 unknowns in z
    EXPECT_EQ(coarsest_level<DeviceContext>(grid, {.longest_direct_line = 4}), 0u);
    EXPECT_EQ(coarsest_level<DeviceContext>(grid, {.longest_direct_line = 127}), 3u);
    const Grid small = make_grid(test::cubes(2, 1, {1, 1, 1}, 3, "DD"), MPI_COMM_SELF);
    EXPECT_EQ(coarsest_level<DeviceContext>(small), 3u);
    EXPECT_GT(multigrid_bytes<DeviceContext>(grid, with(Precision::single_precision)),
        3 * 4 * grid.finest().block.size());
  }
} // namespace
} // namespace tensormg
