// A solver that is set up takes no vector any more: what it allocates in later calls is smaller than a row of cells.
#include "tensormg/solver.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include <gtest/gtest.h>

// These are the functions that the compiler misses.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

namespace
{
std::atomic<std::size_t> largest_allocation{0};
/// How many have had so many bytes or more.
std::atomic<std::size_t> allocations_of{~std::size_t(0)}, n_large{0};

void *counted(std::size_t bytes, std::size_t alignment)
{
  n_large += bytes >= allocations_of ? 1 : 0;
  std::size_t largest = largest_allocation;
  while (bytes > largest && !largest_allocation.compare_exchange_weak(largest, bytes))
    ;
  void *memory = nullptr;
  if (posix_memalign(&memory, std::max(alignment, sizeof(void *)), bytes) != 0)
    throw std::bad_alloc();
  return memory;
}
} // namespace

void *operator new(std::size_t bytes) { return counted(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void *operator new[](std::size_t bytes) { return counted(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void *operator new(std::size_t bytes, std::align_val_t alignment)
{
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void *operator new[](std::size_t bytes, std::align_val_t alignment)
{
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void *operator new(std::size_t bytes, const std::nothrow_t &) noexcept
{
  return counted(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void *operator new[](std::size_t bytes, const std::nothrow_t &) noexcept
{
  return counted(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, const std::nothrow_t &) noexcept { std::free(memory); }
void operator delete[](void *memory, const std::nothrow_t &) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void *memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void *memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void *memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace tensormg
{
namespace
{
  TEST(Allocations, NoneButSmallOnesAfterTheFirstSolve)
  {
    Problem problem;
    problem.dim = 3;
    problem.degree = 3;
    problem.refinements = 3;
    problem.boundary_value[1] = "y";
    for (const OuterSolver method : {OuterSolver::fgmres, OuterSolver::cg})
      for (const Precision precision : {Precision::double_precision, Precision::half_precision})
      {
        SolverOptions options;
        options.solver = method;
        options.multigrid.precision = precision;
        Execution execution;
        execution.backend = "cpu";
        Solver solver(problem, options, execution);
        const std::size_t vector = static_cast<std::size_t>(solver.size()) * sizeof(double);
        std::vector<double> f(static_cast<std::size_t>(solver.size()), 1.), u(f.size());
        ASSERT_TRUE(solver.solve(f, u).converged());
        largest_allocation = 0;
        for (int i = 0; i < 3; ++i)
        {
          f[static_cast<std::size_t>(i)] = -i;
          ASSERT_TRUE(solver.solve(f, u).converged());
          solver.precondition(u, f);
          solver.multiply(u, f);
        }
        EXPECT_LT(largest_allocation, vector / 16)
            << to_string(precision) << ", a vector has " << vector;
      }
  }

  // But those of the estimate of an eigenvalue, which are given back.
  TEST(Allocations, OtherCoefficientsKeepTheVectors)
  {
    for (const bool jumps : {false, true})
    {
      Problem problem;
      problem.degree = 3;
      problem.refinements = 3;
      double factor = 1.;
      problem.cell_coefficient[0] = "k";
      problem.functions["k"] = [&, jumps](std::size_t n, const double *x, const double *,
                                   const double *, double *values) {
        for (std::size_t q = 0; q < n; ++q)
          values[q] = x[q] < 0.5 ? factor : (jumps ? 100. : 2.) * factor;
      };
      Execution execution;
      execution.backend = "cpu";
      Solver solver(problem, {}, execution);
      const std::size_t vector = static_cast<std::size_t>(solver.size()) * sizeof(double);
      std::vector<double> f(static_cast<std::size_t>(solver.size()), 1.), u(f.size());
      ASSERT_TRUE(solver.solve(f, u).converged());
      allocations_of = vector / 2;
      const auto large = [&](const auto &work) {
        n_large = 0;
        work();
        return n_large.load();
      };
      constexpr std::size_t of_estimate = 5; // the start, and what Lanczos takes
      for (int i = 0; i < 3; ++i)
      {
        factor *= 3.;
        EXPECT_LE(large([&] { solver.update_coefficients(); }), of_estimate);
        EXPECT_EQ(large([&] { solver.solve(f, u); }), 0U);
      }
      EXPECT_GT(large([&] { const Solver another(problem, {}, execution); }), 2 * of_estimate);
    }
  }

  TEST(Allocations, AreSeenHere)
  {
    largest_allocation = 0;
    const std::vector<double> vector(1000);
    EXPECT_GE(largest_allocation, vector.size() * sizeof(double));
  }
} // namespace
} // namespace tensormg
