// The traces of the cells at sides of the blocks of the mesh: the first device kernel of cellmean.h.
#pragma once

#include "kernels/laplace/cellmean/ends.cuh"

namespace tensormg::laplace::cellmean
{
/// A row of the brick has cells along a side of a block, one after the other.
template <typename Brick>
class Borders : public Ends<Brick>
{
  using Base = Ends<Brick>;
  using Base::dim, Base::n, Base::lines, Base::sides, Base::p, Base::lane, Base::line,
      Base::row_here;
  int side_;
  Cell cell_;
  bool has_;

public:
  __device__ __forceinline__ explicit Borders(const CellMeanParameters<Brick> &parameters)
    : Base(parameters)
  {
    const std::int64_t cells = p.a.per_direction, of_side = cells_of_side(dim, cells),
                       at = (std::int64_t(blockIdx.x) * Brick::rows + row_here) * Brick::cells_x +
        lane,
                       number = at / of_side, of_block = number / sides;
    side_ = int(number % sides);
    const int d = side_ / 2;
    cell_ = {0, 0, 0};
    cell_[d] = side_ % 2 == 1 ? cells - 1 : 0;
    cell_[tangent(d, 0)] = at % of_side % cells;
    if (dim == 3)
      cell_[tangent(d, 1)] = at % of_side / cells;
    cell_[0] += of_block * cells;
    // The others are what nobody looks at.
    has_ = cell_[0] < this->block.cells[0] && p.a.links[number].kind == Side::ghost;
  }
  __device__ __forceinline__ void run() const
  {
    const int d = side_ / 2, end = side_ % 2;
    const auto found = this->template read_end<1>(0, has_, cell_, d, end);
    __syncthreads();
    const auto trace =
        this->template trace_of_end<1>(0, has_, cell_, d, end, this->rows_of_derivative(), found);
    if (!has_)
      return;
    auto *const to = p.a.traces + border_index(this->block, p.a.per_direction, cell_, side_) + line;
    to[0] = trace.v;
    to[lines] = trace.f;
  }
};

template <typename Brick>
__global__ __launch_bounds__(Brick::threads) void border_kernel(
    const __grid_constant__ CellMeanParameters<Brick> p)
{
  Borders<Brick>(p).run();
}
} // namespace tensormg::laplace::cellmean
