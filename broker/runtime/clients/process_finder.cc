#include "broker/runtime/clients/process_finder.h"
#include "protocol/file_descriptor.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <utility>

namespace partita::runtime {
namespace {

using insight::ProcessIdentity;

constexpr std::array<std::string_view, 13> kForwarders = {"docker-proxy", "rootlessport", "rootlesskit", "slirp4netns", "pasta",
                                                          "gvproxy",      "vpnkit",       "ssh",         "sshd",        "kubectl",
                                                          "socat",        "haproxy",      "envoy"};
/// Programs that share sockets between several processes of a server, or pass them on: nginx, sshd-session.
constexpr std::array<std::string_view, 3> kForwarderPrefixes = {"nginx", "sshd-", "passt"};

class Directory {
  public:
    explicit Directory(const std::string& path) : directory_(::opendir(path.c_str())) {}
    ~Directory() {
        if (directory_ != nullptr) {
            ::closedir(directory_);
        }
    }
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;
    /// The next name; null at the end, and at once if the directory cannot be opened.
    [[nodiscard]] const char* next() {
        const dirent* entry = directory_ == nullptr ? nullptr : ::readdir(directory_);
        return entry == nullptr ? nullptr : static_cast<const char*>(entry->d_name);
    }

  private:
    DIR* directory_;
};

std::optional<std::string> read_start_of(const std::string& path, std::size_t bytes_max) {
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) {
        return std::nullopt;
    }
    std::string content(bytes_max, '\0');
    std::size_t filled = 0;
    while (filled < bytes_max) {
        const ssize_t got = ::read(file.get(), content.data() + filled, bytes_max - filled);
        if (got <= 0) {
            break;
        }
        filled += static_cast<std::size_t>(got);
    }
    content.resize(filled);
    return content;
}

template <class Number>
std::optional<Number> parse(std::string_view text) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

std::string printable(std::string_view text) {
    std::string result(text.substr(0, ProcessFinder::kProgramBytesMax));
    for (char& character : result) {
        const bool is_control = static_cast<unsigned char>(character) < 0x20 || character == 0x7f;
        character = is_control ? '?' : character;
    }
    return result;
}

std::string_view base_name(std::string_view path) {
    const std::size_t slash = path.find_last_of('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

struct Stat {
    std::string name;
    char state = '?';
    std::uint64_t start_ticks = 0;
};

/// /proc/PID/stat: see proc_pid_stat(5). The name is in parentheses, and may itself contain parentheses.
std::optional<Stat> read_stat(std::int32_t pid) {
    constexpr std::size_t kStatBytesMax = 2048;
    constexpr int kFieldsToStart = 19;  // from the state on
    const auto text = read_start_of("/proc/" + std::to_string(pid) + "/stat", kStatBytesMax);
    if (!text) {
        return std::nullopt;
    }
    const std::size_t open = text->find('(');
    const std::size_t close = text->rfind(')');
    if (open == std::string::npos || close == std::string::npos || close < open || close + 2 >= text->size()) {
        return std::nullopt;
    }
    Stat stat{.name = printable(std::string_view(*text).substr(open + 1, close - open - 1)), .state = (*text)[close + 2]};
    std::string_view rest = std::string_view(*text).substr(close + 2);
    for (int field = 0; field < kFieldsToStart; ++field) {
        const std::size_t space = rest.find(' ');
        if (space == std::string_view::npos) {
            return std::nullopt;
        }
        rest.remove_prefix(space + 1);
    }
    const auto start = parse<std::uint64_t>(rest.substr(0, rest.find(' ')));
    if (!start) {
        return std::nullopt;
    }
    stat.start_ticks = *start;
    return stat;
}

/// Fills 16 bytes in the format of sock_diag. Returns the family, or AF_UNSPEC if the text is not an address.
int parse_address(const std::string& text, std::uint32_t* out) {
    if (::inet_pton(AF_INET, text.c_str(), out) == 1) {
        return AF_INET;
    }
    return ::inet_pton(AF_INET6, text.c_str(), out) == 1 ? AF_INET6 : AF_UNSPEC;
}

/// The inode of the client's socket; 0 if the kernel does not tell.
std::uint32_t inode_of(int netlink, const LocalConnection& connection) {
    struct {
        nlmsghdr header;
        inet_diag_req_v2 request;
    } message{};
    message.header.nlmsg_len = sizeof message;
    message.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    message.header.nlmsg_flags = NLM_F_REQUEST;
    inet_diag_sockid& id = message.request.id;
    const int family = parse_address(connection.client_address, id.idiag_src);
    if (family == AF_UNSPEC || parse_address(connection.broker_address, id.idiag_dst) != family) {
        return 0;
    }
    message.request.sdiag_family = static_cast<std::uint8_t>(family);
    message.request.sdiag_protocol = IPPROTO_TCP;
    message.request.idiag_states = ~0U;
    id.idiag_sport = htons(connection.client_port);
    id.idiag_dport = htons(connection.broker_port);
    id.idiag_cookie[0] = id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    if (::send(netlink, &message, sizeof message, 0) != static_cast<ssize_t>(sizeof message)) {
        return 0;
    }
    alignas(nlmsghdr) std::array<std::byte, 8192> answer{};
    const ssize_t got = ::recv(netlink, answer.data(), answer.size(), 0);
    nlmsghdr header{};
    inet_diag_msg found{};
    if (got < static_cast<ssize_t>(NLMSG_HDRLEN + sizeof found)) {
        return 0;
    }
    std::memcpy(&header, answer.data(), sizeof header);
    if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY) {
        return 0;
    }
    std::memcpy(&found, answer.data() + NLMSG_HDRLEN, sizeof found);
    return found.idiag_inode;
}

std::optional<ProcessIdentity> identity_of(std::int32_t pid) {
    const std::optional<Stat> stat = read_stat(pid);
    if (!stat) {
        return std::nullopt;
    }
    ProcessIdentity identity{.pid = pid, .start_ticks = stat->start_ticks, .name = stat->name, .program = {}};
    if (const auto line = read_start_of("/proc/" + std::to_string(pid) + "/cmdline", ProcessFinder::kCommandLineBytesMax)) {
        identity.program = ProcessFinder::program_of(*line);
    }
    if (identity.program == identity.name) {
        identity.program.clear();
    }
    return identity;
}

using Owners = std::map<std::uint32_t, std::optional<ProcessIdentity>>;

/// Notes the process for each wanted socket that it holds. False if `budget` is used up.
bool look_at(std::int32_t pid, Owners& owners, std::size_t& budget) {
    constexpr std::string_view kSocket = "socket:[";
    const std::string path = "/proc/" + std::to_string(pid) + "/fd";
    Directory descriptors(path);
    std::optional<ProcessIdentity> identity;
    while (const char* name = descriptors.next()) {
        if (budget == 0) {
            return false;
        }
        --budget;
        std::array<char, 64> target{};
        const ssize_t length = ::readlink((path + "/" + name).c_str(), target.data(), target.size());
        const std::string_view text(target.data(), static_cast<std::size_t>(std::max<ssize_t>(0, length)));
        if (!text.starts_with(kSocket) || !text.ends_with(']')) {
            continue;
        }
        const auto inode = parse<std::uint32_t>(text.substr(kSocket.size(), text.size() - kSocket.size() - 1));
        const auto wanted = inode ? owners.find(*inode) : owners.end();
        if (wanted == owners.end()) {
            continue;
        }
        if (!identity && !(identity = identity_of(pid))) {
            return true;  // The process ended meanwhile.
        }
        std::optional<ProcessIdentity>& owner = wanted->second;
        if (!owner || std::pair(identity->start_ticks, identity->pid) < std::pair(owner->start_ticks, owner->pid)) {
            owner = identity;
        }
    }
    return true;
}

/// Look at every process, because a forked process holds the same sockets.
void find_owners(Owners& owners, std::size_t budget) {
    Directory processes("/proc");
    while (const char* name = processes.next()) {
        const auto pid = parse<std::int32_t>(name);
        if (pid && !look_at(*pid, owners, budget)) {
            return;
        }
    }
}

/// How to tell an interpreter's arguments from its program's name.
struct Interpreter {
    std::string_view name_prefix;
    /// Options that take the next argument. Spaces separate and surround them.
    std::string_view with_argument;
    /// Options whose argument is the program.
    std::string_view names_program;
    /// Options whose argument is code; the program then stays unknown.
    std::string_view is_code;
};

constexpr std::array<Interpreter, 7> kInterpreters = {{
    {"java", " -cp -classpath --class-path -p --module-path --add-modules --add-opens --add-exports --add-reads ",
     " -jar -m --module ", "  "},
    {"python", " -W -X ", " -m ", " -c "},
    {"node", " -r --require --import --loader ", "  ", " -e --eval -p --print "},
    {"ruby", " -I -r ", "  ", " -e "},
    {"perl", " -I ", "  ", " -e -E "},
    {"php", " -d -c ", " -f ", " -r "},
    {"dotnet", "  ", " exec ", "  "},
}};

bool contains(std::string_view list, std::string_view option) {
    return list.find(" " + std::string(option) + " ") != std::string_view::npos;
}

}  // namespace

std::string ProcessFinder::program_of(std::string_view command_line) {
    std::vector<std::string_view> arguments;
    for (std::size_t begin = 0; begin < command_line.size();) {
        const std::size_t end = std::min(command_line.find('\0', begin), command_line.size());
        arguments.push_back(command_line.substr(begin, end - begin));
        begin = end + 1;
    }
    if (arguments.empty()) {
        return {};
    }
    const std::string_view name = base_name(arguments.front());
    const auto interpreter =
        std::ranges::find_if(kInterpreters, [&](const Interpreter& known) { return name.starts_with(known.name_prefix); });
    if (interpreter == kInterpreters.end()) {
        return {};
    }
    for (std::size_t index = 1; index < arguments.size(); ++index) {
        const std::string_view argument = arguments[index];
        if (contains(interpreter->is_code, argument)) {
            return {};
        }
        if (contains(interpreter->names_program, argument)) {
            return index + 1 < arguments.size() ? printable(base_name(arguments[index + 1])) : std::string();
        }
        if (contains(interpreter->with_argument, argument)) {
            ++index;
        } else if (!argument.empty() && argument.front() != '-' && argument.front() != '@') {
            return printable(base_name(argument));
        }
    }
    return {};
}

bool ProcessFinder::is_forwarder(std::string_view name) {
    return std::ranges::find(kForwarders, name) != kForwarders.end() ||
           std::ranges::any_of(kForwarderPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::vector<std::optional<ProcessIdentity>> ProcessFinder::find(std::span<const LocalConnection> connections,
                                                                std::size_t descriptors_max) {
    std::vector<std::optional<ProcessIdentity>> found(connections.size());
    const FileDescriptor netlink(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
    if (netlink.get() < 0) {
        return found;
    }
    // The kernel answers within the call to send. The limit guards against a kernel that never answers.
    const timeval limit{.tv_sec = 1, .tv_usec = 0};
    ::setsockopt(netlink.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    std::vector<std::uint32_t> inodes;
    Owners owners;
    for (const LocalConnection& connection : connections) {
        inodes.push_back(inode_of(netlink.get(), connection));
        if (inodes.back() != 0) {
            owners.try_emplace(inodes.back());
        }
    }
    if (!owners.empty()) {
        find_owners(owners, descriptors_max);
    }
    for (std::size_t index = 0; index < inodes.size(); ++index) {
        if (const auto owner = owners.find(inodes[index]);
            owner != owners.end() && owner->second && !is_forwarder(owner->second->name)) {
            found[index] = owner->second;
        }
    }
    return found;
}

bool ProcessFinder::has_ended(const ProcessIdentity& process) {
    if (::kill(process.pid, 0) != 0 && errno == ESRCH) {
        return true;
    }
    const std::optional<Stat> stat = read_stat(process.pid);
    // Another process has this id now, or the process has ended and waits for its parent to notice.
    return stat && (stat->start_ticks != process.start_ticks || stat->state == 'Z' || stat->state == 'X');
}

}  // namespace partita::runtime
