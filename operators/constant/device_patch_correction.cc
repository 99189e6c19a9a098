#include "operators/constant/device_patch_correction.h"

#include <stdexcept>

#include "kernels/device/meters/launch_profile.h"
#include "kernels/tensor/capability.h"
#include "operators/constant/patch_correction.h"

namespace tensormg
{
namespace
{
  /// The part of the cells that patches of the colour have.
  double covered(const Block &block, const patch::Patches &colour)
  {
    double share = 1.;
    for (int d = 0; d < block.dim; ++d)
      share *= static_cast<double>(colour.covered[d]) / static_cast<double>(block.cells[d]);
    return share;
  }

  /// Contractions by mma.sync take instructions of compute capability 9.0.
  patch_inverse::Backend backend_of(laplace::Backend backend)
  {
    const bool on_tensor_cores =
        backend == laplace::Backend::mma || backend == laplace::Backend::automatic;
    return on_tensor_cores && tensor::device_capability_if_any() >= 90
        ? patch_inverse::Backend::mma
        : patch_inverse::Backend::cuda;
  }
} // namespace

template <typename Number>
DevicePatchCorrection<Number>::DevicePatchCorrection(
    const LevelGrid &level, const CellBasis &basis, laplace::Backend backend, Stream stream)
  : level_(level)
  , basis_(basis)
  , stream_(stream)
  , kernel_(patch::select_device<Number>(backend_of(backend), level.block.dim, level.block.n))
{
  if (level.communicator != MPI_COMM_SELF)
    throw std::invalid_argument("the patch smoother in device memory cannot be distributed over "
                                "several ranks yet");
  const int dim = level.block.dim;
  std::array<patch::Line, 3> lines;
  for (int d = 0; d < dim; ++d)
  {
    lines[d] = make_diagonalised_line(basis, line_range(level, d));
    bool singular = false;
    for (const patch::LineKind &kind : lines[d].kinds)
      singular = singular || kind.is_singular();
    can_replace_ = can_replace_ || !singular;
  }
  const std::array<const patch::Line *, 3> pointers{&lines[0], &lines[1], &lines[2]};
  for (const std::array<int, 3> &colour : ordered_colours(lines, dim))
    colours_.push_back(patch::make_patches(level.block, pointers, colour, kernel_.group_size));
  const std::vector<std::byte> tables = kernel_.pack(
      patch::make_factors(pointers, level.direction_factors(), dim), 2 * level.block.n);
  tables_ = DeviceArray<std::byte>(static_cast<std::int64_t>(tables.size()), stream);
  tables_.copy_from_host(tables.data(), stream);
  device::synchronize(stream);
}

template <typename Number>
void DevicePatchCorrection<Number>::add(
    DeviceVector<Number> &x, const DeviceVector<Number> &r, int colour, double damping)
{
  const double share = covered(level_.block, colours_[colour]);
  const ProfiledOperation operation(
      stream_, share * (r.bytes() + 2. * x.bytes()), "patch correction");
  kernel_.correct({&colours_[colour], tables_.data(), damping, r.data(), x.data(), stream_});
}

template <typename Number>
void DevicePatchCorrection<Number>::add_all(
    DeviceVector<Number> &x, const DeviceVector<Number> &r, double damping)
{
  for (int colour = 0; colour < n_colours(); ++colour)
    add(x, r, colour, damping);
}

template <typename Number>
void DevicePatchCorrection<Number>::replace(DeviceVector<Number> &y, const DeviceVector<Number> *x,
    const DeviceVector<Number> &b, int colour)
{
  // Without x, what no patch of the colour has is not touched.
  const double bytes = x != nullptr
      ? b.bytes() * covered(level_.block, colours_[colour]) + x->bytes() + y.bytes()
      : 2. * b.bytes() * covered(level_.block, colours_[colour]);
  const ProfiledOperation operation(stream_, bytes, "patch solution");
  kernel_.replace({&colours_[colour], tables_.data(), level_.block, &basis_,
      level_.direction_factors(), b.data(), x != nullptr ? x->data() : nullptr, y.data(), stream_});
}

template <typename Number>
void DevicePatchCorrection<Number>::set_zero(DeviceVector<Number> &x) const
{
  device::fill_bytes(x.data(), 0, static_cast<std::size_t>(x.size()) * sizeof(Number), stream_);
}

template <typename Number>
void DevicePatchCorrection<Number>::extrapolate(
    double theta, DeviceVector<Number> &x, DeviceVector<Number> &old) const
{
  const ProfiledOperation operation(
      stream_, 2. * old.bytes() + (theta == 0. ? 0. : 2. * x.bytes()), "extrapolation");
  patch::extrapolate_cuda(x.size(), theta, x.data(), old.data(), stream_);
}

template class DevicePatchCorrection<double>;
template class DevicePatchCorrection<float>;
template class DevicePatchCorrection<Half>;
} // namespace tensormg
