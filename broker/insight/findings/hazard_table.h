#pragma once

/// The catalogue of hazards by family: one row for each, and everything else about hazards is made from these rows (hazards.h).
///
///     ROW(number, id, severity, evidence, kind, title, advice)
///
/// The number is a part of the code that people see ("H03") and never changes its meaning. The severity is the usual one: a
/// finding may be milder or worse, and then gives the reason in its condition. The kind is the usual one, too. The plan reports
/// H20 as a danger, because it has not happened yet. The records of a stale producer that has stopped (H04) are harm. The title
/// is a few words, the advice one sentence: what to do. Numbers of a family ascend, which the compiler checks.

// clang-format off

/// H: something goes wrong when a topic grows. H60 is about the findings themselves.
#define PARTITA_EXPANSION_HAZARDS(ROW) \
    ROW(1, keys_move, warn, predicted, danger, "keys move", \
        "Check the keys that move before you expand; consumers that keep state per partition must handle them.") \
    ROW(2, keys_shuffle_among_old_partitions, warn, predicted, danger, "keys move between old partitions", \
        "Choose a multiple of the current count, and expand to it in one step.") \
    ROW(3, backlog_inversion, block, predicted, danger, "newer records will overtake a backlog", \
        "Let the groups read up to the end first, or expand in fenced mode.") \
    ROW(4, stale_producer, warn, live, danger, "a producer still uses the old count", \
        "Wait until it refreshes its metadata or restart it; lower metadata.max.age.ms before the next expansion.") \
    ROW(5, producer_never_learns, warn, live, danger, "a producer does not learn the new count", \
        "Restart or fix the producer: it reads the partition count only once, or the count is in its code.") \
    ROW(6, inversion_delivered, block, live, harm, "records of a key were read out of order", \
        "Check the reader's results for these keys: it may have handled a newer record before an older one.") \
    ROW(7, replay_inversion, warn, both, danger, "a replay will be out of order", \
        "Do not replay from before the expansion until the older records have expired, or replay into a new topic.") \
    ROW(8, mixed_partitioners, block, predicted, danger, "producers disagree about the hash", \
        "Give all producers of the topic the same partitioner before you expand.") \
    ROW(9, key_in_two_partitions, warn, both, harm, "the same key lies in several partitions", \
        "Look for a second partitioner, explicit partitions, or keys whose schema id changed: order is already lost.") \
    ROW(10, hot_key_not_helped, warn, predicted, danger, "a hot key stays hot", \
        "More partitions cannot split one key; change the key if its partition is the bottleneck.") \
    ROW(11, keys_ignored, info, predicted, danger, "the partition does not depend on the key", \
        "Nothing to do: the topic has no order by key that an expansion could break.") \
    ROW(12, new_partitions_unused, warn, both, danger, "new partitions stay empty", \
        "Look for producers that choose partitions explicitly.") \
    ROW(20, latest_loses_first_records, block, both, harm, "auto.offset.reset=latest skips first records", \
        "Expand in safe-offsets mode, or set auto.offset.reset=earliest before you expand.") \
    ROW(21, none_crashes, warn, live, danger, "auto.offset.reset=none stops consumers", \
        "Expand in safe-offsets mode, so that the new partitions have a committed offset.") \
    ROW(22, group_blind, warn, live, danger, "a group does not read new partitions", \
        "Restart the group's consumers, or make them refresh their metadata.") \
    ROW(23, manual_readers, warn, live, danger, "a client reads a fixed set of partitions", \
        "Tell the owners of these clients: the clients will never read the new partitions by themselves.") \
    ROW(24, rebalance, info, predicted, danger, "groups rebalance", \
        "With an eager assignor every member stops once; expand when a short pause is acceptable.") \
    ROW(25, uneven_members, info, predicted, danger, "members get unequal shares", \
        "Choose a count that is a multiple of both the current count and the number of consumers.") \
    ROW(26, streams_application_dies, block, predicted, danger, "a Kafka Streams application will not start again", \
        "Stop the application and reset it, give it a new application.id, or copy into a new topic.") \
    ROW(27, copartition_breaks, block, predicted, danger, "joined topics get different counts", \
        "Expand both topics to the same count in one request.") \
    ROW(28, partition_state_lost, warn, predicted, danger, "state kept per partition is left behind", \
        "Expect moved keys to start from empty state on their new owner, or rebuild the state.") \
    ROW(29, external_offsets, info, both, danger, "offsets are kept outside of Kafka", \
        "Check how the application finds new partitions and where it starts in them.") \
    ROW(30, seeded_offsets, info, both, danger, "offset 0 was committed for new partitions", \
        "Look up the seeded offsets in the topic's expansions; change one like any commit.") \
    ROW(31, share_groups, info, predicted, danger, "a share group reads the topic", \
        "Share groups promise no order; check where they start in new partitions.") \
    ROW(40, compacted_orphans, block, predicted, danger, "compaction will keep old values for ever", \
        "Copy the topic into a new one, or write tombstones for the moved keys into their old partitions.") \
    ROW(41, tombstone_miss, block, live, harm, "a tombstone misses its key", \
        "Write the tombstone to the old partition, too: the key still has its value there.") \
    ROW(42, internal_topic, block, predicted, danger, "the topic is internal", \
        "Do not expand it: clients find coordinators by the partition count, and groups would lose their offsets.") \
    ROW(43, single_partition_topic, block, predicted, danger, "the application needs exactly one partition", \
        "Leave the topic at one partition: its application relies on the order of all records in the topic.") \
    ROW(44, connect_state, warn, predicted, danger, "Kafka Connect keeps state in the topic", \
        "Leave the count as it is: after a restart a stale source offset may win.") \
    ROW(45, streams_internal_topic, block, predicted, danger, "the topic belongs to a Kafka Streams application", \
        "Do not expand it: the application refuses to start if the count is not the one that it expects.") \
    ROW(46, open_transactions, warn, predicted, danger, "transactions are open", \
        "Let them finish first: until then readers wait, and nothing can tell whether a group has read everything.") \
    ROW(47, idempotent_producers, info, predicted, danger, "idempotent producers are safe", \
        "Nothing to do: producers keep sequences per partition, and a retry goes to the partition of the first attempt.") \
    ROW(48, mirrors, warn, both, danger, "the topic is mirrored", \
        "Expect the copy to grow later; until then it refuses records that name a new partition.") \
    ROW(49, irreversible, info, predicted, danger, "a partition count cannot shrink", \
        "Be sure of the count: only a copy into a new topic undoes the expansion.") \
    ROW(50, no_history, info, predicted, danger, "earlier expansions are unknown", \
        "Expect keys where older counts put them: earlier changes of the count were not recorded here.") \
    ROW(51, metadata_gaps, warn, live, danger, "metadata lists partitions incompletely", \
        "Report it: clients count the list, and a gap moves every key.") \
    ROW(52, held_reader, warn, live, danger, "the fence holds a reader that may be in no group", \
        "Give each application its own client.id; on the broker's machine, let the broker see which process owns a socket.") \
    ROW(60, findings_overflow, info, live, danger, "more findings hold than are shown", \
        "Fix the worst ones first; the others appear as these close.")

/// G: something is wrong with the members of a group. The cause need not be a growth, and no plan predicts these.
#define PARTITA_GROUP_HAZARDS(ROW) \
    ROW(1, two_owners, warn, live, danger, "a partition has two owners", \
        "Find the process that continues, and make it stop at a refused commit: both owners processed the same records.") \
    ROW(2, commits_refused, warn, live, danger, "commits come too late", \
        "Commit before partitions are given up, and poll within max.poll.interval.ms: the group reads records of refused commits again.") \
    ROW(3, never_settles, warn, live, danger, "a group does not settle", \
        "Find the members that come and go in its rebalances: give them static ids, more time, or a cooperative assignor.") \
    ROW(4, partitions_flap, warn, live, danger, "partitions move back and forth", \
        "Check these members: the group drops one of them again and again, and it comes back.")

/// C: changes of the capacity of the broker as a whole.
#define PARTITA_CAPACITY_HAZARDS(ROW) \
    ROW(1, capacity_changed, info, live, danger, "capacity changed", \
        "Nothing to do: the new capacity limits requests from now on.")

// clang-format on
