#include "operators/cellwise/vertex_correction.h"

#include <algorithm>

namespace tensormg
{
namespace
{
  double vertices_of(const LevelGrid &level)
  {
    double vertices = 1.;
    for (int d = 0; d < level.block.dim; ++d)
      vertices *= static_cast<double>(level.global_cells[d] + 3);
    return vertices;
  }
} // namespace

VertexCorrection::VertexCorrection(const LevelGrid &level, const CellBasis &basis,
    const Problem &problem, bool algebraic, const HostContext & /*context*/)
  : level_(level)
  , basis_(basis)
  , algebraic_(algebraic)
  , is_singular_(problem.is_singular())
  , vertices_(level, basis, problem)
{
  update();
}

void VertexCorrection::update()
{
  const CellNumbersOf<double> numbers(level_, basis_);
  multigrid_.reset();
  amg_.reset();
  if (algebraic_)
  {
    vertices_.split(numbers);
    amg_.emplace(vertices_.matrix(numbers), is_singular_);
  }
  else
    multigrid_.emplace(vertices_.matrix(numbers), is_singular_);
}

template <typename Number>
void VertexCorrection::add(Vector<Number> &x, const Vector<Number> &r)
{
  vertices_.restrict_to(b_, r);
  if (amg_)
    amg_->solve(x_, b_);
  else
    multigrid_->solve(x_, b_);
  vertices_.add_prolonged(x, x_);
}

std::int64_t VertexCorrection::bytes(const LevelGrid &level, bool algebraic)
{
  return static_cast<std::int64_t>(vertices_of(level) *
      (algebraic ? VertexAmg::bytes_per_vertex() : 8. / 7. * VertexMultigrid::bytes_per_vertex()));
}

DeviceVertexCorrection::DeviceVertexCorrection(const LevelGrid &level, const CellBasis &basis,
    const Problem &problem, bool algebraic, const DeviceContext &context)
  : level_(level)
  , basis_(basis)
  , algebraic_(algebraic)
  , is_singular_(problem.is_singular())
  , context_(context)
  , vertices_(level, basis, problem)
  , layout_(vertices_.layout())
  , sums_(layout_.sums(), Unset())
{
  if (level.communicator != MPI_COMM_SELF)
    messages_.emplace(level.communicator, context.stream, context.links);
  update();
}

VertexHierarchy DeviceVertexCorrection::hierarchy()
{
  const CellNumbersOf<double> numbers(level_, basis_);
  if (!algebraic_)
    return VertexMultigrid(vertices_.matrix(numbers), is_singular_).hierarchy();
  vertices_.split(numbers);
  return VertexAmg(vertices_.matrix(numbers), is_singular_).hierarchy();
}

void DeviceVertexCorrection::update()
{
  {
    const VertexHierarchy levels = hierarchy();
    multigrid_.reset();
    multigrid_.emplace(levels, is_singular_, context_.stream);
  }
  layout_.splits = layout_.octants = nullptr;
  if (vertices_.n_splits() == 0)
    return;
  const std::vector<std::int32_t> splits = vertices_.splits(), octants = vertices_.octants();
  splits_ = DeviceArray<std::int32_t>(std::ssize(splits), Unset());
  octants_ = DeviceArray<std::int32_t>(std::ssize(octants), Unset());
  splits_.copy_from_host(splits.data(), context_.stream);
  octants_.copy_from_host(octants.data(), context_.stream);
  device::synchronize(context_.stream); // what lies on the host goes
  layout_.splits = splits_.data();
  layout_.octants = octants_.data();
}

template <typename Number>
void DeviceVertexCorrection::add(DeviceVector<Number> &x, const DeviceVector<Number> &r)
{
  const Stream stream = context_.stream;
  {
    const DeviceContext::Operation operation(context_, r.bytes(), "restriction to vertices");
    vertices::restrict_to(layout_, r.data(), sums_.data(), multigrid_->b(), stream);
    if (messages_)
      messages_->sum(multigrid_->b(), layout_.vertices() + vertices_.n_splits());
  }
  {
    const DeviceContext::Operation operation(context_, multigrid_->bytes(), "cycle of vertices");
    multigrid_->solve();
  }
  const DeviceContext::Operation operation(context_, 2. * x.bytes(), "prolongation from vertices");
  vertices::add_prolonged(layout_, multigrid_->x(), x.data(), stream);
}

std::int64_t DeviceVertexCorrection::bytes(const LevelGrid &level, bool algebraic)
{
  // Matrices take twelve bytes an entry, of which a row has 27, those between levels together about seven; coarser levels a seventh more, or
  // what algebraic multigrid makes of them.
  const double per_vertex = 12. * 34. + 8. * 4., coarser = algebraic ? 1.6 : 8. / 7.;
  const double cells = static_cast<double>(level.block.pitch * level.block.cells[1]) *
      static_cast<double>(level.block.cells[2]);
  return static_cast<std::int64_t>(
      vertices_of(level) * (per_vertex * coarser + 8. * 4.) + cells * 8. * (1 << level.block.dim));
}

template void VertexCorrection::add(Vector<double> &, const Vector<double> &);
template void VertexCorrection::add(Vector<float> &, const Vector<float> &);
template void VertexCorrection::add(Vector<Half> &, const Vector<Half> &);
template void DeviceVertexCorrection::add(DeviceVector<double> &, const DeviceVector<double> &);
template void DeviceVertexCorrection::add(DeviceVector<float> &, const DeviceVector<float> &);
template void DeviceVertexCorrection::add(DeviceVector<Half> &, const DeviceVector<Half> &);
} // namespace tensormg
