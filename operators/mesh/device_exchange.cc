#include "operators/mesh/device_exchange.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace tensormg
{
template <typename T>
DeviceExchange<T>::DeviceExchange(const LevelGrid &level, const std::array<std::int64_t, 6> &sizes,
    Stream stream, const DeviceLinks &links, bool in_background)
  : stream_(stream)
  , messages_(level.communicator, stream, links)
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
  // Messages between two ranks are told apart by their order: that of the senders' sides.
  for (std::size_t of_sender = 0; of_sender < 6; ++of_sender)
  {
    if (const auto &side = sides_[of_sender])
      sends_.push_back({level.neighbour[of_sender], side->send.data(), side->bytes()});
    if (const auto &side = sides_[of_sender ^ 1])
      receives_.push_back({level.neighbour[of_sender ^ 1], side->receive.data(), side->bytes()});
  }
  if (in_background && links.nccl != nullptr && has_neighbours())
  {
    packed_ = std::make_unique<OwnedEvent>();
    received_ = std::make_unique<OwnedEvent>();
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
  if (received_ == nullptr)
    return messages_.start(sends_, receives_);
  const NcclRanks &nccl = *messages_.links().nccl;
  device::record(packed_->get(), stream_);
  device::wait_for(packed_->get(), nccl.background());
  nccl.exchange(sends_, receives_, nccl.background());
  device::record(received_->get(), nccl.background());
}

template <typename T>
void DeviceExchange<T>::finish()
{
  if (received_ != nullptr)
    device::wait_for(received_->get(), stream_);
  else
    messages_.finish();
}

template class DeviceExchange<double>;
template class DeviceExchange<float>;
} // namespace tensormg
