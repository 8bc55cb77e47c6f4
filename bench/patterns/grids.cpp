// Faces of regular grids. `scale` is the length of an edge of the finest grid.
#include "pattern.h"

namespace patterns {

namespace {

// WRF exchanges the halos of many fields at once, floats of the form field[y][z][x] (the weather model's i, k, j), some
// with one dimension more (species), some without height. One message is a struct of each field's face, described by
// nested vectors ("vec") or by subarrays ("sa").
enum class Side { x, y };
enum class Form { vectors, subarrays };

constexpr long halo = 3, levels = 24;

struct Field {
  long species, height;
};
constexpr Field fields[] = {{1, levels}, {1, levels}, {1, levels}, {1, 1}, {4, levels}};

MPI_Datatype subarray(const Field& field, Side side, long edge) {
  const int width = static_cast<int>(edge + 2 * halo), height = static_cast<int>(field.height);
  const int sizes[] = {static_cast<int>(field.species), width, height, width};
  const int inner = static_cast<int>(edge), thick = static_cast<int>(halo);
  const int parts[] = {sizes[0], side == Side::y ? thick : inner, height, side == Side::x ? thick : inner};
  const int starts[] = {0, thick, 0, thick};
  MPI_Datatype type;
  MPI_Type_create_subarray(4, sizes, parts, starts, MPI_ORDER_C, MPI_FLOAT, &type);
  return type;
}

Pattern wrf(Side side, Form form, long edge) {
  const long width = edge + 2 * halo;
  std::vector<MPI_Aint> places_bytes;
  std::vector<MPI_Datatype> parts;
  std::vector<Loops> all_loops;  // one for each field and species
  std::vector<long> starts;      // in elements
  long end = 0;
  for (const Field& field : fields) {
    const long level = width, row = field.height * width, species = width * row;
    Loops loops{{field.species, side == Side::y ? halo : edge, field.height},
                {species, row, level},
                side == Side::x ? halo : edge};
    const long inside = halo * row + halo;
    all_loops.push_back(loops);
    starts.push_back(end + inside);
    if (form == Form::vectors) {
      parts.push_back(nested_vectors(loops, MPI_FLOAT, sizeof(float)));
      places_bytes.push_back((end + inside) * static_cast<long>(sizeof(float)));
    } else {
      parts.push_back(subarray(field, side, edge));
      places_bytes.push_back(end * static_cast<long>(sizeof(float)));
    }
    end += field.species * species;
  }
  const std::string name =
      std::string("wrf_") + (side == Side::x ? "x" : "y") + (form == Form::vectors ? "_vec" : "_sa");
  return {name, together(places_bytes, parts), static_cast<std::size_t>(end) * sizeof(float),
          [all_loops, starts](char* spread, char* packed, Way way) {
            for (std::size_t i = 0; i < starts.size(); ++i)
              packed = copy_loops(reinterpret_cast<float*>(spread) + starts[i], packed, all_loops[i], way);
            return packed;
          }};
}

template <class T>
Pattern face(const char* name, const Loops& loops, long start, long elements, MPI_Datatype element) {
  const auto bytes = static_cast<long>(sizeof(T));
  return {name, together({start * bytes}, {nested_vectors(loops, element, bytes)}),
          static_cast<std::size_t>(elements * bytes), [loops, start](char* spread, char* packed, Way way) {
            return copy_loops(reinterpret_cast<T*>(spread) + start, packed, loops, way);
          }};
}

// What arrives in the transpose of a two-dimensional FFT: rows of complex numbers become columns.
Pattern fft2_columns(long edge, long block) {
  const int n = static_cast<int>(block);
  constexpr long number_bytes = 16;
  MPI_Datatype column, next_column, columns;
  MPI_Type_vector(n, 1, static_cast<int>(edge), MPI_C_DOUBLE_COMPLEX, &column);
  MPI_Type_create_resized(column, 0, number_bytes, &next_column);
  MPI_Type_contiguous(n, next_column, &columns);
  MPI_Type_free(&column);
  MPI_Type_free(&next_column);
  const Loops loops{{1, block, block}, {0, 2, 2 * edge}, 2};
  return {"fft2_columns", columns, static_cast<std::size_t>(edge * edge * number_bytes),
          [loops](char* spread, char* packed, Way way) {
            return copy_loops(reinterpret_cast<double*>(spread), packed, loops, way);
          }};
}

}  // namespace

std::vector<Pattern> grid_patterns(long scale) {
  std::vector<Pattern> all;
  for (const Side side : {Side::x, Side::y})
    for (const Form form : {Form::vectors, Form::subarrays}) all.push_back(wrf(side, form, scale));

  // MILC: su3 vectors (three complex floats) of one parity on a lattice [t][z][y][x / 2]; down in z is one z for each
  // t.
  const long su3 = 6, lattice = scale / 2, sites = lattice * lattice / 2;
  all.push_back(face<float>("milc_su3_zdown", {{1, 1, lattice}, {0, 0, lattice * sites * su3}, sites * su3}, 0,
                            lattice * lattice * sites * su3, MPI_FLOAT));

  // NAS LU: five doubles a point, [z][y][x]; one row along x, or one point of each row.
  const long point = 5, plane = scale * scale * point;
  all.push_back(face<double>("nas_lu_x", {{1, 1, 1}, {0, 0, scale * point}, scale * point}, 0, plane, MPI_DOUBLE));
  all.push_back(face<double>("nas_lu_y", {{1, 1, scale}, {0, 0, scale * point}, point}, 0, plane, MPI_DOUBLE));

  // NAS MG: doubles [z][y][x] with a layer of copies around; the faces leave it out.
  const long edge = scale + 2, layer = edge * edge, cube = edge * layer, first = layer + edge + 1;
  all.push_back(face<double>("nas_mg_x", {{1, scale, scale}, {0, layer, edge}, 1}, first, cube, MPI_DOUBLE));
  all.push_back(face<double>("nas_mg_y", {{1, 1, scale}, {0, 0, layer}, scale}, first, cube, MPI_DOUBLE));
  all.push_back(face<double>("nas_mg_z", {{1, 1, scale}, {0, 0, edge}, scale}, first, cube, MPI_DOUBLE));

  // FFT2: the block that goes to one of eight ranks, and how it arrives. Complex numbers are two doubles to the loop.
  const long rows = 4 * scale, block = rows / 8;
  all.push_back(
      face<double>("fft2_rows", {{1, 1, block}, {0, 0, 2 * rows}, 2 * block}, 0, 2 * rows * block, MPI_DOUBLE));
  all.push_back(fft2_columns(rows, block));
  return all;
}

}  // namespace patterns
