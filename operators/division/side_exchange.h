// Numbers at sides that blocks of two ranks have in common.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <mpi.h>

#include "kernels/core/block.h"
#include "kernels/core/face_map.h"
#include "operators/division/block_division.h"

namespace tensormg
{
/// Brings `count` numbers of each point of the neighbours' sides of SharedSides, in the order of PointBehind::remote
/// (kernels/laplace/pointwise/pointwise.h): that of the places of the neighbour's side. Buffers are made once.
template <typename C>
class SideExchange
{
  static_assert(std::is_trivially_copyable_v<C>);

public:
  /// Of blocks of N^dim cells with n points in each direction of a side of a cell. `shared` must outlive the object.
  SideExchange(const SharedSides &shared, int dim, std::int64_t per_direction, int n, int count)
    : shared_(shared)
    , dim_(dim)
    , per_direction_(per_direction)
    , n_(n)
    , count_(count)
    , of_side_(per_direction * n * (dim == 3 ? per_direction * n : 1) * count)
    , send_(static_cast<std::size_t>(shared.n_sides * of_side_))
    , received_(send_.size())
  {}

  /// Sends get(cell, side, q, number) of the points of own sides, q = a + n b, cells of the stacked block; then received() has those
  /// of the others. Collective over ranks with common sides.
  template <typename Get>
  void run(const Get &get)
  {
    std::vector<MPI_Request> requests;
    std::int64_t at = 0;
    for (const SharedSides::Neighbour &other : shared_.neighbours)
    {
      post(other, received_.data() + at, requests, MPI_Irecv);
      at += std::ssize(other.own) * of_side_;
    }
    at = 0;
    for (const SharedSides::Neighbour &other : shared_.neighbours)
    {
      C *const first = send_.data() + at;
      for (const SharedSides::OwnSide &side : other.own)
        pack(side, get, at);
      post(other, first, requests, MPI_Isend);
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

  const C *received() const { return received_.data(); }
  std::int64_t bytes() const { return 2 * std::ssize(send_) * std::int64_t{sizeof(C)}; }

private:
  template <typename Post>
  void post(const SharedSides::Neighbour &other, C *numbers, std::vector<MPI_Request> &requests,
      const Post &post) const
  {
    MPI_Datatype type{}; // of a side, so that counts stay small
    MPI_Type_contiguous(static_cast<int>(of_side_ * std::int64_t{sizeof(C)}), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    post(numbers, static_cast<int>(other.own.size()), type, other.rank, 0, shared_.communicator,
        &requests.emplace_back());
    MPI_Type_free(&type);
  }

  template <typename Get>
  void pack(const SharedSides::OwnSide &own, const Get &get, std::int64_t &at)
  {
    const int d = own.side / 2;
    const auto [a, b] = tangential(d);
    std::array<std::int64_t, 3> cell{};
    cell[d] = own.side % 2 == 1 ? per_direction_ - 1 : 0;
    const bool is_3d = dim_ == 3;
    for (std::int64_t place_b = 0; place_b < (is_3d ? per_direction_ * n_ : 1); ++place_b)
      for (std::int64_t place_a = 0; place_a < per_direction_ * n_; ++place_a)
      {
        cell[a] = place_a / n_;
        if (is_3d)
          cell[b] = place_b / n_;
        std::array<std::int64_t, 3> stacked = cell;
        stacked[0] += own.block * per_direction_;
        for (int number = 0; number < count_; ++number)
          send_[static_cast<std::size_t>(at++)] =
              get(stacked, own.side, place_a % n_ + n_ * (place_b % n_), number);
      }
  }

  const SharedSides &shared_;
  int dim_;
  std::int64_t per_direction_;
  int n_, count_;
  std::int64_t of_side_; ///< numbers
  std::vector<C> send_, received_;
};
} // namespace tensormg
