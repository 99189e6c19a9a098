#include "operators/mesh/ghost_exchange.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace tensormg
{
template <typename Number>
GhostExchange<Number>::GhostExchange(const LevelGrid &level, const CellBasis &basis)
  : level_(level)
  , basis_(basis)
{
  int rank = 0;
  MPI_Comm_rank(level.communicator, &rank);
  for (int s = 2; s < 2 * level.block.dim; ++s)
    if (level.sides[s] == Side::ghost)
    {
      const std::int64_t size = laplace::ghost_size(level.block, s);
      if (size > std::numeric_limits<int>::max())
        throw std::length_error(
            "a face of one rank has more traces than one MPI message can carry; "
            "use more ranks");
      remote_[s] = level.communicator != MPI_COMM_SELF && level.neighbour[s] != rank;
      receive_[s].resize(static_cast<std::size_t>(size));
      if (remote_[s])
        send_[s].resize(static_cast<std::size_t>(size));
      pointers_[s] = receive_[s].data();
    }
}

template <typename Number>
void GhostExchange<Number>::start(const Number *src)
{
  const MPI_Datatype type = sizeof(Compute<Number>) == sizeof(double) ? MPI_DOUBLE : MPI_FLOAT;
  n_requests_ = 0;
  for (int s = 2; s < 6; ++s)
    if (remote_[s])
      // The message that arrives at a side was sent from the opposite side: the tag is the sender's.
      MPI_Irecv(receive_[s].data(), static_cast<int>(receive_[s].size()), type, level_.neighbour[s],
          s ^ 1, level_.communicator, &requests_[n_requests_++]);
  const auto pack = [&](int s, std::vector<Compute<Number>> &buffer) {
    laplace::select_pack<Number>(basis_.n - 1)(level_.block, basis_, s, src, buffer.data());
  };
  for (int s = 2; s < 6; ++s)
    if (remote_[s])
    {
      pack(s, send_[s]);
      MPI_Isend(send_[s].data(), static_cast<int>(send_[s].size()), type, level_.neighbour[s], s,
          level_.communicator, &requests_[n_requests_++]);
    }
  for (int s = 2; s < 6; ++s)
    if (pointers_[s] && !remote_[s])
      // Alone in this direction, what leaves at s enters at the opposite side.
      pack(s, receive_[s ^ 1]);
}

template <typename Number>
void GhostExchange<Number>::progress()
{
  if (n_requests_ == 0)
    return;
  int done = 0;
  MPI_Testall(n_requests_, requests_.data(), &done, MPI_STATUSES_IGNORE);
  if (done)
    n_requests_ = 0;
}

template <typename Number>
laplace::Callback GhostExchange<Number>::progress_callback()
{
  return {[](void *self) { static_cast<GhostExchange *>(self)->progress(); }, this};
}

template <typename Number>
void GhostExchange<Number>::finish()
{
  if (n_requests_ == 0)
    return;
  MPI_Waitall(n_requests_, requests_.data(), MPI_STATUSES_IGNORE);
  n_requests_ = 0;
}

template <typename Number>
std::int64_t GhostExchange<Number>::bytes() const
{
  std::int64_t count = 0;
  for (int s = 0; s < 6; ++s)
    count += static_cast<std::int64_t>(send_[s].size() + receive_[s].size());
  return count * static_cast<std::int64_t>(sizeof(Compute<Number>));
}

template class GhostExchange<double>;
template class GhostExchange<float>;
template class GhostExchange<Half>;
template class GhostExchange<WideFloat>;
} // namespace tensormg
