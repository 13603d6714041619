#include "broker/addons/scenarios/cli/process.h"

#include <fcntl.h>

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

#include "protocol/try.h"

namespace partita::scenarios {
namespace {

std::unexpected<std::string> problem(const std::string& what, int error) {
    return std::unexpected("cannot " + what + ": " + std::generic_category().message(error));
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (const std::string& text : texts) {
        all.push_back(const_cast<char*>(text.c_str()));
    }
    all.push_back(nullptr);
    return all;
}

/// In the new process, where only calls that are safe after a fork are allowed.
[[noreturn]] void become(const ProcessWish& wish, char** words, char** environment, int input, int failure) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, wish.signal_of_death);
    // This program ignores it, and the new one would inherit that.
    ::signal(SIGPIPE, SIG_DFL);
    ::signal(SIGINT, SIG_DFL);
    ::signal(SIGTERM, SIG_DFL);
    const bool is_ready =
        ::dup2(input, STDIN_FILENO) >= 0 && ::dup2(wish.output, STDOUT_FILENO) >= 0 && ::dup2(wish.errors, STDERR_FILENO) >= 0;
    if (is_ready) {
        ::execvpe(words[0], words, environment);
    }
    const int error = errno;
    [[maybe_unused]] const auto written = ::write(failure, &error, sizeof error);
    ::_exit(127);
}

}  // namespace

std::expected<Pipe, std::string> make_pipe() {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        return problem("make a pipe", errno);
    }
    return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

std::expected<Process, std::string> Process::start(const ProcessWish& wish) {
    const FileDescriptor input(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!input.is_open()) {
        return problem("open /dev/null", errno);
    }
    PARTITA_TRY_ASSIGN(auto failure, make_pipe());
    const std::vector<char*> words = pointers(wish.words);
    const std::vector<char*> environment = pointers(wish.environment);
    const pid_t id = ::fork();
    if (id == 0) {
        become(wish, const_cast<char**>(words.data()), const_cast<char**>(environment.data()), input.get(), failure.in.get());
    }
    if (id < 0) {
        return problem("start " + wish.words[0], errno);
    }
    // Both sides do it, so that it is done whichever comes first.
    ::setpgid(id, id);
    failure.in.reset();
    Process process(id, FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, id, 0))));
    int error = 0;
    if (::read(failure.out.get(), &error, sizeof error) == sizeof error) {
        return problem("start " + wish.words[0], error);
    }
    if (!process.handle_.is_open()) {
        return problem("watch " + wish.words[0], errno);
    }
    return process;
}

Process::~Process() {
    if (id_ >= 0 && !ending_) {
        send(SIGKILL);
        reap(0);
    }
}

void Process::send(int signal) const {
    // The number of a group that is gone may be another group's by now.
    if (!ending_) {
        ::kill(-id_, signal);
    }
}

void Process::reap(int options) {
    siginfo_t ended{};
    if (::waitid(P_PID, static_cast<id_t>(id_), &ended, WEXITED | WNOWAIT | options) != 0 || ended.si_pid != id_) {
        return;
    }
    // As long as nobody waits for the process, its number is its group's alone.
    send(SIGKILL);
    int status = 0;
    ::waitpid(id_, &status, 0);
    ending_ = WIFSIGNALED(status) ? Ending{"by signal " + std::to_string(WTERMSIG(status)), false}
                                  : Ending{"with exit code " + std::to_string(WEXITSTATUS(status)), WEXITSTATUS(status) == 0};
}

const std::optional<Ending>& Process::look() {
    if (!ending_) {
        reap(WNOHANG);
    }
    return ending_;
}

}  // namespace partita::scenarios
