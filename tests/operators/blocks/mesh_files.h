// What tests of mesh files share: the volume of a mesh, and what is said of a file that is refused.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include <deal.II/base/quadrature_lib.h>
#include <gtest/gtest.h>

#include "operators/blocks/mesh_file.h"

namespace tensormg::test
{
inline double volume(const NamedMesh &mesh)
{
  const int dim = mesh.blocks.dim, n = mesh.geometry.degree() + 2;
  const dealii::QGauss<1> rule(static_cast<unsigned>(n));
  std::vector<double> points;
  for (const auto &point : rule.get_points())
    points.push_back(point[0]);
  const auto nodes = lobatto_nodes(mesh.geometry.degree());
  const auto values = lagrange_values(nodes, points),
             derivatives = lagrange_derivatives(nodes, points);
  double sum = 0.;
  for (std::int64_t b = 0; b < mesh.blocks.n_blocks(); ++b)
  {
    std::array<std::vector<std::array<double, 3>>, 3> j;
    for (int a = 0; a < dim; ++a)
    {
      std::array<const std::vector<double> *, 3> matrices{&values, &values, &values};
      matrices[a] = &derivatives;
      j[a] = mesh.geometry.points(b, matrices);
    }
    if (dim == 2)
      j[2].assign(j[0].size(), {0., 0., 1.});
    for (std::size_t q = 0; q < j[0].size(); ++q)
    {
      double weight = 1.;
      for (std::size_t d = 0, rest = q; d < static_cast<std::size_t>(dim); ++d, rest /= n)
        weight *= rule.weight(static_cast<unsigned>(rest % n));
      for (int i = 0; i < 3; ++i)
        sum += weight * j[0][q][i] *
            (j[1][q][(i + 1) % 3] * j[2][q][(i + 2) % 3] -
                j[1][q][(i + 2) % 3] * j[2][q][(i + 1) % 3]);
    }
  }
  return sum;
}

/// What read_mesh_file() says; nothing if it reads the file.
inline std::string refusal(int dim, const std::string &path)
{
  try
  {
    read_mesh_file(dim, path);
  }
  catch (const MeshError &error)
  {
    return error.what();
  }
  return "";
}

/// The file is refused with its name and all of the parts in one line.
inline void expect_refusal(int dim, const std::string &path, const std::vector<std::string> &parts)
{
  const std::string text = refusal(dim, path);
  EXPECT_TRUE(text.starts_with(path + ": ")) << "found: " << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  for (const std::string &part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << "found: " << text << "\nexpected: " << part;
}
} // namespace tensormg::test
