// The way of a group of patches between the vectors in global memory and a field in shared memory, and what the
// patches see of their neighbours.
#pragma once

#include <cstdint>

#include "kernels/device/pack.cuh"
#include "kernels/patch/patches.h"

namespace tensormg::patch
{
/// How a cell sees its neighbours.
template <typename C>
struct Faces
{
  C v[max_n], h[max_n], g[max_n];
  C factor[3]; ///< c_d
};

/// A thread's part in the way between the vectors and the field. It has one cell column, that is patch t of the
/// group and cell s in x, and of this the lines (i, j, k) that its row of threads comes to. Lanes side by side have
/// neighbouring cells.
template <typename Solver>
class Carrier
{
  using C = typename Solver::C;
  static constexpr int N = Solver::N, n = N / 2, planes = Solver::dim == 3 ? N : 1;
  static constexpr int columns = 2 * Solver::group_size;
  static_assert(columns <= Solver::threads);
  static constexpr int rows = Solver::threads / columns;
  static constexpr int lines = n * N * planes;
  /// Accesses of a thread to global memory that are under way together.
  static constexpr int batch = 8;

public:
  __device__ Carrier(const Patches &patches, int box, unsigned first)
    : patches_(patches)
    , jump_(patches.jump[box])
    , neighbour_(patches.neighbour[box])
    , row_(static_cast<int>(threadIdx.x) / columns)
    , patch_(static_cast<int>(threadIdx.x) % columns / 2)
    , cell_(static_cast<int>(threadIdx.x) % 2)
  {
    const unsigned q = first + static_cast<unsigned>(patch_);
    exists_ = q < patches.placement.boxes[box].n_tensors() && cell_ < patches.cells[0];
    if (exists_)
      start_ = patches.placement.position(box, q) + cell_ * jump_[0];
  }

  /// field = r, and zero where there is no cell.
  template <typename Number>
  __device__ void gather(const Number *r, C *field) const
  {
    for_each_batch([&](int first) {
      C value[batch];
#pragma unroll
      for (int i = 0; i < batch; ++i)
      {
        const Line line(first + i * rows);
        value[i] = is_inside(line) ? load_pack<1>(r + start_ + offset(line)).at[0] : C(0);
      }
#pragma unroll
      for (int i = 0; i < batch; ++i)
        if (const Line line(first + i * rows); line.exists)
          field[place(line)] = value[i];
    });
  }

  /// x += damping * field
  template <typename Number>
  __device__ void add(C damping, const C *field, Number *x) const
  {
    for_each_batch([&](int first) {
      C value[batch];
#pragma unroll
      for (int i = 0; i < batch; ++i)
        if (const Line line(first + i * rows); is_inside(line))
          value[i] = load_pack<1>(x + start_ + offset(line)).at[0];
#pragma unroll
      for (int i = 0; i < batch; ++i)
        if (const Line line(first + i * rows); is_inside(line))
          store_pack(
              x + start_ + offset(line), Pack<C, 1>(fma(damping, field[place(line)], value[i])));
    });
  }

  /// y = field
  template <typename Number>
  __device__ void store(const C *field, Number *y) const
  {
    for_each_batch([&](int first) {
#pragma unroll
      for (int i = 0; i < batch; ++i)
        if (const Line line(first + i * rows); is_inside(line))
          store_pack(y + start_ + offset(line), Pack<C, 1>(field[place(line)]));
    });
  }

  /// field -= C x for the neighbours in direction d.
  template <int d, typename Number>
  __device__ void subtract_neighbours(const Faces<C> &faces, const Number *x, C *field) const
  {
    if (neighbour_[d][0] == 0 && neighbour_[d][1] == 0)
      return;
    if (row_ >= rows || !exists_)
      return;
    constexpr int count = (d == 0 ? N : 2 * n) * (d == 2 ? N : planes);
    // So many lines at a time that about eight loads are under way.
    constexpr int together = n < 8 ? 8 / n : 1;
    for (int first = row_; first < count; first += together * rows)
    {
      C u[together][n];
#pragma unroll
      for (int l = 0; l < together; ++l)
        if (const FaceLine<d> line(first + l * rows, cell_); is_inside(line))
        {
          const Number *from = x + start_ + offset(line);
#pragma unroll
          for (int m = 0; m < n; ++m)
            u[l][m] = load_pack<1>(from + m * patches_.placement.stride[d]).at[0];
        }
#pragma unroll
      for (int l = 0; l < together; ++l)
        if (const FaceLine<d> line(first + l * rows, cell_); is_inside(line))
        {
          C value = 0, derivative = 0;
#pragma unroll
          for (int m = 0; m < n; ++m)
          {
            const C entry = line.side == 1 && m % 2 == 1 ? -u[l][m] : u[l][m];
            value = fma(faces.v[m], entry, value);
            derivative = fma(faces.h[m], entry, derivative);
          }
          value *= -faces.factor[d];
          derivative *= -faces.factor[d];
#pragma unroll
          for (int m = 0; m < n; ++m)
          {
            const C change = fma(faces.g[m], value, faces.v[m] * derivative);
            field[place(line, m)] += line.side == 0 && m % 2 == 1 ? -change : change;
          }
        }
    }
  }

private:
  /// Of the lines along d beside the patch: its side, and the unknowns of the patch in the other two directions.
  /// In x, a thread has the side of its cell.
  template <int d>
  struct FaceLine
  {
    int side;
    int i, j, k; ///< mode in x and unknowns in y and z; that of direction d is not used
    bool exists;
    __device__ FaceLine(int number, int cell)
    {
      if constexpr (d == 0)
      {
        side = cell;
        i = 0;
        j = number % N;
        k = number / N;
        exists = k < planes;
      }
      else
      {
        side = number / n % 2;
        i = number % n;
        const int other = number / (2 * n);
        j = d == 1 ? 0 : other;
        k = d == 1 ? other : 0;
        exists = other < (d == 1 ? planes : N);
      }
    }
  };

  template <int d>
  __device__ bool is_inside(const FaceLine<d> &line) const
  {
    return line.exists && neighbour_[d][line.side] != 0 && line.j < n * patches_.cells[1] &&
        (Solver::dim == 2 || line.k < n * patches_.cells[2]);
  }
  /// From the thread's cell to mode 0 of the neighbour's line.
  template <int d>
  __device__ std::int64_t offset(const FaceLine<d> &line) const
  {
    const std::int64_t from_cell = d == 0 ? cell_ * jump_[0] : 0;
    return offset(Line{line.i, line.j, line.k, true}) + neighbour_[d][line.side] - from_cell;
  }
  template <int d>
  __device__ int place(const FaceLine<d> &line, int mode) const
  {
    const int at = line.side * n + mode;
    return Solver::offset(
        patch_, d == 2 ? at : line.k, d == 1 ? at : line.j, d == 0 ? at : cell_ * n + line.i);
  }

  /// Mode i in x, unknowns j and k of the patch in y and z.
  struct Line
  {
    int i, j, k;
    bool exists;
    __device__ Line(int mode, int y, int z, bool is_there)
      : i(mode)
      , j(y)
      , k(z)
      , exists(is_there)
    {}
    __device__ explicit Line(int number)
      : i(number % n)
      , j(number / n % N)
      , k(number / (n * N))
      , exists(number < lines)
    {}
  };

  template <typename Function>
  __device__ void for_each_batch(Function f) const
  {
    if (row_ < rows)
      for (int first = row_; first < lines; first += batch * rows)
        f(first);
  }

  __device__ bool is_inside(const Line &line) const
  {
    return exists_ && line.exists && line.j < n * patches_.cells[1] &&
        (Solver::dim == 2 || line.k < n * patches_.cells[2]);
  }
  __device__ std::int64_t offset(const Line &line) const
  {
    const auto &stride = patches_.placement.stride;
    std::int64_t at = line.i * stride[0] + line.j % n * stride[1] + line.j / n * jump_[1];
    if constexpr (Solver::dim == 3)
      at += line.k % n * stride[2] + line.k / n * jump_[2];
    return at;
  }
  __device__ int place(const Line &line) const
  {
    return Solver::offset(patch_, line.k, line.j, cell_ * n + line.i);
  }

  const Patches &patches_;
  const std::array<std::int64_t, 3> &jump_;
  const std::array<std::array<std::int64_t, 2>, 3> &neighbour_;
  int row_, patch_, cell_;
  bool exists_;
  std::int64_t start_ = 0;
};
} // namespace tensormg::patch
