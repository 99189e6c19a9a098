// A quick start of MPI for a process that is its only rank.
#pragma once

namespace tensormg
{
/// Call before MPI_Init. Where neither mpirun nor a batch system has started this process, Open MPI would start a daemon
/// beside it, so that it could start further ranks, and ask every network for itself, which takes 0.3 s: it is told to do
/// without both. What the user's environment says about that counts; other implementations do not look at it.
void expect_lone_rank();
} // namespace tensormg
