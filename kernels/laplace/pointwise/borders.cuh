// The traces of the sides of the blocks of the mesh: the first device kernel of pointwise.h.
#pragma once

#include "kernels/laplace/pointwise/ends.cuh"

namespace tensormg::laplace::pointwise
{
/// A row of the brick has cells along a side of a block, one after the other.
template <typename Brick>
class Borders : public Ends<Brick>
{
  using Base = Ends<Brick>;
  using Base::dim, Base::n, Base::sides, Base::p, Base::lane, Base::la, Base::lb, Base::row_here;
  std::int64_t number_; ///< of the side: 2 dim block + side
  int ca_, cb_;         ///< of the cell along the side
  bool has_;

public:
  __device__ __forceinline__ explicit Borders(const PointwiseParameters<Brick> &parameters)
    : Base(parameters)
  {
    const std::int64_t cells = p.per_direction, of_side = dim == 3 ? cells * cells : cells,
                       at = (std::int64_t(blockIdx.x) * Brick::rows + row_here) * Brick::cells_x +
        lane;
    number_ = at / of_side;
    ca_ = int(at % of_side % cells);
    cb_ = int(at % of_side / cells);
    has_ = number_ < p.block.cells[0] / cells * sides;
    // What nobody looks at.
    has_ = has_ && p.links[number_].kind == Side::ghost;
  }
  __device__ __forceinline__ void run() const
  {
    const int side = int(number_ % sides), d = side / 2;
    std::int64_t at[3] = {0, 0, 0};
    at[d] = side % 2 == 1 ? p.per_direction - 1 : 0;
    at[tangent(d, 0)] = ca_;
    if (dim == 3)
      at[tangent(d, 1)] = cb_;
    const Cell cell{number_ / sides * p.per_direction + at[0], at[1], at[2]};
    this->template write_end<1>(0, has_, cell, side);
    __syncthreads();
    this->template interpolate_end<1>(0);
    __syncthreads();
    const auto trace = this->template read_end<1>(0, has_, cell, side);
    if (!has_)
      return;
    auto *const to = p.borders +
        border_index(p.block, p.per_direction, number_, std::int64_t(ca_) * n + la,
            dim == 3 ? std::int64_t(cb_) * n + lb : 0);
    to[0] = trace.v;
    to[1] = trace.f;
  }
};

template <typename Brick>
__global__ __launch_bounds__(Brick::threads) void border_kernel(
    const __grid_constant__ PointwiseParameters<Brick> p)
{
  Borders<Brick>(p).run();
}
} // namespace tensormg::laplace::pointwise
