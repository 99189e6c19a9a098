// A solution as an array of NumPy, of any size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/basis/cell_basis.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
/// (cells_z, cells_y, cells_x, n, n, n), n = degree + 1; in 2D (cells_y, cells_x, n, n).
std::vector<std::int64_t> nodal_shape(const Grid &grid);

/// The positions in [0, 1] of the n Gauss points, increasing.
std::vector<double> nodes_of_file(int degree);

/// Writes the finest level's solution u as the .npy file `path`: float64 in C order, nodal_shape(), where entry
/// [cz][cy][cx][k][j][i] is the value in cell (cx, cy, cz) of the whole box at
///   x = lower_x + (cx + nodes[i]) h_x,  y by cy and j,  z by cz and k,  nodes = nodes_of_file(degree).
/// All ranks write into one file, some rows of cells at a time, under a temporary name until it is complete.
/// `about`: a file that tells of an array that had this name before; it is removed when the new one gets the name, not
/// earlier. Empty: none.
///
/// Collective over grid.communicator. If a rank cannot write, all ranks throw: that one std::system_error with the path and
/// the system's reason, the others std::runtime_error with the same words; nothing is left then.
void write_nodal_file(const Grid &grid, const CellBasis &basis, const Vector<double> &u,
    const std::string &path, const std::string &about = "");
} // namespace tensormg
