// The `mma` backend for N = 16 in FP16 with one way through shared memory: x and y in registers, z from halves.
//
//   plane z of u   global, 8 bytes per lane -> P = M_x u, Q = S_x u      accumulators: rows x, columns y
//                  as they are, rounded: operand B                       (kernels/mma/chaining.h)
//                  V = M_y P, W = S_y P + M_y Q                          to shared memory as halves
//   row y of V, W  ldmatrix -> S_z V + M_z W                             to global memory, 8 bytes per lane
//
// A warp has two planes, then two rows of every plane, with one barrier in between; fields of two groups take
// turns, so that none is needed before the next. Four accesses of two bytes to shared memory per entry, without
// bank conflicts (ChainedTile). Halves are what mma.sync multiplies: rounding before shared memory rather than
// behind it gives the same numbers.
//
// A lane's 8 bytes are four neighbours in x, while operands have two and two, eight apart: the matrices of x have
// their rows and columns in the order in_memory, and so have the fields.
#include <vector>

#include "kernels/device/launch.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/diagnostics/nodal/chained_tile.h"
#include "kernels/diagnostics/nodal/mma.h"
#include "kernels/diagnostics/nodal/reference.h"
#include "kernels/tensor/device_resources.cuh"
#include "kernels/tensor/staged_lines.cuh"

namespace tensormg::nodal
{
namespace
{
  struct ChainedParameters
  {
    tensor::Placement placement;
    const std::byte *tables; ///< [direction][End] M, S
    const Half *src;
    Half *dst;
    bool add;
    bool has_quads; ///< are entries 4 i, ..., 4 i + 3 of every row at a multiple of 4?
  };

  /// Four neighbours in x: operand B of two registers, or what comes out for them.
  struct Quad
  {
    std::uint32_t halves[2];

    __device__ void load(const Half *from, bool at_once)
    {
      if (at_once)
      {
        const uint2 word = *reinterpret_cast<const uint2 *>(from);
        halves[0] = word.x;
        halves[1] = word.y;
      }
      else
#pragma unroll
        for (int i = 0; i < 2; ++i)
          halves[i] = std::uint32_t(from[2 * i].bits) | std::uint32_t(from[2 * i + 1].bits) << 16;
    }
  };

  /// M and S of a direction.
  struct ChainedMatrices
  {
    using P = tensor::Product<mma::M16N8K16<Half>, 1>;
    static constexpr int tile_bytes = tensor::FragmentBytes<P, mma::Operand::a>::of_warp;
    static constexpr int bytes = 2 * tile_bytes;
    P::A mass, stiffness;

    __device__ void load(const std::byte *table, int lane)
    {
      mass = tensor::load_terms<P, mma::Operand::a>(table, lane);
      stiffness = tensor::load_terms<P, mma::Operand::a>(table + tile_bytes, lane);
    }

    static std::vector<std::byte> pack(const Matrices &matrices, int n)
    {
      check_sizes(matrices, n);
      std::vector<std::byte> table;
      for (int d = 0; d < 3; ++d)
        for (const LineMatrices &line : matrices[d])
          for (const std::vector<double> &matrix : {line.mass, line.stiffness})
            tensor::append_fragment<P, mma::Operand::a>(table, [&](int i, int k) {
              const int row = d == 0 ? ChainedTile::in_memory(i) : i;
              const int column = d == 0 ? ChainedTile::in_memory(k) : k;
              return matrix.empty() ? 0. : matrix[row * n + column];
            });
      return table;
    }
  };

  /// The groups of a block and a warp's two planes of them; those of the next group are on their way.
  class ChainedSource : public tensor::StagedGroups<ChainedTile>
  {
  public:
    __device__ ChainedSource(const ChainedParameters &p, int lane, int warp)
      : StagedGroups(p.placement)
      , p_(p)
      , lane_(lane)
      , warp_(warp)
    {
      find();
#pragma unroll
      for (int plane = 0; plane < 2; ++plane)
        ask_for(plane);
    }
    /// Goes on to the next group; false if there is none.
    __device__ bool go_on()
    {
      if (!there_is_next_)
        return false;
      advance();
      find();
      return true;
    }
    /// Rows 8 half + g of a plane as operand B; each plane once.
    __device__ void take(int plane, ChainedMatrices::P::B (&u)[2])
    {
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int i = 0; i < 2; ++i)
          u[half].term[0].registers[i] = quads_[plane][half].halves[i];
      ask_for(plane);
    }

  private:
    __device__ void find()
    {
      there_is_next_ = find_next();
      if (there_is_next_)
        from_ = p_.src + next_position_ + lane_ % 4 * 4 + lane_ / 4 * placement_.stride[1] +
            warp_ * placement_.stride[2];
    }
    __device__ void ask_for(int plane)
    {
      if (!there_is_next_)
        return;
#pragma unroll
      for (int half = 0; half < 2; ++half)
        quads_[plane][half].load(
            from_ + 8 * half * placement_.stride[1] + 8 * plane * placement_.stride[2],
            p_.has_quads);
    }

    const ChainedParameters &p_;
    int lane_, warp_;
    const Half *from_ = nullptr;
    bool there_is_next_ = false;
    Quad quads_[2][2];
  };

  /// The accumulators of two column tiles as operand B of the next product: lines are then rows i + g.
  __device__ inline ChainedMatrices::P::B operand_of(
      const tensor::Sum<ChainedMatrices::P> (&sums)[2], int i)
  {
    ChainedMatrices::P::B operand;
#pragma unroll
    for (int half = 0; half < 2; ++half)
      operand.term[0].registers[half] =
          mma::to_halves(sums[half].get(2 * i), sums[half].get(2 * i + 1));
    return operand;
  }

  /// Two rows of a sum to a field: entries y = g, g + 8, columns 2 t, 2 t + 1.
  __device__ inline void store_sum(Half *field, const ChainedTile::Write &write, int plane, int i,
      const tensor::Sum<ChainedMatrices::P> &sum)
  {
#pragma unroll
    for (int half = 0; half < 2; ++half)
      *reinterpret_cast<std::uint32_t *>(field + write.at(plane, half, i)) =
          mma::to_halves(sum.get(2 * half), sum.get(2 * half + 1));
  }

  /// Four neighbours in x of a result.
  __device__ inline void store_quad(
      Half *to, bool add, bool at_once, const tensor::Sum<ChainedMatrices::P> (&sums)[2], int half)
  {
    Pack<float, 4> pack;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      pack.at[i] = sums[i / 2].get(2 * half + i % 2);
    if (at_once)
      store_pack(to, add ? pack + load_pack<4>(to) : pack);
    else
#pragma unroll
      for (int i = 0; i < 4; ++i)
        store_pack(
            to + i, Pack<float, 1>(add ? pack.at[i] + load_pack<1>(to + i).at[0] : pack.at[i]));
  }

  /// Contracts a warp's two planes in x and y; they become V and W in shared memory.
  __device__ __forceinline__ void contract_planes(ChainedSource &source, const ChainedMatrices &x,
      const ChainedMatrices &y, Half *fields, const ChainedTile::Write &write)
  {
    using P = ChainedMatrices::P;
#pragma unroll
    for (int plane = 0; plane < 2; ++plane)
    {
      P::B u[2];
      source.take(plane, u);
      tensor::Sum<P> to_p[2], to_q[2];
#pragma unroll
      for (int half = 0; half < 2; ++half)
      {
        to_p[half].add(x.mass, u[half]);
        to_q[half].add(x.stiffness, u[half]);
      }
#pragma unroll
      for (int i = 0; i < 2; ++i)
      {
        const P::B of_p = operand_of(to_p, i);
        tensor::Sum<P> v, w;
        v.add(y.mass, of_p);
        w.add(y.stiffness, of_p);
        w.add(y.mass, operand_of(to_q, i));
        store_sum(fields, write, plane, i, v);
        store_sum(fields + ChainedTile::field_size, write, plane, i, w);
      }
    }
  }

  /// Contracts row y of V and W in z.
  __device__ __forceinline__ void contract_row(const ChainedMatrices &z, const Half *fields,
      const ChainedTile::Read &read, int row, tensor::Sum<ChainedMatrices::P> (&result)[2])
  {
    using P = ChainedMatrices::P;
#pragma unroll
    for (int i = 0; i < 2; ++i)
    {
      // Four matrices of 8 x 8: z < 8 and z >= 8 of V, the same of W.
      mma::FragmentA<P::S> both;
      mma::ldmatrix<mma::LdmatrixForm::transposed>(both, fields + read.at(row, i));
      P::B v, w;
#pragma unroll
      for (int r = 0; r < 2; ++r)
      {
        v.term[0].registers[r] = both.registers[r];
        w.term[0].registers[r] = both.registers[r + 2];
      }
      result[i].add(z.stiffness, v);
      result[i].add(z.mass, w);
    }
  }

  __global__ void __launch_bounds__(ChainedTile::threads, ChainedTile::resident)
      chained_kernel(const __grid_constant__ ChainedParameters p)
  {
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    auto *fields = reinterpret_cast<Half *>(dynamic_shared());
    const ChainedTile::Write write(lane, warp);
    const ChainedTile::Read read(lane, warp);
    ChainedSource source(p, lane, warp);
    ChainedMatrices x, y, z;
    int box = -1;
    while (source.go_on())
    {
      if (source.box() != box)
      {
        box = source.box();
        const auto load = [&](ChainedMatrices &matrices, int d) {
          matrices.load(p.tables +
                  (d * tensor::n_ends + p.placement.boxes[box].end[d]) * ChainedMatrices::bytes,
              lane);
        };
        load(x, 0);
        load(y, 1);
        load(z, 2);
      }
      contract_planes(source, x, y, fields, write);
      __syncthreads();

      Half *to = p.dst + source.position() + lane % 4 * 4 + warp * p.placement.stride[1] +
          lane / 4 * p.placement.stride[2];
#pragma unroll
      for (int row = 0; row < 2; ++row)
      {
        tensor::Sum<ChainedMatrices::P> result[2];
        contract_row(z, fields, read, row, result);
#pragma unroll
        for (int half = 0; half < 2; ++half)
          store_quad(to + 8 * row * p.placement.stride[1] + 8 * half * p.placement.stride[2], p.add,
              p.has_quads, result, half);
      }
      // The next group goes to the other fields: nobody reads those any more behind the barrier of this group.
      fields = reinterpret_cast<Half *>(dynamic_shared()) +
          (fields == reinterpret_cast<Half *>(dynamic_shared()) ? 2 * ChainedTile::field_size : 0);
    }
  }

  void apply_chained(const Arguments<Half> &a)
  {
    bool has_quads = a.batch.first % 4 == 0;
    for (int d = 0; d < 3; ++d)
      has_quads = has_quads && a.batch.step[d] % 4 == 0 && (d == 0 || a.batch.stride[d] % 4 == 0);
    ChainedParameters p{
        tensor::make_placement(a.batch, 1), a.tables, a.src, a.dst, a.add, has_quads};
    if (p.placement.n_groups() == 0)
      return;
    launch("launching the nodal operator with x and y in registers", &chained_kernel,
        tensor::persistent_grid(&chained_kernel, ChainedTile::threads, ChainedTile::shared_bytes,
            p.placement.n_groups()),
        dim3(ChainedTile::threads), ChainedTile::shared_bytes, a.stream, p);
  }

  tensor::Resources chained_resources()
  {
    return tensor::device_resources(&chained_kernel, ChainedTile::threads,
        ChainedTile::shared_bytes, ChainedTile::accesses * sizeof(Half));
  }
} // namespace

Kernel<Half> mma_chained() { return {&apply_chained, &ChainedMatrices::pack, &chained_resources}; }
} // namespace tensormg::nodal
