#include "broker/addons/schemas/core/protobuf.h"

#include <google/protobuf/any.pb.h>
#include <google/protobuf/api.pb.h>
#include <google/protobuf/compiler/parser.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/descriptor_database.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/empty.pb.h>
#include <google/protobuf/field_mask.pb.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/source_context.pb.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/type.pb.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/wrappers.pb.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "broker/authentication/crypto.h"
#include "protocol/varint.h"

namespace partita::schemas {

namespace pb = google::protobuf;

/// Collects libprotobuf's errors, of which the first is the cause.
class SchemaErrors final : public pb::io::ErrorCollector, public pb::DescriptorPool::ErrorCollector {
  public:
    void AddError(int line, pb::io::ColumnNumber column, const std::string& message) override {
        keep("line " + std::to_string(line + 1) + ", column " + std::to_string(column + 1) + ": " + message);
    }
    void AddError(const std::string& file, const std::string& element, const pb::Message* /*descriptor*/, ErrorLocation /*where*/,
                  const std::string& message) override {
        keep((file == "(schema)" ? "" : file + ": ") + element + ": " + message);
    }
    [[nodiscard]] std::unexpected<std::string> failed() const {
        return std::unexpected("invalid schema: " + (text_.empty() ? "unknown reason" : text_));
    }

  private:
    void keep(std::string text) {
        if (text_.empty()) {
            text_ = std::move(text);
        }
    }
    std::string text_;
};

namespace {

using nlohmann::ordered_json;
using Failed = std::unexpected<std::string>;

/// The name of the file itself, which no other file imports.
constexpr const char* kRootName = "(schema)";

/// The files that every compiler of Protocol Buffers has, each after those that it imports.
std::span<const pb::FileDescriptor* const> known_files() {
    static const pb::FileDescriptor* const known[] = {pb::FileDescriptorProto::descriptor()->file(),
                                                      pb::Any::descriptor()->file(),
                                                      pb::Duration::descriptor()->file(),
                                                      pb::Empty::descriptor()->file(),
                                                      pb::FieldMask::descriptor()->file(),
                                                      pb::Struct::descriptor()->file(),
                                                      pb::Timestamp::descriptor()->file(),
                                                      pb::StringValue::descriptor()->file(),
                                                      pb::SourceContext::descriptor()->file(),
                                                      pb::Type::descriptor()->file(),
                                                      pb::Api::descriptor()->file()};
    return known;
}

bool add_known_files(pb::SimpleDescriptorDatabase& files) {
    return std::ranges::all_of(known_files(), [&](const pb::FileDescriptor* file) {
        pb::FileDescriptorProto copy;
        file->CopyTo(&copy);
        return files.Add(copy);
    });
}

/// Serializers of some languages do not have the text of their file. They register its description in Base64, and not every
/// registry turns that into a text.
std::optional<pb::FileDescriptorProto> parse_description(std::string_view text) {
    const auto bytes = authentication::from_base64(text);
    pb::FileDescriptorProto file;
    if (!bytes || bytes->empty() || !file.ParseFromString(*bytes)) {
        return std::nullopt;
    }
    return file;
}

std::expected<pb::FileDescriptorProto, std::string> parse_file(const std::string& name, std::string_view text) {
    if (text.size() > ProtobufSchema::kTextBytesMax) {
        return Failed("invalid schema: it is longer than 1 MiB");
    }
    SchemaErrors errors;
    pb::io::ArrayInputStream input(text.data(), static_cast<int>(text.size()));
    pb::io::Tokenizer tokens(&input, &errors);
    pb::compiler::Parser parser;
    parser.RecordErrorsTo(&errors);
    pb::FileDescriptorProto file;
    if (!parser.Parse(&tokens, &file)) {
        auto described = parse_description(text);
        if (!described) {
            return errors.failed();
        }
        file = std::move(*described);
    }
    file.set_name(name);
    return file;
}

/// The errors are collected; without this libprotobuf would also write them to the error stream.
void silence() {
    static std::once_flag is_quiet;
    std::call_once(is_quiet, [] { pb::SetLogHandler(nullptr); });
}

}  // namespace

struct ProtobufSchema::Parts {
    pb::SimpleDescriptorDatabase files;
    SchemaErrors errors;
    pb::DescriptorPool pool{&files, &errors};
    pb::DynamicMessageFactory factory{&pool};
    const pb::FileDescriptor* root = nullptr;

    [[nodiscard]] std::unique_ptr<pb::Message> make(const pb::Descriptor& type) {
        return std::unique_ptr<pb::Message>(factory.GetPrototype(&type)->New());
    }

    /// Removes the indexes from the front of `bytes`, and returns the message type that they name.
    [[nodiscard]] std::expected<const pb::Descriptor*, std::string> take_type(Bytes& bytes) const {
        const std::byte* cursor = bytes.data();
        const std::byte* const end = cursor + bytes.size();
        std::int64_t count = 0;
        if (!decode_varlong(cursor, end, count)) {
            return Failed("it ends before its message index");
        }
        if (count < 0 || count > static_cast<std::int64_t>(kIndexesMax)) {
            return Failed("it has " + std::to_string(count) + " message indexes");
        }
        const pb::Descriptor* type = nullptr;
        for (std::int64_t i = 0; i < std::max<std::int64_t>(count, 1); ++i) {
            std::int64_t index = 0;
            if (count > 0 && !decode_varlong(cursor, end, index)) {
                return Failed("it ends before its message index");
            }
            const int siblings = type == nullptr ? root->message_type_count() : type->nested_type_count();
            if (index < 0 || index >= siblings) {
                return Failed("the schema has no message of index " + std::to_string(index));
            }
            const int at = static_cast<int>(index);
            type = type == nullptr ? root->message_type(at) : type->nested_type(at);
        }
        bytes = bytes.subspan(static_cast<std::size_t>(cursor - bytes.data()));
        return type;
    }

    [[nodiscard]] const pb::Descriptor* find(std::string_view name) const {
        if (name.empty()) {
            return root->message_type_count() > 0 ? root->message_type(0) : nullptr;
        }
        const std::string text(name);
        const pb::Descriptor* type = pool.FindMessageTypeByName(text);
        if (type == nullptr && !root->package().empty()) {
            type = pool.FindMessageTypeByName(root->package() + "." + text);
        }
        return type != nullptr && type->file() == root ? type : nullptr;
    }
};

ProtobufSchema::ProtobufSchema(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
ProtobufSchema::ProtobufSchema(ProtobufSchema&&) noexcept = default;
ProtobufSchema& ProtobufSchema::operator=(ProtobufSchema&&) noexcept = default;
ProtobufSchema::~ProtobufSchema() = default;

std::expected<std::vector<std::string>, std::string> ProtobufSchema::imports_of(std::string_view text) {
    silence();
    const auto file = parse_file(kRootName, text);
    if (!file) {
        return Failed(file.error());
    }
    return std::vector<std::string>(file->dependency().begin(), file->dependency().end());
}

bool ProtobufSchema::is_known_file(std::string_view name) {
    return std::ranges::any_of(known_files(), [&](const pb::FileDescriptor* file) { return file->name() == name; });
}

std::expected<ProtobufSchema, std::string> ProtobufSchema::parse(std::string_view text, std::span<const Import> imports) {
    silence();
    auto parts = std::make_unique<Parts>();
    if (!add_known_files(parts->files)) {
        return Failed("cannot use the files of google/protobuf");
    }
    for (const Import& each : imports) {
        const auto file = parse_file(each.name, each.text);
        if (!file) {
            return Failed(each.name + ": " + file.error());
        }
        if (!parts->files.Add(*file)) {
            return Failed("invalid schema: " + each.name + " defines a name that another file defines");
        }
    }
    const auto root = parse_file(kRootName, text);
    if (!root) {
        return Failed(root.error());
    }
    if (!parts->files.Add(*root)) {
        return Failed("invalid schema: it defines a name that an imported file defines");
    }
    parts->root = parts->pool.FindFileByName(kRootName);
    if (parts->root == nullptr) {
        return parts->errors.failed();
    }
    return ProtobufSchema(std::move(parts));
}

std::expected<ordered_json, std::string> ProtobufSchema::decode(Bytes indexes_and_message) const {
    const auto type = parts_->take_type(indexes_and_message);
    if (!type) {
        return Failed(type.error());
    }
    if (indexes_and_message.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
        return Failed("it is too long");
    }
    const auto message = parts_->make(**type);
    if (!message->ParsePartialFromArray(indexes_and_message.data(), static_cast<int>(indexes_and_message.size()))) {
        return Failed("it is not a message of type " + (*type)->full_name());
    }
    // libprotobuf ends the process if it makes JSON of a message that lacks a required field.
    if (!message->IsInitialized()) {
        return Failed("it lacks required fields: " + message->InitializationErrorString());
    }
    pb::util::JsonPrintOptions options;
    options.preserve_proto_field_names = true;
    options.always_print_primitive_fields = true;
    std::string text;
    if (const auto done = pb::util::MessageToJsonString(*message, &text, options); !done.ok()) {
        return Failed(std::string(done.message()));
    }
    auto json = ordered_json::parse(text, nullptr, false);
    if (json.is_discarded()) {
        return Failed("it is not UTF-8 text");
    }
    return json;
}

std::expected<std::string, std::string> ProtobufSchema::encode(const ordered_json& value, std::string_view name) const {
    const pb::Descriptor* const type = parts_->find(name);
    if (type == nullptr) {
        return Failed(name.empty() ? "the schema has no message" : "the schema has no message " + std::string(name));
    }
    const auto message = parts_->make(*type);
    const std::string text = value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    if (const auto done = pb::util::JsonStringToMessage(text, message.get()); !done.ok()) {
        // The message begins with the place of the error, which is empty for the whole message.
        const std::string said(done.message());
        return Failed(said.starts_with(": ") ? said.substr(2) : said);
    }

    std::vector<std::int32_t> indexes;
    for (const pb::Descriptor* each = type; each != nullptr; each = each->containing_type()) {
        indexes.push_back(each->index());
    }
    std::ranges::reverse(indexes);
    std::string bytes;
    if (indexes.size() == 1 && indexes.front() == 0) {
        bytes += '\0';
    } else {
        std::vector<std::byte> encoded;
        append_varint(encoded, static_cast<std::int32_t>(indexes.size()));
        for (const std::int32_t index : indexes) {
            append_varint(encoded, index);
        }
        bytes.append(reinterpret_cast<const char*>(encoded.data()), encoded.size());
    }
    if (!message->AppendToString(&bytes)) {
        return Failed("the message is too long");
    }
    return bytes;
}

}  // namespace partita::schemas
