#include "apps/compare/operation.h"

#include <cmath>

namespace tensormg
{
namespace
{
  /// Whole lines of cells in x.
  struct Window
  {
    std::int64_t first_y, n_y, first_z, n_z; ///< cells
  };

  /// Blocks up to this size are compared completely.
  constexpr std::int64_t small_block = 60'000;

  std::vector<Window> make_windows(const Block &block)
  {
    const std::int64_t ny = block.cells[1], nz = block.cells[2];
    if (block.dofs() <= small_block)
      return {{0, ny, 0, nz}};
    std::vector<Window> windows;
    const auto add = [&](std::int64_t y, std::int64_t z) { windows.push_back({y, 1, z, 1}); };
    add(0, 0);
    add(ny - 1, nz - 1);
    add(ny / 2, nz / 2);
    add((ny - 1) / 3, nz - 1);
    add(ny - 1, (nz - 1) / 3);
    return windows;
  }

  template <typename Number>
  double to_double(Number x)
  {
    return static_cast<double>(static_cast<Compute<Number>>(x));
  }

  /// A window of a random vector as a vector of its own block.
  template <typename Number>
  Vector<Number> cut(
      const OperationSetup &setup, const Block &part, const Window &window, Operand operand)
  {
    const Block &block = setup.block;
    Vector<Number> result(part);
    for (std::int64_t plane = 0; plane < part.planes(); ++plane)
    {
      const std::int64_t z = window.first_z * block.nz() + plane;
      const std::int64_t row = z * block.rows_per_plane() + window.first_y * block.n;
      fill_lines(setup, operand, row * block.n, part.rows_per_plane() * part.n,
          result.data() + plane * part.plane());
    }
    return result;
  }

  /// The reference's result on a window.
  template <typename Number>
  Vector<Number> expected_in(
      const OperationSetup &setup, const CellBasis &basis, const Window &window)
  {
    const Block &block = setup.block;
    const int dim = block.dim, degree = block.degree();
    const Block part(dim, degree, {block.cells[0], window.n_y, window.n_z});
    laplace::Arguments<Number> a;
    a.block = part;
    a.basis = &basis;
    a.factor = setup.factor;
    a.sides = setup.sides;
    a.theta = compare_theta;
    a.alpha = compare_alpha;
    std::array<std::vector<Compute<Number>>, 6> ghosts;
    for (std::size_t side = 2; side < 2 * static_cast<std::size_t>(dim); ++side)
    {
      const bool in_y = side < 4, upper = side % 2 == 1;
      const std::int64_t first = in_y ? window.first_y : window.first_z;
      const std::int64_t behind = first + (in_y ? window.n_y : window.n_z);
      if (upper ? behind == block.cells[side / 2] : first == 0)
        continue;
      // The cells beyond this side; they show the opposite one.
      Window neighbour = window;
      (in_y ? neighbour.first_y : neighbour.first_z) = upper ? behind : first - 1;
      (in_y ? neighbour.n_y : neighbour.n_z) = 1;
      const Block cells(dim, degree, {block.cells[0], neighbour.n_y, neighbour.n_z});
      const Vector<Number> values = cut<Number>(setup, cells, neighbour, Operand::src);
      ghosts[side].resize(
          static_cast<std::size_t>(laplace::ghost_size(part, static_cast<int>(side))));
      laplace::select_pack<Number>(degree)(
          cells, basis, static_cast<int>(side) ^ 1, values.data(), ghosts[side].data());
      a.sides[side] = Side::ghost;
      a.ghost[side] = ghosts[side].data();
    }
    const Vector<Number> src = cut<Number>(setup, part, window, Operand::src);
    const Vector<Number> b = cut<Number>(setup, part, window, Operand::b);
    const Vector<Number> old = cut<Number>(setup, part, window, Operand::old);
    Vector<Number> dst(part);
    a.src = src.data();
    a.b = b.data();
    a.old = old.data();
    a.dst = dst.data();
    laplace::select<Number>(laplace::Backend::reference, setup.form, dim, degree)(a);
    return dst;
  }

  /// Whether every entry is finite and all padding zero.
  template <typename Number>
  bool is_sound(const Block &block, const Fetch<Number> &result)
  {
    const std::int64_t lines = block.size() / block.pitch;
    const std::int64_t at_once = std::max<std::int64_t>(1, piece_size / block.pitch);
    std::vector<Number> piece(static_cast<std::size_t>(std::min(lines, at_once) * block.pitch));
    bool sound = true;
    for (std::int64_t line = 0; line < lines; line += at_once)
    {
      const std::int64_t count = std::min(at_once, lines - line);
      result(line * block.pitch, count * block.pitch, piece.data());
      for (std::int64_t l = 0; l < count; ++l)
      {
        const Number *values = piece.data() + l * block.pitch;
        for (std::int64_t cx = 0; cx < block.pitch; ++cx)
          sound &= cx < block.cells[0] ? std::isfinite(to_double(values[cx]))
                                       : to_double(values[cx]) == 0.;
      }
    }
    return sound;
  }

  void add(Difference &difference, double found, double expected)
  {
    const double error = std::abs(found - expected);
    difference.error = std::isfinite(error) ? std::max(difference.error, error)
                                            : std::numeric_limits<double>::infinity();
    difference.largest = std::max(difference.largest, std::abs(expected));
  }

  /// An avalanche of all bits (the finaliser of splitmix64).
  std::uint64_t mix(std::uint64_t x)
  {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
  }
} // namespace

template <typename Number>
void fill_lines(const OperationSetup &setup, Operand operand, std::int64_t first_line,
    std::int64_t n_lines, Number *to)
{
  const Block &block = setup.block;
  const std::uint64_t seed = mix(setup.seed * 8 + static_cast<std::uint64_t>(operand) + 1);
  for (std::int64_t l = 0; l < n_lines; ++l)
  {
    const std::uint64_t line = mix(seed + static_cast<std::uint64_t>(first_line + l));
    Number *values = to + l * block.pitch;
    for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
    {
      const std::uint64_t word = mix(line + static_cast<std::uint64_t>(cx) * 0x9e3779b97f4a7c15U);
      const double value = static_cast<double>(static_cast<std::int64_t>(word)) * 0x1p-64;
      values[cx] = Number(static_cast<Compute<Number>>(value));
    }
    for (std::int64_t cx = block.cells[0]; cx < block.pitch; ++cx)
      values[cx] = Number(Compute<Number>(0));
  }
}

template <typename Number>
Difference compare_with_reference(
    const OperationSetup &setup, const CellBasis &basis, const Fetch<Number> &result)
{
  const Block &block = setup.block;
  Difference difference;
  if (!is_sound(block, result))
    difference.error = std::numeric_limits<double>::infinity();
  for (const Window &window : make_windows(block))
  {
    const Vector<Number> expected = expected_in<Number>(setup, basis, window);
    const Block &part = expected.block();
    std::vector<Number> found(static_cast<std::size_t>(part.plane()));
    for (std::int64_t plane = 0; plane < part.planes(); ++plane)
    {
      const std::int64_t z = window.first_z * block.nz() + plane;
      result((z * block.rows_per_plane() + window.first_y * block.n) * block.row(), part.plane(),
          found.data());
      for (std::int64_t at = 0; at < part.plane(); ++at)
        add(difference, to_double(found[static_cast<std::size_t>(at)]),
            to_double(expected[plane * part.plane() + at]));
    }
  }
  return difference;
}

template <typename Number>
Difference compare_vectors(
    std::int64_t size, const Fetch<Number> &result, const Fetch<Number> &expected)
{
  Difference difference;
  std::vector<Number> a(static_cast<std::size_t>(std::min(size, piece_size))), b(a.size());
  for (std::int64_t first = 0; first < size; first += piece_size)
  {
    const std::int64_t count = std::min(piece_size, size - first);
    result(first, count, a.data());
    expected(first, count, b.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
      add(difference, to_double(a[i]), to_double(b[i]));
  }
  return difference;
}

std::vector<OperationSetup> small_setups(int dim, int degree, laplace::Form form)
{
  constexpr Side D = Side::dirichlet, N = Side::neumann, W = Side::wrap;
  const std::int64_t layers = dim == 3 ? 2 : 1;
  return {{Block(dim, degree, {9, 3, layers}), {D, N, N, D, D, N}, {1., 0.4, 0.7}, form, 100},
      {Block(dim, degree, {17, 1, dim == 3 ? 3 : 1}), {W, W, D, D, N, D}, {0.6, 1., 0.8}, form,
          101}};
}

OperationSetup timed_setup(
    int dim, int degree, std::array<std::int64_t, 3> cells, laplace::Form form, int rank)
{
  OperationSetup setup;
  setup.block = Block(dim, degree, cells);
  setup.sides.fill(Side::dirichlet);
  setup.form = form;
  setup.seed = static_cast<std::uint64_t>(rank);
  return setup;
}

template void fill_lines(const OperationSetup &, Operand, std::int64_t, std::int64_t, double *);
template void fill_lines(const OperationSetup &, Operand, std::int64_t, std::int64_t, float *);
template void fill_lines(const OperationSetup &, Operand, std::int64_t, std::int64_t, Half *);
template Difference compare_with_reference(
    const OperationSetup &, const CellBasis &, const Fetch<double> &);
template Difference compare_with_reference(
    const OperationSetup &, const CellBasis &, const Fetch<float> &);
template Difference compare_with_reference(
    const OperationSetup &, const CellBasis &, const Fetch<Half> &);
template Difference compare_vectors(std::int64_t, const Fetch<double> &, const Fetch<double> &);
template Difference compare_vectors(std::int64_t, const Fetch<float> &, const Fetch<float> &);
template Difference compare_vectors(std::int64_t, const Fetch<Half> &, const Fetch<Half> &);
} // namespace tensormg
