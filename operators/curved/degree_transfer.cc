#include "operators/curved/degree_transfer.h"

#include <stdexcept>
#include <vector>

#include "kernels/basis/make_cell_basis.h"
#include "kernels/transfer/degree_cuda.h"
#include "operators/data/tensor_rule.h"

namespace tensormg
{
// Not without a name: lambdas of templates that others see hold these, also where several files are compiled as one.
namespace degree_transfer
{
  /// Neighbouring cells side by side.
  constexpr std::int64_t lanes = row_granularity;
  template <typename C>
  using RowOf = std::array<C, lanes>;

  /// out[o, to, s] = sum over `from` of matrix[to][from] in[o, from, s] of entries of the same parity: `outer` places o, `stride` places s.
  template <typename C>
  void contract(int outer, int stride, int n_to, int n_from, const C *matrix, const RowOf<C> *in,
      RowOf<C> *out)
  {
    for (int o = 0; o < outer; ++o)
      for (int to = 0; to < n_to; ++to)
        for (int s = 0; s < stride; ++s)
        {
          RowOf<C> sum{};
          for (int from = to % 2; from < n_from; from += 2)
            for (std::int64_t c = 0; c < lanes; ++c)
              sum[c] += matrix[to * n_from + from] * in[(o * n_from + from) * stride + s][c];
          out[(o * n_to + to) * stride + s] = sum;
        }
  }

  /// The modes of some cells, and what another basis makes of them.
  template <typename C>
  class CellTransfer
  {
  public:
    CellTransfer(int dim, int n_from, int n_to, const C *matrix)
      : dim_(dim)
      , n_from_(n_from)
      , n_to_(n_to)
      , matrix_(matrix)
    {}
    RowOf<C> *in() { return a_.data(); }
    const RowOf<C> *result() { return dim_ == 3 ? b_.data() : a_.data(); }
    void run()
    {
      const int nz = dim_ == 3 ? n_from_ : 1;
      contract(nz * n_from_, 1, n_to_, n_from_, matrix_, a_.data(), b_.data());
      contract(nz, n_to_, n_to_, n_from_, matrix_, b_.data(), a_.data());
      if (dim_ == 3)
        contract(1, n_to_ * n_to_, n_to_, n_from_, matrix_, a_.data(), b_.data());
    }

  private:
    static constexpr std::size_t most = std::size_t{max_n} * max_n * max_n;
    int dim_, n_from_, n_to_;
    const C *matrix_;
    std::vector<RowOf<C>> a_ = std::vector<RowOf<C>>(most), b_ = a_;
  };

  /// use(place of the first of `lanes` cells in a vector, number of the mode) for all modes.
  template <typename Use>
  void for_modes(const Block &block, const std::array<std::int64_t, 3> &cell, const Use &use)
  {
    int at = 0;
    for (int k = 0; k < block.nz(); ++k)
      for (int j = 0; j < block.n; ++j)
        for (int i = 0; i < block.n; ++i)
          use(block.index(cell[0], cell[1], cell[2], i, j, k), at++);
  }

  /// Calls use(cell) for every group of `lanes` cells of a row; padding, which is zero, belongs to it.
  template <typename Use>
  void for_groups(const Block &block, const Use &use)
  {
    for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
      for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
        for (std::int64_t cx = 0; cx < block.pitch; cx += lanes)
          use(std::array{cx, cy, cz});
  }
} // namespace degree_transfer
using namespace degree_transfer;

template <typename Number, typename Context>
DegreeTransfer<Number, Context>::DegreeTransfer(const Block &fine, const Block &coarse,
    const CellBasis &fine_basis, const CellBasis &coarse_basis, const Context &context)
  : fine_(fine)
  , coarse_(coarse)
  , context_(context)
{
  if (fine.cells != coarse.cells || fine.dim != coarse.dim || fine.n <= coarse.n ||
      fine.n != fine_basis.n || coarse.n != coarse_basis.n)
    throw std::invalid_argument("transfer between degrees: cells or bases do not fit");
  // Exact for products of both.
  const LineRule of_fine = gauss_rule(fine_basis, fine.n),
                 of_coarse = gauss_rule(coarse_basis, fine.n);
  for (int a = 0; a < fine.n; ++a)
    for (int i = 0; i < coarse.n; ++i)
    {
      double sum = 0.;
      for (int q = 0; q < fine.n; ++q)
        sum += of_fine.weights[q] * of_fine.values[q * fine.n + a] *
            of_coarse.values[q * coarse.n + i];
      up_[a * coarse.n + i] = down_[i * fine.n + a] = static_cast<C>(sum);
    }
}

template <typename Number, typename Context>
void DegreeTransfer<Number, Context>::restrict_to(
    VectorType &coarse, const VectorType &fine, double factor)
{
  if constexpr (Context::on_device)
  {
    const typename Context::Operation operation(
        context_, fine.bytes() + coarse.bytes(), "restriction to a lower degree");
    transfer::restrict_degree_cuda<Number>(
        {fine_, coarse_, nullptr, factor, fine.data(), coarse.data()}, down_.data(),
        context_.stream);
  }
  else
  {
    CellTransfer<C> transfer(fine_.dim, fine_.n, coarse_.n, down_.data());
    const C f = static_cast<C>(factor);
    for_groups(fine_, [&](const auto &cell) {
      for_modes(fine_, cell, [&](std::int64_t place, int at) {
        for (std::int64_t c = 0; c < lanes; ++c)
          transfer.in()[at][c] = static_cast<C>(fine[place + c]);
      });
      transfer.run();
      for_modes(coarse_, cell, [&](std::int64_t place, int at) {
        for (std::int64_t c = 0; c < lanes; ++c)
          coarse[place + c] = Number(f * transfer.result()[at][c]);
      });
    });
  }
}

template <typename Number, typename Context>
void DegreeTransfer<Number, Context>::prolongate(
    VectorType &fine, const VectorType &coarse, double factor, bool add)
{
  if constexpr (Context::on_device)
  {
    const typename Context::Operation operation(context_,
        (add ? 2. : 1.) * fine.bytes() + coarse.bytes(), "prolongation to a higher degree");
    transfer::prolongate_degree_cuda<Number>(
        {fine_, coarse_, nullptr, factor, add, coarse.data(), fine.data()}, down_.data(),
        context_.stream);
  }
  else
  {
    CellTransfer<C> transfer(fine_.dim, coarse_.n, fine_.n, up_.data());
    const C f = static_cast<C>(factor);
    for_groups(fine_, [&](const auto &cell) {
      for_modes(coarse_, cell, [&](std::int64_t place, int at) {
        for (std::int64_t c = 0; c < lanes; ++c)
          transfer.in()[at][c] = static_cast<C>(coarse[place + c]);
      });
      transfer.run();
      for_modes(fine_, cell, [&](std::int64_t place, int at) {
        for (std::int64_t c = 0; c < lanes; ++c)
          fine[place + c] =
              Number((add ? static_cast<C>(fine[place + c]) : C(0)) + f * transfer.result()[at][c]);
      });
    });
  }
}

template <typename Number, typename Context>
void DegreeTransfer<Number, Context>::prolongate_pair(VectorType &x, VectorType &d,
    const VectorType &coarse, const VectorType *rest, double factor, bool add, bool add_rest)
{
  if constexpr (Context::on_device)
  {
    const double coarse_vectors = rest != nullptr ? 2. : 1.,
                 fine_vectors = 2. + (add ? 1. : 0.) + (add_rest ? 1. : 0.);
    const typename Context::Operation operation(context_,
        coarse_vectors * coarse.bytes() + fine_vectors * x.bytes(),
        "prolongation of a pair to a higher degree");
    transfer::prolongate_degree_cuda<Number>(
        {fine_, coarse_, nullptr, factor, add, coarse.data(), x.data(),
            rest != nullptr ? rest->data() : nullptr, d.data(), add_rest},
        down_.data(), context_.stream);
  }
  else
  {
    CellTransfer<C> transfer(fine_.dim, coarse_.n, fine_.n, up_.data());
    const C f = static_cast<C>(factor);
    for_groups(fine_, [&](const auto &cell) {
      for_modes(coarse_, cell, [&](std::int64_t place, int at) {
        for (std::int64_t c = 0; c < lanes; ++c)
          transfer.in()[at][c] = static_cast<C>(coarse[place + c]) +
              (rest != nullptr ? static_cast<C>((*rest)[place + c]) : C(0));
      });
      transfer.run();
      for_modes(fine_, cell, [&](std::int64_t place, int at) {
        for (std::int64_t c = 0; c < lanes; ++c)
        {
          const C value = (add ? static_cast<C>(x[place + c]) : C(0)) +
              (add_rest ? static_cast<C>(d[place + c]) : C(0)) + f * transfer.result()[at][c];
          x[place + c] = Number(value);
          d[place + c] = Number(value - static_cast<C>(x[place + c]));
        }
      });
    });
  }
}

template class DegreeTransfer<double, HostContext>;
template class DegreeTransfer<float, HostContext>;
template class DegreeTransfer<Half, HostContext>;
template class DegreeTransfer<double, DeviceContext>;
template class DegreeTransfer<float, DeviceContext>;
template class DegreeTransfer<Half, DeviceContext>;
} // namespace tensormg
