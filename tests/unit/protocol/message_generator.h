#pragma once

#include <cstdint>

#include "protocol/arena.h"
#include "protocol/schema.h"

namespace partita::testing {

/// Makes messages with all kinds of values from a seed: the same seed gives the same message. It sets only fields that the
/// version has, so that a message can be encoded in it and decodes equal.
class MessageGenerator {
  public:
    MessageGenerator(std::uint64_t seed, Arena& arena) : state_(seed), arena_(arena) {}

    /// Fills `out`, an object of the struct that `schema` describes. Its views lie in the arena.
    void generate(const Schema& schema, std::int16_t version, void* out);

  private:
    std::uint64_t next();
    std::uint64_t below(std::uint64_t bound) { return next() % bound; }
    void generate_struct(const Schema& schema, void* out);
    void generate_field(const Field& field, void* out);
    void generate_value(const Field& field, void* out, bool may_be_null);
    Bytes random_bytes();

    std::uint64_t state_;
    Arena& arena_;
    std::int16_t version_ = 0;
    int depth_ = 0;
};

}  // namespace partita::testing
