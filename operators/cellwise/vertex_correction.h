// The correction of elements by linear elements on the vertices of their cells.
#pragma once

#include <optional>
#include <vector>

#include "kernels/vertices/vertices.h"
#include "operators/cellwise/device_vertices.h"
#include "operators/cellwise/vertex_amg.h"
#include "operators/cellwise/vertex_space.h"
#include "operators/mesh/device_messages.h"
#include "operators/vectors/context.h"

namespace tensormg
{
/// x += P A^-1 P' r to vertex_accuracy: A = P'BP of the vertices (vertex_space.h), by conjugate gradients with black-box or with algebraic
/// multigrid, for which stiff cells that meet in a corner have unknowns of their own. On the host.
class VertexCorrection
{
public:
  /// `level`, whose cells have numbers, and `basis` must outlive the object.
  VertexCorrection(const LevelGrid &level, const CellBasis &basis, const Problem &problem,
      bool algebraic, const HostContext &context);
  /// The cells have other numbers now.
  void update();
  template <typename Number>
  void add(Vector<Number> &x, const Vector<Number> &r);

  static std::int64_t bytes(const LevelGrid &level, bool algebraic);

private:
  const LevelGrid &level_;
  const CellBasis &basis_;
  bool algebraic_, is_singular_;
  VertexSpace vertices_;
  std::optional<VertexMultigrid> multigrid_;
  std::optional<VertexAmg> amg_; ///< in its place
  std::vector<double> b_, x_;
};

/// The same in device memory; levels are made on the host. add() can be recorded, but for sums over ranks that go through the host.
class DeviceVertexCorrection
{
public:
  DeviceVertexCorrection(const LevelGrid &level, const CellBasis &basis, const Problem &problem,
      bool algebraic, const DeviceContext &context);
  void update();
  template <typename Number>
  void add(DeviceVector<Number> &x, const DeviceVector<Number> &r);

  static std::int64_t bytes(const LevelGrid &level, bool algebraic);

private:
  VertexHierarchy hierarchy();

  const LevelGrid &level_;
  const CellBasis &basis_;
  bool algebraic_, is_singular_;
  DeviceContext context_;
  std::optional<DeviceMessages> messages_; ///< over ranks
  VertexSpace vertices_;
  vertices::Layout layout_;
  DeviceArray<std::int32_t> splits_, octants_;
  DeviceArray<double> sums_;
  std::optional<DeviceVertexMultigrid> multigrid_;
};
} // namespace tensormg
