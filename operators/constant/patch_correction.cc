#include "operators/constant/patch_correction.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "kernels/vector/vector.h"

extern "C" void dsyev_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda,
    double *w, double *work, const int *lwork, int *info);

namespace tensormg
{
using patch::upper_y;
using patch::upper_yz;
using patch::upper_z;

namespace
{
  template <typename T>
  MPI_Datatype mpi_type()
  {
    return sizeof(T) == 8 ? MPI_DOUBLE : sizeof(T) == 4 ? MPI_FLOAT : MPI_UINT16_T;
  }

  /// Sends to one neighbour and receives from the opposite one; either count may be zero: no
  /// message.
  template <typename T>
  void shift(const T *from, std::int64_t count_from, int receiver, T *to, std::int64_t count_to,
      int sender, MPI_Comm communicator)
  {
    MPI_Sendrecv(from, static_cast<int>(count_from), mpi_type<T>(),
        count_from > 0 ? receiver : MPI_PROC_NULL, 0, to, static_cast<int>(count_to), mpi_type<T>(),
        count_to > 0 ? sender : MPI_PROC_NULL, 0, communicator, MPI_STATUS_IGNORE);
  }

  template <typename Number>
  void add_to(Number *x, const Compute<Number> *correction, std::int64_t count)
  {
    for (std::int64_t at = 0; at < count; ++at)
      x[at] = Number(static_cast<Compute<Number>>(x[at]) + correction[at]);
  }
} // namespace

patch::LineRange line_range(const LevelGrid &level, int d)
{
  patch::LineRange range;
  range.global_cells = level.global_cells[d];
  range.offset = level.offset[d];
  range.cells = level.block.cells[d];
  std::array<int, 2> ends{-1, -1};
  if (range.offset == 0)
    ends[0] = static_cast<int>(level.sides[2 * d]);
  if (range.offset + range.cells == range.global_cells)
    ends[1] = static_cast<int>(level.sides[2 * d + 1]);
  if (level.communicator != MPI_COMM_SELF)
    MPI_Allreduce(MPI_IN_PLACE, ends.data(), 2, MPI_INT, MPI_MAX, level.communicator);
  range.lower = static_cast<Side>(ends[0]);
  range.upper = static_cast<Side>(ends[1]);
  return range;
}

std::vector<std::array<int, 3>> ordered_colours(const std::array<patch::Line, 3> &lines, int dim)
{
  std::vector<std::array<int, 3>> even, odd;
  for (int z = 0; z < (dim == 3 ? lines[2].n_colours() : 1); ++z)
    for (int y = 0; y < lines[1].n_colours(); ++y)
      for (int x = 0; x < lines[0].n_colours(); ++x)
        ((x + y + z) % 2 == 0 ? even : odd).push_back({x, y, z});
  even.insert(even.end(), odd.rbegin(), odd.rend());
  return even;
}

patch::Line make_diagonalised_line(const CellBasis &basis, const patch::LineRange &range)
{
  patch::Line line = patch::make_line(basis, range);
  const int size = line.size();
  for (patch::LineKind &kind : line.kinds)
  {
    std::vector<double> columns = kind.matrix; // symmetric: row-major is column-major
    kind.values.resize(size);
    const int lwork = 8 * size + 16;
    std::vector<double> work(lwork);
    int info = 0;
    dsyev_("V", "U", &size, columns.data(), &size, kind.values.data(), work.data(), &lwork, &info);
    if (info != 0)
      throw std::runtime_error("dsyev failed on a patch matrix of size " + std::to_string(size));
    if (kind.is_singular())
      kind.values.front() = 0.; // the constant's, up to rounding
    kind.vectors.resize(columns.size());
    for (int u = 0; u < size; ++u)
      for (int e = 0; e < size; ++e)
        kind.vectors[u * size + e] = columns[e * size + u];
  }
  return line;
}

template <typename Number>
PatchCorrection<Number>::PatchCorrection(
    const LevelGrid &level, const CellBasis &basis, laplace::Backend backend)
  : level_(level)
  , basis_(basis)
  , reference_(backend == laplace::Backend::reference)
{
  const Block &block = level.block;
  for (int d = 0; d < block.dim; ++d)
  {
    const patch::LineRange range = line_range(level, d);
    lines_[d] = make_diagonalised_line(basis, range);
    if (range.cells == range.global_cells)
      continue; // patches that wrap around do so inside the block
    const std::int64_t last = range.offset + range.cells - 1;
    const std::int64_t before = (range.offset + range.global_cells - 1) % range.global_cells;
    if (level.sides[2 * d + 1] == Side::ghost)
      crossing_.up[d] = range.colour(last);
    if (level.sides[2 * d] == Side::ghost)
      crossing_.down[d] = range.colour(before);
  }
  colours_ = ordered_colours(lines_, block.dim);
  // Numbers of the layers of cells beyond, or of the first ones inside.
  const std::int64_t edge = block.nz() * block.n * block.row();
  const std::array<std::int64_t, 3> layer{edge * block.cells[2], edge * block.cells[1], edge};
  if (std::max(layer[upper_y], layer[upper_z]) > std::numeric_limits<int>::max())
    throw std::length_error("a layer of cells of one rank has more unknowns than one MPI message "
                            "can carry; use more ranks");
  const bool up_y = crossing_.up[1] >= 0, up_z = crossing_.up[2] >= 0;
  const bool down_y = crossing_.down[1] >= 0, down_z = crossing_.down[2] >= 0;
  const std::array<bool, 3> reaches{up_y, up_z, up_y && up_z};
  // What comes back across z includes the neighbour's layer beyond y, if this block has that layer
  // too.
  const std::array<bool, 3> receives{down_y, down_z, down_z && up_y};
  for (int which = 0; which < 3; ++which)
  {
    residual_[which].resize(reaches[which] ? layer[which] : 0);
    correction_[which].resize(reaches[which] ? layer[which] : 0);
    receive_[which].resize(receives[which] ? layer[which] : 0);
  }
  send_.resize(down_y ? layer[upper_y] : 0);
}

template <typename Number>
typename PatchCorrection<Number>::Exchanges PatchCorrection<Number>::exchanges(
    const std::array<int, 3> *colour) const
{
  Exchanges result;
  for (int d = 1; d < level_.block.dim; ++d)
  {
    const auto takes_part = [&](int crossing) {
      return crossing >= 0 && (colour == nullptr || (*colour)[d] == crossing);
    };
    result[d] = {takes_part(crossing_.up[d]), takes_part(crossing_.down[d])};
  }
  return result;
}

template <typename Number>
void PatchCorrection<Number>::fetch_residual(const Number *r, const Exchanges &exchanges)
{
  const Block &block = level_.block;
  const std::int64_t cell_row = block.n * block.row();
  const auto shift_down = [&](int d, const Number *first, std::vector<Number> &beyond,
                              std::int64_t size) {
    shift(first, exchanges[d].down ? size : 0, level_.neighbour[2 * d], beyond.data(),
        exchanges[d].up ? size : 0, level_.neighbour[2 * d + 1], level_.communicator);
  };
  for (int which = 0; which < 3; ++which)
    if ((which == upper_z || exchanges[1].up) && (which == upper_y || exchanges[2].up))
      std::fill(correction_[which].begin(), correction_[which].end(), C(0));
  if (exchanges[1].up || exchanges[1].down)
  {
    if (exchanges[1].down)
      for (std::int64_t z = 0; z < block.planes(); ++z)
        std::copy_n(r + z * block.plane(), cell_row, send_.data() + z * cell_row);
    shift_down(1, send_.data(), residual_[upper_y], block.planes() * cell_row);
  }
  if (exchanges[2].up || exchanges[2].down)
  {
    shift_down(2, r, residual_[upper_z], block.nz() * block.plane());
    if (exchanges[1].up)
      shift_down(2, residual_[upper_y].data(), residual_[upper_yz], block.nz() * cell_row);
  }
}

template <typename Number>
void PatchCorrection<Number>::return_corrections(Number *x, const Exchanges &exchanges)
{
  const Block &block = level_.block;
  const std::int64_t cell_row = block.n * block.row();
  const auto shift_up = [&](int d, int which, std::int64_t size) {
    shift(correction_[which].data(), exchanges[d].up ? size : 0, level_.neighbour[2 * d + 1],
        receive_[which].data(), exchanges[d].down ? size : 0, level_.neighbour[2 * d],
        level_.communicator);
  };
  if (exchanges[2].up || exchanges[2].down)
  {
    shift_up(2, upper_z, block.nz() * block.plane());
    if (exchanges[2].down)
      add_to(x, receive_[upper_z].data(), block.nz() * block.plane());
    if (exchanges[1].up)
    {
      shift_up(2, upper_yz, block.nz() * cell_row);
      if (exchanges[2].down)
        add_to(correction_[upper_y].data(), receive_[upper_yz].data(), block.nz() * cell_row);
    }
  }
  if (exchanges[1].up || exchanges[1].down)
  {
    shift_up(1, upper_y, block.planes() * cell_row);
    if (exchanges[1].down)
      for (std::int64_t z = 0; z < block.planes(); ++z)
        add_to(x + z * block.plane(), receive_[upper_y].data() + z * cell_row, cell_row);
  }
}

template <typename Number>
void PatchCorrection<Number>::solve(
    Vector<Number> &x, const Vector<Number> &r, const std::array<int, 3> &colour, double damping)
{
  patch::Arguments<Number> a;
  a.block = level_.block;
  a.basis = &basis_;
  a.factor = level_.direction_factors();
  a.colour = colour;
  a.damping = damping;
  a.r = r.data();
  a.x = x.data();
  for (int i = 0; i < 3; ++i)
  {
    a.lines[i] = &lines_[i];
    a.r_upper[i] = residual_[i].data();
    a.x_upper[i] = correction_[i].data();
  }
  reference_ ? patch::correct_reference(a) : patch::correct_cpu(a);
}

template <typename Number>
void PatchCorrection<Number>::add(
    Vector<Number> &x, const Vector<Number> &r, int colour, double damping)
{
  const Exchanges taking_part = exchanges(&colours_[colour]);
  fetch_residual(r.data(), taking_part);
  solve(x, r, colours_[colour], damping);
  return_corrections(x.data(), taking_part);
}

template <typename Number>
void PatchCorrection<Number>::add_all(Vector<Number> &x, const Vector<Number> &r, double damping)
{
  const Exchanges taking_part = exchanges(nullptr);
  fetch_residual(r.data(), taking_part);
  for (const std::array<int, 3> &colour : colours_)
    solve(x, r, colour, damping);
  return_corrections(x.data(), taking_part);
}

template <typename Number>
void PatchCorrection<Number>::set_zero(Vector<Number> &x)
{
  std::memset(
      static_cast<void *>(x.data()), 0, static_cast<std::size_t>(x.size()) * sizeof(Number));
}

template <typename Number>
void PatchCorrection<Number>::extrapolate(double theta, Vector<Number> &x, Vector<Number> &old)
{
  vector_kernels::axpby(x.size(), 1. + theta, x.data(), -theta, old.data());
  x.swap(old);
}

template class PatchCorrection<double>;
template class PatchCorrection<float>;
template class PatchCorrection<Half>;
} // namespace tensormg
