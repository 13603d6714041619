// Part of the program without shared libraries only: how it looks up names of hosts.
#include <nss.h>

namespace partita {
namespace {

/// A static C library has /etc/hosts and DNS built in. Any other source that /etc/nsswitch.conf names it would load, together
/// with the C library of the machine, which is another one: at best the lookup fails. So that file is not asked.
[[gnu::constructor]] void look_up_hosts_with_what_is_built_in() { ::__nss_configure_lookup("hosts", "files dns"); }

}  // namespace
}  // namespace partita
