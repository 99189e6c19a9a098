// The 2D kernel's copies from global to shared memory: see strips_2d.cuh.
#pragma once

#include "kernels/device/copy_async.cuh"
#include "kernels/laplace/laplace.h"
#include "kernels/laplace/strips_2d/tile.h"

namespace tensormg::laplace
{
/// Everything a launch needs, in constant memory.
template <typename Tile>
struct StripParameters
{
  using Number = typename Tile::Number;
  using C = typename Tile::C;
  static constexpr int n = Tile::n;

  C v[n], h[n];                 ///< trace weights
  C vx[n], gx[n], vy[n], gy[n]; ///< c_d v, c_d g
  C diagonal[n][n];             ///< [j][i]: D; chebyshev: alpha / D
  C keep, theta;                ///< chebyshev: 1 + theta - alpha, theta
  std::int64_t pitch;
  int nx, ny;
  int strips, segments; ///< in x; parts in y. A warp has one part of one strip.
  Side sides[4];
  const C *ghost[2];           ///< below, above
  const Number *src, *b, *old; ///< old: nullptr if it does not count
  Number *dst;
};

namespace strip
{
  /// What a lane owns.
  template <typename Tile>
  struct Place
  {
    using C = typename Tile::C;

    int lane;
    int x0;         ///< first cell of the strip
    int end;        ///< cell after its last one in the block
    int y0, y1;     ///< rows of cells to be written
    int first;      ///< first row that is read
    int last;       ///< the last cell of the strip in the block, from this lane's first one
    bool stores;    ///< the pack is part of the block or of its padding
    bool partial;   ///< the strip ends before its last lane's last cell
    bool edge_open; ///< there are cells behind the edge (left: lanes 0..15, right: the others)
    C close_x;      ///< sign of the closed side in x behind that edge, or 0

    __device__ __forceinline__ Place(const StripParameters<Tile> &p, int x0_, int segment)
      : lane(threadIdx.x % 32)
      , x0(x0_)
      , end(min(x0_ + Tile::cells, p.nx))
      , y0(static_cast<int>(std::int64_t(segment) * p.ny / p.segments))
      , y1(static_cast<int>(std::int64_t(segment + 1) * p.ny / p.segments))
      , first(max(y0 - 1, 0))
      , last(end - 1 - x())
      , stores(x() < p.pitch)
      , partial(end != x0 + Tile::cells)
      , edge_open(p.sides[0] == Side::wrap || (right() ? end < p.nx : x0 > 0))
      , close_x(edge_open ? C(0) : value_reflection<C>(p.sides[right() ? 1 : 0]))
    {}

    /// This lane's first cell.
    __device__ int x() const { return x0 + lane * Tile::width; }
    /// The edge that this lane serves.
    __device__ bool right() const { return lane >= 16; }
    /// The cell behind it, where it is open.
    __device__ int edge_cell(int nx) const
    {
      return right() ? (end < nx ? end : 0) : (x0 > 0 ? x0 : nx) - 1;
    }
  };

  /// The rings in shared memory. The lanes of a warp share the copies, lines in ascending order; a group
  /// of copies is one line of src with its edges and of b and old, empty where all have been copied.
  template <typename Tile, Form form>
  class Copies
  {
    using Number = typename Tile::Number;
    static constexpr int n = Tile::n, chunks = Tile::mode_chunks;
    static constexpr int modes = chunks < 32 ? 32 / chunks : 1; ///< that all lanes copy together

    const StripParameters<Tile> &p;
    unsigned char *const memory; ///< of this warp
    const int lane;
    const SharedAddress address; ///< of this lane's chunk
    const bool copies_edge;
    const SharedAddress edge_to; ///< this lane's chunk in the first line of edges
    // The next lines, and how many there are.
    const Number *source_from, *edge_from, *b_from, *old_from;
    int source_lines, input_lines;
    int input_slot = 0;

  public:
    __device__ __forceinline__ Copies(
        const StripParameters<Tile> &p_, unsigned char *memory_, const Place<Tile> &at)
      : p(p_)
      , memory(memory_)
      , lane(at.lane)
      , address(shared_address(memory_) + at.lane * Tile::chunk_bytes)
      , copies_edge(at.edge_open && at.lane % 16 < n)
      , edge_to(shared_address(memory_) + Tile::edge_offset +
            (at.lane % 16 + (at.right() ? n : 0)) * Tile::chunk_bytes)
      , source_lines((min(at.y1 + 1, p.ny) - at.first) * n)
      , input_lines((at.y1 - at.y0) * n)
    {
      // Chunks beyond the padding get what lies in it; nothing of them is used.
      const std::int64_t x = at.x0 + at.lane % chunks * Tile::chunk_numbers;
      const std::int64_t own = at.lane / chunks * p.pitch + min(x, p.pitch - Tile::chunk_numbers);
      const std::int64_t row = n * n * p.pitch;
      source_from = p.src + at.first * row + own;
      const int cell = at.edge_cell(p.nx);
      edge_from =
          p.src + at.first * row + at.lane % 16 * p.pitch + cell - cell % Tile::chunk_numbers;
      if constexpr (Tile::inputs > 0)
        b_from = p.b + at.y0 * row + own;
      if constexpr (form == Form::chebyshev)
        old_from = p.old + at.y0 * row + own;
    }

    /// Fills the rings.
    __device__ __forceinline__ void start()
    {
#pragma unroll 1
      for (int line = 0; line < Tile::lines; ++line)
      {
        copy_source(line);
        if constexpr (Tile::inputs > 0)
          if (line < Tile::input_lines)
            copy_inputs();
        commit_copies();
      }
    }

    /// This lane has read line j of the row that begins at `row` and the lines of b and old at the head of their rings.
    __device__ __forceinline__ void refill(int row, int j)
    {
      __syncwarp(); // and so have the others
      copy_source(Tile::position(row, j));
      if constexpr (Tile::inputs > 0)
        copy_inputs();
      commit_copies();
    }

    /// A row of src has been read for its traces only.
    __device__ __forceinline__ void refill_row(int row)
    {
#pragma unroll 1
      for (int j = 0; j < n; ++j)
      {
        copy_source(Tile::position(row, j));
        commit_copies();
      }
    }

    /// This lane's pack of line j, mode i = 0; modes are Tile::cells numbers apart.
    __device__ __forceinline__ const Number *source(int row, int j) const
    {
      return numbers(Tile::position(row, j) * Tile::line_bytes) + lane * Tile::width;
    }
    /// The same of b (0) or old (1), in the line at the head of the ring.
    __device__ __forceinline__ const Number *input(int which) const
    {
      return numbers(
                 Tile::input_offset + which * Tile::input_bytes + input_slot * Tile::line_bytes) +
          lane * Tile::width;
    }
    /// Chunks of the left or right edge of line j.
    __device__ __forceinline__ const Number *edge(int row, int j, bool right) const
    {
      return numbers(Tile::edge_offset + Tile::position(row, j) * Tile::edge_line_bytes) +
          (right ? n : 0) * Tile::chunk_numbers;
    }

  private:
    __device__ __forceinline__ const Number *numbers(int offset) const
    {
      return reinterpret_cast<const Number *>(memory + offset);
    }

    __device__ __forceinline__ void copy_source(int line)
    {
      if (source_lines > 0)
      {
        copy_line(line * Tile::line_bytes, source_from);
        if (copies_edge)
          copy_async(edge_to + line * Tile::edge_line_bytes, edge_from);
        edge_from += n * p.pitch;
      }
      --source_lines;
    }

    __device__ __forceinline__ void copy_inputs()
    {
      if (input_lines > 0)
      {
        const int to = Tile::input_offset + input_slot * Tile::line_bytes;
        copy_line(to, b_from);
        if (form == Form::chebyshev && p.old != nullptr)
          copy_line(to + Tile::input_bytes, old_from);
      }
      --input_lines;
      input_slot = input_slot + 1 == Tile::input_lines ? 0 : input_slot + 1;
    }

    __device__ __forceinline__ void copy_line(int offset, const Number *&line) const
    {
      const Number *from = line;
#pragma unroll
      for (int chunk = 0; chunk < n * chunks; chunk += 32)
      {
        if (chunk + 32 <= n * chunks || chunk + lane < n * chunks)
          copy_async(address + offset + chunk * Tile::chunk_bytes, from);
        from += modes * p.pitch;
      }
      line += n * p.pitch;
    }
  };
} // namespace strip
} // namespace tensormg::laplace
