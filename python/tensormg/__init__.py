"""High-order discontinuous Galerkin diffusion on boxes: -div(K grad u) + c u = f by matrix-free multigrid.

    import numpy as np, tensormg
    solver = tensormg.Solver(cells=(16, 16, 16), degree=3,
                             right_hand_side=lambda x, y, z: np.sin(np.pi * x))
    u, report = solver.solve()

Vectors are arrays of doubles with one number per node, of the shape `solver.shape` =
(cells in z, cells in y, cells in x, nodes in z, nodes in y, nodes in x), without z in 2D; flat arrays serve as well. With
MPI they hold the cells of the process. numpy arrays of float64 in C order are taken as they are, others converted.

Where a GPU computes (`solver.backend`), each vector may lie in its memory instead: any object with
__cuda_array_interface__ (CuPy, PyTorch, Numba), of float64 in C order. Results are new numpy arrays, or go to `out`, which may
be of either kind:

    u = cupy.empty(solver.shape)
    solver.solve(f, out=u)

All functions wait until their results are there. They also wait for the stream that an array names; where it names none, as
those of PyTorch, its contents must be there before the call.
"""
import operator

import numpy as np

from . import _tensormg
from ._tensormg import ArgumentError, __version__

__all__ = ["ArgumentError", "NotConverged", "Solver", "__version__"]


class NotConverged(RuntimeError):
    """A solve that did not reach the tolerance. `solution` and `report` are what it reached."""

    def __init__(self, solution, report):
        super().__init__(f"{report['reason']}: {report['detail']}" if report["detail"] else report["reason"])
        self.solution, self.report = solution, report


def _number(name, value, convert=float):
    try:
        return convert(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} = {value!r}; allowed: {'an integer' if convert is operator.index else 'a number'}") from None


def _per_direction(name, values, convert=float):
    if isinstance(values, str) or np.ndim(values) != 1:
        raise ArgumentError(f"{name} = {values!r}; allowed: a number for each direction")
    return [_number(name, value, convert) for value in values]


def _sides(boundary):
    if not isinstance(boundary, dict):
        raise ArgumentError(f"boundary is of type {type(boundary).__name__}; allowed: a dictionary of sides")
    sides = {side: tuple(data) if isinstance(data, (tuple, list)) else (data, 0) for side, data in boundary.items()}
    for side, data in sides.items():
        if not data or not isinstance(data[0], str) or len(data) != (3 if data[0] == "robin" else 2):
            raise ArgumentError(f"boundary of {side} = {boundary[side]!r}; allowed: a pair of kind and value, a kind, "
                                "or (\"robin\", q, r)")
    return {side: data if len(data) == 3 else (*data, 1) for side, data in sides.items()}


def _communicator(comm):
    if comm is None:
        return -1
    if not hasattr(comm, "py2f"):
        raise ArgumentError(f"comm is of type {type(comm).__name__}; allowed: a communicator of mpi4py")
    return comm.py2f()


def _cells(cells, lower, upper):
    """Numbers of cells, ends of the box and, for graded directions, corners."""
    if isinstance(cells, str) or not hasattr(cells, "__len__"):
        raise ArgumentError(f"cells = {cells!r}; allowed: a number of cells, or their corners, for each direction")
    dim = len(cells)
    lower = [0.0] * dim if lower is None else _per_direction("lower", lower)
    upper = [1.0] * dim if upper is None else _per_direction("upper", upper)
    corners = [[] if np.ndim(entry) == 0 else _per_direction("cells", entry) for entry in cells]
    numbers = [len(ends) - 1 if ends else _number("cells", entry, operator.index) for entry, ends in zip(cells, corners)]
    if len(lower) == dim and len(upper) == dim:
        lower = [ends[0] if ends else end for ends, end in zip(corners, lower)]
        upper = [ends[-1] if ends else end for ends, end in zip(corners, upper)]
    return numbers, lower, upper, corners


class Solver:
    """A solver that is set up once, for any number of right-hand sides.

    cells, lower, upper: per direction; 2 or 3 entries say the dimension. In place of a number of cells the array of their corners, from the
    lower to the upper end of the box, whose cells may differ in size. degree: 1 to 8. coefficient: K > 0, a number for the
    whole box; or what has one value in each cell: an expression, a function, a numpy array of the shape (cells_z, cells_y, cells_x),
    in 2D (cells_y, cells_x), of all cells of the box; or a tuple of these, one per direction (a diagonal tensor). reaction: c >= 0, likewise,
    or None. coefficient_in_cell: constant, or mean where K and c shall be averaged in each cell.
    right_hand_side and the values of sides: a number, an expression in x, y and z (docs/parameters.md), or a function of arrays
    x, y, z (zeros in 2D) that returns an array. boundary: for each side of left, right (x), front, back (y), bottom, top (z) a
    pair (kind, value): dirichlet with u, neumann with K du/dn, or periodic; or ("robin", q, r) for K du/dn + r u = q, r >= 0 with one
    value on each face of a cell like coefficient; without an entry ("dirichlet", 0).
    method: fgmres, cg, or with a K for the whole box direct. precision of the multigrid cycle: auto, double, single or half, on tensor cores tf32 or 2xfp16.
    backend: auto, cpu, cuda, mma or wmma. nodes: gauss or gauss_lobatto. comm: a communicator of mpi4py; without it this process
    solves alone. Wrong arguments raise ArgumentError, a ValueError; memory that is not there MemoryError. One call at a time.
    """

    def __init__(self, cells, degree=3, *, lower=None, upper=None, coefficient=1.0, reaction=None, right_hand_side=1, boundary=None,
                 tolerance=1e-8, max_iterations=100, method="fgmres", precision="auto", full_multigrid=False,
                 backend="auto", nodes="gauss", coefficient_in_cell="constant", comm=None):
        cells, lower, upper, corners = _cells(cells, lower, upper)
        dim, degree = len(cells), _number("degree", degree, operator.index)
        words = {"method": method, "precision": precision, "backend": backend, "nodes": nodes,
                 "coefficient_in_cell": coefficient_in_cell}
        for name, word in words.items():
            if not isinstance(word, str):
                raise ArgumentError(f"{name} = {word!r}; allowed: a word")
        self._solver = _tensormg.Solver(
            dim, degree, cells, lower, upper, corners, coefficient, reaction, right_hand_side, _sides(boundary or {}),
            {**words, "tolerance": _number("tolerance", tolerance), "full_multigrid": bool(full_multigrid),
             "max_iterations": _number("max_iterations", max_iterations, operator.index),
             "communicator": _communicator(comm)})
        begin, end, _ = self._solver.cells
        local = [end[d] - begin[d] for d in reversed(range(dim))]
        self.shape = (*local, *[degree + 1] * dim)

    @property
    def size(self):
        """Numbers in a vector of this process."""
        return self._solver.size

    @property
    def backend(self):
        """What computes: "cpu", "cuda", ..."""
        return self._solver.backend

    @property
    def points(self):
        """The coordinates x, y and z (zeros in 2D) of the nodes, each of the shape of a vector."""
        return tuple(x.reshape(self.shape) for x in self._solver.coordinates())

    def side_points(self, side):
        """The coordinates x, y and z of the nodes on a side ("left", ...), of the cells of this process there: flat arrays, cells and
        nodes along the side in the order of the directions, the first one fastest."""
        return self._solver.side_coordinates(side)

    def set_side_values(self, side, values):
        """Values at these nodes, u, K du/dn or q, take the place of those that the solver was made with."""
        self._solver.set_side_values(side, values)

    def update_sides(self):
        """Functions on sides give other values now: they are called again by the next solve."""
        self._solver.update_sides()

    def update_coefficients(self):
        """Functions that are coefficient, reaction or r of Robin sides give other values now: they are called again here. Vectors are kept."""
        self._solver.update_coefficients()

    def _result(self, solved, out, check):
        u, report = solved
        if out is None:
            u = u.reshape(self.shape)
        if check and not report["converged"]:
            raise NotConverged(u, report)
        return u, report

    def solve(self, f=None, *, start=None, out=None, check=True):
        """(u, report) for the right-hand side with the values f at the nodes, or that of the problem. The iteration begins with
        `start`, or zero. u is `out`, if given, or a new numpy array. Raises NotConverged unless check is False. report:
        converged, reason, detail, iterations, residuals, relative_residual."""
        return self._result(self._solver.solve(f, start, out), out, check)

    def solve_system(self, b, *, start=None, out=None, check=True):
        """The same for A u = b: b are integrals with the nodal basis functions."""
        return self._result(self._solver.solve_system(b, start, out), out, check)

    def multiply(self, x, out=None):
        """A x, in `out` or a new numpy array. The two may be the same."""
        return self._like(x, self._solver.multiply(x, out), out)

    def precondition(self, r, out=None):
        """One multigrid cycle for A z = r, likewise."""
        return self._like(r, self._solver.precondition(r, out), out)

    @staticmethod
    def _like(x, y, out):
        if out is not None:
            return y
        return y.reshape(x.shape if hasattr(x, "shape") else np.shape(x))

    @property
    def matrix(self):
        """A as a scipy.sparse.linalg.LinearOperator."""
        return self._linear_operator(self.multiply)

    @property
    def preconditioner(self):
        """The multigrid cycle as a scipy.sparse.linalg.LinearOperator: the argument M of its solvers."""
        return self._linear_operator(self.precondition)

    def _linear_operator(self, product):
        from scipy.sparse.linalg import LinearOperator
        return LinearOperator((self.size, self.size), matvec=product, rmatvec=product, dtype=np.float64)
