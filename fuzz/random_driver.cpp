// random_driver RUNS [SEED [DIRECTORY]]: a fuzzer without coverage, for compilers without libFuzzer and for the test
// suite. The files of a directory, what fuzzers have found before, come first, and half of the rest are made of them.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;
constexpr std::uint8_t common[] = {0x00, 0x01, 0x7f, 0x80, 0xff, 0xf0, 0xf8, 0x3f};

std::vector<Input> read_all(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) names.push_back(entry.path());
  std::sort(names.begin(), names.end());
  std::vector<Input> inputs;
  for (const auto& name : names) {
    std::ifstream file(name, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

// Mostly short; bytes from a small alphabet half of the time, so that ties, infinities and NaNs are frequent.
Input anything(std::mt19937_64& random) {
  Input input(9 + random() % (random() % 4 ? 700 : 6000));
  const bool small_alphabet = random() % 2;
  for (std::size_t i = 0; i < input.size(); ++i)
    input[i] = small_alphabet && i >= 8 ? common[random() % 8] : static_cast<std::uint8_t>(random());
  return input;
}

// One of the corpus with a few changes, or the beginning of one and the end of another.
Input changed(std::mt19937_64& random, const std::vector<Input>& corpus) {
  Input input = corpus[random() % corpus.size()];
  const auto place = [&] { return input.begin() + static_cast<std::ptrdiff_t>(random() % input.size()); };
  for (std::uint64_t changes = 1 + random() % 5; changes != 0 && !input.empty(); --changes) switch (random() % 6) {
      case 0: *place() ^= static_cast<std::uint8_t>(1u << random() % 8); break;
      case 1: *place() = random() % 2 ? common[random() % 8] : static_cast<std::uint8_t>(random()); break;
      case 2: input.insert(place(), static_cast<std::uint8_t>(random())); break;
      case 3: input.erase(place()); break;
      case 4: {
        const Input& other = corpus[random() % corpus.size()];
        input.erase(place(), input.end());
        input.insert(input.end(), other.begin() + static_cast<std::ptrdiff_t>(random() % (other.size() + 1)),
                     other.end());
        break;
      }
      default: {  // once more what is there
        const std::size_t first = random() % input.size(),
                          length = std::min<std::size_t>(random() % 32, input.size() - first);
        const Input again(input.begin() + static_cast<std::ptrdiff_t>(first),
                          input.begin() + static_cast<std::ptrdiff_t>(first + length));
        input.insert(place(), again.begin(), again.end());
        break;
      }
    }
  return input;
}

}  // namespace

int main(int count, char** words) {
  const long runs = count > 1 ? std::atol(words[1]) : 10000;
  const unsigned long seed = count > 2 ? std::strtoul(words[2], nullptr, 0) : std::random_device{}();
  const std::vector<Input> corpus = count > 3 ? read_all(words[3]) : std::vector<Input>{};
  std::printf("%zu inputs of the corpus, %ld runs, seed %lu\n", corpus.size(), runs, seed);
  std::fflush(stdout);
  for (const Input& input : corpus) LLVMFuzzerTestOneInput(input.data(), input.size());
  std::mt19937_64 random(seed);
  for (long run = 0; run < runs; ++run) {
    const Input input = !corpus.empty() && random() % 2 ? changed(random, corpus) : anything(random);
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::puts("no difference");
}
