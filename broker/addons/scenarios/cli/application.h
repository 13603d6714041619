#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/addons/scenarios/cli/process.h"
#include "broker/addons/scenarios/core/delivery.h"
#include "broker/addons/scenarios/core/scenario.h"

namespace partita::scenarios {

/// A report in a line or a record: a JSON object with `partition` and `offset`, and `topic` unless it is the application's. Null
/// for anything else, and for records of other topics.
[[nodiscard]] std::optional<Report> report_of(std::string_view text, std::string_view topic);

/// One instance of the user's program.
class Instance {
  public:
    /// The longest line that can be a report. Longer ones are output like any other.
    static constexpr std::size_t kLineBytesMax = std::size_t{1} << 20;
    /// The end of its output that is kept for people.
    static constexpr std::size_t kLastWordsBytesMax = 4096;

    /// Starts the line with a shell. `shows_output`: copy its output to our standard error.
    [[nodiscard]] static std::expected<Instance, std::string> start(const Application& application, const std::string& command,
                                                                    std::int32_t number,
                                                                    const std::vector<std::string>& environment,
                                                                    bool shows_output);

    [[nodiscard]] std::int32_t number() const { return number_; }
    [[nodiscard]] Process& process() { return process_; }
    [[nodiscard]] int output() const { return output_.get(); }
    [[nodiscard]] int errors() const { return errors_.get(); }
    /// Reads what there is, and returns the reports in it.
    [[nodiscard]] std::vector<Report> read(std::int64_t round);
    [[nodiscard]] const std::string& last_words() const { return last_words_; }

  private:
    Instance(Process process, FileDescriptor output, FileDescriptor errors, std::int32_t number, std::string topic,
             bool shows_output)
        : process_(std::move(process)),
          output_(std::move(output)),
          errors_(std::move(errors)),
          number_(number),
          topic_(std::move(topic)),
          shows_output_(shows_output) {}
    void keep(std::string_view text);

    Process process_;
    FileDescriptor output_;
    FileDescriptor errors_;
    std::int32_t number_;
    /// Empty: its output has no reports.
    std::string topic_;
    bool shows_output_;
    std::string line_;
    std::string last_words_;
};

}  // namespace partita::scenarios
