#pragma once

#include <expected>
#include <memory>
#include <string>

#include "broker/addons/scenarios/cli/process.h"
#include "broker/addons/scenarios/core/scenario.h"

namespace partita::scenarios {

/// A directory of a scenario's own, removed at the end unless it is kept.
class WorkDirectory {
  public:
    [[nodiscard]] static std::expected<std::unique_ptr<WorkDirectory>, std::string> make();
    ~WorkDirectory();
    WorkDirectory(const WorkDirectory&) = delete;
    WorkDirectory& operator=(const WorkDirectory&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }
    void keep() { is_kept_ = true; }

  private:
    explicit WorkDirectory(std::string path) : path_(std::move(path)) {}

    const std::string path_;
    bool is_kept_ = false;
};

/// A broker of this very program, with data of its own.
struct BrokerProcess {
    Process process;
    /// HOST:PORT of Kafka's clients, and of HTTP.
    std::string kafka;
    std::string http;
};

/// Starts one, and returns when clients can connect. Its log goes to broker.log in the directory. `interruption` becomes readable
/// when a person wants to stop. The error is a sentence.
[[nodiscard]] std::expected<BrokerProcess, std::string> start_broker(const BrokerWish& wish, const std::string& directory,
                                                                     int interruption);

/// The end of the broker's log.
[[nodiscard]] std::string end_of_log(const std::string& directory);

}  // namespace partita::scenarios
