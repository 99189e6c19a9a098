// What the exchange of face traces costs, before the operator's work and behind it.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "kernels/basis/cell_basis.h"
#include "operators/mesh/grid.h"

namespace tensormg
{
/// Fused Chebyshev steps on the finest level in batches, by turns with all traces exchanged before the step
/// and with the exchange behind the interior (LaplaceOperator). For each of the two, per step: "seconds" of
/// the slowest rank, "waiting_seconds" in MPI on the rank that waits longest; medians over the batches.
/// An empty object if nothing is exchanged. The same on every rank.
template <typename Number>
nlohmann::json measure_exchange(const Grid &grid, const CellBasis &basis, int repetitions);

/// A table of these objects, result["degrees"][...]["operators"][...]["exchange"], for docs/; empty if there
/// are none.
std::string exchange_table(const nlohmann::json &result);
} // namespace tensormg
