#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "protocol/codec.h"
#include "protocol/request_header.h"
#include "tests/support/tests_directory.h"
#include "tests/unit/protocol/message_catalogue.h"

/// Checks bytes made by other programs: they must decode, and encode again to the same bytes.
///
/// `frames/<api>_<request|response>_v<version>_<client>.hex` are frames that real clients and a real Kafka 4.3.1 exchanged,
/// without the length; `.txt` beside each is what we read in it. With PARTITA_REWRITE_GOLDEN set, this test writes the .txt files
/// anew: commit them only after reading the difference. `kafka_generated.txt` holds, for each message and version, what Kafka's
/// own classes wrote for random values: name, version, bytes.
namespace partita {
namespace {

namespace fs = std::filesystem;

fs::path golden_folder() { return test::tests_directory() / "golden"; }

std::vector<std::byte> from_hex(std::string_view text) {
    std::vector<std::byte> bytes;
    int high = -1;
    for (const char digit : text) {
        const int value = digit >= '0' && digit <= '9' ? digit - '0' : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
        if (value < 0) {
            continue;  // Line breaks.
        }
        if (high < 0) {
            high = value;
        } else {
            bytes.push_back(static_cast<std::byte>(high * 16 + value));
            high = -1;
        }
    }
    EXPECT_EQ(high, -1) << "half a byte";
    return bytes;
}

std::string read_file(const fs::path& path) {
    std::ifstream file(path);
    std::stringstream content;
    content << file.rdbuf();
    return content.str();
}

std::string hex(Bytes bytes) {
    std::string text;
    for (const std::byte byte : bytes) {
        text += "0123456789abcdef"[static_cast<unsigned>(byte) >> 4];
        text += "0123456789abcdef"[static_cast<unsigned>(byte) & 15];
    }
    return text;
}

/// One struct of the protocol, of any type.
struct Object {
    explicit Object(const Schema& schema) : memory((schema.size + 7) / 8 + 1) {}
    [[nodiscard]] void* get() { return memory.data(); }
    std::vector<std::uint64_t> memory;
};

/// Decodes `body` whole, encodes it again, and returns its text.
std::string decode_and_compare(const Schema& schema, std::int16_t version, Bytes body) {
    Arena arena;
    Object message(schema);
    auto consumed = decode(schema, body, version, arena, message.get());
    if (!consumed) {
        ADD_FAILURE() << to_string(consumed.error().failure) << " at " << consumed.error().position << ", field "
                      << consumed.error().field;
        return "";
    }
    EXPECT_EQ(*consumed, body.size()) << "bytes left over";
    ByteBuffer again;
    auto size = encode(schema, message.get(), version, again);
    if (!size) {
        ADD_FAILURE() << to_string(size.error().failure) << ", field " << size.error().field;
        return "";
    }
    EXPECT_EQ(hex(again.bytes()), hex(body)) << to_text(schema, message.get(), version);
    return to_text(schema, message.get(), version);
}

struct Frame {
    fs::path path;
    std::string api;
    bool is_request = false;
    std::int16_t version = 0;
};

/// join_group_request_v9_java.hex
Frame parse_name(const fs::path& path) {
    const std::string name = path.stem();
    const std::size_t request = name.find("_request_v");
    const std::size_t at = request != std::string::npos ? request : name.find("_response_v");
    Frame frame{.path = path, .api = name.substr(0, at), .is_request = request != std::string::npos};
    frame.version = static_cast<std::int16_t>(std::stoi(name.substr(name.find("_v", at) + 2)));
    return frame;
}

std::string snake_case(std::string_view name) {
    std::string text;
    for (const char character : name) {
        if (character >= 'A' && character <= 'Z') {
            if (!text.empty()) {
                text += '_';
            }
            text += static_cast<char>(character - 'A' + 'a');
        } else {
            text += character;
        }
    }
    return text;
}

const ApiInfo* find_api_by_file_name(std::string_view name) {
    for (const ApiInfo& api : all_apis()) {
        if (snake_case(api.name) == name) {
            return &api;
        }
    }
    return nullptr;
}

std::vector<Frame> all_frames() {
    std::vector<Frame> frames;
    for (const auto& entry : fs::directory_iterator(golden_folder() / "frames")) {
        if (entry.path().extension() == ".hex") {
            frames.push_back(parse_name(entry.path()));
        }
    }
    std::sort(frames.begin(), frames.end(), [](const Frame& a, const Frame& b) { return a.path < b.path; });
    return frames;
}

class GoldenFrame : public ::testing::TestWithParam<Frame> {};

TEST_P(GoldenFrame, DecodesToItsTextAndBackToItsBytes) {
    const Frame& frame = GetParam();
    const std::vector<std::byte> bytes = from_hex(read_file(frame.path));
    const ApiInfo* api = find_api_by_file_name(frame.api);
    ASSERT_NE(api, nullptr) << frame.api;

    ByteBuffer header_again;
    std::size_t header_size = 0;
    std::string text;
    if (frame.is_request) {
        auto header = parse_request_header(bytes);
        ASSERT_TRUE(header.has_value()) << to_string(header.error().failure);
        EXPECT_EQ(header->api, api);
        EXPECT_EQ(header->api_version, frame.version);
        append_request_header(*api, frame.version, header->correlation_id, header->client_id, header_again);
        header_size = header->size;
        text = std::string(api->name) + "Request v" + std::to_string(frame.version) + " from \"" +
               std::string(header->client_id) + "\"\n";
    } else {
        auto header = parse_response_header(*api, frame.version, bytes);
        ASSERT_TRUE(header.has_value());
        append_response_header(*api, frame.version, header->correlation_id, header_again);
        header_size = header->size;
        text = std::string(api->name) + "Response v" + std::to_string(frame.version) + "\n";
    }
    EXPECT_EQ(hex(header_again.bytes()), hex(Bytes(bytes).first(header_size)));
    text +=
        decode_and_compare(frame.is_request ? *api->request : *api->response, frame.version, Bytes(bytes).subspan(header_size)) +
        "\n";

    fs::path text_path = frame.path;
    text_path.replace_extension(".txt");
    if (std::getenv("PARTITA_REWRITE_GOLDEN") != nullptr) {
        std::ofstream(text_path) << text;
    }
    EXPECT_EQ(text, read_file(text_path));
}

INSTANTIATE_TEST_SUITE_P(Frames, GoldenFrame, ::testing::ValuesIn(all_frames()), [](const auto& info) {
    std::string name = info.param.path.stem();
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

TEST(GoldenBytes, OfKafkasOwnClassesForEveryMessageAndVersion) {
    std::map<std::string, const Schema*, std::less<>> schemas;
    for (const Schema* schema : testing::all_messages()) {
        schemas.emplace(schema->name, schema);
    }
    std::map<std::string, int> seen;

    std::ifstream file(golden_folder() / "kafka_generated.txt");
    std::string name;
    std::int16_t version = 0;
    std::string line;
    while (std::getline(file, line)) {
        if (line.starts_with('#')) {
            continue;
        }
        std::istringstream words(line);
        std::string digits;
        words >> name >> version >> digits;  // No digits: the message has no fields.
        SCOPED_TRACE(name + " v" + std::to_string(version));
        const auto schema = schemas.find(name);
        ASSERT_NE(schema, schemas.end());
        const std::vector<std::byte> bytes = from_hex(digits);
        decode_and_compare(*schema->second, version, bytes);
        ++seen[name + std::to_string(version)];
    }
    for (const testing::MessageVersion& message : testing::all_message_versions()) {
        EXPECT_GE(seen[std::string(message.schema->name) + std::to_string(message.version)], 2) << message.label();
    }
}

}  // namespace
}  // namespace partita
