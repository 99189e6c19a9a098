// Solutions on curved cells for ParaView.
#pragma once

#include <string>

#include "operators/output/field_output.h"
#include "operators/pointwise/block_levels.h"
#include "operators/pointwise/block_problem.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
/// Why the finest level should not be written, with the numbers and the remedy; nothing if it may.
std::optional<std::string> refuse_output(
    const BlockProblem &problem, const FieldOutputOptions &options);

/// Writes base + ".vtu" with the fields of write_field_output() (field_output.h) at the (degree + 1)^dim equidistant points of every
/// cell, whose geometry is the polynomial with which the solve computes; and by cell `material`, `block`, `quality` (the quotient of the smallest
/// det J and the largest one) `kappa` (operators/pointwise/metric.h) and `rank`. In 2D z is zero. Where blocks are divided each rank of the
/// communicator writes a piece, as there. std::system_error if the file cannot be written. Collective.
FieldOutput write_field_output(const BlockProblem &problem, const BlockLevels &levels,
    const Vector<double> &u, const std::string &base, MPI_Comm communicator = MPI_COMM_SELF,
    const FieldOutputOptions &options = {});
} // namespace tensormg
