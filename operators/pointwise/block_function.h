// Functions of position on a mesh of blocks, given as text.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "operators/data/functions.h"
#include "tensormg/problem.h"

namespace tensormg
{
/// An expression in x, y, z and `material`, the number of the block's material; or the function of the problem that has this name.
class BlockFunction
{
public:
  /// `materials`: of the blocks. Throws ExpressionError with `key`, the name of the parameter.
  BlockFunction(const Problem &problem, const std::string &key, const std::string &expression,
      const std::vector<int> &materials);

  /// At points of a block. Throws ExpressionError naming the place where a value is not finite.
  std::vector<double> values(
      std::int64_t block, const std::vector<std::array<double, 3>> &points) const;
  /// The same, whatever the values are.
  std::vector<double> any_values(
      std::int64_t block, const std::vector<std::array<double, 3>> &points) const;

  /// The same everywhere in a block.
  bool is_constant_in_blocks() const;
  /// A polynomial of degree 1 in each block.
  bool is_affine_in_blocks() const;

private:
  std::string key_, expression_;
  int dim_;
  std::vector<int> materials_;
  std::map<int, ScalarFunction> by_material_;
};
} // namespace tensormg
