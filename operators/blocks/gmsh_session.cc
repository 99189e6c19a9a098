#include "operators/blocks/gmsh_session.h"

#include <exception>

#include <gmsh.h>

#include "operators/blocks/block_mesh.h"
#include "operators/data/short_text.h"

namespace tensormg
{
GmshSession::GmshSession()
{
  // Version 4.8 has no function that says whether it has been started: then it gives no options, with an exception or without one.
  terminal_ = -1.;
  try
  {
    gmsh::option::getNumber("General.Terminal", terminal_);
  }
  catch (...)
  {
    terminal_ = -1.;
  }
  is_ours_ = terminal_ < 0.;
  if (is_ours_)
    gmsh::initialize(0, nullptr, false);
  else
  {
    gmsh::option::getNumber("General.AbortOnError", abort_on_error_);
    gmsh::model::getCurrent(model_);
  }
  gmsh::option::setNumber("General.Terminal", 0.);
  gmsh::option::setNumber("General.AbortOnError", 2.);
  gmsh::model::add("tensormg mesh file");
}

GmshSession::~GmshSession()
{
  try
  {
    gmsh::model::remove();
    if (is_ours_)
    {
      gmsh::finalize();
      return;
    }
    gmsh::model::setCurrent(model_);
    gmsh::option::setNumber("General.AbortOnError", abort_on_error_);
    gmsh::option::setNumber("General.Terminal", terminal_);
  }
  catch (...)
  { // a destructor has nobody to tell
  }
}

void GmshSession::merge(const std::string &path)
{
  try
  {
    gmsh::merge(path);
  }
  catch (...)
  {
    throw MeshError("Gmsh does not read it: " + cut_middle(gmsh_error()));
  }
}

std::string gmsh_error()
{
  try
  {
    throw;
  }
  catch (const std::string &text) // 4.8
  {
    return text;
  }
  catch (const std::exception &error)
  {
    return error.what();
  }
  catch (...)
  {
    return "an unknown error";
  }
}
} // namespace tensormg
