// One operator with its vectors, in host or in device memory, and its check against the host's reference.
//
// The vectors are random, but every entry is a function of its place, so that the oracle makes any part
// again: it applies the reference to whole lines of cells in x, at the ends and in the middle of a large
// block, and to all of a small one. Whatever the oracle leaves out must still be finite, and padding zero.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "kernels/laplace/laplace.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
/// What is computed.
struct OperationSetup
{
  Block block;
  std::array<Side, 6> sides{};
  std::array<double, 3> factor{1., 1., 1.};
  laplace::Form form = laplace::Form::apply;
  std::uint64_t seed = 0;
};

inline constexpr double compare_theta = 0.4, compare_alpha = 0.9;

/// Which vector of an operation; part of its seed.
enum class Operand : std::uint64_t
{
  src = 1,
  b = 2,
  old = 3
};

/// `n_lines` lines of Block::pitch numbers from `first_line` on, uniform in [-1/2, 1/2), padding zero.
template <typename Number>
void fill_lines(const OperationSetup &setup, Operand operand, std::int64_t first_line,
    std::int64_t n_lines, Number *to);

/// Copies entries [first, first + count) of a vector to host memory.
template <typename Number>
using Fetch = std::function<void(std::int64_t first, std::int64_t count, Number *to)>;

/// Largest difference and largest entry of what was compared.
struct Difference
{
  double error = 0.;
  double largest = 0.;
  double relative() const { return largest > 0. ? error / largest : error; }
};

/// Numbers per piece of a vector that is gone through piece by piece.
inline constexpr std::int64_t piece_size = std::int64_t(1) << 22;

/// The result against the reference, see above; infinite where an entry is not finite or padding is not
/// zero.
template <typename Number>
Difference compare_with_reference(
    const OperationSetup &setup, const CellBasis &basis, const Fetch<Number> &result);

/// All entries of two vectors, padding included.
template <typename Number>
Difference compare_vectors(
    std::int64_t size, const Fetch<Number> &result, const Fetch<Number> &expected);

/// A vector in host memory.
template <typename Number>
class HostArray
{
public:
  explicit HostArray(const Block &block)
    : vector_(block)
  {}
  Number *data() { return vector_.data(); }
  void put(std::int64_t first, std::int64_t count, const Number *from)
  {
    std::copy_n(from, count, vector_.data() + first);
  }
  void get(std::int64_t first, std::int64_t count, Number *to) const
  {
    std::copy_n(vector_.data() + first, count, to);
  }
  /// Every bit set: NaN in all number types.
  void poison()
  {
    std::memset(static_cast<void *>(vector_.data()), 0xff,
        static_cast<std::size_t>(vector_.size()) * sizeof(Number));
  }

private:
  Vector<Number> vector_;
};

/// `Array` is HostArray or something with the same functions.
template <typename Number, typename Array>
class Operation
{
public:
  using Apply = std::function<void(const laplace::Arguments<Number> &)>;

  /// `arguments` gives what is neither a vector nor part of the setup (stream, progress).
  Operation(const OperationSetup &setup, const CellBasis &basis, Apply apply,
      const laplace::Arguments<Number> &arguments = {})
    : setup_(setup)
    , apply_(std::move(apply))
    , arguments_(arguments)
    , src_(setup.block)
    , dst_(setup.block)
  {
    fill(src_, Operand::src);
    arguments_.block = setup.block;
    arguments_.basis = &basis;
    arguments_.factor = setup.factor;
    arguments_.sides = setup.sides;
    arguments_.src = src_.data();
    arguments_.dst = dst_.data();
    arguments_.theta = compare_theta;
    arguments_.alpha = compare_alpha;
    if (setup.form != laplace::Form::apply)
    {
      fill(b_.emplace(setup.block), Operand::b);
      arguments_.b = b_->data();
    }
    if (setup.form == laplace::Form::chebyshev)
    {
      fill(old_.emplace(setup.block), Operand::old);
      arguments_.old = old_->data();
    }
  }
  Operation(const Operation &) = delete;
  Operation &operator=(const Operation &) = delete;

  /// Vectors that an operation holds; check_all() needs one more.
  static int n_vectors(laplace::Form form)
  {
    return form == laplace::Form::apply ? 2 : form == laplace::Form::residual ? 3 : 4;
  }

  /// Once, as it is timed: the fused step overwrites the old iterate, as the smoother lets it do.
  void run()
  {
    laplace::Arguments<Number> arguments = arguments_;
    if (setup_.form == laplace::Form::chebyshev)
      arguments.dst = old_->data();
    apply_(arguments);
  }

  /// The relative error of a run into a poisoned vector, and of one that overwrites the old iterate.
  double check()
  {
    dst_.poison();
    apply_(arguments_);
    finish();
    double error =
        compare_with_reference<Number>(setup_, *arguments_.basis, fetch(dst_)).relative();
    if (setup_.form == laplace::Form::chebyshev)
    {
      fill(*old_, Operand::old);
      run();
      finish();
      error = std::max(error,
          compare_vectors<Number>(setup_.block.size(), fetch(*old_), fetch(dst_)).relative());
      fill(*old_, Operand::old);
    }
    return error;
  }

  /// The relative error of every entry against another function for the same memory. After check().
  double check_all(laplace::Apply<Number> *oracle)
  {
    Array expected(setup_.block);
    laplace::Arguments<Number> arguments = arguments_;
    arguments.dst = expected.data();
    oracle(arguments);
    finish();
    return compare_vectors<Number>(setup_.block.size(), fetch(dst_), fetch(expected)).relative();
  }

private:
  /// Vectors are read and written outside the stream.
  void finish() const
  {
    if (arguments_.stream != nullptr)
      device::synchronize(arguments_.stream);
  }

  void fill(Array &array, Operand operand) const
  {
    const Block &block = setup_.block;
    const std::int64_t lines = block.size() / block.pitch;
    const std::int64_t at_once = std::max<std::int64_t>(1, piece_size / block.pitch);
    std::vector<Number> piece(static_cast<std::size_t>(std::min(lines, at_once) * block.pitch));
    for (std::int64_t line = 0; line < lines; line += at_once)
    {
      const std::int64_t count = std::min(at_once, lines - line);
      fill_lines(setup_, operand, line, count, piece.data());
      array.put(line * block.pitch, count * block.pitch, piece.data());
    }
  }

  static Fetch<Number> fetch(Array &array)
  {
    return [&array](
               std::int64_t first, std::int64_t count, Number *to) { array.get(first, count, to); };
  }

  OperationSetup setup_;
  Apply apply_;
  laplace::Arguments<Number> arguments_;
  Array src_, dst_;
  std::optional<Array> b_, old_; ///< as the form asks for
};

/// The small operations of the check: odd sizes, all kinds of sides that need no ghosts, cells of
/// different lengths.
std::vector<OperationSetup> small_setups(int dim, int degree, laplace::Form form);

/// The timed one: all sides Dirichlet.
OperationSetup timed_setup(
    int dim, int degree, std::array<std::int64_t, 3> cells, laplace::Form form, int rank);
} // namespace tensormg
