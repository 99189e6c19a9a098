// `tensormg solve` on a device: the same solution as in host memory, its record, and what is refused.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apps/common/backend_choice.h"
#include "apps/solve/solve.h"
#include "kernels/device/device.h"
#include "tests/support/json.h"
#include "tests/support/sine_problem.h"
#include "tests/support/temporary_directory.h"

namespace tensormg
{
namespace
{
  Parameters small_problem(const test::TemporaryDirectory &directory)
  {
    Parameters parameters = test::sine_problem(directory);
    parameters.backend = "cuda";
    parameters.problem.coarse_cells = {3, 1, 1};
    return parameters;
  }

  RunRecord solve(const Parameters &parameters)
  {
    Console console = Console::silent(MPI_COMM_SELF);
    return run_solve(parameters, MPI_COMM_SELF, console);
  }

  /// Cubic cells of the given degree in 3D, twelve times as long as wide: from degree 2 on more than 64 unknowns in x, which are
  /// no longer solved directly.
  Parameters long_box(const test::TemporaryDirectory &directory, int degree)
  {
    Parameters parameters = small_problem(directory);
    parameters.problem.dim = 3;
    parameters.problem.degree = degree;
    parameters.problem.upper[0] = 12.;
    parameters.problem.coarse_cells = {12, 1, 1};
    parameters.problem.refinements = 1;
    parameters.problem.right_hand_side = "3*pi^2*sin(pi*x)*sin(pi*y)*sin(pi*z)";
    parameters.problem.exact_solution = "sin(pi*x)*sin(pi*y)*sin(pi*z)";
    return parameters;
  }

  RunRecord on_host(Parameters parameters)
  {
    parameters.backend = "cpu";
    return solve(parameters);
  }

  /// Sweeps that enlarge rough errors leave the range of half precision at once, that of single not in five iterations. The
  /// device solves smaller problems without a smoother.
  MultigridOptions &leaves_its_range(Parameters &parameters)
  {
    parameters.problem.refinements = 5;
    parameters.solver.max_iterations = 5;
    MultigridOptions &multigrid = parameters.solver.multigrid;
    multigrid.smoother = Smoother::jacobi;
    multigrid.damping = 500.;
    multigrid.degree = 1;
    multigrid.precision = Precision::half_precision;
    return multigrid;
  }

  /// The device may solve a finer level directly.
  void expect_as_in_host_memory(const RunRecord &device, const RunRecord &host)
  {
    EXPECT_TRUE(device.report.converged()) << device.report.detail;
    EXPECT_LE(device.report.iterations, host.report.iterations + 1);
    ASSERT_TRUE(device.l2_error && host.l2_error);
    EXPECT_NEAR(*device.l2_error, *host.l2_error, 1e-3 * *host.l2_error);
  }

  class SolveOnDevice : public testing::Test
  {
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }
  };

  TEST_F(SolveOnDevice, AsInHostMemory)
  {
    const test::TemporaryDirectory directory;
    Parameters parameters = small_problem(directory);
    for (const OuterSolver solver : {OuterSolver::fgmres, OuterSolver::cg, OuterSolver::direct})
    {
      parameters.solver.solver = solver;
      const RunRecord device = solve(parameters), host = on_host(parameters);
      expect_as_in_host_memory(device, host);
      EXPECT_EQ(device.backend, "cuda");
      ASSERT_TRUE(device.device);
      EXPECT_FALSE(host.device);
      EXPECT_EQ(device.memory_place, MemoryPlace::device);
    }
  }

  TEST_F(SolveOnDevice, TwoRunsHaveTheSameBits)
  {
    const test::TemporaryDirectory directory;
    Parameters parameters = small_problem(directory);
    parameters.problem.refinements = 5;
    parameters.solver.multigrid.precision = Precision::half_precision;
    for (const bool full_multigrid : {false, true})
    {
      parameters.solver.full_multigrid = full_multigrid;
      const RunRecord first = solve(parameters), second = solve(parameters);
      EXPECT_TRUE(first.report.converged()) << first.report.detail;
      EXPECT_EQ(first.report.residuals, second.report.residuals);
      EXPECT_EQ(*first.l2_error, *second.l2_error);
      EXPECT_EQ(first.lambda_max, second.lambda_max);
    }
  }

  // The level that is written is the projection of the same solution.
  TEST_F(SolveOnDevice, WritesACoarserLevel)
  {
    const test::TemporaryDirectory directory;
    Parameters parameters = small_problem(directory);
    parameters.output.write_vtu = true;
    parameters.output.vtu_max_cells = 24 * 8 - 1;
    solve(parameters);
    EXPECT_FALSE(std::filesystem::exists(directory / "solution.vtu"));
    parameters.output.vtu_coarsening = 1;
    solve(parameters);
    EXPECT_TRUE(std::filesystem::exists(directory / "solution.vtu"));
  }

  TEST_F(SolveOnDevice, RecordSaysOnWhat)
  {
    const test::TemporaryDirectory directory;
    const RunRecord record = solve(small_problem(directory));
    std::stringstream text;
    write_run_json(record, text);
    const auto json = test::parse_json(text.str());
    EXPECT_EQ(json["backend"], "cuda");
    EXPECT_EQ(json["device"]["name"], device_properties().name);
    EXPECT_EQ(json["device"]["driver"], device_properties().driver);
    EXPECT_EQ(json["memory"]["place"], "device");
  }

  TEST_F(SolveOnDevice, TellsWhereTheTimeGoes)
  {
    const test::TemporaryDirectory directory;
    Parameters parameters = small_problem(directory);
    parameters.output.level_times = true;
    parameters.solver.multigrid.precision = Precision::single_precision;
    const RunRecord record = solve(parameters);
    ASSERT_TRUE(record.report.converged());
    std::stringstream text;
    write_run_json(record, text);
    const auto json = test::parse_json(text.str());

    // The parts exclude each other and miss nothing; what the clocks of both do meanwhile is allowed for.
    double parts = 0.;
    for (const auto &part : json["setup_parts"])
      parts += part["seconds"].get<double>();
    EXPECT_NEAR(parts, json["setup_seconds"].get<double>(), 1e-3 + 0.05 * parts);
    for (const char *name : {"device memory", "eigenvalue estimate", "coarse solver"})
    {
      const auto found = std::find_if(record.setup_parts.begin(), record.setup_parts.end(),
          [&](const setup_times::Part &part) { return part.name == name; });
      ASSERT_NE(found, record.setup_parts.end()) << name;
      EXPECT_GT(found->seconds, 0.);
    }

    EXPECT_GT(json["scale_bytes_per_second"].get<double>(), 0.);
    bool has_product = false, has_step = false;
    for (const auto &entry : json["kernels"])
    {
      const std::string operation = entry["operation"];
      EXPECT_EQ(operation.find("launching"), std::string::npos) << operation;
      EXPECT_GT(entry["bytes"].get<double>(), 0.) << operation;
      EXPECT_GT(entry["share_of_scale"].get<double>(), 0.) << operation;
      const double calls = entry["calls"];
      if (operation == "B u (cuda)" && entry["level"] == "outer")
      {
        has_product = true;
        EXPECT_EQ(entry["bytes"].get<double>(), calls * 2. * 4. * static_cast<double>(record.dofs));
        EXPECT_EQ(calls, record.report.iterations);
      }
      if (operation == "Chebyshev step (cuda)")
        has_step = true;
    }
    EXPECT_TRUE(has_product);
    EXPECT_TRUE(has_step);
  }

  TEST_F(SolveOnDevice, PureNeumannAndFullMultigrid)
  {
    const test::TemporaryDirectory directory;
    Parameters parameters = small_problem(directory);
    parameters.problem.boundary.fill(BoundaryKind::neumann);
    parameters.problem.right_hand_side = "2*pi^2*cos(pi*x)*cos(pi*y)";
    parameters.problem.exact_solution = "cos(pi*x)*cos(pi*y)";
    parameters.solver.full_multigrid = true;
    const RunRecord record = solve(parameters);
    EXPECT_TRUE(record.report.converged()) << record.report.detail;
    EXPECT_LT(*record.l2_error, 1e-3);
  }

  TEST_F(SolveOnDevice, PatchSmoother)
  {
    const test::TemporaryDirectory directory;
    Parameters parameters = small_problem(directory);
    parameters.solver.multigrid.smoother = Smoother::patch;
    parameters.solver.multigrid.degree = 1;
    EXPECT_EQ(choose_backend(parameters).backend, laplace::Backend::cuda);
    const RunRecord record = solve(parameters);
    EXPECT_TRUE(record.report.converged()) << record.report.detail;
    EXPECT_LE(record.report.iterations, 6);
    EXPECT_LT(*record.l2_error, 1e-3);
  }

  // The solution is in FP64 whatever the cycle: errors fall by 2^(p+1) down to what FP64 leaves.
  TEST_F(SolveOnDevice, OrderOfConvergenceWithACycleInHalf)
  {
    const test::TemporaryDirectory directory;
    Parameters parameters = small_problem(directory);
    parameters.problem.degree = 5;
    parameters.solver.multigrid.precision = Precision::half_precision;
    parameters.solver.tolerance = 1e-12;
    double before = 0., last = 0.;
    for (const int refinements : {0, 1, 2, 3})
    {
      parameters.problem.refinements = refinements;
      const RunRecord record = solve(parameters);
      EXPECT_TRUE(record.report.converged()) << record.report.detail;
      before = std::exchange(last, *record.l2_error);
      if (refinements > 0)
      {
        EXPECT_GT(before / last, 0.8 * 64.) << refinements;
      }
    }
    EXPECT_LT(last, 2e-9);
    parameters.problem.degree = 8;
    const double half = *solve(parameters).l2_error;
    parameters.solver.multigrid.precision = Precision::double_precision;
    EXPECT_LT(half, 2. * *solve(parameters).l2_error + 1e-13);
  }

  TEST_F(SolveOnDevice, SaysWhatLeavesItsRangeAndStartsAgainInSingle)
  {
    const test::TemporaryDirectory directory;
    Parameters parameters = small_problem(directory);
    MultigridOptions &multigrid = leaves_its_range(parameters);
    multigrid.precision_fallback = false;
    const RunRecord failed = solve(parameters);
    EXPECT_EQ(failed.report.reason, StopReason::not_finite);
    EXPECT_NE(failed.report.detail.find("level "), std::string::npos) << failed.report.detail;
    EXPECT_EQ(exit_code(failed.report.reason), 5);

    multigrid.precision_fallback = true;
    const RunRecord record = solve(parameters);
    EXPECT_EQ(record.report.precision_fallback.find(failed.report.detail), 0u)
        << record.report.precision_fallback;
    EXPECT_EQ(record.report.reason, StopReason::iteration_limit) << record.report.detail;
    std::stringstream text;
    write_run_json(record, text);
    EXPECT_EQ(test::parse_json(text.str())["precision"], "single");
  }

  // As with the arithmetic of CUDA cores; what a cycle leaves does not show in the error of the discretisation.
  TEST_F(SolveOnDevice, CycleOnTensorCores)
  {
    const test::TemporaryDirectory directory;
    Parameters parameters = small_problem(directory);
    for (const auto &[plain, on_tensor_cores] :
        {std::pair{Precision::single_precision, Precision::tf32_precision},
            {Precision::half_precision, Precision::corrected_half_precision}})
    {
      parameters.backend = "mma";
      parameters.solver.multigrid.precision = plain;
      const RunRecord expected = solve(parameters);
      parameters.solver.multigrid.precision = on_tensor_cores;
      for (const char *backend : {"mma", "wmma"})
      {
        SCOPED_TRACE(testing::Message() << backend << ' ' << to_string(on_tensor_cores));
        parameters.backend = backend;
        const RunRecord found = solve(parameters);
        EXPECT_TRUE(found.report.converged()) << found.report.detail;
        EXPECT_LE(found.report.iterations, expected.report.iterations + 1);
        EXPECT_NEAR(*found.l2_error, *expected.l2_error, 5e-4 * *expected.l2_error);
        std::stringstream text;
        write_run_json(found, text);
        EXPECT_EQ(test::parse_json(text.str())["precision"], to_string(on_tensor_cores));
      }
      parameters.backend = "auto";
      EXPECT_EQ(choose_backend(parameters).backend, laplace::Backend::automatic);
      parameters.backend = "cuda";
      EXPECT_THROW(choose_backend(parameters), ParameterError);
    }
  }

  // What a user gets who asks for nothing but a cycle in half: steps and residuals by the fastest kernels of 3D, of which some are on
  // tensor cores.
  TEST_F(SolveOnDevice, AutomaticInHalf)
  {
    const test::TemporaryDirectory directory;
    Parameters parameters = long_box(directory, 3);
    parameters.solver.multigrid.precision = Precision::half_precision;
    for (const OuterSolver solver : {OuterSolver::fgmres, OuterSolver::cg})
      for (const bool full_multigrid : {false, true})
      {
        parameters.solver.solver = solver;
        parameters.solver.full_multigrid = full_multigrid;
        const RunRecord host = on_host(parameters);
        parameters.backend = "auto";
        const RunRecord device = solve(parameters);
        expect_as_in_host_memory(device, host);
        EXPECT_NE(device.backend, "cpu");
        if (full_multigrid)
          continue;
        parameters.problem.initial_guess = parameters.problem.exact_solution;
        const RunRecord from_guess = solve(parameters);
        EXPECT_LT(from_guess.report.iterations, device.report.iterations);
        EXPECT_NEAR(*from_guess.l2_error, *host.l2_error, 1e-3 * *host.l2_error);
        parameters.problem.initial_guess.clear();
      }
  }

  // As in host memory (initial_guess_test.cc).
  TEST_F(SolveOnDevice, InitialGuess)
  {
    const test::TemporaryDirectory directory;
    Parameters parameters = small_problem(directory);
    parameters.problem.initial_guess = "1e30*x";
    expect_as_in_host_memory(solve(parameters), on_host(parameters));
    parameters.problem.initial_guess = "1e160*x";
    EXPECT_THROW(solve(parameters), ParameterError);
    parameters.problem.initial_guess = "x";
    Parameters zero = parameters;
    zero.problem.right_hand_side = zero.problem.exact_solution = "0";
    EXPECT_EQ(*solve(zero).l2_error, 0.);

    MultigridOptions &multigrid = leaves_its_range(parameters);
    multigrid.precision_fallback = true;
    const RunRecord again = solve(parameters);
    EXPECT_NE(again.report.precision_fallback, "");
    multigrid.precision = Precision::single_precision;
    EXPECT_EQ(again.report.residuals, solve(parameters).report.residuals);
  }

  // All operators by one backend, in 3D, also on devices without the copy engine.
  TEST_F(SolveOnDevice, EachBackendAlone)
  {
    const test::TemporaryDirectory directory;
    Parameters parameters = long_box(directory, 2);
    const RunRecord host = on_host(parameters);
    for (const char *backend : {"cuda", "mma", "wmma"})
      for (const Precision precision : {Precision::single_precision, Precision::half_precision})
      {
        parameters.backend = backend;
        parameters.solver.multigrid.precision = precision;
        const RunRecord device = solve(parameters);
        expect_as_in_host_memory(device, host);
        EXPECT_EQ(device.backend, backend);
      }
    if (const char *const capability = std::getenv("TENSORMG_EMULATED_CAPABILITY"))
    {
      EXPECT_EQ(device_properties().code_capability, std::atoi(capability));
    }
    parameters.backend = "auto";
    EXPECT_NE(choose_backend(parameters).backend, laplace::Backend::cpu);
    parameters.backend = "cuda";
    parameters.problem.dim = 2;
    EXPECT_EQ(choose_backend(parameters).backend, laplace::Backend::cuda);
  }

  TEST_F(SolveOnDevice, RefusesWhatItCannotDo)
  {
    const test::TemporaryDirectory directory;
    Parameters parameters = small_problem(directory);
    EXPECT_EQ(choose_backend(parameters).backend, laplace::Backend::cuda);
    const SolveRanks two{.count = 2, .of_node = 2};
    EXPECT_EQ(choose_backend(parameters, two).backend, laplace::Backend::cuda);
    Parameters other = parameters;
    other.solver.solver = OuterSolver::direct;
    EXPECT_THROW(choose_backend(other, two), ParameterError);
    other = parameters;
    other.solver.multigrid.smoother = Smoother::patch;
    EXPECT_THROW(choose_backend(other, two), ParameterError);
    other = parameters;
    other.problem.reaction = "1";
    EXPECT_THROW(choose_backend(other, two), ParameterError);
    EXPECT_THROW(choose_backend(parameters, {.count = 2, .of_node = 2, .divide_coarsest = true}),
        ParameterError);
    parameters.problem.refinements = 14; // 10^10 unknowns and more
    EXPECT_THROW(solve(parameters), ParameterError);
  }
} // namespace
} // namespace tensormg
