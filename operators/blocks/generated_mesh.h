// Blocks from the generators of deal.II, by name.
#pragma once

#include <string>

#include "operators/blocks/named_mesh.h"

namespace tensormg
{
/// The cells that dealii::GridGenerator::generate_from_name_and_arguments() makes, each as a block, with the generator's numbers of materials and
/// boundaries, and its manifolds as polynomials of this degree in each block. Arguments as in deal.II: "0,0,0 : 0.5 : 1 : 6 : true". Throws
/// MeshError if there is no such generator, it does not take the arguments, or the mesh cannot be used.
NamedMesh generate_mesh(int dim, const std::string &name, const std::string &arguments, int degree);
} // namespace tensormg
