#include "operators/solver/execution.h"

#include <cstdlib>

#include <deal.II/base/quadrature_lib.h>

#include "operators/mesh/lone_rank.h"

namespace tensormg
{
namespace
{
  void begin_mpi()
  {
    int is_begun = 0;
    MPI_Initialized(&is_begun);
    if (is_begun != 0)
      return;
    start_mpi();
    std::atexit([] {
      int is_over = 0;
      MPI_Finalized(&is_over);
      if (is_over == 0)
        MPI_Finalize();
    });
  }
} // namespace

MPI_Comm communicator_of(const Execution &execution)
{
  begin_mpi();
  return execution.communicator < 0 ? MPI_COMM_SELF : MPI_Comm_f2c(execution.communicator);
}

std::vector<double> line_nodes(Nodes nodes, int n)
{
  const dealii::Quadrature<1> rule = nodes == Nodes::gauss
      ? dealii::Quadrature<1>(dealii::QGauss<1>(static_cast<unsigned>(n)))
      : dealii::Quadrature<1>(dealii::QGaussLobatto<1>(static_cast<unsigned>(n)));
  std::vector<double> result;
  for (const auto &point : rule.get_points())
    result.push_back(point[0]);
  return result;
}

void require(const MemoryBudget &budget, const std::string &needed_for, const std::string &memory)
{
  if (!budget.fits())
    throw MemoryError(needed_for + ' ' + number_text(budget.needed) + " bytes of " + memory +
        ", of which " + number_text(MemoryBudget::usable_part * budget.available) + " may be used");
}
} // namespace tensormg
