#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "broker/client/fetch.h"
#include "broker/client/produce.h"
#include "broker/tools/record_text.h"
#include "broker/tools/tool.h"

namespace partita::schemas {
class Registry;
}

/// Records whose keys and values are written by schemas of a registry, for the console's two tools.
namespace partita::tools {

/// The options that both tools have.
inline constexpr Option kSchemaRegistry{
    "schema-registry", "url",
    "Values are of Avro, Protobuf or JSON Schema, by schemas of the registry at this URL, and JSON here."};
inline constexpr Option kSchemaRegistryLogin{"schema-registry-login", "user:password",
                                             "Who asks the registry; else basic.auth.user.info of --command-config."};
inline constexpr Option kSchemaRegistryCa{"schema-registry-ca", "file", "Who vouches for the registry's certificate, as PEM."};

/// From the options, or, as Confluent's tools have it, from `schema.registry.url` and `basic.auth.user.info` in `properties`.
/// Null where none is named.
[[nodiscard]] std::optional<schemas::RegistryPlace> registry_place(const Options& options, const Properties& properties);

/// Shows records that name their schemas.
class SchemaDecoder {
  public:
    /// How many records that cannot be decoded are told one by one.
    static constexpr std::uint64_t kToldMax = 10;

    /// The surroundings outlive it. Without `decodes_keys` keys are shown as they are.
    SchemaDecoder(const Surroundings& surroundings, const schemas::RegistryPlace& place, bool decodes_keys);
    ~SchemaDecoder();

    /// Fails when the registry cannot be asked: a topic may have nothing for a long time that would show it.
    [[nodiscard]] Outcome<void> greet_registry() const;
    /// What cannot be decoded is told on the error stream, and shown as it is. It fails when the registry cannot be asked.
    [[nodiscard]] Outcome<Decoded> decode(const client::FetchedRecord& record);
    /// Tells how many more there were.
    void finish() const;
    [[nodiscard]] bool has_failed() const { return failed_ > 0; }

  private:
    [[nodiscard]] Outcome<std::optional<nlohmann::ordered_json>> decode(const client::FetchedRecord& record, const char* what,
                                                                        const std::optional<Bytes>& bytes);

    const Surroundings& surroundings_;
    const bool decodes_keys_;
    std::unique_ptr<schemas::Registry> registry_;
    std::uint64_t failed_ = 0;
};

/// Which schema something is written by.
struct SchemaChoice {
    /// An id, "latest", a file with a schema, or a schema itself; empty: by none.
    std::string which;
    /// Of Protobuf: which message of the file; empty: the first.
    std::string message;
};

/// Writes records by schemas.
class SchemaEncoder {
  public:
    /// Finds the schemas, and registers those of files. The registry's subjects are TOPIC-key and TOPIC-value.
    [[nodiscard]] static Outcome<SchemaEncoder> open(const Surroundings& surroundings, const schemas::RegistryPlace& place,
                                                     const std::string& topic, const SchemaChoice& key,
                                                     const SchemaChoice& value);
    SchemaEncoder(SchemaEncoder&&) noexcept;
    SchemaEncoder& operator=(SchemaEncoder&&) noexcept;
    ~SchemaEncoder();

    /// Replaces JSON by what the schemas make of it; null stays null. The error is for people.
    [[nodiscard]] std::expected<void, std::string> encode(client::OwnedRecord& record, std::int64_t line) const;
    [[nodiscard]] JsonMembers members() const;

  private:
    struct Parts;
    explicit SchemaEncoder(std::unique_ptr<Parts> parts);

    std::unique_ptr<Parts> parts_;
};

}  // namespace partita::tools
