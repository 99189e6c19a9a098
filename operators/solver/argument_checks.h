// What the functions of tensormg::Solver refuse, with words about it: they throw ArgumentError.
#pragma once

#include <cstddef>
#include <cstdint>

#include <mpi.h>

#include "tensormg/solver.h"

namespace tensormg
{
/// Sizes, degrees and numbers that no problem can have, and methods that the library lacks.
void check_arguments(const Problem &problem, const SolverOptions &options);
/// What decides which messages processes exchange: the grid and the options. Collective.
void check_same(const Problem &problem, const SolverOptions &options, MPI_Comm communicator);
/// The number of a side of the box.
void check_side(int side, int dim);
/// The size of the vector `name` of this process, which is what `of` says.
void check_size(
    const char *name, std::size_t found, std::int64_t wanted, const char *of = "Solver::size()");
} // namespace tensormg
