#pragma once

#include <expected>
#include <map>
#include <string>
#include <string_view>

#include "broker/addons/faults/core/cluster.h"

/// The heritage of a process for the next one: the places of partitions, with their leaders and epochs. Which brokers were killed
/// is not in it: a new process has all of them up.
namespace partita::faults {

inline constexpr std::string_view kClusterFileName = "partita-brokers";

/// One line for each partition, so that people can read it.
[[nodiscard]] std::string encode_places(const Cluster& cluster);
/// The error is a sentence that names the line.
[[nodiscard]] std::expected<std::map<TopicId, catalog::TopicPlace>, std::string> decode_places(std::string_view text);

}  // namespace partita::faults
