// What the exchange of face traces costs, before the operator's work and behind it.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "kernels/basis/cell_basis.h"
#include "kernels/laplace/laplace.h"
#include "operators/mesh/grid.h"

namespace tensormg
{
/// Fused Chebyshev steps on a level in batches, by turns without any exchange, with all traces exchanged before the step and as the
/// operator does it, behind the interior where it can (LaplaceOperator); and the exchange alone, packing and all. Seconds per step
/// of the slowest rank, medians over the batches: "without", "before", "in_operator", "alone". An empty object if nothing is exchanged. The
/// same on every rank.
template <typename Number, typename Context>
nlohmann::json measure_exchange(const LevelGrid &level, const CellBasis &basis,
    laplace::Backend backend, const Context &context, int repetitions);

/// A table of these objects, result["degrees"][...]["operators"][...]["exchange"], for docs/; empty if there
/// are none.
std::string exchange_table(const nlohmann::json &result);
} // namespace tensormg
