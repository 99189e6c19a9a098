#include "kernels/diagnostics/sparse/twins.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <vector>

#include "kernels/core/random_numbers.h"
#include "kernels/diagnostics/sparse/generators.h"

namespace tensormg::sparse
{
namespace
{
  // Features from the project SpMV-Research of the Computing Systems Laboratory, NTUA (commit fa64aef, its
  // validation data). Longest rows of dc2 and FullChip are approximate; conf5_4-8x8-10 has 39 entries in
  // every row, its other features are those of the lattice in generators.h.
  SparseMatrix<double> make_lattice(const Fingerprint &) { return lattice_matrix(8); }

  constexpr std::array table{
      Twin{"dc2", {116835, 766396, 6.56, 0., .297, .803, .633, 114190}, false, make_twin},
      Twin{"scircuit", {170998, 958936, 5.608, 4.392, .297, .803, .633, 353}, true, make_twin},
      Twin{"mac_econ_fwd500", {206500, 1273389, 6.167, 4.436, .0019, .177, .331, 44}, true,
          make_twin},
      Twin{"conf5_4-8x8-10", {49152, 1916928, 39., 0., .0, .0, .0, 39}, false, make_lattice},
      Twin{"mc2depi", {525825, 2100225, 3.994, .076, .0013, .498, .999, 4}, true, make_twin},
      Twin{"rma10", {46835, 2374001, 50.69, 27.78, .188, 1.72, .866, 145}, true, make_twin},
      Twin{"cop20k_A", {121192, 2624331, 21.65, 13.79, .623, 1.10, .633, 81}, true, make_twin},
      Twin{"webbase-1M", {1000005, 3105536, 3.106, 25.35, .152, .316, .936, 4700}, true, make_twin},
      Twin{"ASIC_680k", {682862, 3871773, 5.670, 659.8, .375, .669, .825, 395259}, true, make_twin},
      Twin{"cant", {62451, 4007383, 64.17, 14.06, .0086, 1.616, .915, 78}, true, make_twin},
      Twin{"pdb1HYS", {36417, 4344765, 119.3, 31.86, .130, 1.838, .932, 204}, true, make_twin},
      Twin{"consph", {83334, 6010480, 72.13, 19.08, .070, 1.713, .883, 81}, true, make_twin},
      Twin{"shipsec1", {140874, 7813404, 55.46, 11.07, .046, 1.712, .873, 102}, true, make_twin},
      Twin{"mip1", {66463, 10352819, 155.8, 350.7, .590, 1.925, .961, 66395}, true, make_twin},
      Twin{"pwtk", {217918, 11634424, 53.39, 4.74, .059, 1.878, .950, 180}, true, make_twin},
      Twin{"Si41Ge41H72", {185639, 15011265, 80.86, 126.97, .194, 1.270, .963, 662}, true,
          make_twin},
      Twin{"in-2004", {1382908, 16917053, 12.23, 37.23, .0215, 1.507, .793, 7753}, true, make_twin},
      Twin{
          "Ga41As41H72", {268096, 18488476, 68.96, 105.4, .172, 1.184, .970, 702}, true, make_twin},
      Twin{"eu-2005", {862664, 19235140, 22.30, 29.33, .249, 1.331, .760, 6985}, true, make_twin},
      Twin{"FullChip", {2987012, 26621990, 8.91, 0., .375, .669, .825, 2312481}, false, make_twin},
      Twin{"circuit5M", {5558326, 59524291, 10.71, 1356.6, .503, 1.065, .943, 1290501}, true,
          make_twin},
  };

  constexpr std::uint64_t seed = 303, value_seed = 404;

  /// Standard normal (Box and Muller).
  double random_normal(std::uint64_t index)
  {
    return std::sqrt(-2. * std::log(random_unit(seed, 2 * index))) *
        std::cos(2. * std::numbers::pi * random_unit(seed, 2 * index + 1));
  }

  /// A permutation of 0 ... n - 1 that scatters neighbours.
  std::int64_t scatter(std::int64_t i, std::int64_t n)
  {
    auto step = static_cast<std::int64_t>(0.6180339887 * static_cast<double>(n)) | 1;
    while (std::gcd(step, n) != 1)
      step += 2;
    return i * step % n; // both are below 2^31
  }

  /// Rows of like length that stay together: as many as a column survives.
  std::int64_t group_size(const Fingerprint &f)
  {
    return std::clamp<std::int64_t>(std::llround(1. / std::max(1e-9, 1. - f.similarity)), 1, 32);
  }

  /// The wanted length of each row as a real number, the longest row first.
  std::vector<double> real_lengths(const Fingerprint &f)
  {
    const auto longest = static_cast<double>(f.longest), rows = static_cast<double>(f.rows);
    // Unknown: what the longest row alone makes of it.
    const double deviation = f.deviation > 0. ? f.deviation : (longest - f.mean) / std::sqrt(rows);
    std::vector<double> lengths(static_cast<std::size_t>(f.rows));
    if (longest < f.mean + 2. * deviation)
    {
      // A part q of the rows is shorter than the others by d.
      const double below = std::max(longest - f.mean, 1e-12);
      const double d = below + deviation * deviation / below, q = below / d;
      for (std::size_t i = 0; i < lengths.size(); ++i)
        lengths[i] = longest - (random_unit(seed, i) < q ? d : 0.);
      lengths[0] = longest;
    }
    else if (longest > f.mean + 8. * deviation || deviation > 0.9 * f.mean)
    {
      const double rate =
          std::max(longest / f.mean, 0.5 * longest * longest / (deviation * deviation));
      const double tail = longest / rate; // its mean
      for (std::size_t i = 0; i < lengths.size(); ++i)
        lengths[i] =
            std::max(0., f.mean - tail) + longest * std::exp(-rate * static_cast<double>(i) / rows);
      lengths[0] = longest;
    }
    else
    {
      for (std::size_t i = 0; i < lengths.size(); ++i)
        lengths[i] = f.mean + deviation * random_normal(i);
      lengths[0] = longest;
    }
    return lengths;
  }

  /// What one row is made from.
  class RowMaker
  {
  public:
    explicit RowMaker(const Fingerprint &original)
      : f_(original)
    {
      const double mean = std::max(2., f_.mean);
      // Random columns do not reach the ends of their window.
      window_ =
          std::max(1., f_.bandwidth * static_cast<double>(f_.rows) * (mean + 1.) / (mean - 1.));
    }

    /// The columns of the next row, ascending.
    const std::vector<std::int32_t> &next(std::int64_t row, std::int32_t length)
    {
      const auto rows = static_cast<double>(f_.rows);
      const auto width =
          static_cast<std::int64_t>(std::clamp(window_, std::min(1.5 * length, rows), rows));
      const std::int64_t first =
          std::clamp<std::int64_t>(row - width / 2, 0, f_.rows - std::min(width, f_.rows));
      index_ = 0;
      row_ = static_cast<std::uint64_t>(row);
      next_.clear();
      if (length > 0 && 4 * static_cast<std::int64_t>(length) > width)
        sample(first, std::min(width, f_.rows), length);
      else
      {
        keep(length);
        add_runs(first, width, length);
      }
      std::swap(columns_, next_);
      return columns_;
    }

  private:
    double random() { return random_unit(seed + 1 + row_, index_++); }

    /// `length` of the columns in the window, all alike (selection sampling, D. Knuth, volume 2, 3.4.2).
    void sample(std::int64_t first, std::int64_t width, std::int32_t length)
    {
      std::int64_t left = length;
      for (std::int64_t c = 0; c < width && left > 0; ++c)
        if (static_cast<double>(width - c) * random() < static_cast<double>(left))
        {
          next_.push_back(static_cast<std::int32_t>(first + c));
          --left;
        }
    }

    /// Runs of the row before, each with the probability of similarity.
    void keep(std::int32_t length)
    {
      bool keeps = false;
      for (std::size_t c = 0;
           c < columns_.size() && next_.size() < static_cast<std::size_t>(length); ++c)
      {
        if (c == 0 || columns_[c] != columns_[c - 1] + 1)
          keeps = random() < f_.similarity;
        if (keeps)
          next_.push_back(columns_[c]);
      }
    }

    /// New runs until the row is full.
    void add_runs(std::int64_t first, std::int64_t width, std::int32_t length)
    {
      const double goes_on = 0.5 * f_.neighbours;
      while (next_.size() < static_cast<std::size_t>(length))
      {
        std::size_t missing = static_cast<std::size_t>(length) - next_.size();
        while (missing > 0)
        {
          std::int64_t column =
              first + static_cast<std::int64_t>(random() * static_cast<double>(width));
          do
          {
            next_.push_back(static_cast<std::int32_t>(std::min(column++, f_.rows - 1)));
            --missing;
          }
          while (missing > 0 && random() < goes_on);
        }
        std::sort(next_.begin(), next_.end());
        next_.erase(std::unique(next_.begin(), next_.end()), next_.end());
      }
    }

    Fingerprint f_;
    double window_ = 1.;
    std::uint64_t row_ = 0, index_ = 0;
    std::vector<std::int32_t> columns_, next_;
  };
} // namespace

std::span<const Twin> twins() { return table; }

Array<std::int32_t> twin_row_lengths(const Fingerprint &original)
{
  const std::vector<double> wanted = real_lengths(original);
  const auto longest = static_cast<std::int32_t>(original.longest);
  std::vector<std::int32_t> lengths(wanted.size());
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i)
  {
    // Rounded up or down so that the mean is kept.
    const double down = std::floor(wanted[i]);
    const double up = random_unit(seed + 2, i) < wanted[i] - down ? 1. : 0.;
    lengths[i] = std::clamp(static_cast<std::int32_t>(down + up), 0, longest);
    sum += lengths[i];
  }
  // The rest: one more or less for rows all over the matrix, but not for the longest.
  const auto rows = static_cast<std::int64_t>(lengths.size());
  for (std::int64_t i = 0; sum != original.entries; i = (i + 1) % rows)
  {
    std::int32_t &length = lengths[static_cast<std::size_t>(scatter(i, rows))];
    const std::int32_t change = sum < original.entries ? 1 : -1;
    if (&length == lengths.data() || length + change < 1 || length + change > longest)
      continue;
    length += change;
    sum += change;
  }
  std::sort(lengths.begin(), lengths.end(), std::greater<>());
  const std::int64_t group = group_size(original), groups = rows / group;
  Array<std::int32_t> scattered(rows);
  for (std::int64_t i = 0; i < rows; ++i)
  {
    const bool whole = i < groups * group; // a rest stays at the end
    scattered[whole ? scatter(i / group, groups) * group + i % group : i] =
        lengths[static_cast<std::size_t>(i)];
  }
  return scattered;
}

SparseMatrix<double> make_twin(const Fingerprint &original)
{
  check_size(original.rows, original.rows, original.entries);
  const Array<std::int32_t> lengths = twin_row_lengths(original);
  SparseMatrix<double> matrix;
  matrix.rows = matrix.columns = static_cast<std::int32_t>(original.rows);
  matrix.row_begin = Array<std::int32_t>(original.rows + 1);
  matrix.column = Array<std::int32_t>(original.entries);
  matrix.value = Array<double>(original.entries);
  RowMaker maker(original);
  std::int64_t at = 0;
  for (std::int64_t row = 0; row < original.rows; ++row)
  {
    for (const std::int32_t column : maker.next(row, lengths[row]))
    {
      matrix.column[at] = column;
      matrix.value[at] = random_value(value_seed, static_cast<std::uint64_t>(at));
      ++at;
    }
    matrix.row_begin[row + 1] = static_cast<std::int32_t>(at);
  }
  return matrix;
}
} // namespace tensormg::sparse
