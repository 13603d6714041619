#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "broker/addons/schemas/core/avro.h"
#include "broker/addons/schemas/core/json_schema.h"
#include "broker/addons/schemas/core/protobuf.h"
#include "broker/addons/schemas/core/registry_place.h"
#include "protocol/types.h"

/// Records whose bytes name their schema in a schema registry. The HTTP interface is that of Confluent's registry and its
/// imitations; the records begin with the five bytes that their serializers write.
namespace partita::schemas {

/// Sends one request. The error tells people that no registry answers, or what else failed on the way.
using AskRegistry = std::function<std::expected<RegistryAnswer, std::string>(const RegistryRequest&)>;

struct Failure {
    /// The registry could not be reached: it will not answer for the next record either.
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

    /// `json`: the value. With a JSON Schema the function writes the text letter for letter.
    [[nodiscard]] std::expected<std::string, std::string> encode(std::string_view json, std::string_view message) const;
    [[nodiscard]] std::expected<nlohmann::ordered_json, std::string> decode(Bytes bytes) const;
};

/// Another schema to which one refers, by the name that its text uses.
struct SchemaReference {
    std::string name;
    std::string subject;
    std::int32_t version = 0;
};

/// Asks for schemas, each once. Its results live as long as this object. One thread.
class Registry {
  public:
    /// Most schemas that are remembered; a topic has a handful.
    static constexpr std::size_t kSchemasMax = 4096;
    /// Most schemas that one may refer to, directly or through others.
    static constexpr std::size_t kReferencesMax = 256;

    explicit Registry(AskRegistry ask) : ask_(std::move(ask)) {}

    /// Checks that the registry can be reached: a program that only reads may have no question for a long time. The answer
    /// matters only if the registry asks for a login, or fails.
    [[nodiscard]] Result<void> greet();
    [[nodiscard]] Result<const RegisteredSchema*> by_id(std::int32_t id);
    [[nodiscard]] Result<const RegisteredSchema*> latest(const std::string& subject);
    /// Registers the schema, unless the registry already has it.
    [[nodiscard]] Result<const RegisteredSchema*> add(const std::string& subject, SchemaKind kind, const std::string& text,
                                                      std::span<const SchemaReference> references = {});
    /// The same for a schema to which others refer: returns its version within the subject.
    [[nodiscard]] Result<std::int32_t> add_version(const std::string& subject, SchemaKind kind, const std::string& text,
                                                   std::span<const SchemaReference> references);

  private:
    using Json = nlohmann::json;
    struct Reference {
        std::string name;
        std::string text;
    };

    [[nodiscard]] Result<Json> ask(const RegistryRequest& request);
    [[nodiscard]] Result<std::int32_t> register_schema(const std::string& subject, const std::string& request);
    [[nodiscard]] Result<const RegisteredSchema*> keep(std::int32_t id, const Json& answer);
    /// Collects the schemas to which `answer` refers, each after those that it refers to itself.
    [[nodiscard]] Result<void> collect(const Json& answer, int depth, std::vector<Reference>& found);

    const AskRegistry ask_;
    /// Known schemas by id; a refusal of the registry is final.
    std::map<std::int32_t, Result<std::unique_ptr<const RegisteredSchema>>> known_;
};

/// The frame before a key or a value that names its schema.
struct Framed {
    std::int32_t schema_id = 0;
    Bytes payload;
};
/// The error names the missing part.
[[nodiscard]] std::expected<Framed, std::string> parse_frame(Bytes bytes);

/// The value in the bytes of a key or a value.
[[nodiscard]] Result<nlohmann::ordered_json> decode(Registry& registry, Bytes bytes);
/// The bytes of a key or a value with the contents `json`. `message`: see ProtobufSchema; other schemas do not use it.
[[nodiscard]] std::expected<std::string, std::string> encode(const RegisteredSchema& schema, std::string_view json,
                                                             std::string_view message = {});

}  // namespace partita::schemas
