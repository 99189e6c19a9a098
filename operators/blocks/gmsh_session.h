// Gmsh's library for the time that one file is read.
#pragma once

#include <string>

namespace tensormg
{
/// Starts Gmsh, unless the program has done so, with an empty model that is the current one; its end leaves the library as it was. Gmsh has one state
/// for the whole process, so there can be one session at a time.
class GmshSession
{
public:
  GmshSession();
  ~GmshSession();
  GmshSession(const GmshSession &) = delete;
  GmshSession &operator=(const GmshSession &) = delete;

  /// Reads a file into the model. Throws MeshError with what Gmsh says.
  void merge(const std::string &path);

private:
  bool is_ours_ = false;
  double terminal_ = 0.;       ///< whether Gmsh may print
  double abort_on_error_ = 2.; ///< 2: errors are exceptions
  std::string model_;          ///< the current one before
};

/// What a function threw that called Gmsh: the text of its error, whatever its type in this version. To be called in a handler.
std::string gmsh_error();
} // namespace tensormg
