#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "protocol/api_keys.h"
#include "protocol/codec_member.h"
#include "tests/unit/protocol/message_catalogue.h"

/// Compares our tables with Kafka's own definitions, field by field. PARTITA_KAFKA_SCHEMAS must name a folder that holds its
/// *.json files: clients/src/main/resources/common/message, and those of the coordinators, in any subfolders.
namespace partita {
namespace {

using nlohmann::json;

constexpr std::int16_t kHighest = std::numeric_limits<std::int16_t>::max();

/// "3+", "2-5", "4", "none".
Versions parse_versions(const std::string& text) {
    if (text.empty() || text == "none") {
        return kNoVersions;
    }
    const std::size_t dash = text.find('-');
    if (text.back() == '+') {
        return {static_cast<std::int16_t>(std::stoi(text)), kHighest};
    }
    const auto first = static_cast<std::int16_t>(std::stoi(text));
    return {first, dash == std::string::npos ? first : static_cast<std::int16_t>(std::stoi(text.substr(dash + 1)))};
}

Versions intersect(Versions left, Versions right) {
    const Versions both{std::max(left.first, right.first), std::min(left.last, right.last)};
    return both.empty() ? kNoVersions : both;
}

std::string show(Versions range) {
    return range.empty() ? "none" : std::to_string(range.first) + "-" + std::to_string(range.last);
}

std::string kind_name(Kind kind) {
    switch (kind) {
        case Kind::boolean:
            return "bool";
        case Kind::int8:
            return "int8";
        case Kind::int16:
            return "int16";
        case Kind::uint16:
            return "uint16";
        case Kind::int32:
            return "int32";
        case Kind::uint32:
            return "uint32";
        case Kind::int64:
            return "int64";
        case Kind::float64:
            return "float64";
        case Kind::uuid:
            return "uuid";
        case Kind::string:
        case Kind::nullable_string:
            return "string";
        case Kind::bytes:
        case Kind::nullable_bytes:
            return "bytes";
        case Kind::records:
            return "records";
        case Kind::structure:
        case Kind::nullable_structure:
            return "struct";
    }
    return "?";
}

std::string text(const json& field, const char* key) {
    const auto found = field.find(key);
    return found == field.end() || !found->is_string() ? "" : found->get<std::string>();
}

class Reference {
  public:
    Reference(const json& message, const Schema& schema) : message_(message), schema_(schema) {}

    void compare() {
        const Versions valid = parse_versions(message_.at("validVersions"));
        EXPECT_EQ(show(schema_.versions), show(valid)) << schema_.name;
        const Versions flexible = intersect(parse_versions(text(message_, "flexibleVersions")), valid);
        const Versions ours = intersect({schema_.first_flexible, kHighest}, valid);
        EXPECT_EQ(show(schema_.first_flexible == kNeverFlexible ? kNoVersions : ours), show(flexible)) << schema_.name;
        compare_struct(message_.at("fields"), schema_, std::string(schema_.name));
    }

  private:
    void compare_struct(const json& fields, const Schema& schema, const std::string& path) {
        std::size_t index = 0;
        for (const json& field : fields) {
            const Versions tagged = parse_versions(text(field, "taggedVersions"));
            const std::string versions = text(field, "versions");
            const Versions range = intersect(versions.empty() ? tagged : parse_versions(versions), schema_.versions);
            if (range.empty()) {
                continue;  // Only in versions that 4.3.1 no longer takes.
            }
            const std::string name = path + "." + text(field, "name");
            ASSERT_LT(index, schema.fields.size()) << name << " is missing";
            const Field& ours = schema.fields[index++];
            ASSERT_EQ(path + "." + std::string(ours.name), name);
            compare_field(field, ours, schema, name, range, tagged);
        }
        EXPECT_EQ(index, schema.fields.size()) << path << " has fields that the reference has not";
    }

    void compare_field(const json& field, const Field& ours, const Schema& schema, const std::string& name, Versions range,
                       Versions tagged) {
        EXPECT_EQ(show(intersect(ours.versions, schema_.versions)), show(range)) << name;
        const Versions nullable = intersect(parse_versions(text(field, "nullableVersions")), range);
        EXPECT_EQ(show(intersect(ours.nullable, range)), show(nullable)) << name << " nullable";
        tagged = intersect(tagged, range);
        EXPECT_EQ(show(intersect(ours.tagged, range)), show(tagged)) << name << " tagged";
        if (!tagged.empty()) {
            EXPECT_EQ(ours.tag, field.at("tag").get<int>()) << name;
        }
        const auto ignorable = field.find("ignorable");
        EXPECT_EQ(ours.ignorable, ignorable != field.end() && ignorable->get<bool>()) << name << " ignorable";
        EXPECT_EQ(ours.always_classic, text(field, "flexibleVersions") == "none") << name << " flexible override";

        std::string type = text(field, "type");
        const bool is_array = type.starts_with("[]");
        if (is_array) {
            type = type.substr(2);
        }
        EXPECT_EQ(ours.is_array, is_array) << name;
        const bool is_struct = std::isupper(static_cast<unsigned char>(type.front())) != 0;
        EXPECT_EQ(kind_name(ours.kind), is_struct ? "struct" : type) << name;
        compare_default(field, ours, schema, name, nullable);
        if (!is_struct) {
            return;
        }
        ASSERT_NE(ours.nested, nullptr) << name;
        if (field.contains("fields")) {
            return compare_struct(field.at("fields"), *ours.nested, name);
        }
        for (const json& common : message_.at("commonStructs")) {
            if (common.at("name") == type) {
                return compare_struct(common.at("fields"), *ours.nested, name);
            }
        }
        FAIL() << name << ": no struct " << type;
    }

    void compare_default(const json& field, const Field& ours, const Schema& schema, const std::string& name, Versions nullable) {
        using namespace codec_detail;
        // As in Kafka's generator, a JSON null is no default at all; the string "null" is.
        const auto found = field.find("default");
        const bool given = found != field.end() && !found->is_null();
        const std::string value = !given ? "" : found->is_string() ? found->get<std::string>() : found->dump();
        const bool null = value == "null";
        if (null) {
            EXPECT_FALSE(nullable.empty()) << name;
        }
        const void* member_value = member(schema.defaults, ours);
        if (ours.is_array) {
            EXPECT_EQ(as<ArrayBase>(member_value).size, null ? -1 : 0) << name;
            return;
        }
        const auto expect_number = [&](auto actual, auto expected) { EXPECT_EQ(actual, expected) << name; };
        const std::int64_t number = value.empty() || null || !(std::isdigit(value.back()) || value.starts_with("0x"))
                                        ? 0
                                        : std::stoll(value, nullptr, value.starts_with("0x") ? 16 : 10);
        switch (ours.kind) {
            case Kind::boolean:
                expect_number(as<bool>(member_value), value == "true" || value == "True");
                break;
            case Kind::int8:
                expect_number(std::int64_t{as<std::int8_t>(member_value)}, number);
                break;
            case Kind::int16:
                expect_number(std::int64_t{as<std::int16_t>(member_value)}, number);
                break;
            case Kind::uint16:
                expect_number(std::int64_t{as<std::uint16_t>(member_value)}, number);
                break;
            case Kind::int32:
                expect_number(std::int64_t{as<std::int32_t>(member_value)}, number);
                break;
            case Kind::uint32:
                expect_number(std::int64_t{as<std::uint32_t>(member_value)}, number);
                break;
            case Kind::int64:
                expect_number(as<std::int64_t>(member_value), number);
                break;
            case Kind::float64:
                expect_number(as<double>(member_value), value.empty() ? 0.0 : std::stod(value));
                break;
            case Kind::uuid:
                EXPECT_TRUE(as<Uuid>(member_value).is_zero()) << name;
                break;
            case Kind::string:
            case Kind::nullable_string: {
                const auto actual = text_of(ours.kind, member_value);
                EXPECT_EQ(actual.has_value(), !null) << name;
                if (actual && !null) {
                    EXPECT_EQ(*actual, value) << name;
                }
                break;
            }
            case Kind::bytes:
            case Kind::nullable_bytes: {
                const auto actual = bytes_of(ours.kind, member_value);
                EXPECT_EQ(actual.has_value(), !null) << name;
                if (actual) {
                    EXPECT_TRUE(actual->empty()) << name;
                }
                break;
            }
            case Kind::records:
                EXPECT_EQ(as<Records>(member_value).is_null(), null) << name;
                break;
            case Kind::structure:
                EXPECT_FALSE(null) << name;
                break;
            case Kind::nullable_structure:
                EXPECT_EQ(struct_of(ours.kind, member_value) == nullptr, null) << name;
                break;
        }
    }

    const json& message_;
    const Schema& schema_;
};

std::map<std::string, json> load_reference(const std::filesystem::path& folder) {
    std::map<std::string, json> messages;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.path().extension() != ".json") {
            continue;
        }
        std::ifstream file(entry.path());
        json message = json::parse(file, nullptr, true, /*ignore_comments=*/true);
        if (message.contains("name")) {
            messages.emplace(message.at("name").get<std::string>(), std::move(message));
        }
    }
    return messages;
}

TEST(MessagesReference, TablesAgreeWithKafkasDefinitions) {
    const char* folder = std::getenv("PARTITA_KAFKA_SCHEMAS");
    if (folder == nullptr) {
        GTEST_SKIP() << "PARTITA_KAFKA_SCHEMAS does not name a folder with Kafka's message files";
    }
    const auto reference = load_reference(folder);
    ASSERT_GT(reference.size(), 100u) << folder;
    for (const Schema* schema : testing::all_messages()) {
        const auto found = reference.find(std::string(schema->name));
        if (found == reference.end()) {
            ADD_FAILURE() << "no reference for " << schema->name;
            continue;
        }
        Reference(found->second, *schema).compare();
    }
    for (const ApiInfo& api : all_apis()) {
        const json& request = reference.at(std::string(api.name) + "Request");
        EXPECT_EQ(static_cast<int>(api.key), request.at("apiKey").get<int>()) << api.name;
        EXPECT_EQ(static_cast<int>(api.key), reference.at(std::string(api.name) + "Response").at("apiKey").get<int>());
        const auto unstable = request.find("latestVersionUnstable");
        EXPECT_EQ(api.latest_unstable, unstable != request.end() && unstable->get<bool>()) << api.name;
    }
}

}  // namespace
}  // namespace partita
