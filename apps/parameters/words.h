// The words of parameter files for the enumerations: one table each, used for reading and writing.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/parameters/parameters.h"
#include "kernels/laplace/backends.h"

namespace tensormg
{
template <typename Enum, std::size_t n>
using WordTable = std::array<std::pair<std::string_view, Enum>, n>;

/// The table of an enumeration; specialised below.
template <typename Enum>
inline constexpr auto words = nullptr;

template <>
inline constexpr auto words<BoundaryKind> = WordTable<BoundaryKind, 4>{
    {{"dirichlet", BoundaryKind::dirichlet}, {"neumann", BoundaryKind::neumann},
        {"robin", BoundaryKind::robin}, {"periodic", BoundaryKind::periodic}}};

template <>
inline constexpr auto words<MeshType> = WordTable<MeshType, 4>{{{"box", MeshType::box},
    {"mapped", MeshType::mapped}, {"generate", MeshType::generate}, {"file", MeshType::file}}};

template <>
inline constexpr auto words<FaceAverage> = WordTable<FaceAverage, 2>{
    {{"arithmetic", FaceAverage::arithmetic}, {"harmonic", FaceAverage::harmonic}}};

template <>
inline constexpr auto words<InCell> =
    WordTable<InCell, 2>{{{"constant", InCell::constant}, {"mean", InCell::mean}}};

template <>
inline constexpr auto words<Precision> =
    WordTable<Precision, 6>{{{to_string(Precision::automatic), Precision::automatic},
        {to_string(Precision::double_precision), Precision::double_precision},
        {to_string(Precision::single_precision), Precision::single_precision},
        {to_string(Precision::tf32_precision), Precision::tf32_precision},
        {to_string(Precision::half_precision), Precision::half_precision},
        {to_string(Precision::corrected_half_precision), Precision::corrected_half_precision}}};

template <>
inline constexpr auto words<OuterSolver> = WordTable<OuterSolver, 3>{
    {{"fgmres", OuterSolver::fgmres}, {"cg", OuterSolver::cg}, {"direct", OuterSolver::direct}}};

template <>
inline constexpr auto words<BasisPrecision> = WordTable<BasisPrecision, 3>{
    {{"auto", BasisPrecision::automatic}, {"double", BasisPrecision::double_precision},
        {"single", BasisPrecision::single_precision}}};

template <>
inline constexpr auto words<Cycle> = WordTable<Cycle, 2>{{{"v", Cycle::v}, {"w", Cycle::w}}};

template <>
inline constexpr auto words<Smoother> = WordTable<Smoother, 3>{
    {{"chebyshev", Smoother::chebyshev}, {"patch", Smoother::patch}, {"jacobi", Smoother::jacobi}}};

template <>
inline constexpr auto words<Coarsening> =
    WordTable<Coarsening, 5>{{{"auto", Coarsening::automatic}, {"cells", Coarsening::cells},
        {"vertices", Coarsening::vertices}, {"vertices_and_lines", Coarsening::vertices_and_lines},
        {"fast_diagonalisation", Coarsening::fast_diagonalisation}}};

template <>
inline constexpr auto words<Relaxation> = WordTable<Relaxation, 5>{{{"auto", Relaxation::automatic},
    {"diagonal", Relaxation::diagonal}, {"cells", Relaxation::cells}, {"lines", Relaxation::lines},
    {"cells_and_lines", Relaxation::cells_and_lines}}};

template <>
inline constexpr auto words<CycleOperator> =
    WordTable<CycleOperator, 3>{{{"auto", CycleOperator::automatic},
        {"true_metric", CycleOperator::true_metric}, {"cell_mean", CycleOperator::cell_mean}}};

template <>
inline constexpr auto words<ChebyshevKind> = WordTable<ChebyshevKind, 2>{
    {{"first", ChebyshevKind::first}, {"fourth", ChebyshevKind::fourth}}};

template <>
inline constexpr auto words<SchwarzKind> = WordTable<SchwarzKind, 2>{
    {{"multiplicative", SchwarzKind::multiplicative}, {"additive", SchwarzKind::additive}}};

template <>
inline constexpr auto words<VtuCells> = WordTable<VtuCells, 2>{
    {{"high_order", VtuCells::high_order}, {"subdivided", VtuCells::subdivided}}};

template <>
inline constexpr auto words<VtuPrecision> = WordTable<VtuPrecision, 2>{
    {{"auto", VtuPrecision::automatic}, {"double", VtuPrecision::double_precision}}};

template <>
inline constexpr auto words<Verbosity> = WordTable<Verbosity, 3>{
    {{"quiet", Verbosity::quiet}, {"normal", Verbosity::normal}, {"verbose", Verbosity::verbose}}};

/// The backends that a solve may ask for. "auto" is the best available one; what this build or machine lacks is said when
/// the solve starts (apps/common/backend_choice.h).
inline std::vector<std::string> backend_words()
{
  std::vector<std::string> words{"auto"};
  for (const laplace::BackendTraits &backend : laplace::backends)
    if (backend.serves_a_solve)
      words.emplace_back(backend.name);
  return words;
}

// The words of section `compare`. A word that this build or machine has no kernel for is reported, not
// refused: the rows of apps/compare/table.cc say what there is.
// Kernels of form nodal on tensor cores are named by where a tensor is between the contractions and, if it
// matters, by the shape of mma.sync.
inline constexpr auto nodal_backends = std::to_array<std::string_view>({"mma_registers",
    "mma_registers_m8n8k4", "mma_registers_m16n8k4", "mma_registers_m16n8k8", "mma_staged_plain",
    "mma_staged_plain_m8n8k4", "mma_staged_plain_m16n8k4", "mma_staged_plain_m16n8k8",
    "mma_staged_plain_m16n8k16", "mma_staged_padded", "mma_staged_padded_m8n8k4",
    "mma_staged_padded_m16n8k4", "mma_staged_padded_m16n8k8", "mma_staged_padded_m16n8k16",
    "mma_staged_permuted", "mma_staged_permuted_m8n8k4", "mma_staged_permuted_m16n8k4",
    "mma_staged_permuted_m16n8k8", "mma_staged_permuted_m16n8k16", "mma_staged_chained_m16n8k16"});
inline std::vector<std::string> compare_backends()
{
  std::vector<std::string> words;
  for (const laplace::BackendTraits &backend : laplace::backends)
    words.emplace_back(backend.name);
  words.insert(words.end(), nodal_backends.begin(), nodal_backends.end());
  return words;
}
inline constexpr std::array<std::string_view, 5> compare_forms{
    "rank2", "rank2_cells", "nodal", "nodal_cells", "patch_inverse"};
inline constexpr std::array<std::string_view, 3> compare_steps{"apply", "residual", "chebyshev"};
inline constexpr std::array<std::string_view, 7> compare_precisions{
    "double", "single", "tf32", "3xtf32", "half", "2xfp16", "3xfp16"};

// The words of section `diagnose`.
inline constexpr std::array<std::string_view, 8> diagnose_classes{
    "ceilings", "scale", "spmv", "stencil", "gemm", "smallmat", "precision", "all"};
inline constexpr std::array<std::string_view, 4> diagnose_places{"auto", "host", "device", "both"};

/// The word of an enumerator.
template <typename Enum>
std::string to_word(Enum value)
{
  for (const auto &[word, enumerator] : words<Enum>)
    if (enumerator == value)
      return std::string(word);
  return "?";
}

/// The enumerator of a word; nothing if the table does not have it.
template <typename Enum>
std::optional<Enum> from_word(std::string_view text)
{
  for (const auto &[word, enumerator] : words<Enum>)
    if (word == text)
      return enumerator;
  return std::nullopt;
}

/// The first column of a table.
template <typename Table>
std::vector<std::string> first_column(const Table &table)
{
  std::vector<std::string> list;
  for (const auto &[word, value] : table)
    list.emplace_back(word);
  return list;
}
} // namespace tensormg
