#include "broker/tools/deserializers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>

#include "broker/tools/text.h"
#include "protocol/big_endian.h"

namespace partita::tools {
namespace {

using Read = std::expected<std::string, std::string>;

std::unexpected<std::string> refusal(const std::string& message) {
    return std::unexpected("org.apache.kafka.common.errors.SerializationException: " + message);
}

/// `name` is the class that Kafka's message names.
std::unexpected<std::string> wrong_size(std::string_view name, std::size_t size) {
    return refusal("Size of data received by " + std::string(name) + " is not " + std::to_string(size));
}

template <class Integer>
Read read_integer(Bytes bytes, std::string_view name) {
    if (bytes.size() != sizeof(Integer)) {
        return wrong_size(name, sizeof(Integer));
    }
    return std::to_string(load_big_endian<Integer>(bytes.data()));
}

/// Kafka's messages about these two do not name the class.
template <class Real, class Integer>
Read read_real(Bytes bytes) {
    if (bytes.size() != sizeof(Real)) {
        return wrong_size("Deserializer", sizeof(Real));
    }
    return java_text(std::bit_cast<Real>(load_big_endian<Integer>(bytes.data())));
}

Read read_boolean(Bytes bytes) {
    if (bytes.size() != 1) {
        return wrong_size("BooleanDeserializer", 1);
    }
    const int byte = std::to_integer<std::int8_t>(bytes[0]);
    if (byte != 0 && byte != 1) {
        return refusal("Unexpected byte received by BooleanDeserializer: " + std::to_string(byte));
    }
    return byte == 1 ? "true" : "false";
}

/// Kafka's Bytes: printable ASCII as it is, anything else as "\x0A".
Read read_bytes(Bytes bytes) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string text;
    for (const std::byte byte : bytes) {
        const auto number = std::to_integer<std::uint8_t>(byte);
        if (number >= ' ' && number <= '~' && number != '\\') {
            text += static_cast<char>(number);
        } else {
            text += "\\x";
            text += kDigits[number >> 4];
            text += kDigits[number & 15];
        }
    }
    return text;
}

/// Kafka prints the array's type and hash ("[B@285f38f6"), which is of no use.
Read read_array(Bytes bytes) { return std::string(as_text(bytes)); }

Read read_buffer(Bytes bytes) {
    const std::string size = std::to_string(bytes.size());
    return "java.nio.HeapByteBuffer[pos=0 lim=" + size + " cap=" + size + "]";
}

/// The number of bytes of the character that begins the text, or 0 if the text begins with none; then `broken` is the number of
/// bytes that Java's decoder replaces by one U+FFFD.
std::size_t character_bytes(std::string_view text, std::size_t& broken) {
    const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(text[at]); };
    const std::uint8_t lead = byte(0);
    broken = 1;
    if (lead < 0x80) {
        return 1;
    }
    const std::size_t length = lead >= 0xc2 && lead <= 0xdf   ? 2
                               : lead >= 0xe0 && lead <= 0xef ? 3
                               : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                              : 0;
    // Neither overlong forms nor surrogates nor anything above U+10FFFF.
    const std::uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const std::uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    for (std::size_t at = 1; at < length; ++at) {
        if (at == text.size() || byte(at) < (at == 1 ? low : 0x80) || byte(at) > (at == 1 ? high : 0xbf)) {
            broken = at;
            return 0;
        }
    }
    return length;
}

Read read_string(Bytes bytes) {
    std::string_view rest = as_text(bytes);
    std::string text;
    while (!rest.empty()) {
        std::size_t broken = 0;
        const std::size_t length = character_bytes(rest, broken);
        text += length > 0 ? rest.substr(0, length) : std::string_view("\xef\xbf\xbd");
        rest.remove_prefix(std::max(length, broken));
    }
    return text;
}

/// Java's UUID.fromString: five groups of hexadecimal digits, of which the last digits count.
std::optional<std::string> uuid_text(std::string_view text) {
    constexpr std::size_t kTextMax = 36;
    constexpr std::array<std::size_t, 5> kDigits{8, 4, 4, 4, 12};
    const auto groups = split(text, '-');
    if (groups.size() != kDigits.size() || text.size() > kTextMax) {
        return std::nullopt;
    }
    std::string out;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        std::string_view group = groups[i];
        // Java parses a number, and a number may have a sign.
        group.remove_prefix(group.starts_with('+') ? 1 : 0);
        std::uint64_t number = 0;
        const auto [end, error] = std::from_chars(group.data(), group.data() + group.size(), number, 16);
        if (group.empty() || error != std::errc() || end != group.data() + group.size() || number > INT64_MAX) {
            return std::nullopt;
        }
        std::array<char, 16> digits{};
        for (std::size_t at = digits.size(); at-- > 0; number >>= 4) {
            digits[at] = "0123456789abcdef"[number & 15];
        }
        out += (i == 0 ? "" : "-") + std::string(digits.end() - kDigits[i], digits.end());
    }
    return out;
}

Read read_uuid(Bytes bytes) {
    auto text = uuid_text(as_text(bytes));
    return text ? Read(std::move(*text)) : refusal("Error parsing data into UUID");
}

Read read_void(Bytes) {
    return std::unexpected("java.lang.IllegalArgumentException: Data should be null for a VoidDeserializer.");
}

struct Named {
    std::string_view name;
    Deserializer read;
};
constexpr Named kDeserializers[] = {
    {"BooleanDeserializer", read_boolean},
    {"ByteArrayDeserializer", read_array},
    {"ByteBufferDeserializer", read_buffer},
    {"BytesDeserializer", read_bytes},
    {"DoubleDeserializer", read_real<double, std::uint64_t>},
    {"FloatDeserializer", read_real<float, std::uint32_t>},
    {"IntegerDeserializer", [](Bytes bytes) { return read_integer<std::int32_t>(bytes, "IntegerDeserializer"); }},
    {"LongDeserializer", [](Bytes bytes) { return read_integer<std::int64_t>(bytes, "LongDeserializer"); }},
    {"ShortDeserializer", [](Bytes bytes) { return read_integer<std::int16_t>(bytes, "ShortDeserializer"); }},
    {"StringDeserializer", read_string},
    {"UUIDDeserializer", read_uuid},
    {"VoidDeserializer", read_void},
};

/// Java writes numbers from a thousandth to ten million without an exponent.
template <class Real>
std::string text_of(Real number) {
    if (std::isnan(number)) {
        return "NaN";
    }
    const std::string sign = std::signbit(number) ? "-" : "";
    if (std::isinf(number)) {
        return sign + "Infinity";
    }
    if (number == 0) {
        return sign + "0.0";
    }
    // "d.ddde+xx", or "de+xx".
    char buffer[64];
    const auto digits_in = [&](auto... precision) {
        const auto end =
            std::to_chars(buffer, buffer + sizeof buffer, std::abs(number), std::chars_format::scientific, precision...).ptr;
        return std::string_view(buffer, end);
    };
    std::string_view text = digits_in();
    // Java wants two digits, and of these the nearest: 4.9E-324, not 5.0E-324.
    text = text[1] == 'e' ? digits_in(1) : text;
    const std::size_t at_exponent = text.find('e');
    std::string digits(text.substr(0, 1));
    digits += text.substr(2, at_exponent - 2);
    const std::string_view shown = text.substr(at_exponent + 1);
    int exponent = 0;
    std::from_chars(shown.data() + (shown.starts_with('+') ? 1 : 0), shown.data() + shown.size(), exponent);
    const auto without_zeros = [](std::string part) {
        part.erase(part.find_last_not_of('0') + 1);
        return part.empty() ? std::string("0") : part;
    };
    if (exponent < -3 || exponent >= 7) {
        return sign + digits.substr(0, 1) + "." + without_zeros(digits.substr(1)) + "E" + std::to_string(exponent);
    }
    if (exponent < 0) {
        return sign + "0." + without_zeros(std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits);
    }
    const auto whole = static_cast<std::size_t>(exponent) + 1;
    digits.resize(std::max(digits.size(), whole), '0');
    return sign + digits.substr(0, whole) + "." + without_zeros(digits.substr(whole));
}

}  // namespace

std::string java_text(double number) { return text_of(number); }
std::string java_text(float number) { return text_of(number); }

Deserializer find_deserializer(std::string_view class_name) {
    if (!class_name.starts_with(kDeserializerPackage)) {
        return nullptr;
    }
    class_name.remove_prefix(kDeserializerPackage.size());
    const auto* const found = std::ranges::find(kDeserializers, class_name, &Named::name);
    return found == std::end(kDeserializers) ? nullptr : found->read;
}

}  // namespace partita::tools
