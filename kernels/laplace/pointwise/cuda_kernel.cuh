// The device kernels of pointwise.h.
//
// A block of threads owns a brick of cells (brick.h). What is behind the sides of a cell comes from three places: from a cell of the brick, through
// shared memory; from a cell beside the brick, whose trace is computed from its modes once more (a halo, ends.cuh); and at the borders of the blocks of the
// mesh from memory, where borders.cuh has written the traces of all their sides. So u, which is a small part of the numbers, is read more than
// once, mostly from the second cache, and most traces never go through memory.
//
//   points  modes to points in x, y, z; derivatives; V and the outward derivative at the ends of all lines; traces of the halo
//   sides   F; traces for the neighbours in the brick; what tests values and derivatives at the points of sides
//   fluxes  G times the gradient. What tests derivatives along a side joins it before these are transposed
//   modes   back in x, y, z; b - A u, or the step
// Threads of different cells meet four times: when modes have been read in the order of memory, when V and when F are there for neighbours, and before
// results are written in the order of memory.
#pragma once

#include <type_traits>

#include "kernels/device/prefetch.cuh"
#include "kernels/laplace/pointwise/ends.cuh"

namespace tensormg::laplace
{
namespace pointwise
{
  /// at_border: some cells of the brick may lie at a side of a block of the mesh, or not be there at all.
  template <typename Brick, bool at_border>
  class Operator : public Ends<Brick>
  {
    using Base = Ends<Brick>;
    using Number = typename Brick::Number;
    using Stored = typename Brick::Stored;
    using C = typename Brick::C;
    using Trace = pointwise::Trace<C>;
    using Line = typename Base::Line;
    using FaceWords = typename Base::FaceWords;
    static constexpr int last = Brick::dim - 1;
    using Base::dim, Base::n, Base::sides, Base::lines;
    using Base::p, Base::la, Base::lb, Base::line, Base::place;

    const Cell first_; ///< of the brick
    C *const memory_;  ///< of the cell in shared memory
    int at_[3];        ///< of the cell in the brick
    Cell cell_;
    int x_in_block_;      ///< of the mesh
    std::int64_t number_; ///< of the cell in memory
    const Stored *faces_; ///< its numbers
    Trace halo_[Brick::halos];
    C v_[sides], slope_[sides];           ///< of u, and of its outward derivative
    C of_value_[sides], of_slope_[sides]; ///< what tests these
    C along_x_[2][dim - 1];               ///< what tests derivatives along the sides in x

  public:
    __device__ __forceinline__ Operator(
        const PointwiseParameters<Brick> &parameters, const Cell &first)
      : Base(parameters)
      , first_(first)
      , memory_(this->memory_of(place.cell))
    {
      find_in_brick(place.cell, at_);
      cell_ = cell_at(at_);
      x_in_block_ = x_in_block(cell_);
      number_ = this->cell_number(cell_);
      faces_ = p.numbers.face + number_ * Base::face_size;
    }

    __device__ __forceinline__ void run()
    {
      ask_for_numbers();
      FaceWords halo_faces[Brick::halos];
      load_halo_faces(halo_faces);
      this->write_tables();
      read_modes();
      __syncthreads();
      to_points(halo_faces);
      FaceWords faces[dim][2];
#pragma unroll
      for (int d = 0; d < std::min(dim, Brick::faces_ahead); ++d)
        load_faces(d, faces[d]);
      __syncthreads();
      for_directions([&](auto d) { find_tests(d, faces); });
      MetricWords metric;
      metric.load(p.numbers.volume, number_, line, 0, MetricWords::ahead);
      __syncthreads();
      for_directions([&](auto d) { add_fluxes_behind(d); });
      Line of_x;
      find_fluxes(metric, of_x);
      Base::meet_in_cell();
      for_directions([&](auto d) {
        if constexpr (d.value > 0)
          transpose(d);
      });
      Base::meet_in_cell();
      to_modes(of_x);
    }

  private:
    template <typename Use>
    __device__ __forceinline__ static void for_directions(const Use &use)
    {
      use(std::integral_constant<int, 0>());
      use(std::integral_constant<int, 1>());
      if constexpr (dim == 3)
        use(std::integral_constant<int, 2>());
    }

    // Cells. What belongs to nobody reads a cell that is there, the last one of the brick in shared memory, and writes to a place of its own.
    __device__ __forceinline__ static void find_in_brick(int cell, int (&at)[3])
    {
      if (Brick::has_idle)
        cell = cell < Brick::all_cells ? cell : Brick::all_cells - 1;
      at[0] = cell % Brick::cells_x;
      at[1] = cell / Brick::cells_x % Brick::cells_y;
      at[2] = cell / (Brick::cells_x * Brick::cells_y);
    }
    __device__ __forceinline__ bool is_there(const int (&at)[3]) const
    {
      return !at_border ||
          (first_.x + at[0] < p.block.pitch && first_.y + at[1] < p.block.cells[1] &&
              first_.z + at[2] < p.block.cells[2]);
    }
    __device__ __forceinline__ Cell cell_at(const int (&at)[3]) const
    {
      return is_there(at) ? Cell{first_.x + at[0], first_.y + at[1], first_.z + at[2]}
                          : Cell{0, 0, 0};
    }
    __device__ __forceinline__ int x_in_block(const Cell &cell) const
    {
      return at_border ? cell.x % p.per_direction : 0;
    }
    /// Side 2 d + end of a cell is one of a block of the mesh.
    __device__ __forceinline__ bool is_border(
        const Cell &cell, int x_in_block, int d, int end) const
    {
      if constexpr (!at_border)
        return false;
      const int place = d == 0 ? x_in_block : cell.in(d);
      return place == (end == 1 ? p.per_direction - 1 : 0);
    }
    __device__ __forceinline__ bool is_border(int d, int end) const
    {
      return is_border(cell_, x_in_block_, d, end);
    }
    /// The next cell is not one of the brick.
    __device__ __forceinline__ static bool is_outward(const int (&at)[3], int d, int end)
    {
      return at[d] == (end == 1 ? Brick::cells(d) - 1 : 0);
    }
    /// The end with a halo, if there is one.
    template <int d>
    __device__ __forceinline__ static int halo_end(const int (&at)[3], int h)
    {
      return Brick::halo_sides(d) == 2 ? h : at[d] == 0 ? 0 : 1;
    }
    template <int d>
    __device__ __forceinline__ bool has_halo(
        const int (&at)[3], const Cell &cell, int x_in_block, int end) const
    {
      if constexpr (!at_border)
        return Brick::cells(d) <= 2 || is_outward(at, d, end);
      return is_outward(at, d, end) && is_there(at) && cell.x < p.block.cells[0] &&
          !is_border(cell, x_in_block, d, end);
    }
    /// use(direction, number of the halo, which of those in this direction)
    template <typename Use>
    __device__ __forceinline__ static void for_halos(const Use &use)
    {
      for_directions([&](auto d) {
        use(d, Brick::first_halo(d.value), 0);
        if constexpr (Brick::halo_sides(d.value) == 2)
          use(d, Brick::first_halo(d.value) + 1, 1);
      });
    }

    // Shared memory.
    __device__ __forceinline__ C *derivative(int d) const
    {
      return memory_ + Brick::derivative_offset(d);
    }
    __device__ __forceinline__ C *tests(int side, int tangent) const
    {
      return memory_ + p.tests_offset + ((side - 2) * Brick::tangents + tangent) * lines;
    }
    /// At the point of the thread of a side, of a cell some cells further.
    template <int d>
    __device__ __forceinline__ C *v_slot(int end, int cells = 0) const
    {
      return memory_ + cells * p.of_cell + Brick::v_offset +
          (Brick::first_slot(d) + (Brick::slots(d) == 2 ? end : 0)) * lines + line;
    }
    static constexpr int f_behind_v = Brick::f_offset - Brick::v_offset;
    /// How many cells of the brick further the next one in a direction is.
    static constexpr int next_in_brick(int d)
    {
      return d == 0 ? 1 : d == 1 ? Brick::cells_x : Brick::cells_x * Brick::cells_y;
    }
    template <int d>
    static constexpr int stride_of = Brick::stride(d);
    template <int d>
    __device__ __forceinline__ static int first_of_line(int line)
    {
      return Brick::first_of_line(d, line);
    }
    template <int d>
    __device__ __forceinline__ static void read(const C *array, int line, Line &to)
    {
      if constexpr (d == 0)
        Base::read_row(array + first_of_line<0>(line), to);
      else
#pragma unroll
        for (int q = 0; q < n; ++q)
          to[q] = array[first_of_line<d>(line) + q * stride_of<d>];
    }
    template <int d>
    __device__ __forceinline__ static void write(C *array, int line, const Line &from)
    {
      if constexpr (d == 0)
        Base::write_row(array + first_of_line<0>(line), from);
      else
#pragma unroll
        for (int q = 0; q < n; ++q)
          array[first_of_line<d>(line) + q * stride_of<d>] = from[q];
    }
    /// to = M from, or of the transposed matrix
    template <bool transposed>
    __device__ __forceinline__ static void multiply(
        const C (&matrix)[n * n], const Line &from, Line &to)
    {
#pragma unroll
      for (int q = 0; q < n; ++q)
      {
        C sum(0);
#pragma unroll
        for (int i = 0; i < n; ++i)
          sum = fma(matrix[transposed ? i * n + q : q * n + i], from[i], sum);
        to[q] = sum;
      }
    }

    /// Those of a row of cells lie side by side; a thread for each row.
    __device__ __forceinline__ void ask_for_numbers() const
    {
      constexpr int volume = volume_numbers(dim) * n * lines;
      const int row = int(threadIdx.x), at[3] = {0, row % Brick::cells_y, row / Brick::cells_y};
      if (!Brick::prefetches || row >= Brick::rows || !is_there(at))
        return;
      const std::int64_t cell = this->cell_number(cell_at(at));
      prefetch_to_l2(p.numbers.face + cell * Base::face_size,
          Brick::cells_x * Base::face_size * unsigned(sizeof(Stored)));
      prefetch_to_l2(
          p.numbers.volume + cell * volume, Brick::cells_x * volume * unsigned(sizeof(Stored)));
    }

    // To points.
    /// In the order of memory: u at points in x, and V and slope of the halo in modes.
    __device__ __forceinline__ void read_modes() const
    {
      const BrickPlace to = Brick::place_in_memory(int(threadIdx.x));
      int at[3];
      find_in_brick(to.cell, at);
      const Cell cell = cell_at(at);
      const int a = to.line % n, b = to.line / n, x = x_in_block(cell);
      const Number *const from = p.src + this->first_mode(cell);
      const auto line_in = [&](int d) {
        return a * p.next_mode[tangent(d, 0)] + (dim == 3 ? b * p.next_mode[tangent(d, 1)] : 0);
      };
      typename Base::Modes own, halo[Brick::halos] = {};
      Base::load_modes(from + line_in(0), p.next_mode[0], own);
      for_halos([&](auto direction, int number, int h) {
        constexpr int d = direction.value;
        const int end = halo_end<d>(at, h);
        if (has_halo<d>(at, cell, x, end))
          Base::load_modes(from + line_in(d) + (end == 1 ? p.next_cell[d] : -p.next_cell[d]),
              p.next_mode[d], halo[number]);
      });
      Line modes, points;
#pragma unroll
      for (int i = 0; i < n; ++i)
        modes[i] = Base::as_computed(own[i]);
      multiply<false>(p.value, modes, points);
      write<0>(this->memory_of(to.cell), to.line, points);
      for_halos([&](auto direction, int number, int h) {
        this->template write_end<Brick::halos>(
            to, number, halo[number], halo_end<direction.value>(at, h) == 0);
      });
    }
    __device__ __forceinline__ void to_points(const FaceWords (&halo_faces)[Brick::halos])
    {
      this->template interpolate_ends<Brick::halos>();
      Line modes, points;
      read<1>(memory_, line, modes);
      multiply<false>(p.value, modes, points);
      if constexpr (dim == 3)
        write<1>(memory_, line, points);
      Base::meet_in_cell();
      read_halo(halo_faces);
      if constexpr (dim == 3)
      {
        read<2>(memory_, line, modes);
        multiply<false>(p.value, modes, points);
      }
      write<last>(memory_, line, points);
      differentiate<last>(points);
      Base::meet_in_cell();
      for_directions([&](auto d) {
        if constexpr (d.value < last)
          differentiate(d);
        write_v(d);
      });
    }
    /// How many numbers of cells further the cell behind a side is; 0 if it is none of the halo.
    template <int d>
    __device__ __forceinline__ std::int64_t to_halo(int end) const
    {
      if (!has_halo<d>(at_, cell_, x_in_block_, end))
        return 0;
      const int step = d == 0 ? 1 : d == 1 ? p.pitch : p.layer;
      return end == 1 ? step : -step;
    }
    __device__ __forceinline__ void load_halo_faces(FaceWords (&faces)[Brick::halos]) const
    {
      for_halos([&](auto direction, int number, int h) {
        constexpr int d = direction.value;
        const int end = halo_end<d>(at_, h);
        faces[number].load(faces_ + to_halo<d>(end) * Base::face_size, 2 * d + 1 - end, line);
      });
    }
    __device__ __forceinline__ void read_halo(const FaceWords (&faces)[Brick::halos])
    {
      Line values, derivatives;
      Base::read_tables(lb, values, derivatives);
      for_halos([&](auto direction, int number, int h) {
        constexpr int d = direction.value;
        const int end = halo_end<d>(at_, h);
        const C power = this->power(number_ + to_halo<d>(end), power_of_metric);
        halo_[number] = this->read_end(number, faces[number], power, end == 0, values, derivatives);
      });
    }
    template <int d>
    __device__ __forceinline__ void differentiate(std::integral_constant<int, d>)
    {
      Line points;
      read<d>(memory_, line, points);
      differentiate<d>(points);
    }
    template <int d>
    __device__ __forceinline__ void differentiate(const Line &points)
    {
      Line result;
      multiply<false>(p.derivative, points, result);
      write<d>(derivative(d), line, result);
      at_ends(p.end, points, v_[2 * d], v_[2 * d + 1]);
      at_ends(p.slope, points, slope_[2 * d], slope_[2 * d + 1]);
    }
    /// Numbers of the upper end are those of the lower one from the other side.
    __device__ __forceinline__ static void at_ends(
        const C (&end)[n], const Line &points, C &lower, C &upper)
    {
      lower = upper = C(0);
#pragma unroll
      for (int q = 0; q < n; ++q)
      {
        lower = fma(end[n - 1 - q], points[q], lower);
        upper = fma(end[q], points[q], upper);
      }
    }
    template <int d>
    __device__ __forceinline__ void write_v(std::integral_constant<int, d>) const
    {
      if constexpr (Brick::slots(d) == 1)
        *v_slot<d>(0) = at_[d] == 0 ? v_[2 * d + 1] : v_[2 * d];
      if constexpr (Brick::slots(d) == 2)
      {
        *v_slot<d>(0) = v_[2 * d];
        *v_slot<d>(1) = v_[2 * d + 1];
      }
    }

    // Sides.
    __device__ __forceinline__ void load_faces(int d, FaceWords (&faces)[2]) const
    {
#pragma unroll
      for (int end = 0; end < 2; ++end)
        faces[end].load(faces_, 2 * d + end, line);
    }
    template <int d>
    __device__ __forceinline__ void find_tests(
        std::integral_constant<int, d>, FaceWords (&all_faces)[dim][2])
    {
      const FaceWords(&faces)[2] = all_faces[d];
      C along[2][dim - 1]; // derivatives of V, lower and upper end
#pragma unroll
      for (int t = 0; t < dim - 1; ++t)
      {
        Line g;
        read<d>(derivative(tangent(d, t)), line, g);
        at_ends(p.end, g, along[0][t], along[1][t]);
      }
      const C power = this->power(number_, power_of_metric);
      C f[2];
#pragma unroll
      for (int end = 0; end < 2; ++end)
        f[end] = Base::flux(faces[end], power, end == 1, slope_[2 * d + end], along[end]);
      if constexpr (Brick::slots(d) == 1)
        v_slot<d>(0)[f_behind_v] = at_[d] == 0 ? f[1] : f[0];
      if constexpr (Brick::slots(d) == 2)
      {
        v_slot<d>(0)[f_behind_v] = f[0];
        v_slot<d>(1)[f_behind_v] = f[1];
      }
      find_tests_of<2 * d>(faces[0], power, f[0]);
      find_tests_of<2 * d + 1>(faces[1], power, f[1]);
      if constexpr (d + Brick::faces_ahead < dim)
        load_faces(d + Brick::faces_ahead, all_faces[d + Brick::faces_ahead]);
    }
    /// All but what F of a neighbour in the brick adds.
    template <int side>
    __device__ __forceinline__ void find_tests_of(const FaceWords &face, C power, C f)
    {
      constexpr int d = side / 2, end = side % 2;
      const C penalty = this->power(number_, power_of_penalty(side)) * face[dim];
      const Trace own{v_[side], f}, other = behind<side>(own, penalty);
      const C jump = own.v - other.v, beta = C(-0.5) * power * jump;
      of_value_[side] = fma(penalty, jump, C(-0.5) * (own.f - other.f));
      of_slope_[side] = beta * face[0];
      const C outward = end == 1 ? beta : -beta;
#pragma unroll
      for (int t = 0; t < dim - 1; ++t)
      {
        const C test = outward * face[1 + t];
        if constexpr (d == 0)
          along_x_[end][t] = test;
        else
          tests(side, t)[line] = test;
      }
    }
    /// Without F of a neighbour in the brick.
    template <int side>
    __device__ __forceinline__ Trace behind(const Trace &own, C penalty) const
    {
      constexpr int d = side / 2, end = side % 2, step = end == 1 ? 1 : -1;
      if constexpr (at_border)
        if (is_border(d, end))
          return behind_border<side>(own, penalty);
      Trace result = halo_[Brick::first_halo(d) + (Brick::halo_sides(d) == 2 ? end : 0)];
      if constexpr (Brick::cells(d) > 1)
        if (!is_outward(at_, d, end))
          result = {*v_slot<d>(1 - end, step * next_in_brick(d)), C(0)};
      return result;
    }
    template <int side>
    __device__ __forceinline__ Trace behind_border(const Trace &own, C penalty) const
    {
      if (!is_there(at_) || cell_.x >= p.block.cells[0])
        return own;
      const int of_block = cell_.x / p.per_direction;
      const BlockLink &link = p.links[of_block * sides + side];
      if (link.kind == Side::dirichlet)
        return {-own.v, -own.f};
      if (link.kind != Side::ghost)
        return {own.v, own.f + C(2) * penalty * own.v};
      const C *const from = p.borders + place_behind<side>(of_block, link);
      return {from[0], from[1]};
    }
    /// In the array of borders.
    template <int side>
    __device__ __forceinline__ std::int64_t place_behind(int of_block, const BlockLink &link) const
    {
      constexpr int d = side / 2;
      const std::int64_t cells = p.per_direction, points = cells * n;
      const Cell in_block{cell_.x - of_block * p.per_direction, cell_.y, cell_.z};
      const auto place = link.map(in_block.in(tangent(d, 0)) * n + la,
          dim == 3 ? in_block.in(tangent(d, 1)) * n + lb : 0, points, dim == 3 ? points : 1);
      const std::int64_t number = link.block >= 0 ? link.block * std::int64_t(sides) + link.side
                                                  : p.block.cells[0] / cells * sides + link.remote;
      return border_index(p.block, cells, number, place[0], place[1]);
    }
    template <int d>
    __device__ __forceinline__ void add_fluxes_behind(std::integral_constant<int, d>)
    {
      constexpr int next = next_in_brick(d);
      if constexpr (Brick::slots(d) == 1)
      {
        const int end = at_[d] == 0 ? 1 : 0;
        const C f =
            is_border(d, end) ? C(0) : C(0.5) * v_slot<d>(0, end == 1 ? next : -next)[f_behind_v];
        of_value_[2 * d] += end == 0 ? f : C(0);
        of_value_[2 * d + 1] += end == 1 ? f : C(0);
      }
      if constexpr (Brick::slots(d) == 2)
#pragma unroll
        for (int end = 0; end < 2; ++end)
          if (!is_outward(at_, d, end) && !is_border(d, end))
            of_value_[2 * d + end] = fma(C(0.5),
                v_slot<d>(1 - end, end == 1 ? next : -next)[f_behind_v], of_value_[2 * d + end]);
    }

    // Fluxes.
    /// G at the points of a line in x, as it is stored.
    struct MetricWords
    {
      static constexpr int numbers = volume_numbers(dim),
                           chunk = DeviceLayout::volume_chunk(dim, n, sizeof(Stored)),
                           count = numbers * n / chunk, in_points = numbers * Brick::vector / chunk,
                           ahead = std::min(count, Brick::ahead *in_points);
      using Word = typename WordOf<chunk * sizeof(Stored)>::type;
      Word word[count];

      __device__ __forceinline__ void load(
          const Stored *volume, std::int64_t cell, int line, int first, int end)
      {
        const Stored *const from = volume + (cell * lines * n * numbers + line * chunk);
#pragma unroll
        for (int c = 0; c < count; ++c)
          if (c >= first && c < end)
            word[c] = __ldcs(reinterpret_cast<const Word *>(from + c * lines * chunk));
      }
      __device__ __forceinline__ C at(int q, int number) const
      {
        const int place = q * numbers + number;
        return static_cast<C>(
            load_pack<chunk>(reinterpret_cast<const Stored *>(&word[place / chunk]))
                .at[place % chunk]);
      }
    };
    /// By lines in x; what tests derivatives in y and z is in their place afterwards.
    __device__ __forceinline__ void find_fluxes(MetricWords &metric, Line &result)
    {
      constexpr int width = Brick::vector, in_points = MetricWords::in_points;
      const C power = this->power(number_, power_of_metric);
      const C in_y[2] = {Base::end_at(la, 0), Base::end_at(la, 1)},
              in_z[2] = {Base::end_at(lb, 0), Base::end_at(lb, 1)};
      const int first = first_of_line<0>(line);
      ends_of<0>(result);
#pragma unroll
      for (int q = 0; q < n; q += width)
      {
        const int loaded = q / width * in_points + MetricWords::ahead;
        metric.load(p.numbers.volume, number_, line, loaded, loaded + in_points);
        C g[dim][width], flux[dim][width];
#pragma unroll
        for (int d = 0; d < dim; ++d)
          Base::read_row(derivative(d) + first + q, g[d]);
#pragma unroll
        for (int w = 0; w < width; ++w)
          times_metric(metric, q + w, power, g, flux, w);
        add_tests_along(q, in_y, in_z, flux);
#pragma unroll
        for (int d = 1; d < dim; ++d)
          Base::write_row(derivative(d) + first + q, flux[d]);
#pragma unroll
        for (int w = 0; w < width; ++w)
#pragma unroll
          for (int i = 0; i < n; ++i)
            result[i] = fma(p.derivative[(q + w) * n + i], flux[0][w], result[i]);
      }
      if (p.numbers.reaction != nullptr)
        add_reaction(result);
    }
    template <int width>
    __device__ __forceinline__ static void times_metric(const MetricWords &metric, int q, C power,
        const C (&g)[dim][width], C (&flux)[dim][width], int w)
    {
#pragma unroll
      for (int a = 0; a < dim; ++a)
      {
        C sum(0);
#pragma unroll
        for (int b = 0; b < dim; ++b)
          sum = fma(metric.at(q, volume_place(dim, a < b ? a : b, a < b ? b : a)), g[b][w], sum);
        flux[a][w] = Base::has_powers ? power * sum : sum;
      }
    }
    template <int width>
    __device__ __forceinline__ void add_tests_along(
        int q, const C (&in_y)[2], const C (&in_z)[2], C (&flux)[dim][width]) const
    {
#pragma unroll
      for (int end = 0; end < 2; ++end)
      {
#pragma unroll
        for (int t = 0; t < dim - 1; ++t)
        {
          C of_y[width], of_z[width] = {};
          Base::read_row(tests(2 + end, t) + q + n * lb, of_y);
          if constexpr (dim == 3)
            Base::read_row(tests(4 + end, t) + q + n * la, of_z);
#pragma unroll
          for (int w = 0; w < width; ++w)
          {
            const C here = end == 1 ? p.end[q + w] : p.end[n - 1 - q - w];
            flux[1 + t][w] = fma(here, along_x_[end][t], flux[1 + t][w]);
            flux[2 * t][w] = fma(in_y[end], of_y[w], flux[2 * t][w]);
            if constexpr (dim == 3)
              flux[t][w] = fma(in_z[end], of_z[w], flux[t][w]);
          }
        }
      }
    }
    __device__ __forceinline__ void add_reaction(Line &result) const
    {
      Line u;
      read<0>(memory_, line, u);
      const C power = this->power(number_, power_of_reaction);
      const Stored *const from = p.numbers.reaction + (number_ * n * lines + line);
#pragma unroll
      for (int q = 0; q < n; ++q)
        result[q] =
            fma(power * static_cast<C>(load_pack<1>(from + q * lines).at[0]), u[q], result[q]);
    }
    template <int d>
    __device__ __forceinline__ void ends_of(Line &result) const
    {
#pragma unroll
      for (int q = 0; q < n; ++q)
      {
        C sum = p.end[n - 1 - q] * of_value_[2 * d];
        sum = fma(p.end[q], of_value_[2 * d + 1], sum);
        sum = fma(p.slope[n - 1 - q], of_slope_[2 * d], sum);
        result[q] = fma(p.slope[q], of_slope_[2 * d + 1], sum);
      }
    }
    template <int d>
    __device__ __forceinline__ void transpose(std::integral_constant<int, d>)
    {
      Line flux, result;
      read<d>(derivative(d), line, flux);
      ends_of<d>(result);
#pragma unroll
      for (int q = 0; q < n; ++q)
#pragma unroll
        for (int i = 0; i < n; ++i)
          result[i] = fma(p.derivative[q * n + i], flux[q], result[i]);
      write<d>(derivative(d), line, result);
    }

    // Back to modes.
    __device__ __forceinline__ void to_modes(Line &points) const
    {
      Line part, modes;
#pragma unroll
      for (int d = 1; d < dim; ++d)
      {
        read<0>(derivative(d), line, part);
#pragma unroll
        for (int q = 0; q < n; ++q)
          points[q] += part[q];
      }
      multiply<true>(p.value, points, modes);
      write<0>(memory_, line, modes);
      if constexpr (dim == 3)
      {
        Base::meet_in_cell();
        read<1>(memory_, line, points);
        multiply<true>(p.value, points, modes);
        write<1>(memory_, line, modes);
      }
      const BrickPlace to = Brick::place_in_memory(int(threadIdx.x));
      int at[3];
      find_in_brick(to.cell, at);
      const Cell cell = cell_at(at);
      const std::int64_t first = this->first_mode(cell) + to.line % n * p.next_mode[0] +
          (dim == 3 ? to.line / n * p.next_mode[1] : 0);
      const Combined others(p, first);
      __syncthreads();
      read<last>(this->memory_of(to.cell), to.line, points);
      multiply<true>(p.value, points, modes);
      if (is_there(at) && !(Brick::has_idle && to.cell == Brick::all_cells))
        others.store(p, first, modes);
    }
    /// What is combined with A u, along a line of modes: asked for before threads meet.
    struct Combined
    {
      typename Base::Modes b, x, before;
      Line inverse_diagonal;

      __device__ __forceinline__ Combined(const PointwiseParameters<Brick> &p, std::int64_t first)
      {
        if (p.b != nullptr)
          Base::load_modes(p.b + first, p.next_mode[last], b);
        if (p.inverse_diagonal == nullptr)
          return;
        Base::load_modes(p.src + first, p.next_mode[last], x);
        if (p.old != nullptr)
          Base::load_modes(p.old + first, p.next_mode[last], before);
#pragma unroll
        for (int i = 0; i < n; ++i)
          inverse_diagonal[i] = p.inverse_diagonal[first + i * p.next_mode[last]];
      }
      __device__ __forceinline__ void store(
          const PointwiseParameters<Brick> &p, std::int64_t first, const Line &modes) const
      {
        Number *to = p.dst + first;
#pragma unroll
        for (int i = 0; i < n; ++i, to += p.next_mode[last])
        {
          C value = modes[i];
          if (p.b != nullptr)
            value = Base::as_computed(b[i]) - value;
          if (p.inverse_diagonal != nullptr)
          {
            const C here = Base::as_computed(x[i]),
                    there = p.old != nullptr ? Base::as_computed(before[i]) : C(0);
            value = here + p.theta * (here - there) + p.alpha * inverse_diagonal[i] * value;
          }
          store_pack(to, Pack<C, 1>(value));
        }
      }
    };
  };

  /// Bricks follow one another in tiles of a plane x-y of a block of the mesh, a tile by layers in z: then what is read again is in the second cache still.
  template <typename Brick>
  __device__ __forceinline__ bool find_brick(
      const PointwiseParameters<Brick> &p, Cell &first, bool &at_border)
  {
    unsigned rest = blockIdx.x;
    int brick[3], mesh_block;
    brick[0] = int(p.tile[0].divide(rest));
    brick[1] = int(p.tile[1].divide(rest));
    brick[2] = int(p.layers.divide(rest));
    brick[0] += int(p.tiles[0].divide(rest) * p.tile[0].by);
    brick[1] += int(p.tiles[1].divide(rest) * p.tile[1].by);
    mesh_block = int(rest);
    const int *const count = p.bricks;
    first = {mesh_block * p.per_direction + brick[0] * Brick::cells_x, brick[1] * Brick::cells_y,
        brick[2] * Brick::cells_z};
    at_border = p.per_direction % Brick::cells_x != 0 || first.x >= p.block.cells[0];
    for (int d = 0; d < Brick::dim; ++d)
      at_border = at_border || brick[d] == 0 || brick[d] == count[d] - 1;
    return brick[0] < count[0] && brick[1] < count[1];
  }

  template <typename Brick>
  __global__ __launch_bounds__(Brick::threads, Brick::blocks) void operator_kernel(
      const __grid_constant__ PointwiseParameters<Brick> p)
  {
    Cell first;
    bool at_border;
    if (!find_brick(p, first, at_border))
      return;
    if (at_border)
      Operator<Brick, true>(p, first).run();
    else
      Operator<Brick, false>(p, first).run();
  }
} // namespace pointwise
} // namespace tensormg::laplace
