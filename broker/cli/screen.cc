#include "broker/cli/screen.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace partita::cli {
namespace {

constexpr std::string_view kEnter = "\033[?1049h\033[?25l\033[2J";
constexpr std::string_view kLeave = "\033[?25h\033[?1049l";

}  // namespace

Screen::Screen() {
    ::sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGWINCH}) {
        ::sigaddset(&signals, signal);
    }
    ::pthread_sigmask(SIG_BLOCK, &signals, &signals_before_);
    signal_descriptor_ = ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    ::termios settings{};
    if (::tcgetattr(STDIN_FILENO, &settings) == 0) {
        before_ = settings;
        settings.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
        // Disable the suspend key: a stopped program would leave the shell a changed terminal.
        settings.c_cc[VSUSP] = _POSIX_VDISABLE;
        ::tcsetattr(STDIN_FILENO, TCSANOW, &settings);
    }
    // If the terminal has gone, the first drawing reports it.
    (void)write(kEnter);
}

Screen::~Screen() {
    // If the terminal has gone, there is nothing to restore.
    (void)write(kLeave);
    if (before_) {
        ::tcsetattr(STDIN_FILENO, TCSANOW, &*before_);
    }
    if (signal_descriptor_ >= 0) {
        ::close(signal_descriptor_);
    }
    ::pthread_sigmask(SIG_SETMASK, &signals_before_, nullptr);
}

Screen::Event Screen::wait(std::int64_t milliseconds) {
    using Kind = Event::Kind;
    // Without a keyboard terminal, wait only for signals.
    std::array<::pollfd, 2> sources{{{.fd = signal_descriptor_, .events = POLLIN, .revents = 0},
                                     {.fd = before_ ? STDIN_FILENO : -1, .events = POLLIN, .revents = 0}}};
    const int ready = ::poll(sources.data(), sources.size(), static_cast<int>(milliseconds));
    if (ready < 0) {
        return {.kind = errno == EINTR ? Kind::nothing : Kind::ended};
    }
    if ((sources[0].revents & POLLIN) != 0) {
        ::signalfd_siginfo signal{};
        if (::read(signal_descriptor_, &signal, sizeof signal) != sizeof signal) {
            return {};
        }
        return {.kind = signal.ssi_signo == SIGWINCH ? Kind::resized : Kind::ended};
    }
    if (sources[1].revents != 0) {
        char key = 0;
        // End of file means that the terminal has gone.
        return ::read(STDIN_FILENO, &key, 1) == 1 ? Event{Kind::key, key} : Event{Kind::ended};
    }
    return {};
}

bool Screen::draw(const std::vector<std::string>& lines) {
    std::string text = "\033[H";
    for (std::size_t i = 0; i < lines.size(); ++i) {
        text += (i == 0 ? "" : "\r\n") + lines[i] + "\033[K";
    }
    return write(text + "\033[J");
}

bool Screen::write(std::string_view text) {
    while (!text.empty()) {
        const ::ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

}  // namespace partita::cli
