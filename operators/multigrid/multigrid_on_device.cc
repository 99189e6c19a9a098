#include "operators/multigrid/make_multigrid.h"

namespace tensormg
{
std::unique_ptr<DeviceMultigridPreconditioner> make_multigrid(const Grid &grid,
    const CellBasis &basis, laplace::Backend backend, const MultigridOptions &options,
    const DeviceContext &context, const CycleOptions &cycle_options)
{
  DeviceContext shared = context; // pinned memory takes the driver a millisecond
  if (shared.scratch == nullptr)
    shared.scratch = std::make_shared<DeviceVectorSpace::Scratch>(shared.stream);
  return make_multigrid_in(grid, basis, backend, options, shared, cycle_options);
}

template std::int64_t multigrid_bytes<DeviceContext>(const Grid &, const MultigridOptions &);
template std::size_t coarsest_level<DeviceContext>(const Grid &, const CycleOptions &);
} // namespace tensormg
