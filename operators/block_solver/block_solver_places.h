// BlockSolver in host and in device memory, each compiled by itself. Arguments and what is thrown: make_block_solver().
#pragma once

#include <memory>

#include "operators/block_solver/block_solver.h"

namespace tensormg
{
std::unique_ptr<BlockSolver> make_block_solver_on_host(const BlockLevels &levels,
    const SolverOptions &options, Vector<double> &x, const Vector<double> &b,
    const CycleOptions &cycle);
std::unique_ptr<BlockSolver> make_block_solver_on_device(const BlockLevels &levels,
    const SolverOptions &options, Vector<double> &x, const Vector<double> &b,
    const CycleOptions &cycle);
} // namespace tensormg
