#include "broker/addons/schemas/core/avro.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "broker/addons/schemas/core/avro_nodes.h"
#include "protocol/try.h"
#include "protocol/varint.h"

namespace partita::schemas {

using avro::Node;
using avro::Type;
using nlohmann::ordered_json;

struct AvroSchema::Parts {
    avro::Nodes nodes;
    const Node* root = nullptr;
};

namespace {

using Failed = std::unexpected<std::string>;

/// The word for a number that JSON cannot express; null for other numbers.
std::optional<std::string> word_of(double number) {
    if (std::isnan(number)) {
        return "NaN";
    }
    if (std::isinf(number)) {
        return number > 0 ? "Infinity" : "-Infinity";
    }
    return std::nullopt;
}

/// A letter for each byte, as UTF-8.
std::string letters_of(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size());
    for (const char each : bytes) {
        const auto byte = static_cast<unsigned char>(each);
        if (byte < 0x80) {
            text += each;
        } else {
            text += static_cast<char>(0xc0 | (byte >> 6));
            text += static_cast<char>(0x80 | (byte & 0x3f));
        }
    }
    return text;
}

/// The bytes for these letters; null if a letter is not among the first 256.
std::optional<std::string> bytes_of(std::string_view text) {
    std::string bytes;
    bytes.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte < 0x80) {
            bytes += text[i];
        } else if ((byte == 0xc2 || byte == 0xc3) && i + 1 < text.size()) {
            bytes += static_cast<char>(((byte & 3) << 6) | (static_cast<unsigned char>(text[++i]) & 0x3f));
        } else {
            return std::nullopt;
        }
    }
    return bytes;
}

class Decoder {
  public:
    explicit Decoder(Bytes bytes)
        : cursor_(bytes.data()),
          end_(bytes.data() + bytes.size()),
          values_max_(
              std::min(AvroSchema::kValuesMax, AvroSchema::kFreeValuesMax + AvroSchema::kValuesPerByteMax * bytes.size())) {}

    using Value = std::expected<ordered_json, std::string>;

    [[nodiscard]] Value decode(const Node& node, int depth) {
        if (depth > AvroSchema::kDepthMax) {
            return Failed("the value is nested too deep");
        }
        if (++values_ > values_max_) {
            return Failed("the value has too many parts");
        }
        switch (node.type) {
            case Type::null:
                return nullptr;
            case Type::boolean:
                return take_boolean();
            case Type::int_:
                return take_int();
            case Type::long_:
                return shown(take_long());
            case Type::float_:
                return take_number<float, std::uint32_t>();
            case Type::double_:
                return take_number<double, std::uint64_t>();
            case Type::bytes:
                return letters(take_text());
            case Type::string:
                return shown(take_text());
            case Type::fixed:
                return letters(take(node.fixed_bytes));
            case Type::record:
                return take_record(node, depth);
            case Type::enum_:
                return take_symbol(node);
            case Type::array:
            case Type::map:
                return take_blocks(node, depth);
            case Type::union_:
                return take_union(node, depth);
        }
        return Failed("unknown type");
    }

    [[nodiscard]] bool is_at_end() const { return cursor_ == end_; }

  private:
    template <class Part>
    [[nodiscard]] static Value shown(const std::expected<Part, std::string>& part) {
        if (!part) {
            return Failed(part.error());
        }
        return ordered_json(*part);
    }
    [[nodiscard]] static Value letters(const std::expected<std::string_view, std::string>& bytes) {
        if (!bytes) {
            return Failed(bytes.error());
        }
        return ordered_json(letters_of(*bytes));
    }
    [[nodiscard]] static Failed too_short() { return Failed("the bytes end before the value is complete"); }

    [[nodiscard]] std::expected<std::int64_t, std::string> take_long() {
        std::int64_t number = 0;
        if (!decode_varlong(cursor_, end_, number)) {
            return too_short();
        }
        return number;
    }
    [[nodiscard]] Value take_int() {
        const auto number = take_long();
        if (!number) {
            return Failed(number.error());
        }
        if (!std::in_range<std::int32_t>(*number)) {
            return Failed("an int is beyond 32 bits");
        }
        return *number;
    }
    [[nodiscard]] Value take_boolean() {
        const auto byte = take(1);
        if (!byte) {
            return Failed(byte.error());
        }
        if (byte->front() != '\0' && byte->front() != '\1') {
            return Failed("a boolean is neither 0 nor 1");
        }
        return byte->front() == '\1';
    }
    template <class Number, class Word>
    [[nodiscard]] Value take_number() {
        const auto bytes = take(sizeof(Word));
        if (!bytes) {
            return Failed(bytes.error());
        }
        Word word = 0;
        // Little endian, unlike the rest of Kafka.
        for (std::size_t i = sizeof(Word); i-- > 0;) {
            word = (word << 8) | static_cast<unsigned char>((*bytes)[i]);
        }
        const Number number = std::bit_cast<Number>(word);
        if (auto text = word_of(number)) {
            return std::move(*text);
        }
        return number;
    }
    [[nodiscard]] std::expected<std::string_view, std::string> take(std::uint64_t size) {
        if (size > static_cast<std::uint64_t>(end_ - cursor_)) {
            return too_short();
        }
        const std::string_view taken(reinterpret_cast<const char*>(cursor_), size);
        cursor_ += size;
        return taken;
    }
    [[nodiscard]] std::expected<std::string_view, std::string> take_text() {
        const auto size = take_long();
        if (!size) {
            return Failed(size.error());
        }
        if (*size < 0) {
            return Failed("a length is negative");
        }
        return take(static_cast<std::uint64_t>(*size));
    }
    [[nodiscard]] std::expected<std::size_t, std::string> take_index(std::size_t count, const Node& node) {
        const auto index = take_long();
        if (!index) {
            return Failed(index.error());
        }
        if (*index < 0 || static_cast<std::uint64_t>(*index) >= count) {
            return Failed(node.name + " has no branch or symbol " + std::to_string(*index));
        }
        return static_cast<std::size_t>(*index);
    }
    [[nodiscard]] Value take_symbol(const Node& node) {
        const auto index = take_index(node.symbols.size(), node);
        if (!index) {
            return Failed(index.error());
        }
        return ordered_json(node.symbols[*index]);
    }
    [[nodiscard]] Value take_record(const Node& node, int depth) {
        ordered_json object = ordered_json::object();
        for (const avro::Field& field : node.fields) {
            PARTITA_TRY_ASSIGN(auto value, decode(*field.node, depth + 1));
            keep(object, field.name, std::move(value));
        }
        return object;
    }
    /// Blocks of elements, each with its count; the last one has the count 0. After a negative count comes the block's size in
    /// bytes.
    [[nodiscard]] Value take_blocks(const Node& node, int depth) {
        const bool is_map = node.type == Type::map;
        ordered_json all = is_map ? ordered_json::object() : ordered_json::array();
        while (true) {
            auto count = take_long();
            if (!count) {
                return Failed(count.error());
            }
            if (*count == 0) {
                return all;
            }
            if (*count < 0) {
                if (const auto size = take_long(); !size) {
                    return Failed(size.error());
                }
                if (*count == std::numeric_limits<std::int64_t>::min()) {
                    return Failed("a count is out of range");
                }
                count = -*count;
            }
            for (std::int64_t i = 0; i < *count; ++i) {
                std::string key;
                if (is_map) {
                    const auto text = take_text();
                    if (!text) {
                        return Failed(text.error());
                    }
                    key = *text;
                }
                PARTITA_TRY_ASSIGN(auto value, decode(*node.item, depth + 1));
                if (is_map) {
                    keep(all, std::move(key), std::move(value));
                } else {
                    all.push_back(std::move(value));
                }
            }
        }
    }
    /// Appends without looking for the key: an ordered object would search all its members, and a map may have a million.
    static void keep(ordered_json& object, std::string key, ordered_json value) {
        object.get_ref<ordered_json::object_t&>().emplace_back(std::move(key), std::move(value));
    }
    [[nodiscard]] Value take_union(const Node& node, int depth) {
        const auto index = take_index(node.branches.size(), node);
        if (!index) {
            return Failed(index.error());
        }
        const Node& branch = *node.branches[*index];
        auto value = decode(branch, depth + 1);
        if (!value || branch.type == Type::null) {
            return value;
        }
        ordered_json tagged = ordered_json::object();
        keep(tagged, branch.name, std::move(*value));
        return tagged;
    }

    const std::byte* cursor_;
    const std::byte* const end_;
    const std::size_t values_max_;
    std::size_t values_ = 0;
};

const char* kind_of(const ordered_json& value) {
    switch (value.type()) {
        case ordered_json::value_t::null:
            return "null";
        case ordered_json::value_t::object:
            return "an object";
        case ordered_json::value_t::array:
            return "an array";
        case ordered_json::value_t::string:
            return "a string";
        case ordered_json::value_t::boolean:
            return "a boolean";
        case ordered_json::value_t::number_integer:
        case ordered_json::value_t::number_unsigned:
        case ordered_json::value_t::number_float:
            return "a number";
        case ordered_json::value_t::binary:
        case ordered_json::value_t::discarded:
            break;
    }
    return "nothing";
}

class Encoder {
  public:
    [[nodiscard]] std::expected<void, std::string> encode(const Node& node, const ordered_json& value, const std::string& place) {
        if (depth_ == AvroSchema::kDepthMax) {
            return at(place, "is nested too deep");
        }
        ++depth_;
        auto done = put(node, value, place);
        --depth_;
        return done;
    }

    [[nodiscard]] std::string take() { return std::move(out_); }

  private:
    using Done = std::expected<void, std::string>;

    [[nodiscard]] Done put(const Node& node, const ordered_json& value, const std::string& place) {
        switch (node.type) {
            case Type::null:
                if (!value.is_null()) {
                    return mismatch(node, value, place);
                }
                return {};
            case Type::boolean:
                if (!value.is_boolean()) {
                    return mismatch(node, value, place);
                }
                out_ += value.get<bool>() ? '\1' : '\0';
                return {};
            case Type::int_:
                return put_integer(node, value, place, std::numeric_limits<std::int32_t>::min(),
                                   std::numeric_limits<std::int32_t>::max());
            case Type::long_:
                return put_integer(node, value, place, std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::int64_t>::max());
            case Type::float_:
                return put_number<float, std::uint32_t>(node, value, place);
            case Type::double_:
                return put_number<double, std::uint64_t>(node, value, place);
            case Type::string:
                if (!value.is_string()) {
                    return mismatch(node, value, place);
                }
                put_text(value.get_ref<const std::string&>());
                return {};
            case Type::bytes:
            case Type::fixed:
                return put_bytes(node, value, place);
            case Type::record:
                return put_record(node, value, place);
            case Type::enum_:
                return put_symbol(node, value, place);
            case Type::array:
                return put_array(node, value, place);
            case Type::map:
                return put_map(node, value, place);
            case Type::union_:
                return put_union(node, value, place);
        }
        return mismatch(node, value, place);
    }

    [[nodiscard]] static Failed at(const std::string& place, const std::string& what) {
        return Failed((place.empty() ? "the value" : place) + " " + what);
    }
    [[nodiscard]] static Failed mismatch(const Node& node, const ordered_json& value, const std::string& place) {
        return at(place, std::string("is ") + kind_of(value) + ", where the schema has " + node.name);
    }
    [[nodiscard]] static std::string below(const std::string& place, const std::string& name) {
        return place.empty() ? name : place + "." + name;
    }

    void put_long(std::int64_t number) {
        std::uint64_t rest = zigzag_encode(number);
        for (; rest >= 0x80; rest >>= 7) {
            out_ += static_cast<char>(0x80 | (rest & 0x7f));
        }
        out_ += static_cast<char>(rest);
    }
    void put_text(std::string_view text) {
        put_long(static_cast<std::int64_t>(text.size()));
        out_ += text;
    }
    [[nodiscard]] Done put_integer(const Node& node, const ordered_json& value, const std::string& place, std::int64_t least,
                                   std::int64_t most) {
        if (!value.is_number_integer()) {
            return mismatch(node, value, place);
        }
        const bool is_beyond = value.is_number_unsigned() && !std::in_range<std::int64_t>(value.get<std::uint64_t>());
        if (is_beyond || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most) {
            return at(place, "is " + value.dump() + ", which is out of range for " + node.name);
        }
        put_long(value.get<std::int64_t>());
        return {};
    }
    template <class Number, class Word>
    [[nodiscard]] Done put_number(const Node& node, const ordered_json& value, const std::string& place) {
        Number number{};
        if (value.is_number()) {
            number = value.get<Number>();
        } else if (value == "NaN") {
            number = std::numeric_limits<Number>::quiet_NaN();
        } else if (value == "Infinity" || value == "-Infinity") {
            number = std::numeric_limits<Number>::infinity() * static_cast<Number>(value == "Infinity" ? 1 : -1);
        } else {
            return mismatch(node, value, place);
        }
        Word word = std::bit_cast<Word>(number);
        for (std::size_t i = 0; i < sizeof(Word); ++i, word >>= 8) {
            out_ += static_cast<char>(word & 0xff);
        }
        return {};
    }
    [[nodiscard]] Done put_bytes(const Node& node, const ordered_json& value, const std::string& place) {
        if (!value.is_string()) {
            return mismatch(node, value, place);
        }
        const auto bytes = bytes_of(value.get_ref<const std::string&>());
        if (!bytes) {
            return at(place, "has a character above U+00FF, which is not a byte");
        }
        if (node.type == Type::bytes) {
            put_text(*bytes);
            return {};
        }
        if (bytes->size() != node.fixed_bytes) {
            return at(place, "has " + std::to_string(bytes->size()) + " bytes, and " + node.name + " has " +
                                 std::to_string(node.fixed_bytes));
        }
        out_ += *bytes;
        return {};
    }
    [[nodiscard]] Done put_record(const Node& node, const ordered_json& value, const std::string& place) {
        if (!value.is_object()) {
            return mismatch(node, value, place);
        }
        for (const avro::Field& field : node.fields) {
            const auto found = value.find(field.name);
            if (found == value.end()) {
                return at(below(place, field.name), "is missing");
            }
            PARTITA_TRY(encode(*field.node, *found, below(place, field.name)));
        }
        for (const auto& [name, ignored] : value.items()) {
            if (std::ranges::find(node.fields, name, &avro::Field::name) == node.fields.end()) {
                return at(below(place, name), "is not a field of " + node.name);
            }
        }
        return {};
    }
    [[nodiscard]] Done put_symbol(const Node& node, const ordered_json& value, const std::string& place) {
        if (!value.is_string()) {
            return mismatch(node, value, place);
        }
        const auto found = std::ranges::find(node.symbols, value.get_ref<const std::string&>());
        if (found == node.symbols.end()) {
            return at(place, "is " + value.dump() + ", which is not a symbol of " + node.name);
        }
        put_long(found - node.symbols.begin());
        return {};
    }
    [[nodiscard]] Done put_array(const Node& node, const ordered_json& value, const std::string& place) {
        if (!value.is_array()) {
            return mismatch(node, value, place);
        }
        if (!value.empty()) {
            put_long(static_cast<std::int64_t>(value.size()));
        }
        for (std::size_t i = 0; i < value.size(); ++i) {
            PARTITA_TRY(encode(*node.item, value[i], place + "[" + std::to_string(i) + "]"));
        }
        put_long(0);
        return {};
    }
    [[nodiscard]] Done put_map(const Node& node, const ordered_json& value, const std::string& place) {
        if (!value.is_object()) {
            return mismatch(node, value, place);
        }
        if (!value.empty()) {
            put_long(static_cast<std::int64_t>(value.size()));
        }
        for (const auto& [key, each] : value.items()) {
            put_text(key);
            PARTITA_TRY(encode(*node.item, each, below(place, key)));
        }
        put_long(0);
        return {};
    }
    [[nodiscard]] Done put_union(const Node& node, const ordered_json& value, const std::string& place) {
        const bool is_tagged = value.is_object() && value.size() == 1;
        const Node* bare = nullptr;
        std::size_t bare_at = 0;
        std::size_t others = 0;
        for (std::size_t i = 0; i < node.branches.size(); ++i) {
            const Node& branch = *node.branches[i];
            if (branch.type == Type::null) {
                if (!value.is_null()) {
                    continue;
                }
                put_long(static_cast<std::int64_t>(i));
                return {};
            }
            if (is_tagged && value.begin().key() == branch.name) {
                put_long(static_cast<std::int64_t>(i));
                return encode(branch, value.begin().value(), place);
            }
            bare = &branch;
            bare_at = i;
            ++others;
        }
        if (value.is_null() || others != 1) {
            std::string names;
            for (const Node* branch : node.branches) {
                names += (names.empty() ? "" : ", ") + branch->name;
            }
            return at(place, std::string("is ") + kind_of(value) + R"(; use null or {"type": value} with one of )" + names);
        }
        put_long(static_cast<std::int64_t>(bare_at));
        return encode(*bare, value, place);
    }

    std::string out_;
    int depth_ = 0;
};

}  // namespace

AvroSchema::AvroSchema(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
AvroSchema::AvroSchema(AvroSchema&&) noexcept = default;
AvroSchema& AvroSchema::operator=(AvroSchema&&) noexcept = default;
AvroSchema::~AvroSchema() = default;

std::expected<AvroSchema, std::string> AvroSchema::parse(std::string_view text, std::span<const std::string> referenced) {
    auto parts = std::make_unique<Parts>();
    for (const std::string& each : referenced) {
        if (const auto added = parts->nodes.add(each); !added) {
            return Failed(added.error());
        }
    }
    const auto root = parts->nodes.add(text);
    if (!root) {
        return Failed(root.error());
    }
    parts->root = *root;
    return AvroSchema(std::move(parts));
}

std::expected<ordered_json, std::string> AvroSchema::decode(Bytes bytes) const {
    Decoder decoder(bytes);
    auto value = decoder.decode(*parts_->root, 0);
    if (value && !decoder.is_at_end()) {
        return Failed("bytes follow the value");
    }
    return value;
}

std::expected<std::string, std::string> AvroSchema::encode(const ordered_json& value) const {
    Encoder encoder;
    if (auto done = encoder.encode(*parts_->root, value, ""); !done) {
        return Failed(done.error());
    }
    return encoder.take();
}

}  // namespace partita::schemas
