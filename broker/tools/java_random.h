#pragma once

#include <cstdint>
#include <utility>
#include <vector>

/// Java's generators of random numbers: with the same seed, the same numbers as in a JVM. Kafka's tools place replicas and fill
/// records by them.
namespace partita::tools {

/// java.util.Random.
class JavaRandom {
  public:
    explicit JavaRandom(std::uint64_t seed);

    /// A number from 0 to `bound` - 1; `bound` is positive.
    [[nodiscard]] std::int32_t below(std::int32_t bound);

    /// Collections.shuffle.
    template <class T>
    void shuffle(std::vector<T>& list) {
        for (std::size_t left = list.size(); left > 1; --left) {
            std::swap(list[left - 1], list[static_cast<std::size_t>(below(static_cast<std::int32_t>(left)))]);
        }
    }

  private:
    [[nodiscard]] std::int32_t next(int bits);

    std::uint64_t state_;
};

/// java.util.SplittableRandom.
class SplittableRandom {
  public:
    explicit SplittableRandom(std::uint64_t seed) : state_(seed) {}

    /// A number from 0 to `bound` - 1; `bound` is positive.
    [[nodiscard]] std::int32_t below(std::int32_t bound);

  private:
    [[nodiscard]] std::uint32_t next();

    std::uint64_t state_;
};

}  // namespace partita::tools
