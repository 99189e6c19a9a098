// From deal.II's triangulations and errors to those of this project.
#pragma once

#include <array>
#include <string>

#include <deal.II/base/exceptions.h>
#include <deal.II/grid/tria.h>

#include "operators/blocks/block_mesh.h"

namespace tensormg
{
/// A point with coordinates that deal.II does not have set to 0.
template <int dim>
std::array<double, 3> coordinates_of(const dealii::Point<dim> &point);

/// The active cells in the order of their iterators, with the numbers of materials and boundaries of the triangulation.
template <int dim, int spacedim>
MeshCells cells_of(const dealii::Triangulation<dim, spacedim> &triangulation);

/// The words of a text with one space between them.
std::string joined_words(const std::string &text);

/// What deal.II found wrong, without the rules and the stack that what() adds, in one line.
std::string reason_of(const dealii::ExceptionBase &error);
} // namespace tensormg
