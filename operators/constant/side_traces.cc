#include "operators/constant/side_traces.h"

#include "kernels/laplace/cuda.h"

namespace tensormg
{
template <typename Number>
SideTraces<Number, HostContext>::SideTraces(const LevelGrid &level, const CellBasis &basis,
    const HostContext & /*context*/, laplace::Arguments<Number> &arguments)
  : exchange_(level, basis)
  , split_(split_rows(level.block, exchange_.remote()))
{
  arguments.ghost = exchange_.ghosts();
}

template <typename Number>
void SideTraces<Number, HostContext>::run(
    const Kernel &kernel, laplace::Arguments<Number> arguments)
{
  exchange_.start(arguments.src);
  if (!split_.interior.empty())
  {
    arguments.range = split_.interior;
    arguments.between_layers = exchange_.progress_callback();
    kernel(arguments);
  }
  exchange_.finish();
  arguments.between_layers = {};
  for (const laplace::RowRange &part : split_.boundary)
  {
    arguments.range = part;
    kernel(arguments);
  }
}

namespace
{
  std::array<std::int64_t, 6> ghost_sizes(const Block &block)
  {
    std::array<std::int64_t, 6> sizes{};
    for (int s = 2; s < 6; ++s)
      sizes[static_cast<std::size_t>(s)] = laplace::ghost_size(block, s);
    return sizes;
  }

  template <typename T>
  std::array<bool, 6> remote_sides(const DeviceExchange<T> &exchange)
  {
    std::array<bool, 6> result{};
    for (int s = 0; s < 6; ++s)
      result[static_cast<std::size_t>(s)] = exchange.is_remote(s);
    return result;
  }
} // namespace

template <typename Number>
SideTraces<Number, DeviceContext>::SideTraces(const LevelGrid &level, const CellBasis &basis,
    const DeviceContext &context, laplace::Arguments<Number> &arguments)
  : level_(level)
  , basis_(basis)
  , stream_(context.stream)
  , exchange_(level, ghost_sizes(level.block), context.stream, context.links,
        overlaps(level, context.links))
  , split_(split_rows(level.block,
        overlaps(level, context.links) ? remote_sides(exchange_) : std::array<bool, 6>{}))
  , progress_(2, context.stream)
{
  for (int s = 2; s < 2 * level.block.dim; ++s)
    if (exchange_.is_remote(s))
      arguments.ghost[s] = exchange_.receive(s);
    else if (level.sides[s] == Side::ghost)
    {
      traces_[s] = DeviceArray<Compute<Number>>(laplace::ghost_size(level.block, s), stream_);
      arguments.ghost[s] = traces_[s].data();
    }
  arguments.stream = stream_;
  arguments.progress = progress_.data();
}

template <typename Number>
void SideTraces<Number, DeviceContext>::pack_side(int side, const Number *src, Compute<Number> *to)
{
  const Block &block = level_.block;
  const std::int64_t in_layer = block.dofs() / block.cells[side / 2];
  const double layer = static_cast<double>(in_layer) * sizeof(Number);
  const double traces =
      static_cast<double>(laplace::ghost_size(block, side)) * sizeof(Compute<Number>);
  const ProfiledOperation operation(stream_, layer + traces, "traces of a side");
  laplace::pack_traces_cuda(block, basis_, side, src, to, stream_);
}

template <typename Number>
void SideTraces<Number, DeviceContext>::pack(const Number *src)
{
  for (int s = 2; s < 6; ++s)
    if (exchange_.is_remote(s))
      pack_side(s, src, exchange_.send(s));
  for (int s = 2; s < 6; ++s)
    if (traces_[s].size() > 0)
      pack_side(s ^ 1, src, traces_[s].data());
}

template <typename Number>
void SideTraces<Number, DeviceContext>::run(
    const Kernel &kernel, laplace::Arguments<Number> arguments)
{
  pack(arguments.src);
  exchange_.start();
  if (split_.boundary.empty())
  {
    exchange_.finish();
    return kernel(arguments);
  }
  arguments.range = split_.interior;
  kernel(arguments);
  exchange_.finish();
  for (const laplace::RowRange &part : split_.boundary)
  {
    arguments.range = part;
    kernel(arguments);
  }
}

template <typename Number>
bool SideTraces<Number, DeviceContext>::overlaps(const LevelGrid &level, const DeviceLinks &links)
{
  if (level.communicator == MPI_COMM_SELF || level.block.dim == 2 || !links.are_slow())
    return false;
  int rank = 0;
  MPI_Comm_rank(level.communicator, &rank);
  for (std::size_t s = 2; s < 4; ++s)
    if (level.sides[s] == Side::ghost && level.neighbour[s] != rank)
      return false;
  return level.block.cells[2] >= least_layers_of_devices;
}

template class SideTraces<double, HostContext>;
template class SideTraces<float, HostContext>;
template class SideTraces<Half, HostContext>;
template class SideTraces<WideFloat, HostContext>;
template class SideTraces<double, DeviceContext>;
template class SideTraces<float, DeviceContext>;
template class SideTraces<Half, DeviceContext>;
template class SideTraces<WideFloat, DeviceContext>;
} // namespace tensormg
