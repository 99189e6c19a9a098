#include "kernels/tensor/batch.h"

#include <stdexcept>
#include <string>

#include "kernels/core/block.h"

namespace tensormg::tensor
{
namespace
{
  void check(int dim, int degree)
  {
    if ((dim != 2 && dim != 3) || degree < 1 || degree > max_degree)
      throw std::invalid_argument("no batch of tensors for dimension " + std::to_string(dim) +
          ", degree " + std::to_string(degree) + "; there are dimensions 2 and 3, degrees 1 to " +
          std::to_string(max_degree));
  }
} // namespace

Batch make_cell_batch(int dim, int degree, std::int64_t cells)
{
  check(dim, degree);
  if (cells < 0)
    throw std::invalid_argument("a batch of " + std::to_string(cells) + " cells");
  Batch batch;
  batch.dim = dim;
  batch.n = degree + 1;
  batch.count = {cells, 1, 1};
  batch.step = {batch.size(), 0, 0};
  batch.stride = {1, batch.n, dim == 3 ? batch.n * batch.n : 0};
  return batch;
}

Batch make_patch_batch(
    int dim, int degree, const std::array<std::int64_t, 3> &cells, const std::array<int, 3> &colour)
{
  check(dim, degree);
  Batch batch;
  batch.dim = dim;
  batch.n = 2 * (degree + 1);
  std::int64_t stride = 1;
  for (int d = 0; d < dim; ++d)
  {
    if (cells[d] < 2 || colour[d] < 0 || colour[d] > 1)
      throw std::invalid_argument("vertex patches need at least 2 cells and a colour of 0 or 1 per "
                                  "direction, not " +
          std::to_string(cells[d]) + " and " + std::to_string(colour[d]));
    batch.count[d] = (cells[d] - colour[d]) / 2;
    batch.stride[d] = stride;
    batch.step[d] = batch.n * stride;
    batch.first += colour[d] * (degree + 1) * stride;
    batch.at_lower[d] = colour[d] == 0;
    batch.at_upper[d] = colour[d] + 2 * batch.count[d] == cells[d];
    stride *= cells[d] * (degree + 1);
  }
  return batch;
}
} // namespace tensormg::tensor
