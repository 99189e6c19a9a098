#include "operators/multigrid/make_multigrid.h"

namespace tensormg
{
std::unique_ptr<MultigridPreconditioner> make_multigrid(const Grid &grid, const CellBasis &basis,
    laplace::Backend backend, const MultigridOptions &options, const HostContext &context,
    const CycleOptions &cycle_options)
{
  return make_multigrid_in(grid, basis, backend, options, context, cycle_options);
}

template std::int64_t multigrid_bytes<HostContext>(const Grid &, const MultigridOptions &);
template std::size_t coarsest_level<HostContext>(const Grid &, const CycleOptions &);
} // namespace tensormg
