// The traces of the sides of the blocks of the mesh: the first device kernel of pointwise.h.
#pragma once

#include "kernels/laplace/pointwise/ends.cuh"

namespace tensormg::laplace::pointwise
{
/// The cells of a brick are such along a side of a block, one after the other.
template <typename Brick>
class Borders : public Ends<Brick>
{
  using Base = Ends<Brick>;
  using Base::dim, Base::n, Base::sides, Base::p, Base::line, Base::la, Base::lb, Base::place;

  struct Place
  {
    std::int64_t number; ///< of the side: 2 dim block + side
    int side, ca, cb;    ///< of the block; places of the cell along it
    bool is_there;
    Cell cell;
  };
  __device__ __forceinline__ Place find(int cell_of_brick) const
  {
    const std::int64_t cells = p.per_direction, of_side = dim == 3 ? cells * cells : cells,
                       at = std::int64_t(blockIdx.x) * Brick::all_cells + cell_of_brick;
    Place found;
    found.number = at / of_side;
    found.ca = int(at % of_side % cells);
    found.cb = int(at % of_side / cells);
    // Of the others nobody looks at the traces.
    found.is_there = cell_of_brick < Brick::all_cells &&
        found.number < p.block.cells[0] / cells * sides &&
        p.links[found.number].kind == Side::ghost;
    found.side = int(found.number % sides);
    const int d = found.side / 2;
    int in_block[3] = {0, 0, 0};
    in_block[d] = found.side % 2 == 1 ? int(cells) - 1 : 0;
    in_block[tangent(d, 0)] = found.ca;
    if (dim == 3)
      in_block[tangent(d, 1)] = found.cb;
    found.cell = {int(found.number / sides * cells) + in_block[0], in_block[1], in_block[2]};
    if (!found.is_there)
      found.cell = {0, 0, 0};
    return found;
  }

public:
  __device__ __forceinline__ explicit Borders(const PointwiseParameters<Brick> &parameters)
    : Base(parameters)
  {}
  __device__ __forceinline__ void run() const
  {
    this->write_tables();
    write_modes();
    __syncthreads();
    this->template interpolate_ends<1>();
    this->meet_in_cell();
    typename Base::Line value, derivative;
    Base::read_tables(lb, value, derivative);
    const Place here = find(place.cell);
    const std::int64_t cell = this->cell_number(here.cell);
    typename Base::FaceWords face;
    face.load(p.numbers.face + cell * Base::face_size, here.side, line);
    const auto trace = this->read_end(
        0, face, this->power(cell, power_of_metric), here.side % 2 == 1, value, derivative);
    if (!here.is_there)
      return;
    auto *const to = p.borders +
        border_index(p.block, p.per_direction, here.number, std::int64_t(here.ca) * n + la,
            dim == 3 ? std::int64_t(here.cb) * n + lb : 0);
    to[0] = trace.v;
    to[1] = trace.f;
  }

private:
  __device__ __forceinline__ void write_modes() const
  {
    const BrickPlace to = Brick::place_in_memory(int(threadIdx.x));
    const Place here = find(to.cell);
    const int d = here.side / 2;
    int mode[3] = {0, 0, 0};
    mode[tangent(d, 0)] = to.line % n;
    if (dim == 3)
      mode[tangent(d, 1)] = to.line / n;
    typename Base::Modes modes;
    this->load_modes(
        p.src + p.block.index(here.cell.x, here.cell.y, here.cell.z, mode[0], mode[1], mode[2]),
        p.next_mode[d], modes);
    this->template write_end<1>(to, 0, modes, here.side % 2 == 1);
  }
};

template <typename Brick>
__global__ __launch_bounds__(Brick::threads) void border_kernel(
    const __grid_constant__ PointwiseParameters<Brick> p)
{
  Borders<Brick>(p).run();
}
} // namespace tensormg::laplace::pointwise
