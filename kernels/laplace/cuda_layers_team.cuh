// Faces in x and y of a plane that several warps share, in the layer kernel on CUDA cores: see cuda_layers.cuh.
#pragma once

#include "kernels/laplace/cuda_layers_planes.cuh"

namespace tensormg::laplace::layers
{
/// The warps of a team have a plane of one row of cells. Each sums the rows beside in every Tile::team-th line i in y, half
/// a warp one side, and writes what these faces give to where it has read that line: [2 parities of j][v, g] take the place of
/// the first four modes j. When all have done so, each writes pairs of lines j in x, half a warp the even or the odd one.
template <typename Tile>
class TeamWork : public PlaneWork<Tile>
{
public:
  using Work = PlaneWork<Tile>;
  using typename Work::C;
  using typename Work::HalfFaces;
  using typename Work::Number;
  using typename Work::Plane;
  using Work::half, Work::lane, Work::p, Work::cell, Work::shared, Work::warp;
  using Work::load, Work::sum_edge, Work::write_line;
  using Work::n, Work::mode_x, Work::mode_y;
  using Work::Work;
  static constexpr int lines = (n + Tile::team - 1) / Tile::team; ///< in y, of a warp at most
  static constexpr int pairs = ((n + 1) / 2 + Tile::team - 1) / Tile::team;
  static_assert(n >= 4 && 4 * pairs <= 32);

  /// What the faces in y give to own lines i; and what lies beside own lines j in x.
  __device__ __forceinline__ void write_own_faces(const Plane &plane) const
  {
    HalfFaces faces[lines];
    this->sum_lines_y(faces, plane, [this](int t) { return line(t); });
    __syncwarp(); // all lanes have read what is overwritten
    Number *const to = faces_at(plane);
#pragma unroll
    for (int t = 0; t < lines; ++t)
      if (has_line(t))
      {
        write_pack(to + line(t) * mode_x, faces[t].v);
        write_pack(to + line(t) * mode_x + mode_y, faces[t].g);
      }
    sum_own_edges(plane);
  }

  /// Of all lines i, when the team has met.
  __device__ __forceinline__ void read_faces(HalfFaces (&faces)[n], const Plane &plane) const
  {
    const Number *const from = faces_at(plane);
#pragma unroll
    for (int i = 0; i < n; ++i)
      faces[i] = {load(from + i * mode_x), load(from + i * mode_x + mode_y)};
  }

  __device__ __forceinline__ void write_own_rows(
      const HalfFaces (&faces_y)[n], const Plane &plane, C of_z) const
  {
#pragma unroll
    for (int t = 0; t < pairs; ++t)
      if (has_pair(t))
      {
        // With an odd number of modes the second half has one less; there it works in vain on its first one, which it has
        // written itself.
        const int wanted = 2 * pair(t) + half, j = wanted < n ? wanted : 2 * pair(0) + 1;
        write_line(j, j == wanted, of_z + p.lambda[1][j], p.vd[1][j], p.gd[1][j], faces_y, plane);
      }
  }

private:
  __device__ __forceinline__ int member() const { return warp % Tile::team; }
  static constexpr bool all_have_line(int t) { return (t + 1) * Tile::team <= n; }
  __device__ __forceinline__ bool has_line(int t) const
  {
    return all_have_line(t) || member() + t * Tile::team < n;
  }
  /// Who has no last line reads its first one again.
  __device__ __forceinline__ int line(int t) const
  {
    return has_line(t) ? member() + t * Tile::team : member();
  }
  __device__ __forceinline__ int pair(int t) const { return member() + t * Tile::team; }
  __device__ __forceinline__ bool has_pair(int t) const { return 2 * pair(t) < n; }

  /// Those of this half's parity.
  __device__ __forceinline__ Number *faces_at(const Plane &plane) const
  {
    return shared.halo(plane.slot, 0) + half * (2 * mode_y) + cell;
  }

  __device__ __forceinline__ void sum_own_edges(const Plane &plane) const
  {
    __syncwarp(); // all lanes have read those of the plane before
    const int side = lane / (2 * pairs), j = 2 * pair(lane % (2 * pairs) / 2) + lane % 2;
    if (side < 2 && j < n)
      sum_edge(plane, 0, side == 1, j, side * n + j);
    __syncwarp();
  }
};
} // namespace tensormg::laplace::layers
