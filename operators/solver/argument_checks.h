// What the functions of tensormg::Solver refuse, with words about it: they throw ArgumentError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <mpi.h>

#include "tensormg/mesh.h"
#include "tensormg/solver.h"

namespace tensormg
{
/// Sizes, degrees and numbers that no problem can have, and methods that the library lacks.
void check_arguments(const Problem &problem, const SolverOptions &options);
/// The same for a solver on a mesh.
void check_arguments(const Problem &problem, const MeshOptions &mesh, const SolverOptions &options,
    const Execution &execution);
/// What decides which messages processes exchange: the grid and the options. Collective.
void check_same(const Problem &problem, const SolverOptions &options, MPI_Comm communicator);
/// The number of a side of the box.
void check_side(int side, int dim);
/// The size of the vector `name` of this process, which is what `of` says.
void check_size(
    const char *name, std::size_t found, std::int64_t wanted, const char *of = "Solver::size()");
/// Those of x, y and z, which may be empty in 2D.
void check_coordinates(std::span<double> x, std::span<double> y, std::span<double> z, int dim,
    std::int64_t wanted, const char *of = "Solver::size()");
/// Whether they are finite. `who_holds`: as in "values hold".
void check_numbers(const char *who_holds, std::span<const double> numbers);
} // namespace tensormg
