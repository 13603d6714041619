#include "broker/net/held_sockets.h"

#include <unistd.h>

namespace partita::net {

HeldDescriptor::~HeldDescriptor() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

}  // namespace partita::net
