#include "broker/runtime/loop/reply_notes.h"

#include "broker/runtime/loop/reply.h"

namespace partita::runtime {

void DeleteReplyNotes::operator()(ReplyNotes* notes) const { delete notes; }

}  // namespace partita::runtime
