// MPI_Pack and MPI_Unpack against PMPI_Pack and PMPI_Unpack, and all of them against the typemap, byte for byte, on
// random datatypes; and the host's packed bytes against Millrace's in random segments out of order.
// Arguments: seed, number of types. Prints "same TYPES COMPARISONS HOST_ERRORS SEGMENTS", after the shortest type for
// each way in which the host errs; or the first type with which we differ from both.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "layouts_segments.h"
#include "random_datatypes.h"

namespace {

#ifdef LARGE
using Count = MPI_Count;
#define NAME(function) function##_c
#else
using Count = int;
#define NAME(function) function
#endif

constexpr int margin = 64;
constexpr int most_bytes = 8192;  // of one element; the extent of three is below four times that
Segments* segments = nullptr;
long comparisons = 0;
long host_errors = 0;  // where the host does not pack the typemap as it is defined
std::map<std::string, std::string> host_error_texts;

// Memory with room before the buffer for negative displacements and canaries on both sides.
struct Memory {
  Memory(const Span& span, unsigned char fill)
      : bytes(static_cast<std::size_t>(span.bytes) + 2 * margin, fill), buffer(bytes.data() + margin - span.low) {}
  std::vector<unsigned char> bytes;
  unsigned char* buffer;
};

// The typemap walked: what MPI says.
std::vector<unsigned char> walked(const Made& made, const unsigned char* buffer, int count) {
  MPI_Aint lb, extent;
  MPI_Type_get_extent(made.type, &lb, &extent);
  std::vector<unsigned char> packed;
  for (int i = 0; i < count; ++i)
    for (const Run& run : made.typemap)
      packed.insert(packed.end(), buffer + i * extent + run.displacement,
                    buffer + i * extent + run.displacement + run.bytes);
  return packed;
}

bool differ(const char* what, const Made& made, int count, int number) {
  std::printf("%s: type %d, count %d, size %d: %s\n", what, number, count, size_of(made.type), made.text.c_str());
  return false;
}

// x87 long doubles have padding that hosts may leave out; everything else is worth to be shown.
void note_host_error(const char* what, const Made& made, int count) {
  if (made.text.find("long_double") != std::string::npos) return;
  ++host_errors;
  std::string& shortest = host_error_texts[what];
  const std::string text = std::to_string(count) + " of " + made.text;
  if (shortest.empty() || text.size() < shortest.size()) shortest = text;
}

bool overlaps(const Made& made, int count) {
  const Span span = span_of(made.type, count);
  MPI_Aint lb, extent;
  MPI_Type_get_extent(made.type, &lb, &extent);
  std::vector<bool> used(static_cast<std::size_t>(span.bytes));
  for (int i = 0; i < count; ++i)
    for (const Run& run : made.typemap)
      for (MPI_Aint byte = 0; byte < run.bytes; ++byte) {
        auto&& seen = used[static_cast<std::size_t>(i * extent + run.displacement + byte - span.low)];
        if (seen) return true;
        seen = true;
      }
  return false;
}

bool compare(const Made& made, int count, Random& random, int number) {
  const MPI_Datatype type = made.type;
  if (!segments->compile(made.text)) return differ("not compiled", made, count, number);
  if (!segments->lies_within(type)) {  // whose types are its own
    note_host_error("bounds", made, count);
    return true;
  }
  const Span span = span_of(type, count);
  const Count total = static_cast<Count>(size_of(type)) * count;
  Memory source(span, 0);
  for (unsigned char& byte : source.bytes) byte = static_cast<unsigned char>(random.next());

  const int start = random.between(0, 9);
  std::vector<unsigned char> ours(static_cast<std::size_t>(total) + 2 * margin, 0xa5), theirs = ours, right = ours;
  const std::vector<unsigned char> packed = walked(made, source.buffer, count);
  std::memcpy(right.data() + start, packed.data(), packed.size());
  Count our_position = start, their_position = start;
  const Count room = total + 2 * margin;
  for (int repetition = 0; repetition < 3; ++repetition) {  // the first call with a type is the host's
    our_position = start;
    NAME(MPI_Pack)(source.buffer, count, type, ours.data(), room, &our_position, MPI_COMM_WORLD);
  }
  NAME(PMPI_Pack)(source.buffer, count, type, theirs.data(), room, &their_position, MPI_COMM_WORLD);
  ++comparisons;
  // Some calls are the host's, and so are their errors.
  if ((ours != right && ours != theirs) || our_position != start + total)
    return differ("our pack differs", made, count, number);
  const bool host_is_right = theirs == right && their_position == our_position;
  if (!host_is_right) note_host_error("pack", made, count);
  const unsigned char* const packed_by_host = (host_is_right ? theirs : right).data() + start;
  const unsigned char* const first = source.bytes.data() + margin;
  if (!segments->pack(first, span, count, packed_by_host, packed.size(), random))
    return differ("packed segments differ", made, count, number);

  if (overlaps(made, count)) return true;  // unpacking is erroneous
  Memory our_target(span, 0x5a), their_target(span, 0x5a), right_target(span, 0x5a);
  MPI_Aint lb, extent;
  MPI_Type_get_extent(type, &lb, &extent);
  const unsigned char* next = right.data() + start;
  for (int i = 0; i < count; ++i)
    for (const Run& run : made.typemap) {
      std::memcpy(right_target.buffer + i * extent + run.displacement, next, static_cast<std::size_t>(run.bytes));
      next += run.bytes;
    }
  our_position = their_position = start;
  NAME(MPI_Unpack)(right.data(), room, &our_position, our_target.buffer, count, type, MPI_COMM_WORLD);
  NAME(PMPI_Unpack)(right.data(), room, &their_position, their_target.buffer, count, type, MPI_COMM_WORLD);
  ++comparisons;
  if ((our_target.bytes != right_target.bytes && our_target.bytes != their_target.bytes) ||
      our_position != start + total)
    return differ("our unpack differs", made, count, number);
  const bool host_unpacks = their_target.bytes == right_target.bytes && their_position == our_position;
  if (!host_unpacks) note_host_error("unpack", made, count);
  const unsigned char* const unpacked = (host_unpacks ? their_target : right_target).bytes.data() + margin;
  if (!segments->unpack(packed_by_host, packed.size(), span, count, unpacked, 0x5a, random))
    return differ("unpacked segments differ", made, count, number);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int seed = std::atoi(argv[1]);
  const int types = std::atoi(argv[2]);
  RandomDatatypes datatypes(static_cast<std::uint64_t>(seed), most_bytes);
  Segments guarded(4 * most_bytes, 3 * most_bytes);
  segments = &guarded;
  for (int number = 0; number < types; ++number) {
    Made made = datatypes.make(datatypes.random.between(1, 5));
    const bool same = compare(made, datatypes.random.between(1, 3), datatypes.random, number);
    MPI_Type_free(&made.type);
    if (!same) {
      MPI_Finalize();
      return 1;
    }
  }
  for (const auto& [what, text] : host_error_texts) std::printf("host errs: %s: %s\n", what.c_str(), text.c_str());
  if (datatypes.refused > 0) std::printf("host refuses %ld, as %s\n", datatypes.refused, datatypes.refused_as.c_str());
  std::printf("same %d %ld %ld %ld\n", types, comparisons, host_errors, guarded.done);
  MPI_Finalize();
  return 0;
}
