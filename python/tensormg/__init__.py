"""High-order discontinuous Galerkin diffusion: -div(K grad u) + c u = f by matrix-free multigrid, on boxes (Solver) and on curved meshes
(MeshSolver).

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

MeshSolver is for meshes of curved cells:

    shell = tensormg.Mesh.generated("hyper_shell", "0,0,0 : 0.5 : 1 : 6 : true", dim=3)
    solver = tensormg.MeshSolver(shell, degree=3, refinements=2, boundary={"0": ("dirichlet", 1), "*": ("dirichlet", 0)})
    u, report = solver.solve()

All functions wait until their results are there. They also wait for the stream that an array names; where it names none, as
those of PyTorch, its contents must be there before the call.
"""
import operator

import numpy as np

from . import _tensormg
from ._tensormg import ArgumentError, __version__

__all__ = ["ArgumentError", "Mesh", "MeshSolver", "NotConverged", "Solver", "__version__"]


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


def _words(**words):
    for name, word in words.items():
        if not isinstance(word, str):
            raise ArgumentError(f"{name} = {word!r}; allowed: a word")
    return words


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


class _Verbs:
    """What Solver and MeshSolver have in common; `_solver` and `shape` are set by them."""

    @property
    def size(self):
        """Numbers in a vector of this process."""
        return self._solver.size

    @property
    def points(self):
        """The coordinates x, y and z (zeros in 2D) of the nodes, each of the shape of a vector."""
        return tuple(x.reshape(self.shape) for x in self._solver.coordinates())

    def update_coefficients(self):
        """Functions that are coefficient, reaction or r of Robin sides give other values now: they are called again here."""
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


class Solver(_Verbs):
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
        words = _words(method=method, precision=precision, backend=backend, nodes=nodes, coefficient_in_cell=coefficient_in_cell)
        self._solver = _tensormg.Solver(
            dim, degree, cells, lower, upper, corners, coefficient, reaction, right_hand_side, _sides(boundary or {}),
            {**words, "tolerance": _number("tolerance", tolerance), "full_multigrid": bool(full_multigrid),
             "max_iterations": _number("max_iterations", max_iterations, operator.index),
             "communicator": _communicator(comm)})
        begin, end, _ = self._solver.cells
        local = [end[d] - begin[d] for d in reversed(range(dim))]
        self.shape = (*local, *[degree + 1] * dim)

    @property
    def backend(self):
        """What computes: "cpu", "cuda", ..."""
        return self._solver.backend

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


class Mesh:
    """A mesh for MeshSolver, by one of file(), generated(), mapped() and arrays()."""

    def __init__(self, dim, **data):
        self.dim, self._data = dim, data

    @classmethod
    def file(cls, path, dim=3):
        """Of Gmsh, VTK, Abaqus or UCD (docs/meshes.md)."""
        return cls(_number("dim", dim, operator.index), type="file", path=str(path))

    @classmethod
    def generated(cls, name, arguments, dim=3):
        """By a generator of deal.II, as "hyper_shell" with "0,0,0 : 0.5 : 1 : 6 : true"."""
        return cls(_number("dim", dim, operator.index), type="generated", **_words(name=name, arguments=arguments))

    @classmethod
    def mapped(cls, cells, map, *, lower=None, upper=None):
        """The cells of a box, moved: map is an expression or a function of x, y and z for each direction. Its sides are boundaries: left, right,
        front, back, bottom, top; periodic ones in pairs."""
        cells = _per_direction("cells", cells, operator.index)
        dim = len(cells)
        lower = [0.0] * dim if lower is None else _per_direction("lower", lower)
        upper = [1.0] * dim if upper is None else _per_direction("upper", upper)
        if isinstance(map, str) or not len(map) == len(lower) == len(upper) == dim:
            raise ArgumentError("cells, map, lower and upper have different lengths; allowed: an entry for each direction")
        return cls(dim, type="mapped", cells=cells, map=list(map), lower=lower, upper=upper)

    @classmethod
    def arrays(cls, points, cells, *, material=(), faces=(), boundary=(), names=None, equidistant=False):
        """points: (points, dim). cells: (cells, (m + 1)^dim) numbers of the points that are the nodes of each cell, the first direction fastest, at
        Gauss-Lobatto points of its edges or, if `equidistant`, at equal distances. material: a number for each cell. faces: (faces, 4), in 2D
        (faces, 2), numbers of the corners of faces at the boundary, and `boundary` which one each belongs to; others belong to 0. names:
        {number: name} of boundaries. In C++: MeshArrays of tensormg/mesh.h."""
        points, cells, faces = np.asarray(points), np.asarray(cells), np.asarray(faces)
        if points.ndim != 2 or points.shape[1] not in (2, 3) or points.dtype.kind not in "fiu":
            raise ArgumentError("points must be an array of numbers of the shape (points, 2) or (points, 3)")
        dim = points.shape[1]
        if cells.ndim != 2 or cells.dtype.kind not in "iu":
            raise ArgumentError("cells must be an array of integers of the shape (cells, nodes of a cell)")
        degree = round(cells.shape[1] ** (1 / dim)) - 1
        if (degree + 1) ** dim != cells.shape[1]:
            raise ArgumentError(f"cells have {cells.shape[1]} nodes; allowed: (m + 1)^{dim}")
        if faces.size and (faces.dtype.kind not in "iu" or faces.shape[1:] != (2 * (dim - 1),)):
            raise ArgumentError(f"faces must be an array of integers of the shape (faces, {2 * (dim - 1)})")
        return cls(dim, type="arrays", degree=degree, points=points.astype(float), cells=cells.ravel().tolist(),
                   material=[int(m) for m in material], faces=faces.tolist() if faces.size else [],
                   boundary=[int(b) for b in boundary], names=dict(names or {}), equidistant=bool(equidistant))


class MeshSolver(_Verbs):
    """A solver on a Mesh whose cells are halved `refinements` times in each direction.

    Vectors lie in host memory and have the shape (cells, nodes in z, nodes in y, nodes in x), directions being those of the cells; `cells` says which these are. coefficient: a
    number, an expression in x, y, z and material, a function of arrays x, y, z, or a tuple of these: the diagonal of a tensor, or the whole of it, (xx, yy, zz, xy,
    xz, yz), in 2D (xx, yy, xy); it may vary in cells. reaction likewise, or None. boundary: {name: (kind, value)} or {name: ("robin", q, r)}
    as in Solver, ("periodic", other name), "*" for all others; names as in `boundaries`. geometry_degree: of the polynomials of cells,
    at most `degree`, 0 for as many. averages: arithmetic or, for K that jumps, harmonic, of what both cells have at a face. restart: most vectors of
    fgmres. Of the multigrid cycle, coarsening: auto, cells, or vertices for K that jumps within cells of the mesh; cycle_operator: auto,
    true_metric or cell_mean (multigrid.operator in docs/parameters.md). backend: auto, cpu or cuda, a GPU for one process. The rest as in Solver."""

    def __init__(self, mesh, degree=3, refinements=2, *, coefficient=1.0, reaction=None, right_hand_side=1, boundary=None,
                 geometry_degree=0, averages="arithmetic", tolerance=1e-8, max_iterations=100, restart=30, method="fgmres",
                 precision="auto", coarsening="auto", cycle_operator="auto", backend="auto", nodes="gauss", comm=None):
        if not isinstance(mesh, Mesh):
            raise ArgumentError(f"mesh is of type {type(mesh).__name__}; allowed: what Mesh.file(), generated(), mapped() or arrays() return")
        degree = _number("degree", degree, operator.index)
        conditions = _sides({} if mesh._data["type"] == "mapped" and not boundary else boundary or {"*": ("dirichlet", 0)})
        self._solver = _tensormg.MeshSolver(
            mesh.dim, degree, _number("refinements", refinements, operator.index), mesh._data,
            list(coefficient) if isinstance(coefficient, tuple) else [coefficient], reaction, right_hand_side, conditions,
            {**_words(method=method, precision=precision, backend=backend, nodes=nodes, averages=averages, coarsening=coarsening,
                      cycle_operator=cycle_operator), "tolerance": _number("tolerance", tolerance),
             "max_iterations": _number("max_iterations", max_iterations, operator.index),
             "restart": _number("restart", restart, operator.index), "communicator": _communicator(comm),
             "geometry_degree": _number("geometry_degree", geometry_degree, operator.index)})
        self.shape = (self._solver.size // (degree + 1) ** mesh.dim, *[degree + 1] * mesh.dim)

    @property
    def backend(self):
        """cpu or cuda: what computes."""
        return self._solver.backend

    @property
    def cells(self):
        """Of the cells of this process: the numbers of the mesh's cells that they are parts of, which parts, (cells, 3) of 2^refinements per
        direction, and materials."""
        return self._solver.cells

    @property
    def boundaries(self):
        """Names of the boundaries; the number where there is none."""
        return self._solver.boundaries

    def boundary_points(self, name):
        """The coordinates x, y and z of the nodes on a boundary, of the faces of this process: flat arrays."""
        return self._solver.boundary_coordinates(name)

    def set_boundary_values(self, name, values):
        """Values at these nodes, u, K du/dn or q, take the place of those that the solver was made with."""
        self._solver.set_boundary_values(name, values)

    def update_boundaries(self):
        """Functions on boundaries give other values now: they are called again by the next solve."""
        self._solver.update_boundaries()

    @property
    def coefficient_points(self):
        """The coordinates x, y and z of the points where the coefficient is needed, of the shape (cells, points of a cell)."""
        return tuple(x.reshape(self.shape[0], -1) for x in self._solver.point_coordinates())

    def values_at_points(self, u):
        """The function with the nodal values u at these points."""
        return self._solver.values_at_points(u).reshape(self.shape[0], -1)

    def set_coefficient_values(self, k):
        """From now on the coefficient has these values at these points: one array, or a tuple of arrays like `coefficient`."""
        if isinstance(k, tuple):
            shape = self.shape[0], self._solver.points_size // self.shape[0]
            k = np.array([np.broadcast_to(part, shape) for part in k])
        self._solver.set_coefficient_values(k)
