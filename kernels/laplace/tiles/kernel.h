// Which kernel a tile is for.
#pragma once

#include <cstdint>

namespace tensormg::laplace
{
/// The folders of the designs.
enum class Kernel : std::uint8_t
{
  column,
  layers,
  rounds,
  mma_column,
  mma_layers
};
} // namespace tensormg::laplace
