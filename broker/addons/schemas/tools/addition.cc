// `consume` and `produce` with --schema-registry.

#include "broker/tools/addition.h"

#include <memory>
#include <string>

#include "broker/addons/schemas/tools/schema_text.h"

namespace partita::schemas {
namespace {

using tools::Option;
using tools::Options;
using tools::Outcome;
using tools::Properties;
using tools::Surroundings;

constexpr Option kConsumeSchemaRegistry{
    "schema-registry", "url", "show Avro, Protobuf or JSON Schema values as JSON, with schemas of the registry at this URL"};
constexpr Option kProduceSchemaRegistry{
    "schema-registry", "url",
    "read values as JSON, and write them as Avro, Protobuf or JSON Schema, with schemas of the registry at this URL"};

/// The options of both tools.
constexpr Option kSchemaRegistryLogin{
    "schema-registry-login", "user:password",
    "log in to the registry with these credentials (default: basic.auth.user.info of --command-config)"};
constexpr Option kSchemaRegistryCa{"schema-registry-ca", "file",
                                   "check the registry's certificate with the authorities in this PEM file"};

constexpr Option kConsumeOptions[] = {
    kConsumeSchemaRegistry,
    kSchemaRegistryLogin,
    kSchemaRegistryCa,
    {"decode-keys", "", "with --schema-registry: decode keys, too"},
};
constexpr tools::Rule kConsumeRules[] = {{tools::Requires::none_of, "hex", {"schema-registry"}}};

constexpr Option kProduceOptions[] = {
    kProduceSchemaRegistry,
    kSchemaRegistryLogin,
    kSchemaRegistryCa,
    {"value-schema", "schema",
     "with --schema-registry: write values with a schema: its id, latest (of TOPIC-value), its text, or a file with it",
     "latest"},
    tools::repeatable({"import-path", "directory",
                       "look in this directory for files that a .proto file imports (default: its own); repeatable"}),
    {"value-message", "name", "choose the message of a Protobuf schema (default: the first of the file)"},
    {"key-schema", "schema", "with --schema-registry: write keys with this schema (default: keys are text)"},
    {"key-message", "name", "choose the message of a Protobuf schema for keys (default: the first of the file)"},
};

/// The first place that is named, in this order: the options, `first`, `second`.
std::optional<RegistryPlace> place_of(const Options& options, const Properties& first, const Properties& second) {
    auto place = registry_place(options, first);
    return place ? place : registry_place(options, second);
}

Outcome<std::unique_ptr<tools::RecordDecoder>> make_decoder(const Options& options, const Properties& formatter,
                                                            const Properties& client, const Surroundings& surroundings) {
    const auto place = place_of(options, formatter, client);
    if (!place) {
        return nullptr;
    }
    return std::make_unique<SchemaDecoder>(surroundings, *place, options.has("decode-keys"));
}

Outcome<std::unique_ptr<tools::RecordEncoder>> make_encoder(const Options& options, const Properties& reader,
                                                            const Properties& client, const Surroundings& surroundings) {
    const auto place = place_of(options, reader, client);
    if (!place) {
        for (const char* name : {"value-schema", "key-schema", "value-message", "key-message", "import-path"}) {
            if (options.has(name)) {
                return tools::usage("--" + std::string(name) + " needs --schema-registry");
            }
        }
        return nullptr;
    }
    return SchemaEncoder::open(surroundings, *place, options.value("topic"),
                               {.which = options.value("key-schema"), .message = options.value("key-message")},
                               {.which = options.value("value-schema"), .message = options.value("value-message")},
                               options.values("import-path"));
}

}  // namespace

extern const tools::Addition kToolAddition;
constinit const tools::Addition kToolAddition{.consume_options = kConsumeOptions,
                                              .consume_rules = kConsumeRules,
                                              .produce_options = kProduceOptions,
                                              .make_decoder = make_decoder,
                                              .make_encoder = make_encoder};

}  // namespace partita::schemas
