// Index lists of irregular applications. `scale` sets how many points or particles go.
#include <algorithm>

#include "pattern.h"

namespace patterns {

namespace {

// A third of all indices below 3 * count, in ascending order (points on a border) or in none (particles that leave).
std::vector<int> index_list(long count, bool ascending) {
  std::vector<int> list;
  unsigned state = 4711;
  const auto random = [&] { return (state = state * 1664525u + 1013904223u) >> 8; };
  for (int i = 0; i < static_cast<int>(count); ++i) list.push_back(3 * i + static_cast<int>(random() % 3));
  if (!ascending)
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random() % i]);
  return list;
}

MPI_Datatype indexed(const std::vector<int>& list, int block, MPI_Datatype element) {
  std::vector<int> places;
  for (const int index : list) places.push_back(index * block);
  MPI_Datatype type;
  MPI_Type_create_indexed_block(static_cast<int>(places.size()), block, places.data(), element, &type);
  return type;
}

// LAMMPS keeps each property of its atoms in an array of its own; a message is a struct of one index list over all of
// them: position (3 doubles), tag, type, mask, and for "full" also charge (a double) and molecule.
Pattern lammps(const char* name, long count, bool full) {
  const std::vector<int> list = index_list(count, false);
  const long atoms = 3 * count, position_bytes = atoms * 24, integer_bytes = atoms * 4;
  std::vector<MPI_Aint> places = {0, position_bytes, position_bytes + integer_bytes,
                                  position_bytes + 2 * integer_bytes};
  std::vector<MPI_Datatype> parts = {indexed(list, 3, MPI_DOUBLE), indexed(list, 1, MPI_INT), indexed(list, 1, MPI_INT),
                                     indexed(list, 1, MPI_INT)};
  const long charge_at = position_bytes + 4 * integer_bytes;  // on a multiple of eight
  if (full) {
    places.insert(places.end(), {charge_at, position_bytes + 3 * integer_bytes});
    parts.insert(parts.end(), {indexed(list, 1, MPI_DOUBLE), indexed(list, 1, MPI_INT)});
  }
  return {name, together(places, parts), static_cast<std::size_t>(charge_at + 8 * atoms),
          [=](char* spread, char* packed, Way way) {
            packed = copy_list<3>(reinterpret_cast<double*>(spread), packed, list, way);
            for (int i = 0; i < 3; ++i)
              packed =
                  copy_list<1>(reinterpret_cast<int*>(spread + position_bytes + i * integer_bytes), packed, list, way);
            if (!full) return packed;
            packed = copy_list<1>(reinterpret_cast<double*>(spread + charge_at), packed, list, way);
            return copy_list<1>(reinterpret_cast<int*>(spread + position_bytes + 3 * integer_bytes), packed, list, way);
          }};
}

// SPECFEM3D_GLOBE assembles accelerations on the borders of slices: one float a point in the outer core (oc), three
// floats a point in the crust and mantle and in the inner core, two lists in one message (cm).
Pattern specfem3d_oc(long count) {
  const std::vector<int> list = index_list(count, true);
  return {"specfem3d_oc", indexed(list, 1, MPI_FLOAT), static_cast<std::size_t>(3 * count) * sizeof(float),
          [list](char* spread, char* packed, Way way) {
            return copy_list<1>(reinterpret_cast<float*>(spread), packed, list, way);
          }};
}

Pattern specfem3d_cm(long count) {
  const std::vector<int> mantle = index_list(count, true), core = index_list(count / 2, true);
  const long core_at = 3 * count * 3 * static_cast<long>(sizeof(float));
  return {"specfem3d_cm", together({0, core_at}, {indexed(mantle, 3, MPI_FLOAT), indexed(core, 3, MPI_FLOAT)}),
          static_cast<std::size_t>(2 * core_at), [=](char* spread, char* packed, Way way) {
            packed = copy_list<3>(reinterpret_cast<float*>(spread), packed, mantle, way);
            return copy_list<3>(reinterpret_cast<float*>(spread + core_at), packed, core, way);
          }};
}

// mt: the first points of each face in a buffer made for the longest face: three floats a point.
Pattern specfem3d_mt(long count) {
  const long faces = 8, points = count / faces, longest = points + points / 4;
  MPI_Datatype type;
  MPI_Type_vector(static_cast<int>(faces), static_cast<int>(3 * points), static_cast<int>(3 * longest), MPI_FLOAT,
                  &type);
  const Loops loops{{1, 1, faces}, {0, 0, 3 * longest}, 3 * points};
  return {"specfem3d_mt", type, static_cast<std::size_t>(faces * longest * 3) * sizeof(float),
          [loops](char* spread, char* packed, Way way) {
            return copy_loops(reinterpret_cast<float*>(spread), packed, loops, way);
          }};
}

}  // namespace

std::vector<Pattern> list_patterns(long scale) {
  const long points = 16 * scale;
  std::vector<Pattern> all;
  all.push_back(lammps("lammps_full", points, true));
  all.push_back(lammps("lammps_atomic", points, false));
  all.push_back(specfem3d_oc(points));
  all.push_back(specfem3d_cm(points));
  all.push_back(specfem3d_mt(points));
  return all;
}

}  // namespace patterns
