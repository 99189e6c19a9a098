// The nodal operator without a GPU: the reference against dense Kronecker products, the colours of vertex
// patches against the operator of the whole mesh, batches and their boxes, the table's messages.
#include "kernels/diagnostics/nodal/nodal.h"

#include <set>

#include <gtest/gtest.h>

#include "kernels/tensor/placement.h"
#include "tests/support/tensor_batches.h"

namespace tensormg
{
namespace
{
  using nodal::Backend;
  using nodal::Matrices;
  using tensor::End;
  using test::SquareMatrix;

  Matrices random_matrices(int dim, int n, unsigned seed)
  {
    Matrices matrices;
    for (int d = 0; d < dim; ++d)
      for (auto &line : matrices[d])
      {
        line.mass = test::random_numbers(n * n, seed++);
        line.stiffness = test::random_numbers(n * n, seed++);
      }
    return matrices;
  }

  /// sum over directions of S in that direction, M in the others.
  SquareMatrix laplace_of(const std::vector<std::array<SquareMatrix, 2>> &lines)
  {
    const auto dim = lines.size();
    SquareMatrix sum(1);
    for (std::size_t term = 0; term < dim; ++term)
    {
      SquareMatrix product(1, {1.});
      for (std::size_t d = 0; d < dim; ++d)
        product = test::kronecker(lines[d][d == term], product);
      sum = term == 0 ? product : test::add(sum, product);
    }
    return sum;
  }

  template <typename Number>
  std::vector<Number> run(const test::BatchCase &c, const Matrices &matrices,
      const std::vector<Number> &src, std::vector<Number> dst, bool add)
  {
    const auto kernel = nodal::select<Number>({Backend::reference}, c.batch.dim, c.batch.n);
    const std::vector<std::byte> tables = kernel.pack(matrices, c.batch.n);
    nodal::Arguments<Number> arguments;
    arguments.batch = c.batch;
    arguments.tables = tables.data();
    arguments.src = src.data();
    arguments.dst = dst.data();
    arguments.add = add;
    kernel.apply(arguments);
    return dst;
  }

  TEST(NodalReference, IsTheKroneckerProduct)
  {
    for (const test::BatchCase &c :
        {test::cell_case(2, 1, 3), test::cell_case(2, 4, 2), test::cell_case(3, 1, 3),
            test::cell_case(3, 2, 2), test::patch_case(2, 1, {5, 4, 1}, {0, 1, 0}),
            test::patch_case(3, 1, {2, 3, 5}, {0, 1, 0})})
    {
      SCOPED_TRACE(c.name);
      const tensor::Batch &batch = c.batch;
      const int dim = batch.dim, n = batch.n;
      const Matrices matrices = random_matrices(dim, n, 7);
      const std::vector<double> src = test::random_numbers(c.vector_size, 1);
      const std::vector<double> before = test::random_numbers(c.vector_size, 2);
      for (const bool add : {false, true})
      {
        const std::vector<double> found = run(c, matrices, src, before, add);
        std::vector<double> expected = before;
        test::for_each_tensor(batch, [&](const auto &which, const auto &positions) {
          std::vector<std::array<SquareMatrix, 2>> lines;
          for (int d = 0; d < dim; ++d)
          {
            const auto &line = matrices[d][static_cast<int>(batch.end(d, which[d]))];
            lines.push_back({SquareMatrix(n, line.mass), SquareMatrix(n, line.stiffness)});
          }
          std::vector<double> u;
          for (const std::int64_t position : positions)
            u.push_back(src[position]);
          const std::vector<double> y = test::multiply(laplace_of(lines), u);
          for (std::size_t i = 0; i < y.size(); ++i)
            expected[positions[i]] = y[i] + (add ? before[positions[i]] : 0.);
        });
        for (std::size_t i = 0; i < found.size(); ++i)
          EXPECT_NEAR(found[i], expected[i], 1e-13);
      }
    }
  }

  TEST(NodalReference, StoresInTheNumberType)
  {
    const test::BatchCase c = test::cell_case(3, 3, 5);
    const Matrices matrices = random_matrices(3, 4, 3);
    const std::vector<Half> src = test::rounded<Half>(test::random_numbers(c.vector_size, 1));
    const std::vector<double> exact =
        run(c, matrices, test::as_double(src), std::vector<double>(c.vector_size), false);
    EXPECT_EQ(test::as_double(run(c, matrices, src, std::vector<Half>(src.size()), false)),
        test::as_double(test::rounded<Half>(exact)));
  }

  // The zero pattern of the published operator, with random entries: M and S of a mesh in one direction are
  // sums over its cells and faces; patches share them out (nodal.h).
  struct MeshLine
  {
    SquareMatrix mass, stiffness; ///< of all cells
    std::array<nodal::LineMatrices, tensor::n_ends> patches;
  };

  MeshLine make_mesh_line(int degree, int cells, unsigned seed)
  {
    const int n = degree + 1, size = 2 * n;
    const SquareMatrix mass(n, test::random_numbers(n * n, seed));
    const SquareMatrix volume(n, test::random_numbers(n * n, seed + 1));
    const SquareMatrix face(size, test::random_numbers(size * size, seed + 2));
    const SquareMatrix ends[] = {SquareMatrix(n, test::random_numbers(n * n, seed + 3)),
        SquareMatrix(n, test::random_numbers(n * n, seed + 4))};
    const auto put = [](SquareMatrix &to, int at, const SquareMatrix &block) {
      for (int i = 0; i < block.n; ++i)
        for (int j = 0; j < block.n; ++j)
          to(at + i, at + j) += block(i, j);
    };
    MeshLine line{SquareMatrix(cells * n), SquareMatrix(cells * n), {}};
    for (int cell = 0; cell < cells; ++cell)
    {
      put(line.mass, cell * n, mass);
      put(line.stiffness, cell * n, volume);
      if (cell + 1 < cells)
        put(line.stiffness, cell * n, face);
    }
    put(line.stiffness, 0, ends[0]);
    put(line.stiffness, (cells - 1) * n, ends[1]);
    for (const End end : {End::none, End::lower, End::upper, End::both})
    {
      const bool lower = end == End::lower || end == End::both;
      const bool upper = end == End::upper || end == End::both;
      SquareMatrix m(size), s(size);
      put(m, 0, mass);
      put(s, 0, volume);
      put(s, 0, face);
      if (lower)
        put(s, 0, ends[0]);
      if (upper)
      {
        put(m, n, mass);
        put(s, n, volume);
        put(s, n, ends[1]);
      }
      line.patches[static_cast<int>(end)] = {m.entries, s.entries};
    }
    return line;
  }

  TEST(NodalReference, ColoursOfPatchesSumUpToTheMesh)
  {
    struct
    {
      int dim, degree;
      std::array<std::int64_t, 3> cells;
    } const meshes[] = {{2, 1, {2, 3, 1}}, {2, 2, {5, 4, 1}}, {3, 1, {2, 3, 4}}, {3, 1, {3, 2, 2}}};
    for (const auto &mesh : meshes)
    {
      SCOPED_TRACE(testing::Message() << mesh.dim << "D, " << mesh.cells[0] << " x "
                                      << mesh.cells[1] << " x " << mesh.cells[2]);
      Matrices matrices;
      std::vector<std::array<SquareMatrix, 2>> lines;
      for (int d = 0; d < mesh.dim; ++d)
      {
        const MeshLine line =
            make_mesh_line(mesh.degree, static_cast<int>(mesh.cells[d]), 10 * d + 1);
        matrices[d] = line.patches;
        lines.push_back({line.mass, line.stiffness});
      }
      const std::int64_t size = tensor::mesh_size(mesh.dim, mesh.degree, mesh.cells);
      const std::vector<double> src = test::random_numbers(size, 5);
      std::vector<double> dst(size, 0.);
      for (int z = 0; z < (mesh.dim == 3 ? 2 : 1); ++z)
        for (int y = 0; y < 2; ++y)
          for (int x = 0; x < 2; ++x)
            dst = run(test::patch_case(mesh.dim, mesh.degree, mesh.cells, {x, y, z}), matrices, src,
                dst, true);
      const std::vector<double> expected = test::multiply(laplace_of(lines), src);
      for (std::int64_t i = 0; i < size; ++i)
        EXPECT_NEAR(dst[i], expected[i], 1e-12);
    }
  }

  TEST(TensorBatch, PatchesOfOneColourAreDisjointAndColoursCoverTheMesh)
  {
    const std::array<std::int64_t, 3> cells{5, 2, 3};
    std::set<std::int64_t> all;
    for (int colour = 0; colour < 8; ++colour)
    {
      const tensor::Batch batch =
          tensor::make_patch_batch(3, 1, cells, {colour & 1, colour >> 1 & 1, colour >> 2});
      EXPECT_EQ(batch.n_tensors(), 2 * (colour & 2 ? 0 : 1) * 1);
      std::set<std::int64_t> seen;
      for (std::int64_t c = 0; c < batch.count[2]; ++c)
        for (std::int64_t b = 0; b < batch.count[1]; ++b)
          for (std::int64_t a = 0; a < batch.count[0]; ++a)
            for (int i = 0; i < 64; ++i)
              EXPECT_TRUE(
                  seen.insert(batch.position({a, b, c}, {i % 4, i / 4 % 4, i / 16})).second);
      all.insert(seen.begin(), seen.end());
    }
    EXPECT_EQ(static_cast<std::int64_t>(all.size()), tensor::mesh_size(3, 1, cells));
    EXPECT_EQ(*all.begin(), 0);
    EXPECT_EQ(*all.rbegin(), tensor::mesh_size(3, 1, cells) - 1);
  }

  TEST(TensorBatch, BoxesShareEndsAndCoverEveryTensorOnce)
  {
    for (const test::BatchCase &c : {test::cell_case(3, 2, 17), test::cell_case(2, 1, 1),
             test::cell_case(2, 1, 0), test::patch_case(3, 1, {9, 4, 2}, {0, 0, 0}),
             test::patch_case(3, 2, {9, 5, 3}, {1, 1, 1}),
             test::patch_case(3, 2, {3, 5, 7}, {1, 0, 1}),
             test::patch_case(2, 3, {6, 13, 1}, {1, 0, 0}),
             test::patch_case(2, 3, {2, 13, 1}, {1, 0, 0})})
      for (const int group_size : {1, 3, 4})
      {
        SCOPED_TRACE(c.name);
        const tensor::Batch &batch = c.batch;
        const tensor::Placement placement = tensor::make_placement(batch, group_size);
        std::set<std::int64_t> positions;
        for (unsigned group = 0; group < placement.n_groups(); ++group)
        {
          const int box = placement.box_of(group);
          const tensor::Box &b = placement.boxes[box];
          const unsigned first = (group - placement.begin[box]) * group_size;
          ASSERT_LT(first, b.n_tensors());
          for (unsigned q = first; q < first + group_size && q < b.n_tensors(); ++q)
            EXPECT_TRUE(positions.insert(placement.position(box, q)).second);
        }
        std::set<std::int64_t> expected;
        for (std::int64_t z = 0; z < batch.count[2]; ++z)
          for (std::int64_t y = 0; y < batch.count[1]; ++y)
            for (std::int64_t x = 0; x < batch.count[0]; ++x)
              expected.insert(batch.position({x, y, z}, {0, 0, 0}));
        EXPECT_EQ(positions, expected);
        // The ends of each tensor are those of its box.
        for (int box = 0; box < placement.n_boxes; ++box)
          for (unsigned q = 0; q < placement.boxes[box].n_tensors(); ++q)
          {
            std::int64_t at = placement.position(box, q) - batch.first;
            for (int d = batch.dim - 1; d >= 0; --d)
            {
              const std::int64_t which = batch.step[d] > 0 ? at / batch.step[d] : 0;
              at -= which * batch.step[d];
              EXPECT_EQ(static_cast<int>(batch.end(d, which)), placement.boxes[box].end[d]);
            }
          }
      }
  }

  TEST(TensorBatch, DivisorDivides)
  {
    std::uint32_t state = 1;
    for (const unsigned value :
        {1u, 2u, 3u, 5u, 7u, 10u, 641u, 65535u, 65536u, 1000003u, 2147483647u, 4294967295u})
    {
      const tensor::Divisor divisor(value);
      for (int i = 0; i < 1000; ++i)
      {
        state = state * 1664525u + 1013904223u;
        const unsigned multiple = state / value * value;
        for (const unsigned dividend : {state, multiple, multiple - 1, multiple + value - 1, 0u})
          ASSERT_EQ(divisor.quotient(dividend), dividend / value) << dividend << " / " << value;
      }
    }
  }

  TEST(TensorBatch, PairsAreAligned)
  {
    EXPECT_TRUE(tensor::make_placement(tensor::make_cell_batch(3, 3, 5), 1).pairs);
    EXPECT_FALSE(tensor::make_placement(tensor::make_cell_batch(3, 2, 5), 1).pairs);
    EXPECT_TRUE(
        tensor::make_placement(tensor::make_patch_batch(3, 2, {4, 4, 4}, {0, 0, 0}), 1).pairs);
    EXPECT_FALSE(
        tensor::make_placement(tensor::make_patch_batch(3, 2, {5, 4, 4}, {0, 0, 0}), 1).pairs);
    EXPECT_FALSE(
        tensor::make_placement(tensor::make_patch_batch(3, 2, {4, 4, 4}, {1, 0, 0}), 1).pairs);
  }

  std::string message_of(const nodal::Variant &variant, int dim, int n)
  {
    try
    {
      nodal::select<double>(variant, dim, n);
    }
    catch (const std::exception &error)
    {
      return error.what();
    }
    return "";
  }

  TEST(NodalTable, SaysWhatThereIs)
  {
    const nodal::Variant reference{Backend::reference};
    EXPECT_EQ(message_of(reference, 3, 18), "");
    for (const auto &[dim, n] : {std::pair{1, 4}, {3, 1}, {3, 11}, {2, 19}, {4, 4}})
      EXPECT_NE(message_of(reference, dim, n).find("there are reference fp64"), std::string::npos);
    const std::string message = message_of({Backend::reference, tensor::Arithmetic::fp16}, 3, 8);
    EXPECT_NE(message.find("no nodal operator reference fp16"), std::string::npos);
    EXPECT_NE(message.find("there are reference fp64"), std::string::npos);
  }

  TEST(NodalTable, SaysWhyThereIsNoDevice)
  {
    const std::string message = message_of({Backend::cuda, tensor::Arithmetic::fp64}, 3, 8);
    EXPECT_EQ(message.empty(), device_count() > 0);
    if (device_count() > 0)
      return;
    EXPECT_NE(message.find("cuda fp64"), std::string::npos);
    EXPECT_NE(message.find(why_no_device()), std::string::npos);
  }

  TEST(NodalTable, RefusesMatricesOfAnotherSize)
  {
    const auto kernel = nodal::select<double>({Backend::reference}, 3, 4);
    EXPECT_THROW(kernel.pack(random_matrices(3, 5, 1), 4), std::invalid_argument);
    EXPECT_THROW(tensor::make_patch_batch(3, 1, {1, 2, 2}, {0, 0, 0}), std::invalid_argument);
    EXPECT_THROW(tensor::make_patch_batch(3, 1, {2, 2, 2}, {2, 0, 0}), std::invalid_argument);
    EXPECT_THROW(tensor::make_cell_batch(3, 9, 1), std::invalid_argument);
  }
} // namespace
} // namespace tensormg
