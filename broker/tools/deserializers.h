#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "protocol/types.h"

/// Kafka's deserializers (org.apache.kafka.common.serialization) as its console consumer shows their objects.
namespace partita::tools {

/// Bytes as the text of their Java object. The error is a Java exception: class and message.
using Deserializer = std::expected<std::string, std::string> (*)(Bytes bytes);

/// Finds a deserializer by the full name of its class; null if Kafka has none of this name.
[[nodiscard]] Deserializer find_deserializer(std::string_view class_name);

/// The name of the package, with the dot.
inline constexpr std::string_view kDeserializerPackage = "org.apache.kafka.common.serialization.";
/// The classes for messages to people, without the package.
inline constexpr std::string_view kDeserializerNames =
    "Boolean, ByteArray, ByteBuffer, Bytes, Double, Float, Integer, Long, Short, String, UUID and VoidDeserializer";

/// Like Java's toString since JDK 19: the shortest digits that give the same number, at least one after the point.
[[nodiscard]] std::string java_text(double number);
[[nodiscard]] std::string java_text(float number);

}  // namespace partita::tools
