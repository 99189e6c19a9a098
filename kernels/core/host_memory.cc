#include "kernels/core/host_memory.h"

#include <cstdint>
#include <cstring>
#include <new>

#include <sys/mman.h>

namespace tensormg::host_memory
{
namespace
{
  constexpr std::size_t huge_page = std::size_t(2) << 20;
  constexpr std::size_t small_alignment = 64;

  /// Whole huge pages, and one more to align the start.
  std::size_t mapped_bytes(std::size_t bytes)
  {
    return (bytes + huge_page - 1) / huge_page * huge_page + huge_page;
  }
} // namespace

// The operator walks through hundreds of rows at once: with 4 kB pages most of its accesses would
// miss the address cache, and prefetching stops at every page border.
void *allocate(std::size_t bytes)
{
  if (bytes < huge_page)
  {
    void *memory = ::operator new[](bytes, std::align_val_t(small_alignment));
    std::memset(memory, 0, bytes);
    return memory;
  }
  const std::size_t mapped = mapped_bytes(bytes);
  void *base = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED)
    throw std::bad_alloc();
  // Give back what lies before the first huge page border and behind the last.
  char *first = static_cast<char *>(base);
  const std::size_t skip =
      (huge_page - reinterpret_cast<std::uintptr_t>(base) % huge_page) % huge_page;
  char *memory = first + skip;
  const std::size_t used = mapped - huge_page;
  if (skip > 0)
    munmap(first, skip);
  if (huge_page - skip > 0)
    munmap(memory + used, huge_page - skip);
#if defined(MADV_HUGEPAGE)
  madvise(memory, used, MADV_HUGEPAGE); // advice: a failure only costs speed
#endif
  for (std::size_t at = 0; at < used; at += 4096)
    memory[at] = 0; // page faults belong here, not into the first solve
  return memory;
}

void release(void *memory, std::size_t bytes)
{
  if (bytes < huge_page)
    ::operator delete[](memory, std::align_val_t(small_alignment));
  else
    munmap(memory, mapped_bytes(bytes) - huge_page);
}
} // namespace tensormg::host_memory
