#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "broker/addons/schemas/core/avro.h"
#include "broker/addons/schemas/core/json_schema.h"
#include "broker/addons/schemas/core/protobuf.h"
#include "broker/addons/schemas/core/registry_place.h"
#include "protocol/types.h"

/// Records whose bytes name their schema, which a schema registry knows: the HTTP interface that Confluent's registry and those
/// that imitate it have, and the five bytes that their serializers put in front.
namespace partita::schemas {

/// Asks once. The error says for people that nobody answers, or what else went wrong on the way.
using AskRegistry = std::function<std::expected<RegistryAnswer, std::string>(const RegistryRequest&)>;

struct Failure {
    /// The registry could not be asked: it will not answer for the next record either.
    bool is_unreachable = false;
    /// For people.
    std::string message;
};
template <class T>
using Result = std::expected<T, Failure>;

enum class SchemaKind : std::uint8_t { avro, protobuf, json };

struct RegisteredSchema {
    std::int32_t id = 0;
    std::variant<AvroSchema, ProtobufSchema, JsonSchema> text;

    /// `json`: the value. By a JSON Schema the text is what is written, letter for letter.
    [[nodiscard]] std::expected<std::string, std::string> encode(std::string_view json, std::string_view message) const;
    [[nodiscard]] std::expected<nlohmann::ordered_json, std::string> decode(Bytes bytes) const;
};

/// Asks for schemas, each once. What it gives lives as long as it does. One thread.
class Registry {
  public:
    /// Of schemas that are remembered; a topic has a handful.
    static constexpr std::size_t kSchemasMax = 4096;
    /// How many schemas one may refer to, directly or by others.
    static constexpr std::size_t kReferencesMax = 256;

    explicit Registry(AskRegistry ask) : ask_(std::move(ask)) {}

    /// Whether it can be asked at all: who only reads may have nothing to ask for a long time. What it answers counts only where
    /// it wants to know who asks, or fails.
    [[nodiscard]] Result<void> greet();
    [[nodiscard]] Result<const RegisteredSchema*> by_id(std::int32_t id);
    [[nodiscard]] Result<const RegisteredSchema*> latest(const std::string& subject);
    /// Registers the schema, unless the registry has it already.
    [[nodiscard]] Result<const RegisteredSchema*> add(const std::string& subject, SchemaKind kind, const std::string& text);

  private:
    using Json = nlohmann::json;
    struct Reference {
        std::string name;
        std::string text;
    };

    [[nodiscard]] Result<Json> ask(const RegistryRequest& request);
    [[nodiscard]] Result<const RegisteredSchema*> keep(std::int32_t id, const Json& answer);
    /// Those that `answer` refers to, each behind those that it refers to itself.
    [[nodiscard]] Result<void> collect(const Json& answer, int depth, std::vector<Reference>& found);

    const AskRegistry ask_;
    /// What the registry refused stays refused.
    std::map<std::int32_t, Result<std::unique_ptr<const RegisteredSchema>>> known_;
};

/// How the bytes of a key or a value that names its schema begin.
struct Framed {
    std::int32_t schema_id = 0;
    Bytes payload;
};
/// The error says what is missing.
[[nodiscard]] std::expected<Framed, std::string> parse_frame(Bytes bytes);

/// The value behind the bytes of a key or a value.
[[nodiscard]] Result<nlohmann::ordered_json> decode(Registry& registry, Bytes bytes);
/// The bytes of a key or a value, which `json` is. `message`: see ProtobufSchema; nothing else has any.
[[nodiscard]] std::expected<std::string, std::string> encode(const RegisteredSchema& schema, std::string_view json,
                                                             std::string_view message = {});

}  // namespace partita::schemas
