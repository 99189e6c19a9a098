// Kernels on batches of tensors (kernels/nodal, kernels/patch_inverse) in the comparison: their words, what
// they are given, and their check against the host's reference.
//
//   form           batch                                             N          kernels
//   nodal          vertex patches of one colour, lexicographic mesh   2 (p + 1)  kernels/nodal
//   nodal_cells    cells one after the other                          p + 1      kernels/nodal
//   patch_inverse  as nodal                                           2 (p + 1)  kernels/patch_inverse
//
// The "unknowns" of an entry are the numbers in all tensors of its batch. Matrices are dense and random.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/compare/table.h"
#include "kernels/diagnostics/nodal/nodal.h"
#include "kernels/patch_inverse/patch_inverse.h"

namespace tensormg
{
/// A batch and the length of the vectors that it lies in.
struct TensorSetup
{
  tensor::Batch batch;
  std::array<std::int64_t, 3> cells{1, 1, 1}; ///< of the mesh; {cells, 1, 1} in a list of cells
  std::int64_t size = 0;
};

inline constexpr const char *patch_inverse_form = "patch_inverse";
inline constexpr std::array tensor_forms{"nodal", "nodal_cells", patch_inverse_form};

/// Is it one of the forms above?
bool is_tensor_form(const std::string &form);

/// N.
int tensor_size(const std::string &form, int degree);

/// About `dofs` numbers, all of them in a tensor: an even number of cells per direction, colour 0.
TensorSetup timed_tensors(const std::string &form, int dim, int degree, std::int64_t dofs);

/// Those of the check: batches that fill no block, all ends of a mesh, numbers that no tensor has.
std::vector<TensorSetup> small_tensors(const std::string &form, int dim, int degree);

/// Tensors of a large batch that are compared: the corners, and others all over it.
std::vector<std::array<std::int64_t, 3>> sample_of(const tensor::Batch &batch);

/// Kernels for a form, dimension, degree and precision; where a local inverse has no variants they are
/// `standard`.
std::vector<nodal::Variant> tensor_kernels(
    const std::string &form, int dim, int degree, const std::string &precision);

/// "mma_staged_plain_m8n8k4": the backend's word of a kernel.
std::string backend_word(const nodal::Variant &variant);

/// The kernels of a choice, best first: a word may leave the layout and the instruction open. Throws NotAvailable that lists
/// what there is.
std::vector<nodal::Variant> find_tensor_kernels(const Choice &choice);

/// The variant to ask kernels/nodal for, with what the word leaves open as `standard`.
nodal::Variant requested_variant(const Choice &choice);

/// The rows of these forms for the table of the comparison.
std::span<const Implementation> tensor_implementations();

/// Vectors repeat this many random numbers; a prime, so that tensors differ.
inline constexpr std::int64_t noise_period = 1'048'573;

/// Uniform in [-1/2, 1/2), rounded to the number type.
template <typename Number>
const std::vector<Number> &noise();

/// Matrices and factors of all directions and ends.
nodal::Matrices tensor_matrices(int n);
patch_inverse::Factors tensor_factors(int n);

/// The references are plain loops, and there is nothing else on the host: they get no more unknowns than this.
inline constexpr std::int64_t most_reference_dofs = std::int64_t(1) << 20;

template <typename Family, typename Number>
std::unique_ptr<Candidate> make_host_tensors(const Choice &choice, MPI_Comm communicator);
template <typename Family, typename Number>
std::unique_ptr<Candidate> make_device_tensors(const Choice &choice, MPI_Comm communicator);

/// What differs between the two folders of kernels.
struct NodalOperator
{
  template <typename Number>
  using Kernel = nodal::Kernel<Number>;
  template <typename Number>
  using Arguments = nodal::Arguments<Number>;

  template <typename Number>
  static Kernel<Number> select(const nodal::Variant &variant, int dim, int n)
  {
    return nodal::select<Number>(variant, dim, n);
  }
  static nodal::Matrices constants(int n) { return tensor_matrices(n); }
  static laplace::Work work(int dim, int n, int bytes)
  {
    const nodal::Work work = nodal::work_per_entry(dim, n, bytes, false);
    return {work.bytes, work.flops};
  }
};

struct LocalInverse
{
  template <typename Number>
  using Kernel = patch_inverse::Kernel<Number>;
  template <typename Number>
  using Arguments = patch_inverse::Arguments<Number>;

  template <typename Number>
  static Kernel<Number> select(const nodal::Variant &variant, int dim, int n)
  {
    using patch_inverse::Backend;
    const Backend backend = variant.backend == nodal::Backend::reference ? Backend::reference
        : variant.backend == nodal::Backend::cuda                        ? Backend::cuda
                                                                         : Backend::mma;
    return patch_inverse::select<Number>({backend, variant.arithmetic}, dim, n);
  }
  static patch_inverse::Factors constants(int n) { return tensor_factors(n); }
  static laplace::Work work(int dim, int n, int bytes)
  {
    const patch_inverse::Work work = patch_inverse::work_per_entry(dim, n, bytes, false);
    return {work.bytes, work.flops};
  }
};
} // namespace tensormg
