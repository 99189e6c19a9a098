// The dimensionless system of a box of cells, in host or in device memory: what a SystemSolver needs to know of it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <mpi.h>

#include "operators/constant/box_solver.h"
#include "operators/constant/device_box_solver.h"
#include "operators/constant/laplace_operator.h"
#include "operators/constant/level_choices.h"
#include "operators/multigrid/coarsening_choice.h"
#include "operators/multigrid/multigrid_preconditioner.h"
#include "operators/solver/system_solver.h"
#include "operators/vectors/context.h"
#include "tensormg/options.h"

namespace tensormg
{
/// A LinearSystem (operators/solver/system_solver.h).
template <typename ContextHere>
class BoxSystem
{
public:
  using Context = ContextHere;
  using Space = typename Context::Space;
  template <typename Number>
  using Operator = LaplaceOperator<Number, Context>;
  using DirectSolver = std::conditional_t<Context::on_device, DeviceBoxSolver<double>, BoxSolver>;
  static constexpr bool has_basis_in_single = true;

  /// `grid` and `basis` must outlive the object and all that it makes.
  BoxSystem(const Grid &grid, const CellBasis &basis, laplace::Backend backend, Context context)
    : grid_(grid)
    , basis_(basis)
    , backend_(backend)
    , context_(std::move(context))
  {}

  const Context &context() const { return context_; }
  MPI_Comm communicator() const { return grid_.communicator; }
  std::size_t n_levels() const { return grid_.levels.size(); }
  Space make_space() const
  {
    return context_.make_space(grid_.finest().block, grid_.finest().communicator);
  }
  template <typename Number>
  auto make_operator() const
  {
    return std::make_unique<Operator<Number>>(grid_.finest(), basis_, backend_, context_);
  }
  auto make_cycle(const MultigridOptions &options, const CycleOptions &cycle) const
  {
    return make_multigrid(grid_, basis_, backend_, options, context_, cycle);
  }
  std::unique_ptr<DirectSolver> make_direct() const
  {
    const LevelGrid &level = grid_.finest();
    if constexpr (Context::on_device)
      return std::make_unique<DirectSolver>(level, basis_, grid_.problem, context_);
    else
      return std::make_unique<DirectSolver>(level, basis_, grid_.problem);
  }

  std::optional<MultigridOptions> next_cycle(
      const MultigridOptions &options, bool may_coarsen) const
  {
    return tensormg::next_cycle(grid_, options, may_coarsen);
  }
  const char *coarsening_word(const MultigridOptions &options) const
  {
    return choose_coarsening(grid_, options).word();
  }
  bool can_coarsen_by(Coarsening coarsening) const
  {
    return coarsening != Coarsening::fast_diagonalisation || can_be_solved_at_once(grid_);
  }
  int longest_basis(const SolverOptions &options) const
  {
    return tensormg::longest_basis(grid_, options);
  }
  double largest_eigenvalue_bound() const
  {
    return tensormg::largest_eigenvalue_bound(grid_, basis_);
  }
  std::string advice_on_precision() const
  {
    if (needs_double(grid_, basis_))
      return "holds too little for such cells: auto or double";
    if (grid_.finest().cells != nullptr)
      return "may hold too little for these coefficients: double";
    return {};
  }

private:
  const Grid &grid_;
  const CellBasis &basis_;
  laplace::Backend backend_;
  Context context_;
};

template <typename Context>
using BoxSystemSolver = SystemSolver<BoxSystem<Context>>;
} // namespace tensormg
