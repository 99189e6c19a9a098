// Prolongation and restriction between two levels, in host or in device memory.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "kernels/laplace/laplace.h"
#include "operators/mesh/device_messages.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/context.h"

namespace tensormg
{
/// The coarse cells under the local cells of a distributed level, where the coarse level is replicated.
template <typename Number>
class ReplicatedPart
{
public:
  /// Collective. Both levels must outlive the object.
  ReplicatedPart(const LevelGrid &fine, const LevelGrid &coarse);

  const Block &block() const { return part_; }
  /// The first cell in the coarse level.
  const std::array<std::int64_t, 3> &offset() const { return offset_; }
  /// Of all ranks.
  const std::vector<Block> &blocks() const { return parts_; }
  const std::vector<std::array<std::int64_t, 3>> &offsets() const { return offsets_; }
  /// Numbers of this part, which gather() brings to all ranks.
  Vector<Number> &numbers() { return buffer_; }
  void gather(Vector<Number> &coarse) const;
  /// The part of a vector of the coarse level, in memory of this object.
  const Number *extract(const Vector<Number> &coarse);
  /// The same for a second vector.
  const Number *extract_rest(const Vector<Number> &coarse);

private:
  void copy_part(const Vector<Number> &coarse, Vector<Number> &to) const;
  template <typename Copy>
  void for_each_row(
      const Block &local, const std::array<std::int64_t, 3> &offset, Copy &&copy) const;

  const LevelGrid &fine_, &coarse_;
  Block part_;
  std::array<std::int64_t, 3> offset_{};
  Vector<Number> buffer_, rest_;
  std::vector<Block> parts_; ///< of all ranks
  std::vector<std::array<std::int64_t, 3>> offsets_;
};

/// Transfer between `fine` and the next coarser level. Where the fine level is distributed and the coarse one replicated,
/// the coarse right-hand side is gathered on every rank. Collective; in device memory queued in the stream of the context.
template <typename Number, typename Context = HostContext>
class TransferOperator
{
public:
  using VectorType = typename Context::template Vector<Number>;

  /// All arguments but the context must outlive the object.
  TransferOperator(const LevelGrid &fine, const LevelGrid &coarse, const CellBasis &basis,
      laplace::Backend backend, const Context &context = {});

  /// coarse = factor * R fine, R the L2 projection
  void restrict_to(VectorType &coarse, const VectorType &fine, double factor);
  /// fine = factor * P coarse, or fine += ...
  void prolongate(VectorType &fine, const VectorType &coarse, double factor, bool add);
  /// The same for pairs whose sums count: x + d = factor * P (coarse + *rest), or that is added to x, or to x
  /// + d. x is the rounded sum, d what rounding took away. rest = nullptr is zero.
  void prolongate_pair(VectorType &x, VectorType &d, const VectorType &coarse,
      const VectorType *rest, double factor, bool add, bool add_rest);

  /// Bytes of the vector between two directions, where not all are halved.
  static std::int64_t bytes(const LevelGrid &fine, const LevelGrid &coarse);

private:
  Block fine_, coarse_; ///< coarse_: the cells under the local fine ones
  const CellBasis &basis_;
  bool reference_;
  Context context_;
  std::optional<ReplicatedPart<Number>>
      part_; ///< where the coarse level is replicated and the fine one is not
  typename Context::template Array<Compute<Number>> between_; ///< on a device
  // On a device, with a part_.
  VectorType numbers_, rest_; ///< of the part
  DeviceArray<Number> parts_; ///< of all ranks, one behind the other
  std::optional<DeviceMessages> messages_;
  int rank_ = 0;
  std::vector<DeviceSend> sends_;
  std::vector<DeviceReceive> receives_;
  void prepare_messages(MPI_Comm communicator) requires(Context::on_device);
  void gather(VectorType &coarse) requires(Context::on_device);
  const Number *extract(const VectorType &coarse, VectorType &to) requires(Context::on_device);
};
} // namespace tensormg
