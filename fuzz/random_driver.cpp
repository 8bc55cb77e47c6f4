// random_driver RUNS [SEED]: a fuzzer without coverage, for compilers without libFuzzer and for the test suite.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int count, char** words) {
  const long runs = count > 1 ? std::atol(words[1]) : 10000;
  const unsigned long seed = count > 2 ? std::strtoul(words[2], nullptr, 0) : std::random_device{}();
  std::printf("%ld runs, seed %lu\n", runs, seed);
  std::fflush(stdout);
  std::mt19937_64 random(seed);
  std::vector<std::uint8_t> input;
  for (long run = 0; run < runs; ++run) {
    // Mostly short; bytes from a small alphabet half of the time, so that ties, infinities and NaNs are frequent.
    input.resize(9 + random() % (random() % 4 ? 700 : 6000));
    const std::uint8_t common[] = {0x00, 0x01, 0x7f, 0x80, 0xff, 0xf0, 0xf8, 0x3f};
    const bool small_alphabet = random() % 2;
    for (std::size_t i = 0; i < input.size(); ++i)
      input[i] = small_alphabet && i >= 8 ? common[random() % 8] : static_cast<std::uint8_t>(random());
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::puts("no difference");
}
