// A block of threads works on eight cells of a row at a time: plane by plane of points, arrays over points or
// modes and cells in shared memory, the cell as the fastest index.
#include <algorithm>
#include <stdexcept>

#include "kernels/device/launch.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/expression/evaluate.cuh"

namespace tensormg::expression
{
namespace
{
  constexpr int threads = 256, width = 8;

  struct Parameters
  {
    Steps steps;
    Place place;
    std::int64_t tiles_x, tiles; ///< groups of cells in a row, in the range
    double scale;                ///< project: of the sum
    DistanceScales distance;
  };

  struct Tile
  {
    std::int64_t cx, cy, cz;
    int count; ///< cells that exist
  };

  __device__ Tile tile_at(const Parameters &p, std::int64_t index)
  {
    const std::int64_t rows = p.place.end[1] - p.place.begin[1];
    Tile tile;
    tile.cx = p.place.begin[0] + index % p.tiles_x * width;
    tile.cy = p.place.begin[1] + index / p.tiles_x % rows;
    tile.cz = p.place.begin[2] + index / p.tiles_x / rows;
    const std::int64_t left = p.place.end[0] - tile.cx;
    tile.count = static_cast<int>(left < width ? left : width);
    return tile;
  }

  __device__ double coordinate(const Place &place, int d, std::int64_t cell, int q)
  {
    if (const double *const corner = place.corners[d])
      return corner[cell] + place.line[d].point[q] * (corner[cell + 1] - corner[cell]);
    return place.lower[d] +
        (static_cast<double>(place.offset[d] + cell) + place.line[d].point[q]) * place.cell_size[d];
  }

  /// f at point (qx, qy, qz) of cell c of the tile.
  __device__ double value_at(const Parameters &p, const Tile &tile, int c, int qx, int qy, int qz)
  {
    return evaluate(p.steps, coordinate(p.place, 0, tile.cx + c, qx),
        coordinate(p.place, 1, tile.cy, qy), coordinate(p.place, 2, tile.cz, qz));
  }

  /// The number of cell c of the tile.
  __device__ double factor_of(const Place &place, const Tile &tile, int c)
  {
    if (place.factor == nullptr)
      return 1.;
    const std::int64_t nx = place.end[0] - place.begin[0], ny = place.end[1] - place.begin[1];
    return place.factor[((tile.cz - place.begin[2]) * ny + tile.cy - place.begin[1]) * nx +
        tile.cx + c - place.begin[0]];
  }

  /// What a derivative in mean cells is multiplied by in cell c of the tile.
  __device__ double stretching(const Place &place, const Tile &tile, int c, int direction)
  {
    const double *const corner = direction < 0 ? nullptr : place.corners[direction];
    if (corner == nullptr)
      return 1.;
    const std::int64_t cell = direction == 0 ? tile.cx + c : direction == 1 ? tile.cy : tile.cz;
    return place.cell_size[direction] / (corner[cell + 1] - corner[cell]);
  }

  std::size_t project_bytes(const Place &place)
  {
    const auto &[x, y, z] = place.line;
    return sizeof(double) * width *
        (y.points * x.points + y.points * x.modes + z.modes * y.modes * x.modes);
  }

  __global__ void __launch_bounds__(threads)
      project_kernel(const __grid_constant__ Parameters p, double *b)
  {
    const Line &x = p.place.line[0], &y = p.place.line[1], &z = p.place.line[2];
    double *const values = reinterpret_cast<double *>(dynamic_shared()); // [qy][qx][cell]
    double *const in_x = values + y.points * x.points * width;           // [qy][i][cell]
    double *const sums = in_x + y.points * x.modes * width;              // [k][j][i][cell]
    const int columns = y.modes * x.modes * width;
    for (std::int64_t index = blockIdx.x; index < p.tiles; index += gridDim.x)
    {
      const Tile tile = tile_at(p, index);
      for (int at = threadIdx.x; at < z.modes * columns; at += threads)
        sums[at] = 0.;
      for (int qz = 0; qz < z.points; ++qz)
      {
        for (int at = threadIdx.x; at < y.points * x.points * width; at += threads)
        {
          const int c = at % width, q = at / width;
          values[at] = c < tile.count
              ? factor_of(p.place, tile, c) * value_at(p, tile, c, q % x.points, q / x.points, qz)
              : 0.;
        }
        __syncthreads();
        for (int at = threadIdx.x; at < y.points * x.modes * width; at += threads)
        {
          const int c = at % width, i = at / width % x.modes, qy = at / width / x.modes;
          double sum = 0.;
          for (int q = 0; q < x.points; ++q)
            sum = fma(x.matrix[i * x.points + q], values[(qy * x.points + q) * width + c], sum);
          in_x[at] = sum;
        }
        __syncthreads();
        // Every thread adds to sums of its own.
        for (int at = threadIdx.x; at < columns; at += threads)
        {
          const int c = at % width, i = at / width % x.modes, j = at / width / x.modes;
          double sum = 0.;
          for (int q = 0; q < y.points; ++q)
            sum = fma(y.matrix[j * y.points + q], in_x[(q * x.modes + i) * width + c], sum);
          for (int k = 0; k < z.modes; ++k)
            sums[k * columns + at] = fma(z.matrix[k * z.points + qz], sum, sums[k * columns + at]);
        }
      }
      const Block &block = p.place.block;
      for (int at = threadIdx.x; at < columns; at += threads)
      {
        const int c = at % width, i = at / width % x.modes, j = at / width / x.modes;
        if (c < tile.count)
          for (int k = 0; k < z.modes; ++k)
          {
            double &to = b[block.index(tile.cx + c, tile.cy, tile.cz, i, j, k)];
            to = fma(p.scale, sums[k * columns + at], to);
          }
      }
      __syncthreads();
    }
  }

  /// The sum over the block in a fixed order, in thread 0. `shared`: a number per thread.
  __device__ double sum_of_block(double value, double *shared)
  {
    __syncthreads();
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int half = threads / 2; half > 0; half /= 2)
    {
      if (int(threadIdx.x) < half)
        shared[threadIdx.x] += shared[threadIdx.x + half];
      __syncthreads();
    }
    return shared[0];
  }

  __global__ void __launch_bounds__(threads)
      integrate_kernel(const __grid_constant__ Parameters p, double *partial)
  {
    const Line &x = p.place.line[0], &y = p.place.line[1], &z = p.place.line[2];
    double *const shared = reinterpret_cast<double *>(dynamic_shared());
    double value = 0., magnitude = 0.;
    for (std::int64_t index = blockIdx.x; index < p.tiles; index += gridDim.x)
    {
      const Tile tile = tile_at(p, index);
      for (int at = threadIdx.x; at < z.points * y.points * x.points * width; at += threads)
      {
        const int c = at % width, q = at / width;
        const int qx = q % x.points, qy = q / x.points % y.points, qz = q / x.points / y.points;
        if (c < tile.count)
        {
          const double w = factor_of(p.place, tile, c) * x.weight[qx] * y.weight[qy] * z.weight[qz];
          const double f = value_at(p, tile, c, qx, qy, qz);
          value += w * f;
          magnitude += w * fabs(f);
        }
      }
    }
    const double sums[2] = {sum_of_block(value, shared), sum_of_block(magnitude, shared)};
    if (threadIdx.x == 0)
    {
      partial[blockIdx.x] = sums[0];
      partial[sum_blocks + blockIdx.x] = sums[1];
    }
  }

  std::size_t distance_bytes(const Place &place)
  {
    const auto &[x, y, z] = place.line;
    return sizeof(double) *
        std::max<std::size_t>(threads,
            width * (z.modes * y.modes * x.modes + y.modes * x.modes + y.points * x.modes));
  }

  __global__ void __launch_bounds__(threads)
      distance_kernel(const __grid_constant__ Parameters p, const double *u, double *partial)
  {
    const Line &x = p.place.line[0], &y = p.place.line[1], &z = p.place.line[2];
    const int columns = y.modes * x.modes * width;
    double *const modes = reinterpret_cast<double *>(dynamic_shared()); // [k][j][i][cell]
    double *const in_z = modes + z.modes * columns;                     // [j][i][cell]
    double *const in_y = in_z + columns;                                // [qy][i][cell]
    const Block &block = p.place.block;
    double total = 0.;
    for (std::int64_t index = blockIdx.x; index < p.tiles; index += gridDim.x)
    {
      const Tile tile = tile_at(p, index);
      for (int at = threadIdx.x; at < z.modes * columns; at += threads)
      {
        const int c = at % width, i = at / width % x.modes, j = at / width / x.modes % y.modes;
        modes[at] =
            c < tile.count ? u[block.index(tile.cx + c, tile.cy, tile.cz, i, j, at / columns)] : 0.;
      }
      __syncthreads();
      for (int qz = 0; qz < z.points; ++qz)
      {
        for (int at = threadIdx.x; at < columns; at += threads)
        {
          double sum = 0.;
          for (int k = 0; k < z.modes; ++k)
            sum = fma(z.matrix[qz * z.modes + k], modes[k * columns + at], sum);
          in_z[at] = sum;
        }
        __syncthreads();
        for (int at = threadIdx.x; at < y.points * x.modes * width; at += threads)
        {
          const int ci = at % (x.modes * width), qy = at / (x.modes * width);
          double sum = 0.;
          for (int j = 0; j < y.modes; ++j)
            sum = fma(y.matrix[qy * y.modes + j], in_z[j * x.modes * width + ci], sum);
          in_y[at] = sum;
        }
        __syncthreads();
        for (int at = threadIdx.x; at < y.points * x.points * width; at += threads)
        {
          const int c = at % width, qx = at / width % x.points, qy = at / width / x.points;
          if (c >= tile.count)
            continue;
          double sum = 0.;
          for (int i = 0; i < x.modes; ++i)
            sum = fma(x.matrix[qx * x.modes + i], in_y[(qy * x.modes + i) * width + c], sum);
          const double factor =
              p.distance.factor * stretching(p.place, tile, c, p.distance.direction);
          const double distance = p.distance.unit *
              (factor * sum - value_at(p, tile, c, qx, qy, qz) - p.distance.shift);
          total += factor_of(p.place, tile, c) * x.weight[qx] * y.weight[qy] * z.weight[qz] *
              distance * distance;
        }
      }
      __syncthreads();
    }
    const double sum = sum_of_block(total, modes);
    if (threadIdx.x == 0)
      partial[blockIdx.x] = sum;
  }

  Parameters parameters_of(const Steps &steps, const Place &place)
  {
    for (const Line &line : place.line)
      if (line.points < 1 || line.points > max_points || line.modes < 1 || line.modes > max_n)
        throw std::invalid_argument("expression kernels take at most " +
            std::to_string(max_points) + " points and " + std::to_string(max_n) + " modes");
    Parameters p{};
    p.steps = steps;
    p.place = place;
    p.tiles_x = (place.end[0] - place.begin[0] + width - 1) / width;
    p.tiles = p.tiles_x * (place.end[1] - place.begin[1]) * (place.end[2] - place.begin[2]);
    return p;
  }
} // namespace

void project_cuda(const Steps &steps, const Place &place, double scale, double *b, Stream stream)
{
  Parameters p = parameters_of(steps, place);
  p.scale = scale;
  if (p.tiles == 0)
    return;
  const std::size_t bytes = project_bytes(place);
  allow_shared_bytes(reinterpret_cast<const void *>(&project_kernel), bytes);
  launch("launching the projection of an expression", &project_kernel,
      static_cast<unsigned>(std::min<std::int64_t>(p.tiles, 1 << 16)), threads, bytes, stream, p,
      b);
}

void integrate_cuda(const Steps &steps, const Place &place, double *partial, Stream stream)
{
  launch("launching the integral of an expression", &integrate_kernel, sum_blocks, threads,
      threads * sizeof(double), stream, parameters_of(steps, place), partial);
}

void distance_cuda(const Steps &steps, const Place &place, const double *u,
    const DistanceScales &scales, double *partial, Stream stream)
{
  Parameters p = parameters_of(steps, place);
  p.distance = scales;
  const std::size_t bytes = distance_bytes(place);
  allow_shared_bytes(reinterpret_cast<const void *>(&distance_kernel), bytes);
  launch("launching the distance to an expression", &distance_kernel, sum_blocks, threads, bytes,
      stream, p, u, partial);
}
} // namespace tensormg::expression
