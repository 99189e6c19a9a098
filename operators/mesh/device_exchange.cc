#include "operators/mesh/device_exchange.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace tensormg
{
template <typename T>
DeviceExchange<T>::DeviceExchange(const LevelGrid &level, const std::array<std::int64_t, 6> &sizes,
    Stream stream, std::shared_ptr<const NcclRanks> ranks, bool in_background)
  : level_(level)
  , stream_(stream)
  , ranks_(std::move(ranks))
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
      sides_[s] = std::make_unique<SideMessage>(sizes[s], stream, ranks_ == nullptr);
    }
  if (ranks_ == nullptr)
    return;
  if (in_background)
  {
    packed_ = std::make_unique<OwnedEvent>();
    received_ = std::make_unique<OwnedEvent>();
  }
  // Messages between two ranks are told apart by their order: that of the senders' sides.
  for_remote_sides([&](int s, SideMessage &side) {
    sends_.push_back({level_.neighbour[static_cast<std::size_t>(s)], side.send.data(), nullptr,
        side.bytes(), 0});
  });
  for (std::size_t of_sender = 0; of_sender < 6; ++of_sender)
    if (const std::size_t s = of_sender ^ 1; sides_[s] != nullptr)
      receives_.push_back(
          {level_.neighbour[s], nullptr, sides_[s]->receive.data(), 0, sides_[s]->bytes()});
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
  if (ranks_ != nullptr && received_ == nullptr)
    return ranks_->exchange(sends_, receives_, stream_);
  if (ranks_ != nullptr)
  {
    device::record(packed_->get(), stream_);
    device::wait_for(packed_->get(), ranks_->background());
    ranks_->exchange(sends_, receives_, ranks_->background());
    return device::record(received_->get(), ranks_->background());
  }
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
  if (received_ != nullptr && has_neighbours())
    return device::wait_for(received_->get(), stream_);
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
