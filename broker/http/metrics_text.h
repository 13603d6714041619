#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace partita::http {

/// Collects metrics in Prometheus' text format, in the order in which they are added.
class MetricsText {
  public:
    void gauge(std::string_view name, std::string_view help, std::uint64_t value) { add(name, "gauge", help, value); }
    void counter(std::string_view name, std::string_view help, std::uint64_t value) { add(name, "counter", help, value); }
    /// The values of one metric by their labels, each as `name="value"`, separated by commas.
    void gauges(std::string_view name, std::string_view help, const std::map<std::string, std::uint64_t>& values) {
        add(name, "gauge", help, values);
    }
    void counters(std::string_view name, std::string_view help, const std::map<std::string, std::uint64_t>& values) {
        add(name, "counter", help, values);
    }
    [[nodiscard]] std::string take() { return std::move(text_); }

  private:
    void add(std::string_view name, std::string_view type, std::string_view help,
             const std::map<std::string, std::uint64_t>& values) {
        text_.append("# HELP ").append(name).append(" ").append(help).append("\n");
        text_.append("# TYPE ").append(name).append(" ").append(type).append("\n");
        for (const auto& [labels, value] : values) {
            text_.append(name).append("{").append(labels).append("} ").append(std::to_string(value)).append("\n");
        }
    }
    void add(std::string_view name, std::string_view type, std::string_view help, std::uint64_t value) {
        text_.append("# HELP ").append(name).append(" ").append(help).append("\n");
        text_.append("# TYPE ").append(name).append(" ").append(type).append("\n");
        text_.append(name).append(" ").append(std::to_string(value)).append("\n");
    }
    std::string text_;
};

}  // namespace partita::http
