//! A member of a group: reports every record once it has it, then commits it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

use agent::{emit, emit_owned, json, Failure, Reply, Request, Stop};
use rdkafka::client::ClientContext;
use rdkafka::config::{ClientConfig, FromClientConfigAndContext};
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer, ConsumerContext, Rebalance};
use rdkafka::{Message, Offset, TopicPartitionList};

use crate::{describe, failure};

/// Bounds what is taken before a commit.
const MAXIMUM_BATCH: usize = 1000;
/// Codes with which a coordinator refuses a commit during or after a rebalance.
const REFUSED_COMMITS: [i32; 3] = [22, 25, 27];

/// What the rebalance callbacks share with the loop; they run within its polls.
struct Share {
    name: String,
    topic: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    owned: BTreeSet<i32>,
    uncommitted: BTreeMap<i32, i64>,
}

fn partitions(list: &TopicPartitionList) -> Vec<i32> {
    list.elements().iter().map(|element| element.partition()).collect()
}

impl Share {
    /// Commits what was taken. A refusal that a rebalance explains is told and kept: the revocation or the next round
    /// commits it.
    fn commit(&self, consumer: &BaseConsumer<Share>, state: &mut State) -> Result<(), Failure> {
        if state.uncommitted.is_empty() {
            return Ok(());
        }
        let mut offsets = TopicPartitionList::new();
        for (partition, next) in &state.uncommitted {
            offsets.add_partition_offset(&self.topic, *partition, Offset::Offset(*next)).map_err(failure)?;
        }
        match consumer.commit(&offsets, CommitMode::Sync).map_err(failure) {
            Ok(()) => state.uncommitted.clear(),
            Err(refused) if REFUSED_COMMITS.contains(&refused.code) => {
                refused.tell(&self.name, "commit_failed", state.uncommitted.keys().copied().collect())
            }
            Err(failure) => return Err(failure),
        }
        Ok(())
    }
}

impl ClientContext for Share {}

impl ConsumerContext for Share {
    fn pre_rebalance(&self, consumer: &BaseConsumer<Share>, rebalance: &Rebalance<'_>) {
        let mut state = self.state.lock().unwrap();
        let change = match rebalance {
            Rebalance::Assign(list) => {
                state.owned.extend(partitions(list));
                "assigned"
            }
            Rebalance::Revoke(list) => {
                let lost = consumer.assignment_lost();
                if !lost {
                    if let Err(failure) = self.commit(consumer, &mut state) {
                        failure.tell(&self.name, "failed", vec![]);
                    }
                }
                for partition in partitions(list) {
                    state.owned.remove(&partition);
                    state.uncommitted.remove(&partition);
                }
                if lost {
                    "lost"
                } else {
                    "revoked"
                }
            }
            Rebalance::Error(error) => return failure(error.clone()).tell(&self.name, "failed", vec![]),
        };
        emit_owned(&self.name, change, state.owned.iter().copied().collect());
    }
}

pub struct Member {
    consumer: BaseConsumer<Share>,
}

impl Member {
    pub fn new(config: ClientConfig, request: Request) -> Result<Self, Failure> {
        let share = Share { name: request.name, topic: request.topic, state: Mutex::default() };
        let consumer = BaseConsumer::from_config_and_context(&config, share).map_err(failure)?;
        let topic = consumer.context().topic.clone();
        consumer.subscribe(&[&topic]).map_err(failure)?;
        Ok(Member { consumer })
    }

    fn take(&self) -> Result<(), Failure> {
        let share = self.consumer.context();
        let mut patience = Duration::from_millis(100);
        for _ in 0..MAXIMUM_BATCH {
            let Some(message) = self.consumer.poll(patience) else { break };
            let message = message.map_err(failure)?;
            let mut event = describe(&message);
            event["member"] = json!(share.name);
            event["event"] = json!("record");
            emit(&event);
            share.state.lock().unwrap().uncommitted.insert(message.partition(), message.offset() + 1);
            patience = Duration::ZERO;
        }
        share.commit(&self.consumer, &mut share.state.lock().unwrap())
    }

    pub fn run(self, stop: Stop) -> Reply {
        let name = self.consumer.context().name.clone();
        while !*stop.borrow() {
            if let Err(failure) = self.take() {
                failure.tell(&name, "failed", vec![]);
                break;
            }
        }
        // Leaves the group.
        drop(self);
        emit(&json!({"member": name, "event": "closed"}));
        Ok(json!({}))
    }
}
