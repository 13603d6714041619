//! rust-rdkafka as an agent: the requests and events are described in clients.py.

mod admin;
mod member;

use std::time::{Duration, Instant};

use agent::{crate_version, json, text, Failure, Library, Progress, Record, Reply, Request, Sending, Stop, Value};
use rdkafka::config::{ClientConfig, FromClientConfig};
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{BorrowedMessage, Header, Headers, Message, OwnedHeaders};
use rdkafka::producer::{FutureProducer, FutureRecord, Producer};
use rdkafka::util::Timeout;
use rdkafka::{Offset, TopicPartitionList};
use tokio::task::JoinHandle;

pub const TIMEOUT: Duration = Duration::from_secs(30);

struct Rdkafka {
    bootstrap: String,
}

/// librdkafka's codes are Kafka's, and negative ones of its own.
pub fn failure(error: KafkaError) -> Failure {
    Failure::new(error.rdkafka_error_code().map_or(-1, |code| code as i32), &error)
}

pub fn code_failure(code: RDKafkaErrorCode) -> Failure {
    Failure::new(code as i32, &code)
}

pub fn describe(message: &BorrowedMessage<'_>) -> Value {
    let headers: Vec<_> = message.headers().map_or_else(Vec::new, |headers| {
        headers.iter().map(|header| json!([header.key, text(header.value)])).collect()
    });
    json!({"topic": message.topic(), "partition": message.partition(), "offset": message.offset(),
           "timestamp": message.timestamp().to_millis(), "key": text(message.key()), "value": text(message.payload()),
           "headers": headers})
}

impl Rdkafka {
    fn config(&self, request: &Request) -> ClientConfig {
        let mut config = ClientConfig::new();
        let patience = request.unknown_topic_wait_ms.unwrap_or(10_000);
        config
            .set("bootstrap.servers", &self.bootstrap)
            // Ask at once after a topic was created; the default waits out a propagation delay of a large cluster.
            .set("topic.metadata.propagation.max.ms", patience.to_string())
            .set("topic.metadata.refresh.fast.interval.ms", "50");
        for (name, value) in agent::settings() {
            config.set(name, value);
        }
        if let Some(age) = request.metadata_age_ms {
            config.set("topic.metadata.refresh.interval.ms", age.to_string());
        }
        config
    }

    fn producer(&self, request: &Request) -> Result<FutureProducer, Failure> {
        self.config(request)
            .set("linger.ms", "5")
            .set("acks", request.acks.as_deref().unwrap_or("all"))
            .set("compression.type", request.codec.as_deref().unwrap_or("none"))
            .set("enable.idempotence", request.idempotence.unwrap_or(true).to_string())
            .set("message.max.bytes", "20000000")
            .create()
            .map_err(failure)
    }

    fn consumer_config(&self, request: &Request) -> ClientConfig {
        let mut config = self.config(request);
        config
            .set("enable.auto.commit", "false")
            .set("auto.offset.reset", "earliest")
            .set("group.id", if request.group.is_empty() { "unused" } else { &request.group })
            .set("fetch.wait.max.ms", "100");
        if let Some(timeout) = request.session_timeout_ms {
            config.set("session.timeout.ms", timeout.to_string()).set("heartbeat.interval.ms", "500");
        }
        if let Some(instance) = &request.instance_id {
            config.set("group.instance.id", instance);
        }
        if let Some(assignor) = &request.assignor {
            let strategy = if assignor == "cooperative" { "cooperative-sticky" } else { "range" };
            config.set("partition.assignment.strategy", strategy);
        }
        config
    }

    fn consumer(&self, request: &Request) -> Result<BaseConsumer, Failure> {
        BaseConsumer::from_config(&self.consumer_config(request)).map_err(failure)
    }
}

/// All partitions of a topic at one offset, or at one timestamp where that is what is meant.
pub fn everywhere(consumer: &BaseConsumer, topic: &str, offset: Offset) -> Result<TopicPartitionList, Failure> {
    let mut list = TopicPartitionList::new();
    for id in admin::partition_ids(consumer.client(), topic)? {
        list.add_partition_offset(topic, id, offset).map_err(failure)?;
    }
    Ok(list)
}

/// The offsets of a list by partition, without those that are none.
fn offsets(list: TopicPartitionList, at_end: Option<i64>) -> Value {
    let mut found = json!({});
    for element in list.elements() {
        match (element.offset(), at_end) {
            (Offset::Offset(offset), _) => found[element.partition().to_string()] = json!(offset),
            (Offset::End, Some(shown)) => found[element.partition().to_string()] = json!(shown),
            _ => {}
        }
    }
    json!({"offsets": found})
}

async fn send(producer: FutureProducer, topic: String, from: Record) -> Result<(i32, i64), Failure> {
    let mut record = FutureRecord::to(&topic);
    record.partition = from.partition;
    record.timestamp = from.timestamp;
    record.key = from.key.as_ref();
    record.payload = from.value.as_ref();
    if !from.headers.is_empty() {
        record.headers =
            Some(from.headers.iter().fold(OwnedHeaders::new(), |headers, (key, value)| {
                headers.insert(Header { key, value: value.as_ref() })
            }));
    }
    let placed = producer.send(record, Timeout::Never).await;
    placed.map(|delivery| (delivery.partition, delivery.offset)).map_err(|(error, _)| failure(error))
}

async fn produce(producer: FutureProducer, request: Request) -> Reply {
    // Polled in turn, which is what queues the records in order; none waits for the one before.
    let sending = request.records.into_iter().map(|record| send(producer.clone(), request.topic.clone(), record));
    let acks = futures::future::join_all(sending).await.into_iter().map(|placed| match placed {
        Ok((partition, offset)) => json!({"partition": partition, "offset": offset}),
        Err(failure) => failure.reply(),
    });
    Ok(json!({"acks": acks.collect::<Vec<_>>()}))
}

fn read(consumer: BaseConsumer, request: Request) -> Reply {
    consumer.assign(&everywhere(&consumer, &request.topic, Offset::Beginning)?).map_err(failure)?;
    let deadline = Instant::now() + Duration::from_millis(request.timeout_ms);
    let mut records = Vec::new();
    while records.len() < request.count && Instant::now() < deadline {
        if let Some(message) = consumer.poll(Duration::from_millis(100)) {
            records.push(describe(&message.map_err(failure)?));
        }
    }
    Ok(json!({"records": records}))
}

async fn stream(producer: FutureProducer, request: Request, stop: Stop) -> Reply {
    let progress = Progress::new(&request.name);
    let mut sending = Sending::default();
    agent::pace(&request, stop, async |n, key| {
        let record = Record { key: Some(key), value: Some(n.to_string()), ..Record::default() };
        let (progress, placed) = (progress.clone(), send(producer.clone(), request.topic.clone(), record));
        sending.begin(async move { progress.add(n, placed.await) }).await;
    })
    .await;
    producer.flush(TIMEOUT).map_err(failure)?;
    sending.finish().await;
    Ok(progress.reply())
}

impl Library for Rdkafka {
    async fn call(&self, request: Request) -> Reply {
        match request.op.as_str() {
            "version" => Ok(crate_version("rdkafka")),
            "produce" => produce(self.producer(&request)?, request).await,
            "read" => read(self.consumer(&request)?, request),
            "offsets_for_time" => {
                let consumer = self.consumer(&request)?;
                let wanted = everywhere(&consumer, &request.topic, Offset::Offset(request.timestamp))?;
                // librdkafka says "end" where no record is as late as asked for.
                Ok(offsets(consumer.offsets_for_times(wanted, TIMEOUT).map_err(failure)?, Some(-1)))
            }
            "committed" => {
                let consumer = self.consumer(&request)?;
                let wanted = everywhere(&consumer, &request.topic, Offset::Invalid)?;
                Ok(offsets(consumer.committed_offsets(wanted, TIMEOUT).map_err(failure)?, None))
            }
            _ => admin::call(&self.config(&request), request).await,
        }
    }

    async fn start(&self, request: Request, stop: Stop) -> Result<JoinHandle<Reply>, Failure> {
        if request.op == "stream_start" {
            let producer = self.producer(&request)?;
            return Ok(agent::run_apart(|| stream(producer, request, stop)));
        }
        let member = member::Member::new(self.consumer_config(&request), request)?;
        Ok(tokio::task::spawn_blocking(move || member.run(stop)))
    }
}

fn main() {
    agent::serve(Rdkafka { bootstrap: std::env::args().nth(1).expect("the bootstrap address") });
}
