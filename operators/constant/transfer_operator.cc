#include "operators/constant/transfer_operator.h"

#include <cstring>
#include <limits>
#include <stdexcept>

#include "kernels/transfer/transfer.h"

namespace tensormg
{
template <typename Number>
TransferOperator<Number>::TransferOperator(const LevelGrid &fine, const LevelGrid &coarse,
    const CellBasis &basis, laplace::Backend backend)
  : fine_(fine)
  , coarse_(coarse)
  , basis_(basis)
  , reference_(backend == laplace::Backend::reference)
  , gathers_(coarse.replicated && !fine.replicated)
  , part_(fine.block.dim, fine.block.degree(), cells_below(fine.block.cells, fine, coarse))
  , offset_(cells_below(fine.offset, fine, coarse))
{
  if (!gathers_)
    return;
  for (int d = 1; d < fine.block.dim; ++d)
    if (coarse.global_cells[d] < fine.global_cells[d] &&
        (fine.offset[d] % 2 != 0 || fine.block.cells[d] % 2 != 0))
      throw std::logic_error("a distributed level has an odd border above a replicated one");
  buffer_ = Vector<Number>(part_);
  int n_ranks = 1;
  MPI_Comm_size(fine.communicator, &n_ranks);
  const std::array<std::int64_t, 6> mine{
      part_.cells[0], part_.cells[1], part_.cells[2], offset_[0], offset_[1], offset_[2]};
  std::vector<std::array<std::int64_t, 6>> all(n_ranks);
  MPI_Allgather(mine.data(), 6, MPI_INT64_T, all.front().data(), 6, MPI_INT64_T, fine.communicator);
  for (const auto &a : all)
  {
    parts_.emplace_back(part_.dim, part_.degree(), std::array<std::int64_t, 3>{a[0], a[1], a[2]});
    offsets_.push_back({a[3], a[4], a[5]});
  }
}

/// copy(position in the part, position in the whole coarse block, numbers) for all rows of x.
template <typename Number>
template <typename Copy>
void TransferOperator<Number>::for_each_row(
    const Block &local, const std::array<std::int64_t, 3> &offset, Copy &&copy) const
{
  const Block &whole = coarse_.block;
  const std::int64_t rows = local.rows_per_plane() * local.row();
  for (std::int64_t z = 0; z < local.planes(); ++z)
    copy(z * local.plane(),
        (offset[2] * local.nz() + z) * whole.plane() + offset[1] * local.n * whole.row(), rows);
}

template <typename Number>
void TransferOperator<Number>::gather(Vector<Number> &coarse) const
{
  std::vector<int> counts, starts;
  std::int64_t total = 0;
  for (const Block &block : parts_)
  {
    const std::int64_t bytes = block.size() * static_cast<std::int64_t>(sizeof(Number));
    starts.push_back(static_cast<int>(total));
    counts.push_back(static_cast<int>(bytes));
    total += bytes;
  }
  if (total > std::numeric_limits<int>::max())
    throw std::length_error("a replicated level is too large to be gathered");
  std::vector<Number> all(static_cast<std::size_t>(total) / sizeof(Number));
  MPI_Allgatherv(buffer_.data(), static_cast<int>(buffer_.size() * sizeof(Number)), MPI_BYTE,
      all.data(), counts.data(), starts.data(), MPI_BYTE, fine_.communicator);
  for (std::size_t r = 0; r < parts_.size(); ++r)
  {
    const Number *from = all.data() + static_cast<std::size_t>(starts[r]) / sizeof(Number);
    for_each_row(
        parts_[r], offsets_[r], [&](std::int64_t part, std::int64_t whole, std::int64_t count) {
          std::memcpy(static_cast<void *>(coarse.data() + whole), from + part,
              static_cast<std::size_t>(count) * sizeof(Number));
        });
  }
}

template <typename Number>
void TransferOperator<Number>::extract(const Vector<Number> &coarse, Vector<Number> &to) const
{
  for_each_row(part_, offset_, [&](std::int64_t part, std::int64_t whole, std::int64_t count) {
    std::memcpy(static_cast<void *>(to.data() + part), coarse.data() + whole,
        static_cast<std::size_t>(count) * sizeof(Number));
  });
}

template <typename Number>
void TransferOperator<Number>::restrict_to(
    Vector<Number> &coarse, const Vector<Number> &fine, double factor)
{
  transfer::Restrict<Number> r{
      fine_.block, part_, &basis_, factor, fine.data(), gathers_ ? buffer_.data() : coarse.data()};
  reference_ ? transfer::restrict_reference(r) : transfer::restrict_cpu(r);
  if (gathers_)
    gather(coarse);
}

template <typename Number>
void TransferOperator<Number>::prolongate(
    Vector<Number> &fine, const Vector<Number> &coarse, double factor, bool add)
{
  if (gathers_)
    extract(coarse, buffer_);
  transfer::Prolongate<Number> p{fine_.block, part_, &basis_, factor, add,
      gathers_ ? buffer_.data() : coarse.data(), fine.data()};
  reference_ ? transfer::prolongate_reference(p) : transfer::prolongate_cpu(p);
}

template <typename Number>
void TransferOperator<Number>::prolongate_pair(Vector<Number> &x, Vector<Number> &d,
    const Vector<Number> &coarse, const Vector<Number> *rest, double factor, bool add,
    bool add_rest)
{
  if (gathers_)
  {
    extract(coarse, buffer_);
    if (rest != nullptr)
    {
      if (rest_buffer_.size() == 0)
        rest_buffer_ = Vector<Number>(part_);
      extract(*rest, rest_buffer_);
      rest = &rest_buffer_;
    }
  }
  transfer::Prolongate<Number> p{fine_.block, part_, &basis_, factor, add,
      gathers_ ? buffer_.data() : coarse.data(), x.data(), rest != nullptr ? rest->data() : nullptr,
      d.data(), add_rest};
  reference_ ? transfer::prolongate_reference(p) : transfer::prolongate_cpu(p);
}

template class TransferOperator<double>;
template class TransferOperator<float>;
template class TransferOperator<Half>;
} // namespace tensormg
