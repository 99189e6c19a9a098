#include "operators/mesh/device_exchange.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace tensormg
{
template <typename T>
DeviceExchange<T>::DeviceExchange(
    const LevelGrid &level, const std::array<std::int64_t, 6> &sizes, Stream stream)
  : level_(level)
  , stream_(stream)
{
  if (level.communicator == MPI_COMM_SELF) // perhaps in a thread that must not call MPI
    return;
  constexpr std::int64_t most = std::numeric_limits<int>::max() / std::int64_t{sizeof(T)};
  int rank = 0;
  MPI_Comm_rank(level.communicator, &rank);
  for (std::size_t s = 0; s < 6; ++s)
    if (level.sides[s] == Side::ghost && level.neighbour[s] != rank)
    {
      if (sizes[s] > most)
        throw std::length_error(
            "a side of one rank has more traces than one message can carry; use more ranks");
      sides_[s] = std::make_unique<SideMessage>(sizes[s], stream);
    }
}

template <typename T>
bool DeviceExchange<T>::has_neighbours() const
{
  return std::any_of(
      sides_.begin(), sides_.end(), [](const auto &side) { return side != nullptr; });
}

template <typename T>
void DeviceExchange<T>::start()
{
  if (!has_neighbours())
    return;
  const auto request = [this] { return &requests_[static_cast<std::size_t>(n_requests_++)]; };
  const auto neighbour = [this](int s) { return level_.neighbour[static_cast<std::size_t>(s)]; };
  for_remote_sides([&](int, SideMessage &side) {
    device::to_host(side.to_send.data(), side.send.data(), side.bytes(), stream_);
  });
  // Also before anything is received: what the last exchange has brought is on its way to the device until then.
  device::synchronize(stream_);
  // The message that arrives at a side was sent from the opposite side: the tag is the sender's.
  for_remote_sides([&](int s, SideMessage &side) {
    MPI_Irecv(side.received.data(), static_cast<int>(side.bytes()), MPI_BYTE, neighbour(s), s ^ 1,
        level_.communicator, request());
  });
  for_remote_sides([&](int s, SideMessage &side) {
    MPI_Isend(side.to_send.data(), static_cast<int>(side.bytes()), MPI_BYTE, neighbour(s), s,
        level_.communicator, request());
  });
}

template <typename T>
void DeviceExchange<T>::finish()
{
  if (n_requests_ == 0)
    return;
  MPI_Waitall(n_requests_, requests_.data(), MPI_STATUSES_IGNORE);
  n_requests_ = 0;
  for_remote_sides([&](int, SideMessage &side) {
    device::to_device(side.receive.data(), side.received.data(), side.bytes(), stream_);
  });
}

template class DeviceExchange<double>;
template class DeviceExchange<float>;
} // namespace tensormg
