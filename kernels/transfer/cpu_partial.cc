// One direction after the other: 9/4 + 1/2 instead of 9/8 numbers per degree of freedom in the worst case, but one text for all.
#include "kernels/transfer/cpu_partial.h"

#include <algorithm>

#include "kernels/transfer/cpu_lines.h"

namespace tensormg::transfer
{
namespace
{
  /// How the lines of direction y or z lie in a block: [outer][cell][mode][inner].
  struct Lines
  {
    std::int64_t outer, inner, cells;
    Lines(const Block &block, int d)
      : outer(d == 1 ? block.planes() : 1)
      , inner(d == 1 ? block.row() : block.plane())
      , cells(block.cells[d])
    {}
  };

  /// So many numbers of a line's inner direction at a time: both children of p = 8 fit the first cache.
  constexpr std::int64_t chunk = 128;

  /// Where one direction of a prolongation begins and ends. Null pointers: nothing there.
  template <typename Src, typename Dst>
  struct Expansion
  {
    Block fine, coarse;
    const CellBasis *basis;
    double factor;
    const Src *src, *src_rest;
    Dst *dst, *dst_rest;
    bool add, add_rest;
  };

  template <typename Src, typename Dst>
  struct Collection
  {
    Block fine, coarse;
    const CellBasis *basis;
    double factor;
    const Src *src;
    Dst *dst;
  };

  template <typename C, typename Src, typename Dst>
  void write_line(const Expansion<Src, Dst> &e, const C *line, std::int64_t to, std::int64_t length)
  {
    Dst *const rest = e.dst_rest == nullptr ? nullptr : e.dst_rest + to;
    add_line(line, length, e.dst + to, rest, e.add, e.add_rest);
  }

  /// What is prolongated, in C.
  template <typename C, typename Src, typename Dst>
  void read_line(const Expansion<Src, Dst> &e, std::int64_t from, C *line, std::int64_t length)
  {
    simd::for_each_vector<C>(length, [&](std::int64_t x, auto width) TENSORMG_INLINE {
      simd::Vec<C, width> value = simd::load<width>(e.src + from + x);
      if (e.src_rest != nullptr)
        value += simd::load<width>(e.src_rest + from + x);
      simd::store<width>(line + x, value);
    });
  }

  template <int n, typename Src, typename Dst>
  void expand_lines(const Expansion<Src, Dst> &e, int d)
  {
    using C = Compute<Dst>;
    const Lines coarse(e.coarse, d);
    const Weights<n, C> weights(*e.basis, e.factor);
    C parent[n * chunk], children[2][n * chunk];
    for (std::int64_t line = 0; line < coarse.outer * coarse.cells; ++line)
      for (std::int64_t x = 0; x < coarse.inner; x += chunk)
      {
        const std::int64_t length = std::min(chunk, coarse.inner - x);
        for (int i = 0; i < n; ++i)
          read_line(e, (line * n + i) * coarse.inner + x, parent + i * chunk, length);
        expand<n>(weights, parent, chunk, children[0], children[1], chunk, length);
        for (int s = 0; s < 2; ++s)
          for (int a = 0; a < n; ++a)
            write_line(
                e, children[s] + a * chunk, ((2 * line + s) * n + a) * coarse.inner + x, length);
      }
  }

  template <int n, typename Src, typename Dst>
  void collect_lines(const Collection<Src, Dst> &c, int d)
  {
    using C = Compute<Dst>;
    const Lines coarse(c.coarse, d);
    const Weights<n, C> weights(*c.basis, 0.5 * c.factor);
    C children[2][n * chunk];
    for (std::int64_t line = 0; line < coarse.outer * coarse.cells; ++line)
      for (std::int64_t x = 0; x < coarse.inner; x += chunk)
      {
        const std::int64_t length = std::min(chunk, coarse.inner - x);
        for (int s = 0; s < 2; ++s)
          for (int a = 0; a < n; ++a)
          {
            const Src *from = c.src + ((2 * line + s) * n + a) * coarse.inner + x;
            simd::for_each_vector<C>(length, [&](std::int64_t at, auto width) TENSORMG_INLINE {
              simd::store<width>(children[s] + a * chunk + at, simd::load<width>(from + at));
            });
          }
        collect<n>(weights, children[0], children[1], chunk, c.dst + line * n * coarse.inner + x,
            coarse.inner, length);
      }
  }

  /// In x children are neighbours in memory.
  template <int n, typename Src, typename Dst>
  void expand_rows(const Expansion<Src, Dst> &e)
  {
    using C = Compute<Dst>;
    const Block &fine = e.fine, &coarse = e.coarse;
    const Weights<n, C> weights(*e.basis, e.factor);
    std::vector<C> memory(3 * coarse.row() + fine.pitch, C(0));
    C *parent = memory.data(), *children[2] = {parent + coarse.row(), parent + 2 * coarse.row()};
    C *line = parent + 3 * coarse.row();
    for (std::int64_t r = 0; r < coarse.planes() * coarse.rows_per_plane(); ++r)
    {
      read_line(e, r * coarse.row(), parent, coarse.row());
      expand<n>(
          weights, parent, coarse.pitch, children[0], children[1], coarse.pitch, coarse.pitch);
      for (int a = 0; a < n; ++a)
      {
        for (std::int64_t x = 0; x < fine.cells[0]; ++x)
          line[x] = children[x % 2][a * coarse.pitch + x / 2];
        write_line(e, line, r * fine.row() + a * fine.pitch, fine.pitch);
      }
    }
  }

  template <int n, typename Src, typename Dst>
  void collect_rows(const Collection<Src, Dst> &c)
  {
    using C = Compute<Dst>;
    const Block &fine = c.fine, &coarse = c.coarse;
    const Weights<n, C> weights(*c.basis, 0.5 * c.factor);
    std::vector<C> memory(2 * coarse.row(), C(0));
    C *children[2] = {memory.data(), memory.data() + coarse.row()};
    for (std::int64_t r = 0; r < coarse.planes() * coarse.rows_per_plane(); ++r)
    {
      for (int a = 0; a < n; ++a)
      {
        const Src *from = c.src + r * fine.row() + a * fine.pitch;
        for (std::int64_t x = 0; x < fine.cells[0]; ++x)
          children[x % 2][a * coarse.pitch + x / 2] = static_cast<C>(from[x]);
      }
      collect<n>(weights, children[0], children[1], coarse.pitch, c.dst + r * coarse.row(),
          coarse.pitch, coarse.pitch);
    }
  }

  template <typename Src, typename Dst>
  void expand_direction(const Expansion<Src, Dst> &e, int d)
  {
    dispatch(3, e.fine.n, [&]<int dim, int n>() {
      if constexpr (dim == 3) // both dimensions have these lines
        d == 0 ? expand_rows<n>(e) : expand_lines<n>(e, d);
    });
  }

  template <typename Src, typename Dst>
  void collect_direction(const Collection<Src, Dst> &c, int d)
  {
    dispatch(3, c.fine.n, [&]<int dim, int n>() {
      if constexpr (dim == 3)
        d == 0 ? collect_rows<n>(c) : collect_lines<n>(c, d);
    });
  }
} // namespace

template <typename Number>
void prolongate_partially(const Prolongate<Number> &p)
{
  using C = Compute<Number>;
  const Block middle = between(p.fine, p.coarse);
  const auto [last, first] = halved_in_order(p.fine, p.coarse);
  Expansion<Number, Number> whole{
      p.fine, p.coarse, p.basis, p.factor, p.src, p.src_rest, p.dst, p.dst_rest, p.add, p.add_rest};
  if (middle.n_cells() == 0)
    return expand_direction(whole, last);
  C *const numbers = scratch<C>(middle.size());
  expand_direction(Expansion<Number, C>{middle, p.coarse, p.basis, p.factor, p.src, p.src_rest,
                       numbers, nullptr, false, false},
      first);
  expand_direction(Expansion<C, Number>{p.fine, middle, p.basis, 1., numbers, nullptr, p.dst,
                       p.dst_rest, p.add, p.add_rest},
      last);
}

template <typename Number>
void restrict_partially(const Restrict<Number> &r)
{
  using C = Compute<Number>;
  const Block middle = between(r.fine, r.coarse);
  const auto [first, last] = halved_in_order(r.fine, r.coarse);
  if (middle.n_cells() == 0)
    return collect_direction(
        Collection<Number, Number>{r.fine, r.coarse, r.basis, r.factor, r.src, r.dst}, first);
  C *const numbers = scratch<C>(middle.size());
  collect_direction(
      Collection<Number, C>{r.fine, middle, r.basis, r.factor, r.src, numbers}, first);
  collect_direction(Collection<C, Number>{middle, r.coarse, r.basis, 1., numbers, r.dst}, last);
}

template void prolongate_partially(const Prolongate<double> &);
template void prolongate_partially(const Prolongate<float> &);
template void prolongate_partially(const Prolongate<Half> &);
template void restrict_partially(const Restrict<double> &);
template void restrict_partially(const Restrict<float> &);
template void restrict_partially(const Restrict<Half> &);
} // namespace tensormg::transfer
