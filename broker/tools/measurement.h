#pragma once

#include <string>
#include <utility>
#include <vector>

/// Texts of the tools that measure: kafka-producer-perf-test and kafka-consumer-perf-test.
namespace partita::tools {

/// A number with so many digits behind the point, as Java's printf shows it ("NaN", "Infinity").
[[nodiscard]] std::string decimal(double number, int digits);

/// The table that --print-metrics prints: names of Kafka's metrics with their values, sorted by name.
[[nodiscard]] std::string metrics_text(std::vector<std::pair<std::string, double>> metrics);

}  // namespace partita::tools
