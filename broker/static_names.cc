// Part of the program without shared libraries only: how it looks up host names.
#include <nss.h>

namespace partita {
namespace {

/// A static C library has /etc/hosts and DNS built in. For any other source in /etc/nsswitch.conf it would load a library and the
/// machine's own C library, which is a different one. At best the lookup then fails, so this program ignores that file.
[[gnu::constructor]] void look_up_hosts_with_what_is_built_in() { ::__nss_configure_lookup("hosts", "files dns"); }

}  // namespace
}  // namespace partita
