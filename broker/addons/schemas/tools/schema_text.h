#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "broker/addons/schemas/core/registry_place.h"
#include "broker/client/fetch.h"
#include "broker/client/produce.h"
#include "broker/tools/addition.h"
#include "broker/tools/record_text.h"
#include "broker/tools/tool.h"

/// Encodes and decodes keys and values of records by schemas of a registry, for the two console tools.
namespace partita::schemas {

class Registry;

/// The registry from the options. Otherwise, as in Confluent's tools, from `schema.registry.url` and `basic.auth.user.info` in
/// `properties`. Null if none is named.
[[nodiscard]] std::optional<RegistryPlace> registry_place(const tools::Options& options, const tools::Properties& properties);

/// Shows records that name their schemas.
class SchemaDecoder final : public tools::RecordDecoder {
  public:
    /// Number of undecodable records that it reports one by one.
    static constexpr std::uint64_t kToldMax = 10;

    /// The surroundings must outlive this object. Without `decodes_keys` keys are shown as they are.
    SchemaDecoder(const tools::Surroundings& surroundings, const RegistryPlace& place, bool decodes_keys);
    ~SchemaDecoder() override;

    /// Fails if the registry cannot be reached: an empty topic would not reveal that for a long time.
    [[nodiscard]] tools::Outcome<void> begin() override;
    /// Reports an undecodable record on the error stream, and shows it as it is. Fails if the registry cannot be reached.
    [[nodiscard]] tools::Outcome<tools::Decoded> decode(const client::FetchedRecord& record) override;
    /// Reports how many more there were.
    void finish() const override;
    [[nodiscard]] bool has_failed() const override { return failed_ > 0; }

  private:
    [[nodiscard]] tools::Outcome<std::optional<nlohmann::ordered_json>> decode(const client::FetchedRecord& record,
                                                                               const char* what,
                                                                               const std::optional<Bytes>& bytes);

    const tools::Surroundings& surroundings_;
    const bool decodes_keys_;
    std::unique_ptr<Registry> registry_;
    std::uint64_t failed_ = 0;
};

/// The schema by which a key or value is written.
struct SchemaChoice {
    /// An id, "latest", a file with a schema, or a schema itself; empty: no schema.
    std::string which;
    /// For Protobuf: the message of the file; empty: the first.
    std::string message;
};

/// Writes records by schemas.
class SchemaEncoder final : public tools::RecordEncoder {
  public:
    /// Finds the schemas, and registers those from files. The registry's subjects are TOPIC-key and TOPIC-value; files that a
    /// .proto file imports have their names as subjects, and are looked for in `import_paths` and beside it.
    [[nodiscard]] static tools::Outcome<std::unique_ptr<SchemaEncoder>> open(const tools::Surroundings& surroundings,
                                                                             const RegistryPlace& place, const std::string& topic,
                                                                             const SchemaChoice& key, const SchemaChoice& value,
                                                                             std::span<const std::string> import_paths = {});
    ~SchemaEncoder() override;

    /// Replaces JSON by its encoding in the schemas; null stays null. The error is for people.
    [[nodiscard]] std::expected<void, std::string> encode(client::OwnedRecord& record, std::int64_t line) const override;
    [[nodiscard]] tools::JsonMembers members() const override;

  private:
    struct Parts;
    explicit SchemaEncoder(std::unique_ptr<Parts> parts);

    std::unique_ptr<Parts> parts_;
};

}  // namespace partita::schemas
