#include "broker/access/session.h"

namespace partita::access {

PrincipalPointer Principal::anonymous() {
    static const Principal principal("User", "ANONYMOUS");
    return {PrincipalPointer(), &principal};
}

}  // namespace partita::access
