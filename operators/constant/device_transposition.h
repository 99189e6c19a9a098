// Planes of all rows to rows of all planes among ranks, in device memory.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device/device.h"
#include "operators/mesh/device_messages.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/context.h"

namespace tensormg
{
/// Of numbers [z][y][x], of which a rank has the planes z of its block: in another array it has its share of the rows y of all planes.
/// One message to each rank; work is queued in the stream of the context.
class DeviceTransposition
{
public:
  /// Of a level that is divided in z alone; nx: numbers of a row. Collective.
  DeviceTransposition(const LevelGrid &level, std::int64_t nx, const DeviceContext &context);

  /// The first of the own rows, and how many there are.
  std::int64_t first_row() const { return first_row_of(rank_); }
  std::int64_t rows() const { return first_row_of(rank_ + 1) - first_row(); }
  /// Numbers of the rows of this rank, for make_array().
  std::int64_t size_of_rows() const { return first_plane_.back() * rows() * nx_; }

  /// rows[all z][own y][x] = planes[own z][all y][x]
  void to_rows(const double *planes, double *rows);
  /// The way back.
  void to_planes(const double *rows, double *planes);

  /// Bytes that the object and its rows hold at most on one rank.
  static std::int64_t bytes(const LevelGrid &level, std::int64_t nx);

private:
  std::int64_t first_row_of(int rank) const { return ny_ * rank / ranks(); }
  std::int64_t rows_of(int rank) const { return first_row_of(rank + 1) - first_row_of(rank); }
  int ranks() const { return static_cast<int>(first_plane_.size()) - 1; }
  std::int64_t own_planes() const { return first_plane_[rank_ + 1] - first_plane_[rank_]; }
  /// The place in buffer_ of the own planes' rows of a rank, and of a rank's planes in an array of rows.
  std::int64_t in_buffer(int rank) const { return own_planes() * first_row_of(rank) * nx_; }
  std::int64_t in_rows(int rank) const { return first_plane_[rank] * rows() * nx_; }
  std::size_t bytes_of_rows(int rank) const
  {
    return static_cast<std::size_t>(own_planes() * rows_of(rank) * nx_) * sizeof(double);
  }
  std::size_t bytes_of_planes(int rank) const
  {
    return static_cast<std::size_t>((first_plane_[rank + 1] - first_plane_[rank]) * rows() * nx_) *
        sizeof(double);
  }

  std::int64_t ny_, nx_;
  Stream stream_;
  DeviceMessages messages_;
  int rank_ = 0;
  std::vector<std::int64_t> first_plane_; ///< of all ranks, and how many there are
  DeviceArray<double> buffer_;            ///< by rank its rows of the own planes
};
} // namespace tensormg
