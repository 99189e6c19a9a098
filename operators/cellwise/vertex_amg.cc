#include "operators/cellwise/vertex_amg.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <stdexcept>

#include <deal.II/base/config.h>
#ifdef DEAL_II_WITH_TRILINOS
#include <deal.II/base/index_set.h>
#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/trilinos_precondition.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/vector.h>
#include <ml_MultiLevelPreconditioner.h>
#endif

namespace tensormg
{
#ifdef DEAL_II_WITH_TRILINOS
struct VertexAmg::Library
{
  dealii::TrilinosWrappers::SparseMatrix matrix;
  dealii::TrilinosWrappers::PreconditionAMG preconditioner;
  dealii::Vector<double> x, r, z, p, q;
  bool is_singular;

  Library(const SparseRows &rows, bool is_singular_)
    : is_singular(is_singular_)
  {
    if (rows.rows() > std::numeric_limits<std::int32_t>::max())
      throw std::length_error("a matrix on vertices has more than 2^31 - 1 rows");
    fill(rows);
    dealii::TrilinosWrappers::PreconditionAMG::AdditionalData data;
    data.smoother_sweeps = 2;
    data.aggregation_threshold = 0.05;
    preconditioner.initialize(matrix, data);
    for (dealii::Vector<double> *vector : {&x, &r, &z, &p, &q})
      vector->reinit(static_cast<unsigned>(rows.rows()));
  }

  /// x = A^-1 r by conjugate gradients; r is lost.
  void solve()
  {
    x = 0.;
    if (is_singular)
      r.add(-r.mean_value());
    double first = 0., last = 0.;
    for (int step = 0; step < most_vertex_iterations; ++step)
    {
      preconditioner.vmult(z, r);
      const double product = r * z;
      if (step == 0)
        first = product;
      if (!(product > vertex_accuracy * vertex_accuracy * first))
        break;
      if (step == 0)
        p = z;
      else
        p.sadd(product / last, 1., z);
      last = product;
      matrix.vmult(q, p);
      const double alpha = product / (p * q);
      x.add(alpha, p);
      r.add(-alpha, q);
    }
    if (is_singular)
      x.add(-x.mean_value());
  }

  /// x = V-cycles for r; r is lost.
  void cycles(int count)
  {
    x = 0.;
    if (is_singular)
      r.add(-r.mean_value());
    for (int cycle = 0; cycle < count; ++cycle)
    {
      preconditioner.vmult(z, r);
      x.add(1., z);
      if (cycle + 1 == count)
        break;
      matrix.vmult(q, z);
      r.add(-1., q);
    }
    if (is_singular)
      x.add(-x.mean_value());
  }

private:
  /// A singular matrix gets so much more on its diagonal: constants of the result mean nothing.
  static constexpr double shift = 1e-10;
  struct Entry
  {
    unsigned column;
    double value;
  };

  std::vector<Entry> row_of(const SparseRows &rows, unsigned r) const
  {
    std::vector<Entry> row;
    for (std::int64_t e = rows.begin[r]; e < rows.begin[r + 1]; ++e)
    {
      const auto column = static_cast<unsigned>(rows.columns[static_cast<std::size_t>(e)]);
      row.push_back({column,
          rows.values[static_cast<std::size_t>(e)] *
              (is_singular && column == r ? 1. + shift : 1.)});
    }
    std::stable_sort(
        row.begin(), row.end(), [](const Entry &a, const Entry &b) { return a.column < b.column; });
    return row;
  }

  /// Entries of the same place are summed.
  void fill(const SparseRows &rows)
  {
    const auto size = static_cast<unsigned>(rows.rows());
    dealii::DynamicSparsityPattern pattern(size, size);
    std::vector<unsigned> columns;
    for (unsigned r = 0; r < size; ++r)
    {
      columns.clear();
      for (const Entry &entry : row_of(rows, r))
        if (columns.empty() || columns.back() != entry.column)
          columns.push_back(entry.column);
      pattern.add_entries(r, columns.begin(), columns.end(), true);
    }
    const dealii::IndexSet all = dealii::complete_index_set(size);
    matrix.reinit(all, all, pattern, MPI_COMM_SELF, false);
    std::vector<double> values;
    for (unsigned r = 0; r < size; ++r)
    {
      columns.clear();
      values.clear();
      for (const Entry &entry : row_of(rows, r))
        if (!columns.empty() && columns.back() == entry.column)
          values.back() += entry.value;
        else
        {
          columns.push_back(entry.column);
          values.push_back(entry.value);
        }
      matrix.set(r, static_cast<unsigned>(columns.size()), columns.data(), values.data());
    }
    matrix.compress(dealii::VectorOperation::insert);
  }
};

namespace
{
  std::vector<std::int64_t> places_of(const VertexMatrix &matrix)
  {
    std::vector<std::int64_t> places;
    std::int64_t end = matrix.grid.size();
    for (const VertexMatrix::Entry &entry : matrix.further)
      end = std::max({end, entry.row + 1, entry.column + 1});
    matrix.grid.for_each([&](const std::array<std::int64_t, 3> &v) {
      places.push_back(matrix.grid.place(v[0], v[1], v[2]));
    });
    for (std::int64_t place = matrix.grid.size(); place < end; ++place)
      places.push_back(place);
    return places;
  }

  /// In the order of the places.
  SparseRows rows_of(const VertexMatrix &from, const std::vector<std::int64_t> &places)
  {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(places.back()) + 1, 0);
    for (std::size_t i = 0; i < places.size(); ++i)
      numbers[static_cast<std::size_t>(places[i])] = static_cast<std::int64_t>(i);
    std::vector<std::vector<VertexMatrix::Entry>> further(places.size());
    for (const VertexMatrix::Entry &entry : from.further)
      further[static_cast<std::size_t>(numbers[static_cast<std::size_t>(entry.row)])].push_back(
          entry);
    SparseRows rows;
    const auto end_row = [&] {
      for (const VertexMatrix::Entry &entry : further[static_cast<std::size_t>(rows.rows())])
        rows.add(numbers[static_cast<std::size_t>(entry.column)], entry.value);
      rows.end_row();
    };
    from.grid.for_each([&](const std::array<std::int64_t, 3> &v) {
      const auto at = static_cast<std::size_t>(from.grid.place(v[0], v[1], v[2]));
      for (int o = 0; o < 27; ++o)
        if (const auto &entries = from.entries[o]; !entries.empty() && entries[at] != 0.)
          rows.add(
              numbers[static_cast<std::size_t>(from.grid.place_of_neighbour(v, o))], entries[at]);
      end_row();
    });
    while (rows.rows() < std::ssize(places))
      end_row();
    return rows;
  }

  SparseRows rows_of(ML_Operator *matrix)
  {
    SparseRows rows;
    std::vector<int> columns(64);
    std::vector<double> values(columns.size());
    for (int row = 0; row < matrix->outvec_leng; ++row)
    {
      int length = 0;
      while (ML_Operator_Getrow(matrix, 1, &row, static_cast<int>(columns.size()), columns.data(),
                 values.data(), &length) == 0)
      {
        if (static_cast<int>(columns.size()) > matrix->invec_leng)
          throw std::runtime_error("Trilinos ML gives no rows of its matrices");
        columns.resize(2 * columns.size());
        values.resize(columns.size());
      }
      for (int e = 0; e < length; ++e)
        if (values[static_cast<std::size_t>(e)] != 0.)
          rows.add(columns[static_cast<std::size_t>(e)], values[static_cast<std::size_t>(e)]);
      rows.end_row();
    }
    return rows;
  }
} // namespace

bool VertexAmg::is_available() { return true; }

VertexHierarchy VertexAmg::hierarchy() const
{
  const auto &library = dynamic_cast<const ML_Epetra::MultiLevelPreconditioner &>(
      library_->preconditioner.trilinos_operator());
  const ML *ml = library.GetML();
  const int step = ml->ML_coarsest_level < ml->ML_finest_level ? -1 : 1;
  VertexHierarchy result;
  for (int l = ml->ML_finest_level;; l += step)
  {
    if (l != ml->ML_finest_level)
      result.levels.back().prolongation = rows_of(&ml->Pmat[l]);
    result.add_level(rows_of(&ml->Amat[l]));
    if (l == ml->ML_coarsest_level)
      break;
  }
  result.invert_coarsest(); // its matrix is shifted where constants were in the kernel
  return result;
}

VertexAmg::VertexAmg(const VertexMatrix &matrix, bool is_singular)
  : places_(places_of(matrix))
  , library_(std::make_unique<Library>(rows_of(matrix, places_), is_singular))
{}

VertexAmg::VertexAmg(const SparseRows &matrix, bool is_singular)
  : places_(static_cast<std::size_t>(matrix.rows()))
  , library_(std::make_unique<Library>(matrix, is_singular))
{
  std::iota(places_.begin(), places_.end(), std::int64_t{0});
}

void VertexAmg::read(const std::vector<double> &b)
{
  for (std::size_t i = 0; i < places_.size(); ++i)
    library_->r[static_cast<unsigned>(i)] = b[static_cast<std::size_t>(places_[i])];
}

void VertexAmg::write(std::vector<double> &x, std::size_t size) const
{
  x.assign(size, 0.);
  for (std::size_t i = 0; i < places_.size(); ++i)
    x[static_cast<std::size_t>(places_[i])] = library_->x[static_cast<unsigned>(i)];
}

void VertexAmg::solve(std::vector<double> &x, const std::vector<double> &b)
{
  read(b);
  library_->solve();
  write(x, b.size());
}

void VertexAmg::cycles(std::vector<double> &x, const std::vector<double> &b, int count)
{
  read(b);
  library_->cycles(count);
  write(x, b.size());
}
#else
struct VertexAmg::Library
{};
bool VertexAmg::is_available() { return false; }
VertexAmg::VertexAmg(const VertexMatrix &, bool)
{
  throw std::logic_error("deal.II has been built without Trilinos");
}
VertexAmg::VertexAmg(const SparseRows &, bool)
{
  throw std::logic_error("deal.II has been built without Trilinos");
}
void VertexAmg::solve(std::vector<double> &, const std::vector<double> &) {}
void VertexAmg::cycles(std::vector<double> &, const std::vector<double> &, int) {}
VertexHierarchy VertexAmg::hierarchy() const { return {}; }
#endif

VertexAmg::~VertexAmg() = default;
VertexAmg::VertexAmg(VertexAmg &&) noexcept = default;
VertexAmg &VertexAmg::operator=(VertexAmg &&) noexcept = default;
} // namespace tensormg
