#include "operators/constant/transfer_operator.h"

#include <cstring>
#include <limits>
#include <stdexcept>

#include "kernels/transfer/cuda.h"
#include "kernels/transfer/transfer.h"

namespace tensormg
{
template <typename Number>
ReplicatedPart<Number>::ReplicatedPart(const LevelGrid &fine, const LevelGrid &coarse)
  : fine_(fine)
  , coarse_(coarse)
  , part_(fine.block.dim, fine.block.degree(), cells_below(fine.block.cells, fine, coarse))
  , offset_(cells_below(fine.offset, fine, coarse))
  , buffer_(part_)
{
  for (int d = 1; d < fine.block.dim; ++d)
    if (coarse.global_cells[d] < fine.global_cells[d] &&
        (fine.offset[d] % 2 != 0 || fine.block.cells[d] % 2 != 0))
      throw std::logic_error("a distributed level has an odd border above a replicated one");
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
void ReplicatedPart<Number>::for_each_row(
    const Block &local, const std::array<std::int64_t, 3> &offset, Copy &&copy) const
{
  const Block &whole = coarse_.block;
  const std::int64_t rows = local.rows_per_plane() * local.row();
  for (std::int64_t z = 0; z < local.planes(); ++z)
    copy(z * local.plane(),
        (offset[2] * local.nz() + z) * whole.plane() + offset[1] * local.n * whole.row(), rows);
}

template <typename Number>
void ReplicatedPart<Number>::gather(Vector<Number> &coarse) const
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
void ReplicatedPart<Number>::copy_part(const Vector<Number> &coarse, Vector<Number> &to) const
{
  for_each_row(part_, offset_, [&](std::int64_t part, std::int64_t whole, std::int64_t count) {
    std::memcpy(static_cast<void *>(to.data() + part), coarse.data() + whole,
        static_cast<std::size_t>(count) * sizeof(Number));
  });
}

template <typename Number>
const Number *ReplicatedPart<Number>::extract(const Vector<Number> &coarse)
{
  copy_part(coarse, buffer_);
  return buffer_.data();
}

template <typename Number>
const Number *ReplicatedPart<Number>::extract_rest(const Vector<Number> &coarse)
{
  if (rest_.size() == 0)
    rest_ = Vector<Number>(part_);
  copy_part(coarse, rest_);
  return rest_.data();
}

namespace
{
  Block block_below(const LevelGrid &fine, const LevelGrid &coarse)
  {
    return Block(fine.block.dim, fine.block.degree(), cells_below(fine.block.cells, fine, coarse));
  }
} // namespace

template <typename Number, typename Context>
TransferOperator<Number, Context>::TransferOperator(const LevelGrid &fine, const LevelGrid &coarse,
    const CellBasis &basis, laplace::Backend backend, const Context &context)
  : fine_(fine.block)
  , coarse_(block_below(fine, coarse))
  , basis_(basis)
  , reference_(backend == laplace::Backend::reference)
  , context_(context)
{
  if (coarse.replicated && !fine.replicated)
    part_.emplace(fine, coarse);
  if constexpr (Context::on_device)
  {
    between_ = DeviceArray<Compute<Number>>(transfer::between(fine_, coarse_).size(), Unset());
    if (part_)
    {
      numbers_ = VectorType(part_->block(), context_.stream);
      rest_ = VectorType(part_->block(), context_.stream);
      messages_.emplace(fine.communicator, context.stream, context.links);
      prepare_messages(fine.communicator);
    }
  }
}

/// Every rank sends its part to each of the others.
template <typename Number, typename Context>
void TransferOperator<Number, Context>::prepare_messages(MPI_Comm communicator) requires(
    Context::on_device)
{
  MPI_Comm_rank(communicator, &rank_);
  const std::vector<Block> &blocks = part_->blocks();
  std::int64_t total = 0;
  for (const Block &block : blocks)
  {
    messages_->require_size(static_cast<std::size_t>(block.size()) * sizeof(Number));
    total += block.size();
  }
  parts_ = DeviceArray<Number>(total, context_.stream);
  std::int64_t begin = 0;
  for (int r = 0; r < std::ssize(blocks); ++r)
  {
    const std::int64_t size = blocks[static_cast<std::size_t>(r)].size();
    if (r != rank_)
    {
      sends_.push_back(
          {r, numbers_.data(), static_cast<std::size_t>(numbers_.size()) * sizeof(Number)});
      receives_.push_back(
          {r, parts_.data() + begin, static_cast<std::size_t>(size) * sizeof(Number)});
    }
    begin += size;
  }
}

template <typename Number, typename Context>
void TransferOperator<Number, Context>::gather(VectorType &coarse) requires(Context::on_device)
{
  messages_->exchange(sends_, receives_);
  Number *const to = coarse.data();
  std::int64_t begin = 0;
  for (std::size_t r = 0; r < part_->blocks().size(); ++r)
  {
    const Block &block = part_->blocks()[r];
    const Number *const from =
        static_cast<int>(r) == rank_ ? numbers_.data() : parts_.data() + begin;
    for_pieces_of_part(coarse.block(), part_->offsets()[r], block,
        [&](std::int64_t part, std::int64_t whole, std::int64_t count) {
          device::copy(to + whole, from + part, static_cast<std::size_t>(count) * sizeof(Number),
              context_.stream);
        });
    begin += block.size();
  }
}

/// The part of a vector of the coarse level.
template <typename Number, typename Context>
const Number *TransferOperator<Number, Context>::extract(
    const VectorType &coarse, VectorType &to) requires(Context::on_device)
{
  Number *const target = to.data();
  for_pieces_of_part(coarse.block(), part_->offset(), part_->block(),
      [&](std::int64_t part, std::int64_t whole, std::int64_t count) {
        device::copy(target + part, coarse.data() + whole,
            static_cast<std::size_t>(count) * sizeof(Number), context_.stream);
      });
  return target;
}

template <typename Number, typename Context>
void TransferOperator<Number, Context>::restrict_to(
    VectorType &coarse, const VectorType &fine, double factor)
{
  const typename Context::Operation operation(
      context_, fine.bytes() + coarse.bytes(), "restriction");
  transfer::Restrict<Number> r{fine_, coarse_, &basis_, factor, fine.data(), nullptr};
  if constexpr (Context::on_device)
  {
    r.dst = part_ ? numbers_.data() : coarse.data();
    transfer::restrict_cuda<Number>(r, context_.stream, between_.data());
    if (part_)
      gather(coarse);
  }
  else
  {
    r.dst = part_ ? part_->numbers().data() : coarse.data();
    reference_ ? transfer::restrict_reference(r) : transfer::restrict_cpu(r);
    if (part_)
      part_->gather(coarse);
  }
}

template <typename Number, typename Context>
void TransferOperator<Number, Context>::prolongate(
    VectorType &fine, const VectorType &coarse, double factor, bool add)
{
  const typename Context::Operation operation(
      context_, (add ? 2. : 1.) * fine.bytes() + coarse.bytes(), "prolongation");
  transfer::Prolongate<Number> p{fine_, coarse_, &basis_, factor, add, coarse.data(), fine.data()};
  if constexpr (Context::on_device)
  {
    if (part_)
      p.src = extract(coarse, numbers_);
    transfer::prolongate_cuda<Number>(p, context_.stream, between_.data());
  }
  else
  {
    if (part_)
      p.src = part_->extract(coarse);
    reference_ ? transfer::prolongate_reference(p) : transfer::prolongate_cpu(p);
  }
}

template <typename Number, typename Context>
void TransferOperator<Number, Context>::prolongate_pair(VectorType &x, VectorType &d,
    const VectorType &coarse, const VectorType *rest, double factor, bool add, bool add_rest)
{
  const double coarse_vectors = rest != nullptr ? 2. : 1.;
  const double fine_vectors = 2. + (add ? 1. : 0.) + (add && add_rest ? 1. : 0.);
  const typename Context::Operation operation(context_,
      coarse_vectors * coarse.bytes() + fine_vectors * x.bytes(), "prolongation of a pair");
  transfer::Prolongate<Number> p{fine_, coarse_, &basis_, factor, add, coarse.data(), x.data(),
      rest != nullptr ? rest->data() : nullptr, d.data(), add_rest};
  if constexpr (Context::on_device)
  {
    if (part_)
    {
      p.src = extract(coarse, numbers_);
      p.src_rest = rest != nullptr ? extract(*rest, rest_) : nullptr;
    }
    transfer::prolongate_cuda<Number>(p, context_.stream, between_.data());
  }
  else
  {
    if (part_)
    {
      p.src = part_->extract(coarse);
      p.src_rest = rest != nullptr ? part_->extract_rest(*rest) : nullptr;
    }
    reference_ ? transfer::prolongate_reference(p) : transfer::prolongate_cpu(p);
  }
}

template <typename Number, typename Context>
std::int64_t TransferOperator<Number, Context>::bytes(
    const LevelGrid &fine, const LevelGrid &coarse)
{
  const Block part = block_below(fine, coarse);
  std::int64_t bytes =
      transfer::between(fine.block, part).size() * std::int64_t{sizeof(Compute<Number>)};
  if (Context::on_device && coarse.replicated &&
      !fine.replicated) // what is gathered, and two vectors of the part
    bytes += (coarse.block.size() + 2 * part.size()) * std::int64_t{sizeof(Number)};
  return bytes;
}

template class ReplicatedPart<double>;
template class ReplicatedPart<float>;
template class ReplicatedPart<Half>;
template class TransferOperator<double, HostContext>;
template class TransferOperator<float, HostContext>;
template class TransferOperator<Half, HostContext>;
template class TransferOperator<double, DeviceContext>;
template class TransferOperator<float, DeviceContext>;
template class TransferOperator<Half, DeviceContext>;
} // namespace tensormg
