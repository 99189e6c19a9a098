#include "operators/ghost_exchange.h"

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
  for (int s = 2; s < 2 * level.block.dim; ++s)
    if (level.sides[s] == Side::ghost)
    {
      const std::int64_t size = laplace::ghost_size(level.block, s);
      if (size > std::numeric_limits<int>::max())
        throw std::length_error(
            "a face of one rank has more traces than one MPI message can carry; "
            "use more ranks");
      receive_[s].resize(static_cast<std::size_t>(size));
      send_[s].resize(static_cast<std::size_t>(size));
      pointers_[s] = receive_[s].data();
    }
}

template <typename Number>
void GhostExchange<Number>::update(const Number *src)
{
  const MPI_Datatype type = sizeof(Compute<Number>) == sizeof(double) ? MPI_DOUBLE : MPI_FLOAT;
  int rank = 0;
  MPI_Comm_rank(level_.communicator, &rank);
  std::array<MPI_Request, 8> requests;
  int n_requests = 0;
  const auto is_local = [&](int s) {
    return level_.communicator == MPI_COMM_SELF || level_.neighbour[s] == rank;
  };
  for (int s = 2; s < 6; ++s)
    if (pointers_[s] && !is_local(s))
      // The message that arrives at a side was sent from the opposite side: the tag is the sender's.
      MPI_Irecv(receive_[s].data(), static_cast<int>(receive_[s].size()), type, level_.neighbour[s],
          s ^ 1, level_.communicator, &requests[n_requests++]);
  for (int s = 2; s < 6; ++s)
    if (pointers_[s])
    {
      const int opposite = s ^ 1;
      // Alone in this direction, what leaves at s enters at the opposite side.
      const bool local = is_local(s);
      std::vector<Compute<Number>> &buffer = local ? receive_[opposite] : send_[s];
      laplace::select_pack<Number>(basis_.n - 1)(level_.block, basis_, s, src, buffer.data());
      if (!local)
        MPI_Isend(buffer.data(), static_cast<int>(buffer.size()), type, level_.neighbour[s], s,
            level_.communicator, &requests[n_requests++]);
    }
  MPI_Waitall(n_requests, requests.data(), MPI_STATUSES_IGNORE);
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
} // namespace tensormg
