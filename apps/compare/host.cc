// Host backends as candidates: every rank runs the operator on a block of its own at the same time, so
// that they share caches and memory as in a solve, without exchanging anything.
#include <chrono>

#include "apps/common/console.h"
#include "apps/compare/cells.h"
#include "apps/compare/host.h"
#include "apps/compare/operation.h"
#include "apps/compare/table.h"
#include "kernels/basis/make_cell_basis.h"
#include "operators/solver/memory_plan.h"

namespace tensormg
{
void require_host_memory(double bytes, MPI_Comm communicator)
{
  const MemoryBudget budget = make_memory_budget(bytes, available_memory(), communicator);
  if (!budget.fits())
    throw NotAvailable("the vectors need " + format_bytes(budget.needed) + " on a node with " +
        format_bytes(budget.available) + " available");
}

double slowest_milliseconds(int runs, const std::function<void()> &run, MPI_Comm communicator)
{
  MPI_Barrier(communicator);
  const auto start = std::chrono::steady_clock::now();
  for (int r = 0; r < runs; ++r)
    run();
  double time =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, communicator);
  return time;
}

namespace
{
  template <typename Number>
  class HostCandidate : public Candidate
  {
  public:
    HostCandidate(const Choice &choice, const OperationSetup &setup, MPI_Comm communicator)
      : communicator_(communicator)
      , setup_(setup)
      , basis_(make_cell_basis(choice.degree))
      , backend_(laplace::backend_from_string(choice.backend))
      , has_cells_(choice.form == form_with_cells)
      , operation_(setup, basis_, apply_for(setup))
    {}

    std::int64_t dofs() const override
    {
      int n_ranks = 1;
      MPI_Comm_size(communicator_, &n_ranks);
      return setup_.block.dofs() * n_ranks;
    }

    std::array<std::int64_t, 3> cells() const override { return setup_.block.cells; }

    laplace::Work work() const override
    {
      return has_cells_ ? work_with_cells(setup_, sizeof(Number), sizeof(Compute<Number>))
                        : laplace::work_per_dof(setup_.form, setup_.block.dim, sizeof(Number));
    }

    double error() override
    {
      double error = operation_.check();
      for (const OperationSetup &small :
          small_setups(setup_.block.dim, setup_.block.degree(), setup_.form))
        error = std::max(
            error, Operation<Number, HostArray<Number>>(small, basis_, apply_for(small)).check());
      MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, communicator_);
      return error;
    }

    double milliseconds(int runs) override
    {
      return slowest_milliseconds(
          runs, [this] { operation_.run(); }, communicator_);
    }

  private:
    typename Operation<Number, HostArray<Number>>::Apply apply_for(
        const OperationSetup &setup) const
    {
      if (has_cells_)
        return with_cells<Number>(backend_, setup);
      return laplace::select<Number>(backend_, setup.form, setup.block.dim, setup.block.degree());
    }

    MPI_Comm communicator_;
    OperationSetup setup_;
    CellBasis basis_;
    laplace::Backend backend_;
    bool has_cells_;
    Operation<Number, HostArray<Number>> operation_;
  };
} // namespace

template <typename Number>
std::unique_ptr<Candidate> make_host_candidate(const Choice &choice, MPI_Comm communicator)
{
  int rank = 0, n_ranks = 1;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &n_ranks);
  const OperationSetup setup = timed_setup(choice.dim, choice.degree,
      nearest_cells(choice.dim, choice.degree, choice.dofs / n_ranks, choice.powers_of_two),
      form_of_step(choice.step), rank);
  require_host_memory(static_cast<double>(setup.block.size()) * sizeof(Number) *
              Operation<Number, HostArray<Number>>::n_vectors(setup.form) +
          (choice.form == form_with_cells ? bytes_of_cells(setup.block, sizeof(Compute<Number>))
                                          : 0.),
      communicator);
  return std::make_unique<HostCandidate<Number>>(choice, setup, communicator);
}

template std::unique_ptr<Candidate> make_host_candidate<double>(const Choice &, MPI_Comm);
template std::unique_ptr<Candidate> make_host_candidate<float>(const Choice &, MPI_Comm);
template std::unique_ptr<Candidate> make_host_candidate<Half>(const Choice &, MPI_Comm);
} // namespace tensormg
