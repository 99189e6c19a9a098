// Right-hand sides, integrals and errors of functions given as expressions, in device memory.
#pragma once

#include <optional>

#include "kernels/expression/expression.h"
#include "operators/data/errors.h"
#include "operators/data/functions.h"
#include "operators/data/right_hand_side.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/device_vector_space.h"
#include "tensormg/problem.h"

namespace tensormg
{
/// The expression as the device runs it; nothing if it is too long or uses a function that is not known there.
std::optional<expression::Steps> device_steps(const ScalarFunction &f);

/// assemble_right_hand_side() (operators/data/right_hand_side.h) in device memory. Returns false, with b undefined,
/// if the device cannot do it: an expression that device_steps() has nothing for, or a value that is not
/// finite. The function of the host then does it, or says where the value is. Collective.
bool assemble_on_device(const Problem &problem, const LevelGrid &grid, const CellBasis &basis,
    DeviceVector<double> &b, Stream stream);

/// project_initial_guess() (operators/data/right_hand_side.h) in device memory. Returns false, with x undefined, where
/// assemble_on_device() does. Collective.
bool project_guess_on_device(const Problem &problem, const LevelGrid &grid, const CellBasis &basis,
    DeviceVector<double> &x, Stream stream);

/// integrate() (operators/data/tensor_rule.h) on the device, where it can; for check_compatible().
Integrator device_integrator(Stream stream);

/// mean_of_cells() and mean_value() (operators/data/errors.h). Collective.
double mean_of_cells_on_device(const LevelGrid &grid, const CellBasis &basis,
    const DeviceVector<double> &x, const DeviceVectorSpace &space);
double mean_on_device(const LevelGrid &grid, const CellBasis &basis, const DeviceVector<double> &x,
    const DeviceVectorSpace &space);
/// Subtracts the one or the other; returns it.
double subtract_constant_on_device(const LevelGrid &grid, const CellBasis &basis,
    DeviceVector<double> &x, const DeviceVectorSpace &space);
double subtract_mean_on_device(const LevelGrid &grid, const CellBasis &basis,
    DeviceVector<double> &x, const DeviceVectorSpace &space);

/// x of each cell times its volume, in units of the mean one, to the power of `exponent`.
void multiply_by_volume_on_device(
    const LevelGrid &grid, double exponent, DeviceVector<double> &x, Stream stream);

/// compute_errors() (operators/data/errors.h) for a vector in device memory; nothing if the device cannot do it.
/// Throws what compute_errors() throws.
std::optional<Errors> errors_on_device(const Problem &problem, const LevelGrid &grid,
    const CellBasis &basis, const DeviceVector<double> &u, Stream stream);
} // namespace tensormg
