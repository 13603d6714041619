#include "tests/support/broker_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace partita::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kPoll = 5ms;
/// Ends a wait that hangs. A wait that succeeds takes long only on a slow machine.
constexpr auto kWait = 60s;

std::string read_text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream content;
    content << file.rdbuf();
    return content.str();
}

/// Reads the kernel's figures for one thread: the nanoseconds that it ran, and the nanoseconds that it waited for a processor.
std::chrono::nanoseconds waited_for_processor(const std::string& schedstat_path) {
    std::istringstream fields(read_text(schedstat_path));
    std::int64_t ran_ns = 0;
    std::int64_t waited_ns = 0;
    fields >> ran_ns >> waited_ns;
    return std::chrono::nanoseconds(waited_ns);
}

}  // namespace

std::string broker_binary() {
    if (const char* path = std::getenv("PARTITA_BROKER_BINARY")) {
        return path;
    }
#ifdef PARTITA_BROKER_BINARY
    return PARTITA_BROKER_BINARY;
#else
    return "partita";
#endif
}

TemporaryDirectory::TemporaryDirectory() {
    const char* base = std::getenv("TMPDIR");
    std::string pattern = std::string(base == nullptr ? "/tmp" : base) + "/partita-scenario-XXXXXX";
    const char* made = ::mkdtemp(pattern.data());
    EXPECT_NE(made, nullptr) << std::strerror(errno);
    path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

void BrokerProcess::launch(const Options& options) {
    data_directory_ = options.data_directory.empty() ? scratch_ / "data" : options.data_directory;
    std::vector<std::string> arguments{broker_binary(), "--data-dir", data_directory_, "--port-file", scratch_ / "port"};
    if (options.choose_port) {
        arguments.insert(arguments.end(), {"--port", "0"});
    }
    if (options.choose_http_port) {
        arguments.insert(arguments.end(), {"--http-port", "0"});
    }
    for (const std::string& setting : options.overrides) {
        arguments.insert(arguments.end(), {"--override", setting});
    }
    arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
    std::vector<char*> raw;
    for (std::string& argument : arguments) {
        raw.push_back(argument.data());
    }
    raw.push_back(nullptr);
    const std::string output = scratch_ / "output";
    process_ = ::fork();
    if (process_ == 0) {
        // The broker dies with its test.
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int descriptor = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
        ::dup2(descriptor, 1);
        ::dup2(descriptor, 2);
        ::close_range(3, ~0U, 0);
        if (options.open_files_max != 0) {
            const rlimit limit{options.open_files_max, options.open_files_max};
            ::setrlimit(RLIMIT_NOFILE, &limit);
        }
        ::execv(raw.front(), raw.data());
        ::_exit(127);
    }
}

std::unique_ptr<BrokerProcess> BrokerProcess::start(const Options& options) {
    std::unique_ptr<BrokerProcess> broker(new BrokerProcess);
    broker->launch(options);
    const Clock::time_point deadline = Clock::now() + kWait * patience();
    const std::string port_file = broker->scratch_ / "port";
    while (!std::filesystem::exists(port_file)) {
        if (!broker->is_running() || Clock::now() > deadline) {
            ADD_FAILURE() << "the broker did not start:\n" << broker->output();
            broker->end_expected_ = true;
            return nullptr;
        }
        std::this_thread::sleep_for(kPoll);
    }
    broker->port_ = static_cast<std::uint16_t>(std::stoi(read_text(port_file)));
    const std::string output = broker->output();
    const std::string marker = "INFO http listening address=";
    if (const std::size_t line = output.find(marker); line != std::string::npos) {
        const std::size_t end = output.find('\n', line);
        const std::string address = output.substr(line, end - line);
        broker->http_port_ = static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
    }
    return broker;
}

Finished BrokerProcess::run(const Options& options) {
    BrokerProcess broker;
    broker.launch(options);
    return broker.wait();
}

BrokerProcess::~BrokerProcess() {
    if (process_ > 0 && !finished_) {
        const bool was_running = is_running();
        if (was_running) {
            ::kill(process_, SIGKILL);
            int status = 0;
            ::waitpid(process_, &status, 0);
        } else if (!end_expected_) {
            const Finished ended = wait();
            ADD_FAILURE() << "the broker ended by itself, with code " << ended.exit_code << " or by signal "
                          << ended.signal_number << ":\n"
                          << ended.output;
        }
    }
    if (::testing::Test::HasFailure() && process_ > 0) {
        std::string text = output();
        constexpr std::size_t kShown = 4000;
        if (text.size() > kShown) {
            text = "... " + text.substr(text.size() - kShown);
        }
        std::fprintf(stderr, "--- the broker wrote:\n%s---\n", text.c_str());
    }
}

bool BrokerProcess::is_running() const {
    if (finished_) {
        return false;
    }
    siginfo_t information{};
    // WNOWAIT leaves the process in place, so that `wait` can still collect it.
    return ::waitid(P_PID, static_cast<id_t>(process_), &information, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           information.si_pid == 0;
}

std::string BrokerProcess::output() const { return read_text(scratch_ / "output"); }

std::size_t BrokerProcess::count_in_output(const std::string& text) const {
    const std::string all = output();
    std::size_t count = 0;
    for (std::size_t at = all.find(text); at != std::string::npos; at = all.find(text, at + text.size())) {
        ++count;
    }
    return count;
}

bool BrokerProcess::wait_for_output(const std::string& text) const {
    const Clock::time_point deadline = Clock::now() + kWait * patience();
    while (count_in_output(text) == 0) {
        if (Clock::now() > deadline) {
            return false;
        }
        std::this_thread::sleep_for(kPoll);
    }
    return true;
}

void BrokerProcess::send_signal(int signal_number) const { ::kill(process_, signal_number); }

Finished BrokerProcess::wait(std::chrono::milliseconds limit) {
    if (finished_) {
        return *finished_;
    }
    const Clock::time_point deadline = Clock::now() + limit * patience();
    while (is_running()) {
        if (Clock::now() > deadline) {
            ADD_FAILURE() << "the broker did not end in time";
            ::kill(process_, SIGKILL);
        }
        std::this_thread::sleep_for(kPoll);
    }
    int status = 0;
    ::waitpid(process_, &status, 0);
    Finished finished;
    finished.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    finished.signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    finished.output = output();
    finished_ = finished;
    return finished;
}

Finished BrokerProcess::stop() {
    send_signal(SIGTERM);
    return wait();
}

std::int64_t BrokerProcess::resident_kib() const {
    std::ifstream status("/proc/" + std::to_string(process_) + "/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmRSS:")) {
            return std::stoll(line.substr(6));
        }
    }
    return -1;
}

std::chrono::milliseconds BrokerProcess::processor_time() const {
    const std::string text = read_text("/proc/" + std::to_string(process_) + "/stat");
    std::istringstream fields(text.substr(text.rfind(')') + 2));
    std::string skipped;
    for (int i = 0; i < 11; ++i) {
        fields >> skipped;
    }
    std::int64_t user = 0;
    std::int64_t system = 0;
    fields >> user >> system;
    return std::chrono::milliseconds((user + system) * 1000 / ::sysconf(_SC_CLK_TCK));
}

std::chrono::milliseconds BrokerProcess::kept_waiting() const {
    std::chrono::nanoseconds all{0};
    std::error_code ignored;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(process_) + "/task", ignored)) {
        all += waited_for_processor(thread.path() / "schedstat");
    }
    return std::chrono::duration_cast<std::chrono::milliseconds>(all);
}

std::chrono::milliseconds thread_kept_waiting() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(waited_for_processor("/proc/thread-self/schedstat"));
}

int BrokerProcess::open_descriptors() const {
    int count = 0;
    std::error_code ignored;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::directory_iterator("/proc/" + std::to_string(process_) + "/fd", ignored)) {
        ++count;
    }
    return count;
}

std::optional<HttpAnswer> BrokerProcess::http_get(const std::string& path, const std::string& more_headers) const {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval limit{60, 0};
    ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(http_port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::string text;
    if (::connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
        const std::string request =
            "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + more_headers + "\r\n";
        if (::send(descriptor, request.data(), request.size(), MSG_NOSIGNAL) > 0) {
            char piece[4096];
            for (ssize_t count = 0; (count = ::recv(descriptor, piece, sizeof piece, 0)) > 0;) {
                text.append(piece, static_cast<std::size_t>(count));
            }
        }
    }
    ::close(descriptor);
    const std::size_t end = text.find("\r\n\r\n");
    if (!text.starts_with("HTTP/1.1 ") || end == std::string::npos) {
        return std::nullopt;
    }
    return HttpAnswer{std::stoi(text.substr(9)), text.substr(0, end), text.substr(end + 4)};
}

std::optional<double> BrokerProcess::metric(const std::string& name) const {
    const std::optional<HttpAnswer> answer = http_get("/metrics");
    if (!answer) {
        return std::nullopt;
    }
    std::istringstream lines(answer->body);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(name + " ")) {
            return std::stod(line.substr(name.size() + 1));
        }
    }
    return std::nullopt;
}

std::uint64_t raise_open_files_limit() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur;
}

int patience() {
#if defined(__SANITIZE_THREAD__)
    return 10;
#elif defined(__SANITIZE_ADDRESS__)
    return 5;
#else
    return 1;
#endif
}

}  // namespace partita::test
