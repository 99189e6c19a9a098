// Vectors of the own blocks, and of all, which every rank has.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include <mpi.h>

#include "kernels/core/block.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
/// Blocks of all ranks lie side by side in x, in the order of the ranks.
template <typename Number>
class GatheredBlocks
{
public:
  /// `own`: the cells of this rank. Collective.
  GatheredBlocks(const Block &own, MPI_Comm communicator)
    : communicator_(communicator)
    , numbers_(own)
  {
    int n_ranks = 1;
    MPI_Comm_rank(communicator, &rank_);
    MPI_Comm_size(communicator, &n_ranks);
    std::vector<std::int64_t> cells(static_cast<std::size_t>(n_ranks));
    MPI_Allgather(&own.cells[0], 1, MPI_INT64_T, cells.data(), 1, MPI_INT64_T, communicator);
    std::int64_t first = 0, total = 0;
    for (const std::int64_t count : cells)
    {
      const Block part(own.dim, own.degree(), {count, own.cells[1], own.cells[2]});
      parts_.push_back({part, first, total});
      first += count;
      total += part.size();
    }
    if (total * std::int64_t{sizeof(Number)} > std::numeric_limits<int>::max())
      throw std::length_error("a level that every rank has is too large to be gathered");
    all_.resize(static_cast<std::size_t>(total));
  }

  /// A vector of the own cells, which gather() brings to all ranks.
  Vector<Number> &numbers() { return numbers_; }
  /// Collective.
  void gather(Vector<Number> &whole)
  {
    std::vector<int> counts, starts;
    for (const Part &part : parts_)
    {
      counts.push_back(static_cast<int>(part.block.size() * std::int64_t{sizeof(Number)}));
      starts.push_back(static_cast<int>(part.start * std::int64_t{sizeof(Number)}));
    }
    MPI_Allgatherv(numbers_.data(), counts[static_cast<std::size_t>(rank_)], MPI_BYTE, all_.data(),
        counts.data(), starts.data(), MPI_BYTE, communicator_);
    for (const Part &part : parts_)
      for_rows(part, whole.block(), [&](std::int64_t in_part, std::int64_t in_whole) {
        copy(whole.data() + in_whole, all_.data() + part.start + in_part, part.block.cells[0]);
      });
  }

  /// The own cells of a vector of all.
  const Vector<Number> &extract(const Vector<Number> &whole) { return extract(whole, numbers_); }
  /// The same for a second vector.
  const Vector<Number> &extract_rest(const Vector<Number> &whole)
  {
    if (rest_.size() == 0)
      rest_ = Vector<Number>(numbers_.block());
    return extract(whole, rest_);
  }

private:
  struct Part
  {
    Block block;
    std::int64_t first; ///< cell in x
    std::int64_t start; ///< in all_
  };

  /// use(begin of the row in the part, where it goes on in the whole) for all modes and rows of cells.
  template <typename Use>
  static void for_rows(const Part &part, const Block &whole, const Use &use)
  {
    const std::int64_t rows = part.block.size() / part.block.pitch;
    for (std::int64_t row = 0; row < rows; ++row)
      use(row * part.block.pitch, row * whole.pitch + part.first);
  }
  static void copy(Number *to, const Number *from, std::int64_t count)
  {
    std::memcpy(static_cast<void *>(to), from, static_cast<std::size_t>(count) * sizeof(Number));
  }
  const Vector<Number> &extract(const Vector<Number> &whole, Vector<Number> &to) const
  {
    for_rows(parts_[static_cast<std::size_t>(rank_)], whole.block(),
        [&](std::int64_t in_part, std::int64_t in_whole) {
          copy(to.data() + in_part, whole.data() + in_whole, to.block().cells[0]);
        });
    return to;
  }

  MPI_Comm communicator_;
  int rank_ = 0;
  std::vector<Part> parts_; ///< of all ranks
  Vector<Number> numbers_, rest_;
  std::vector<Number> all_;
};
} // namespace tensormg
