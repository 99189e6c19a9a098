// The `cpu` backend of the patch corrections. W patches of one colour that follow each other in x
// are the lanes of one vector; their N^dim unknowns are gathered into scratch memory that stays in
// the cache, contracted direction by direction with dense N x N matrices and added to x. A pass of
// the last direction does the forward contraction, the division by the eigenvalues and the backward
// one at once.
#include <algorithm>

#include "kernels/patch/cpu_passes.h"
#include "kernels/patch/patch.h"

namespace tensormg::patch
{
namespace
{
  template <int W, typename Number>
  class Sweep
  {
    using C = Compute<Number>;
    using V = simd::Vec<C, W>;

  public:
    explicit Sweep(const Arguments<Number> &arguments)
      : a(arguments)
      , block(a.block)
      , dim(block.dim)
      , patches_x(a.lines[0]->colours[a.colour[0]])
    {
      for (int d = 0; d < dim; ++d)
      {
        size[d] = a.lines[d]->size();
        passes[d] = passes_of_size<W, C>(a.lines[d]->cells_per_patch, block.n);
      }
      std::int64_t count = Scratch<C>::rounded_up(size[0] * size[1] * size[2] * W);
      const auto table_size = [&](int d, int lanes) {
        return Scratch<C>::rounded_up((2 * size[d] * size[d] + size[d]) * lanes);
      };
      count += n_tables_x() * table_size(0, W);
      for (int d = 1; d < dim; ++d)
        count += static_cast<std::int64_t>(a.lines[d]->kinds.size()) * table_size(d, 1);
      Scratch<C> scratch(count);
      data = scratch.take(size[0] * size[1] * size[2] * W);
      for (int d = 0; d < dim; ++d)
      {
        table_stride[d] = table_size(d, d == 0 ? W : 1);
        tables[d] = scratch.take(
            table_stride[d] * (d == 0 ? n_tables_x() : std::int64_t(a.lines[d]->kinds.size())));
      }
      fill_tables();
    }

    void run()
    {
      static const std::vector<LinePatch> one_layer{{0, 0, 0}};
      const auto &patches_y = a.lines[1]->colours[a.colour[1]];
      const auto &patches_z = dim == 3 ? a.lines[2]->colours[a.colour[2]] : one_layer;
      const std::int64_t count = static_cast<std::int64_t>(patches_x.size());
      for (const LinePatch &z : patches_z)
        for (const LinePatch &y : patches_y)
          for (std::int64_t first = 0; first < count; first += W)
          {
            const Lanes lanes = lanes_from(first);
            gather(lanes, y, z);
            invert(table_x(first), y, z);
            scatter(lanes, y, z);
          }
    }

  private:
    /// Consecutive patches in x.
    struct Lanes
    {
      std::int64_t first_cell; ///< lower cell of lane 0
      int cells;               ///< of all patches together, from first_cell on, across the wrap
      bool full;               ///< W patches of two cells inside the row
    };
    Lanes lanes_from(std::int64_t first) const
    {
      const std::int64_t lower = patches_x[first].lower;
      const int count = static_cast<int>(
          std::min<std::int64_t>(W, static_cast<std::int64_t>(patches_x.size()) - first));
      return {lower, count * a.lines[0]->cells_per_patch,
          a.lines[0]->cells_per_patch == 2 && count == W && lower + 2 * W <= block.cells[0]};
    }

    /// Tables of a direction: [forward Q'][backward Q][eigenvalues c_d m]; those in x by lane.
    /// In x there is one table per kind for lanes that are all alike, then one for the first and
    /// one for the last vector, where they are not.
    int n_kinds_x() const { return static_cast<int>(a.lines[0]->kinds.size()); }
    int n_tables_x() const { return n_kinds_x() + 2; }
    const C *table_x(std::int64_t first) const
    {
      const auto end = std::min(first + W, static_cast<std::int64_t>(patches_x.size()));
      for (std::int64_t q = first + 1; q < end; ++q)
        if (patches_x[q].kind != patches_x[first].kind)
          return tables[0] + (n_kinds_x() + (first == 0 ? 0 : 1)) * table_stride[0];
      return tables[0] + patches_x[first].kind * table_stride[0];
    }

    /// Entry of one lane, or of all if the table is not by lane.
    void fill(int d, const LineKind &kind, C *table, int lane, int lanes)
    {
      const int N = size[d];
      for (int u = 0; u < N; ++u)
        for (int e = 0; e < N; ++e)
        {
          const C entry = static_cast<C>(kind.vectors[u * N + e]);
          table[(e * N + u) * lanes + lane] = entry;
          table[(N * N + u * N + e) * lanes + lane] = entry;
        }
      for (int e = 0; e < N; ++e)
        table[(2 * N * N + e) * lanes + lane] = static_cast<C>(a.factor[d] * kind.values[e]);
    }

    void fill_tables()
    {
      for (int d = 1; d < dim; ++d)
        for (std::size_t k = 0; k < a.lines[d]->kinds.size(); ++k)
          fill(d, a.lines[d]->kinds[k], tables[d] + static_cast<std::int64_t>(k) * table_stride[d],
              0, 1);
      const std::int64_t count = static_cast<std::int64_t>(patches_x.size());
      for (int lane = 0; lane < W; ++lane)
      {
        for (int k = 0; k < n_kinds_x(); ++k)
          fill(0, a.lines[0]->kinds[k], tables[0] + k * table_stride[0], lane, W);
        // Lanes without a patch get some patch's matrix: what they compute is not stored.
        if (count > 0)
          for (const std::int64_t first : {std::int64_t(0), (count - 1) / W * W})
            fill(0, a.lines[0]->kinds[patches_x[std::min(first + lane, count - 1)].kind],
                tables[0] + (n_kinds_x() + (first == 0 ? 0 : 1)) * table_stride[0], lane, W);
      }
    }

    /// f(cell row, position of its first unknown in y and z) for the 2 or 4 cell rows of a patch.
    template <typename T, typename U, typename Function>
    void for_each_cell_row(T *own, const std::array<U *, 3> &upper, const LinePatch &y,
        const LinePatch &z, Function &&f) const
    {
      const int above_y = size[1] > block.n, above_z = size[2] > block.n;
      for (int sz = 0; sz <= above_z; ++sz)
        for (int sy = 0; sy <= above_y; ++sy)
          with_cell_row(block, own, upper, sy ? y.upper : y.lower, sz ? z.upper : z.lower,
              [&](auto row) { f(row, sy * block.n, sz * block.nz()); });
    }

    /// f(line of x in memory, the same in scratch memory): cells of mode i, and W lanes of unknown
    /// i of the lower cell, then of the upper one.
    template <typename T, typename U, typename Function>
    void for_each_line(T *own, const std::array<U *, 3> &upper, const LinePatch &y,
        const LinePatch &z, Function &&f) const
    {
      for_each_cell_row(own, upper, y, z, [&](auto row, int y0, int z0) {
        for (int k = 0; k < block.nz(); ++k)
          for (int j = 0; j < block.n; ++j)
          {
            C *lanes = data + ((z0 + k) * size[1] + y0 + j) * size[0] * W;
            for (int i = 0; i < block.n; ++i)
              f(row.data + k * row.plane + j * block.row() + i * block.pitch, lanes + i * W,
                  lanes + (i + block.n) * W);
          }
      });
    }

    void gather(const Lanes &lanes, const LinePatch &y, const LinePatch &z) const
    {
      constexpr auto sequence = std::make_integer_sequence<int, W>();
      constexpr std::integral_constant<int, W> width;
      const bool two = a.lines[0]->cells_per_patch == 2;
      const auto load = [&](const Number *from, C *lower, C *upper) TENSORMG_INLINE {
        V left, right;
        if (lanes.full)
        {
          left = simd::load<W>(from + lanes.first_cell);
          right = simd::load<W>(from + lanes.first_cell + W);
        }
        else
        {
          Number cells[2 * W] = {};
          for (int c = 0; c < lanes.cells; ++c)
            cells[c] = from[wrapped(lanes.first_cell + c)];
          left = simd::load<W>(cells);
          right = simd::load<W>(cells + W);
        }
        simd::store<W>(lower, every_second(left, right, width, sequence, 0));
        if (two)
          simd::store<W>(upper, every_second(left, right, width, sequence, 1));
      };
      for_each_line(a.r, a.r_upper, y, z, load);
    }

    void scatter(const Lanes &lanes, const LinePatch &y, const LinePatch &z) const
    {
      constexpr auto sequence = std::make_integer_sequence<int, W>();
      const bool two = a.lines[0]->cells_per_patch == 2;
      const auto add = [&](auto *to, const C *lower, const C *upper) TENSORMG_INLINE {
        using T = std::remove_reference_t<decltype(*to)>;
        const V low = simd::load<W>(lower), high = two ? simd::load<W>(upper) : V{};
        const V left = interleave<0>(low, high, sequence);
        const V right = interleave<W / 2>(low, high, sequence);
        if (lanes.full)
        {
          to += lanes.first_cell;
          simd::store<W>(to, simd::load<W>(to) + left);
          simd::store<W>(to + W, simd::load<W>(to + W) + right);
          return;
        }
        C cells[2 * W];
        simd::store<W>(cells, left);
        simd::store<W>(cells + W, right);
        for (int c = 0; c < lanes.cells; ++c)
        {
          T &number = to[wrapped(lanes.first_cell + c)];
          number = T(static_cast<C>(number) + cells[c]);
        }
      };
      for_each_line(a.x, a.x_upper, y, z, add);
    }

    std::int64_t wrapped(std::int64_t cell) const
    {
      return cell < block.cells[0] ? cell : cell - block.cells[0];
    }

    void invert(const C *x, const LinePatch &y, const LinePatch &z) const
    {
      const int nx = size[0], ny = size[1], nz = size[2];
      const C *ty = tables[1] + y.kind * table_stride[1];
      const C damping = static_cast<C>(a.damping);
      const C *values_x = x + 2 * nx * nx * W;
      passes[0].along_x({x}, data, ny * nz, 1);
      if (dim == 2)
      {
        const C none = C(0);
        passes[1].last(ty, ty + ny * ny, {values_x, &none, ty + 2 * ny * ny, nx, 1}, damping, data);
      }
      else
      {
        const C *tz = tables[2] + z.kind * table_stride[2];
        passes[1].along_y({ty}, data, nz, nx);
        passes[2].last(tz, tz + nz * nz, {values_x, ty + 2 * ny * ny, tz + 2 * nz * nz, nx, ny},
            damping, data);
        passes[1].along_y({ty + ny * ny}, data, nz, nx);
      }
      passes[0].along_x({x + nx * nx * W}, data, ny * nz, 1);
    }

    const Arguments<Number> &a;
    const Block block;
    const int dim;
    const std::vector<LinePatch> &patches_x;
    std::array<int, 3> size{1, 1, 1}; ///< unknowns of a patch by direction
    std::array<Passes<W, C>, 3> passes{};
    C *data = nullptr; ///< [unknown in z][in y][in x][lane]
    std::array<C *, 3> tables{};
    std::array<std::int64_t, 3> table_stride{};
  };
} // namespace

template <typename Number>
void correct_cpu(const Arguments<Number> &a)
{
  constexpr int W = simd::native_width<Compute<Number>>;
  // Few patches in x fill half a register as well as a whole one would.
  if constexpr (W > 8)
    if (a.lines[0]->colours[a.colour[0]].size() <= 8)
      return Sweep<8, Number>(a).run();
  Sweep<W, Number>(a).run();
}

template void correct_cpu(const Arguments<double> &);
template void correct_cpu(const Arguments<float> &);
template void correct_cpu(const Arguments<Half> &);
} // namespace tensormg::patch
