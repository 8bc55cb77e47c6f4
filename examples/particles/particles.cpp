// Particles that fly through a periodic box cut into slabs, one per rank. Those that leave a slab are sent as they lie
// in memory: a struct datatype resized to sizeof(Particle), in counts that differ from step to step.
//
//   particles [--count N] [--iterations N] [--alltoallv] [--check]
//
// N particles a rank. They go to the two neighbours by MPI_Isend, and the receiver learns their number by MPI_Probe;
// or, with --alltoallv, to any rank. --check: every rank moves all particles alone and compares those in its slab.
#include <cmath>
#include <cstddef>

#include "../common.h"

namespace {

struct Particle {
  int id;
  double position[3];
  char kind[3];
  float charge;
  double velocity[3];
};

MPI_Datatype particle_type() {
  const int lengths[] = {1, 3, 3, 1, 3};
  const MPI_Aint at_bytes[] = {offsetof(Particle, id), offsetof(Particle, position), offsetof(Particle, kind),
                               offsetof(Particle, charge), offsetof(Particle, velocity)};
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR, MPI_FLOAT, MPI_DOUBLE};
  MPI_Datatype members, type;
  MPI_Type_create_struct(5, lengths, at_bytes, types, &members);
  MPI_Type_create_resized(members, 0, sizeof(Particle), &type);
  MPI_Type_free(&members);
  MPI_Type_commit(&type);
  return type;
}

// In the unit box; in one step it flies at most `reach` in the first dimension.
Particle born(int id, double reach) {
  auto random = [state = static_cast<unsigned>(id) * 2654435761u + 1]() mutable {
    state = state * 1664525u + 1013904223u;
    return static_cast<double>(state >> 8) / (1 << 24);
  };
  Particle particle{};
  particle.id = id;
  for (double& x : particle.position) x = random();
  for (double& v : particle.velocity) v = (2 * random() - 1) * reach;
  for (char& letter : particle.kind) letter = static_cast<char>('a' + static_cast<int>(26 * random()));
  particle.charge = static_cast<float>(random());
  return particle;
}

void fly(Particle& particle) {
  for (int i = 0; i < 3; ++i) {
    double& x = particle.position[i];
    x += particle.velocity[i];
    x -= std::floor(x);
    if (x >= 1) x = 0;  // a tiny negative number less its floor rounds to 1
  }
}

int home(const Particle& particle, int ranks) {
  return std::min(ranks - 1, static_cast<int>(particle.position[0] * ranks));
}

bool same(const Particle& left, const Particle& right) {
  return left.id == right.id && !std::memcmp(left.position, right.position, sizeof left.position) &&
         !std::memcmp(left.kind, right.kind, sizeof left.kind) && left.charge == right.charge &&
         !std::memcmp(left.velocity, right.velocity, sizeof left.velocity);
}

class Slab {
 public:
  Slab(int count, double reach) : type_(particle_type()) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    for (int id = 0; id < count * ranks_; ++id)
      if (Particle particle = born(id, reach); home(particle, ranks_) == rank_) particles_.push_back(particle);
  }
  ~Slab() { MPI_Type_free(&type_); }

  void step(bool alltoallv) {
    for (Particle& particle : particles_) fly(particle);
    alltoallv ? send_to_all() : send_to_neighbours();
  }

  // Those that left lie behind those that stay: first the ones for the left neighbour, then the ones for the right.
  void send_to_neighbours() {
    const int left = (rank_ + ranks_ - 1) % ranks_, right = (rank_ + 1) % ranks_;
    const auto stays = [&](const Particle& p) { return home(p, ranks_) == rank_; };
    const auto goes_left = [&](const Particle& p) { return home(p, ranks_) == left; };
    const auto leaving = std::partition(particles_.begin(), particles_.end(), stays);
    const auto to_right = std::partition(leaving, particles_.end(), goes_left);
    const int lefts = static_cast<int>(to_right - leaving), rights = static_cast<int>(particles_.end() - to_right);
    MPI_Request requests[2];
    MPI_Isend(particles_.data() + (leaving - particles_.begin()), lefts, type_, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(particles_.data() + (to_right - particles_.begin()), rights, type_, right, 1, MPI_COMM_WORLD,
              &requests[1]);
    arrived_.clear();
    receive(right, 0);
    receive(left, 1);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    particles_.erase(leaving, particles_.end());
    particles_.insert(particles_.end(), arrived_.begin(), arrived_.end());
  }

  void send_to_all() {
    const auto ranks = static_cast<std::size_t>(ranks_);
    std::vector<int> to(ranks), to_at(ranks), from(ranks), from_at(ranks);
    std::sort(particles_.begin(), particles_.end(),
              [&](const Particle& left, const Particle& right) { return home(left, ranks_) < home(right, ranks_); });
    for (const Particle& particle : particles_) ++to[static_cast<std::size_t>(home(particle, ranks_))];
    MPI_Alltoall(to.data(), 1, MPI_INT, from.data(), 1, MPI_INT, MPI_COMM_WORLD);
    for (std::size_t i = 1; i < ranks; ++i) {
      to_at[i] = to_at[i - 1] + to[i - 1];
      from_at[i] = from_at[i - 1] + from[i - 1];
    }
    arrived_.resize(static_cast<std::size_t>(from_at.back() + from.back()));
    MPI_Alltoallv(particles_.data(), to.data(), to_at.data(), type_, arrived_.data(), from.data(), from_at.data(),
                  type_, MPI_COMM_WORLD);
    particles_.swap(arrived_);
  }

  // What this rank has and should not, or lacks, or has in another state than a rank that moves all of them alone.
  long differences(int count, double reach, long iterations) {
    std::sort(particles_.begin(), particles_.end(),
              [](const auto& left, const auto& right) { return left.id < right.id; });
    auto next = particles_.begin();
    long wrong = 0;
    for (int id = 0; id < count * ranks_; ++id) {
      Particle particle = born(id, reach);
      for (long i = 0; i < iterations; ++i) fly(particle);
      if (home(particle, ranks_) != rank_) continue;
      if (next != particles_.end() && same(*next, particle))
        ++next;
      else
        ++wrong;
    }
    return wrong + (particles_.end() - next);
  }

  [[nodiscard]] double checksum() const {
    double sum = 0;
    for (const Particle& particle : particles_) sum += particle.id;  // whole numbers: any order gives the same
    return sum * (rank_ + 1);
  }

 private:
  void receive(int source, int tag) {
    MPI_Status status;
    int count;
    MPI_Probe(source, tag, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, type_, &count);
    const std::size_t before = arrived_.size();
    arrived_.resize(before + static_cast<std::size_t>(count));
    MPI_Recv(arrived_.data() + before, count, type_, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  int rank_, ranks_;
  MPI_Datatype type_;
  std::vector<Particle> particles_, arrived_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  example::Options options(argc, argv);
  const int count = static_cast<int>(options.number("--count", 10000));
  const long iterations = options.number("--iterations", 50);
  const bool alltoallv = options.flag("--alltoallv"), check = options.flag("--check");
  options.done();
  int ranks, code = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const double reach = alltoallv ? 0.9 : 0.9 / ranks;
  {
    Slab slab(count, reach);
    const auto times = example::timed_iterations(iterations, MPI_COMM_WORLD, [&](long) { slab.step(alltoallv); });
    const long wrong = check ? slab.differences(count, reach, iterations) : -1;
    code =
        example::finish("particles", alltoallv ? "alltoallv" : "isend", times, slab.checksum(), wrong, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return code;
}
