// The outer methods of a solve behind one interface.
#pragma once

#include <algorithm>
#include <cstdint>

#include "operators/solver/direct_refinement.h"
#include "solvers/cg.h"
#include "solvers/concepts.h"
#include "solvers/fgmres.h"
#include "tensormg/report.h"

namespace tensormg
{
/// A method with its vectors.
template <typename VectorType>
class OuterMethod
{
public:
  virtual ~OuterMethod() = default;
  /// Calls once what a step calls (Fgmres::prepare()).
  virtual void prepare(VectorType &x, const VectorType &b) = 0;
  virtual SolveReport solve(VectorType &x, const VectorType &b, const IterationCallback &callback,
      Start start, const Interrupt &interrupt) = 0;
};

/// Fgmres or ConjugateGradients; everything referred to must outlive the object.
template <typename VectorType, typename Method, typename Operator, typename Preconditioner>
class KrylovMethod : public OuterMethod<VectorType>
{
public:
  template <typename... Arguments>
  KrylovMethod(Operator &op, Preconditioner &preconditioner, const Arguments &...arguments)
    : op_(op)
    , preconditioner_(preconditioner)
    , method_(arguments...)
  {}

  void prepare(VectorType &x, const VectorType &b) override
  {
    // Each number of basis vectors has kernels of its own; to load them all is worth it where time is short.
    constexpr std::int64_t small_problem = 20'000'000;
    const int steps = b.block().dofs() < small_problem ? 8 : 1;
    if constexpr (requires { method_.prepare(op_, preconditioner_, x, b, steps); })
      method_.prepare(op_, preconditioner_, x, b, steps);
    else
      method_.prepare(op_, preconditioner_, x, b);
  }
  SolveReport solve(VectorType &x, const VectorType &b, const IterationCallback &callback,
      Start start, const Interrupt &interrupt) override
  {
    return method_.solve(op_, preconditioner_, x, b, callback, start, interrupt);
  }

private:
  Operator &op_;
  Preconditioner &preconditioner_;
  Method method_;
};

/// Fast diagonalisation of the box, refined.
template <typename Space, typename Operator, typename Solver>
class DirectMethod : public OuterMethod<typename Space::VectorType>
{
public:
  using VectorType = typename Space::VectorType;

  DirectMethod(const Space &space, Operator &op, Solver &solver, double tolerance)
    : space_(space)
    , op_(op)
    , solver_(solver)
    , tolerance_(tolerance)
  {}

  void prepare(VectorType & /*x*/, const VectorType & /*b*/) override {}
  /// From zero, whatever x is.
  SolveReport solve(VectorType &x, const VectorType &b, const IterationCallback &callback,
      Start /*start*/, const Interrupt & /*interrupt*/) override
  {
    return refine_directly(space_, op_, solver_, x, b, tolerance_, callback);
  }

private:
  const Space &space_;
  Operator &op_;
  Solver &solver_;
  double tolerance_;
};
} // namespace tensormg
