#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace partita::test {

/// The program under test: the one of this build, or the one that PARTITA_BROKER_BINARY in the environment names.
[[nodiscard]] std::string broker_binary();

/// A test's own directory. The destructor removes it with its content.
class TemporaryDirectory {
  public:
    TemporaryDirectory();
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  private:
    std::string path_;
};

/// The result of a finished process.
struct Finished {
    int exit_code = -1;  ///< -1 when a signal ended it.
    int signal_number = 0;
    std::string output;  ///< Standard output and error together.
};

struct HttpAnswer {
    int status = 0;
    std::string headers;
    std::string body;
};

/// The `partita` binary as a child process, on ports that the system chooses.
class BrokerProcess {
  public:
    struct Options {
        /// Appended to the command line.
        std::vector<std::string> arguments;
        /// Set as `--override KEY=VALUE`.
        std::vector<std::string> overrides;
        /// Empty: a fresh one, removed with the object.
        std::string data_directory;
        /// Both limits of open files; 0 leaves them.
        std::uint64_t open_files_max = 0;
        /// False when the arguments say where to listen.
        bool choose_port = true;
        bool choose_http_port = true;
    };

    /// Starts the broker and waits until clients can connect. Null when the broker ended or was not ready in time; the test then
    /// fails and prints the broker's output.
    [[nodiscard]] static std::unique_ptr<BrokerProcess> start(const Options& options);
    [[nodiscard]] static std::unique_ptr<BrokerProcess> start() { return start(Options()); }
    /// Runs the broker to its end, for starts that are refused.
    [[nodiscard]] static Finished run(const Options& options);

    /// Kills a broker that still runs. Fails the test when the broker died by itself.
    ~BrokerProcess();
    BrokerProcess(const BrokerProcess&) = delete;
    BrokerProcess& operator=(const BrokerProcess&) = delete;

    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] std::uint16_t http_port() const { return http_port_; }
    [[nodiscard]] const std::string& data_directory() const { return data_directory_; }
    [[nodiscard]] pid_t process_id() const { return process_; }
    [[nodiscard]] bool is_running() const;

    /// Everything that the broker wrote so far.
    [[nodiscard]] std::string output() const;
    [[nodiscard]] std::size_t count_in_output(const std::string& text) const;
    /// Waits until the output has `text`; false when the text does not come in time.
    [[nodiscard]] bool wait_for_output(const std::string& text) const;

    void send_signal(int signal_number) const;
    /// Waits for the end of the process.
    [[nodiscard]] Finished wait(std::chrono::milliseconds limit = std::chrono::seconds(60));
    /// SIGTERM, then `wait`.
    [[nodiscard]] Finished stop();

    [[nodiscard]] std::int64_t resident_kib() const;
    /// Processor time of all its threads.
    [[nodiscard]] std::chrono::milliseconds processor_time() const;
    /// How long its threads, taken together, were ready to run and had no processor. 0 where the system does not count this.
    [[nodiscard]] std::chrono::milliseconds kept_waiting() const;
    [[nodiscard]] int open_descriptors() const;

    /// `more_headers`: lines with their ends.
    [[nodiscard]] std::optional<HttpAnswer> http_get(const std::string& path, const std::string& more_headers = {}) const;
    /// The value of an unlabelled metric; none when it is missing.
    [[nodiscard]] std::optional<double> metric(const std::string& name) const;

  private:
    BrokerProcess() = default;
    void launch(const Options& options);

    TemporaryDirectory scratch_;
    std::string data_directory_;
    pid_t process_ = -1;
    std::uint16_t port_ = 0;
    std::uint16_t http_port_ = 0;
    std::optional<Finished> finished_;
    bool end_expected_ = false;
};

/// Raises this process's own limit of open files as far as the system allows; returns the limit.
[[nodiscard]] std::uint64_t raise_open_files_limit();

/// Like `BrokerProcess::kept_waiting`, for the calling thread.
[[nodiscard]] std::chrono::milliseconds thread_kept_waiting();

/// How much longer things may take in this build (sanitizers).
[[nodiscard]] int patience();

}  // namespace partita::test
