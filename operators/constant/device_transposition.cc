#include "operators/constant/device_transposition.h"

#include <algorithm>
#include <stdexcept>

namespace tensormg
{
DeviceTransposition::DeviceTransposition(
    const LevelGrid &level, std::int64_t nx, const DeviceContext &context)
  : ny_(level.block.cells[1] * level.block.n)
  , nx_(nx)
  , stream_(context.stream)
  , messages_(level.communicator, context.stream, context.links)
{
  if (level.block.cells[1] != level.global_cells[1])
    throw std::invalid_argument("a grid that is divided in y cannot be transposed");
  int ranks = 1;
  MPI_Comm_rank(level.communicator, &rank_);
  MPI_Comm_size(level.communicator, &ranks);
  const std::int64_t end = (level.offset[2] + level.block.cells[2]) * level.block.nz();
  first_plane_.resize(static_cast<std::size_t>(ranks) + 1);
  MPI_Allgather(&end, 1, MPI_INT64_T, first_plane_.data() + 1, 1, MPI_INT64_T, level.communicator);
  std::int64_t most_planes = 0;
  for (int r = 0; r < ranks; ++r)
    most_planes = std::max(most_planes, first_plane_[r + 1] - first_plane_[r]);
  messages_.require_size(
      static_cast<std::size_t>(most_planes * ((ny_ + ranks - 1) / ranks) * nx_) * sizeof(double));
  buffer_ = DeviceArray<double>(own_planes() * ny_ * nx_, stream_);
}

void DeviceTransposition::to_rows(const double *planes, double *rows)
{
  std::vector<DeviceSend> sends;
  std::vector<DeviceReceive> receives;
  for (int r = 0; r < ranks(); ++r)
  {
    const std::size_t width = static_cast<std::size_t>(rows_of(r) * nx_) * sizeof(double);
    double *const to = r == rank_ ? rows + in_rows(r) : buffer_.data() + in_buffer(r);
    if (width > 0)
      device::copy_rows(to, width, planes + first_row_of(r) * nx_,
          static_cast<std::size_t>(ny_ * nx_) * sizeof(double), width,
          static_cast<std::size_t>(own_planes()), stream_);
    if (r == rank_)
      continue;
    sends.push_back({r, to, bytes_of_rows(r)});
    receives.push_back({r, rows + in_rows(r), bytes_of_planes(r)});
  }
  messages_.exchange(sends, receives);
}

void DeviceTransposition::to_planes(const double *rows, double *planes)
{
  std::vector<DeviceSend> sends;
  std::vector<DeviceReceive> receives;
  for (int r = 0; r < ranks(); ++r)
    if (r != rank_)
    {
      sends.push_back({r, rows + in_rows(r), bytes_of_planes(r)});
      receives.push_back({r, buffer_.data() + in_buffer(r), bytes_of_rows(r)});
    }
  messages_.exchange(sends, receives);
  for (int r = 0; r < ranks(); ++r)
  {
    const std::size_t width = static_cast<std::size_t>(rows_of(r) * nx_) * sizeof(double);
    if (width > 0)
      device::copy_rows(planes + first_row_of(r) * nx_,
          static_cast<std::size_t>(ny_ * nx_) * sizeof(double),
          r == rank_ ? rows + in_rows(r) : buffer_.data() + in_buffer(r), width, width,
          static_cast<std::size_t>(own_planes()), stream_);
  }
}

std::int64_t DeviceTransposition::bytes(const LevelGrid &level, std::int64_t nx)
{
  int ranks = 1;
  MPI_Comm_size(level.communicator, &ranks);
  const std::int64_t ny = level.block.cells[1] * level.block.n,
                     planes = level.block.cells[2] * level.block.nz(),
                     all = level.global_cells[2] * level.block.nz();
  return (planes * ny + 2 * all * ((ny + ranks - 1) / ranks)) * nx * std::int64_t{sizeof(double)};
}
} // namespace tensormg
