//! rskafka as an agent: the requests and events are described in clients.py. The library knows partitions only: neither
//! groups nor keys, so the streams here choose partitions themselves.

use std::collections::BTreeMap;
use std::env::var;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::{crate_version, json, text, Failure, Library, Progress, Record, Reply, Request, Sending, Stop, Value};
use chrono::{DateTime, Utc};
use futures::StreamExt;
use rskafka::client::consumer::{StartOffset, StreamConsumerBuilder};
use rskafka::client::error::{Error, ProtocolError};
use rskafka::client::partition::{Compression, OffsetAt, PartitionClient, UnknownTopicHandling};
use rskafka::client::producer::aggregator::RecordAggregator;
use rskafka::client::producer::{BatchProducer, BatchProducerBuilder};
use rskafka::client::{Client, ClientBuilder, Credentials, SaslConfig};
use rskafka::record::RecordAndOffset;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use tokio::task::JoinHandle;

const ADMIN_TIMEOUT_MS: i32 = 30_000;
const MAXIMUM_BATCH_BYTES: usize = 1_000_000;

type Producer = BatchProducer<RecordAggregator>;

struct Rskafka {
    bootstrap: String,
}

/// The library shows errors as names, so their codes are searched for.
fn failure(error: Error) -> Failure {
    let code = match &error {
        Error::ServerError { protocol_error, .. } => {
            (-1..1000).find(|code| ProtocolError::new(*code) == Some(*protocol_error)).unwrap_or(-1)
        }
        _ => -1,
    };
    Failure::new(code.into(), &error)
}

fn moment(timestamp: Option<i64>) -> DateTime<Utc> {
    timestamp.map_or_else(Utc::now, |ms| DateTime::from_timestamp_millis(ms).expect("a time that chrono knows"))
}

fn record(from: Record) -> rskafka::record::Record {
    rskafka::record::Record {
        key: from.key.map(String::into_bytes),
        value: from.value.map(String::into_bytes),
        headers: from.headers.into_iter().map(|(key, value)| (key, value.unwrap_or_default().into_bytes())).collect(),
        timestamp: moment(from.timestamp),
    }
}

fn describe(topic: &str, partition: i32, found: &RecordAndOffset) -> Value {
    let record = &found.record;
    let headers: Vec<_> = record.headers.iter().map(|(key, value)| json!([key, text(Some(value))])).collect();
    json!({"topic": topic, "partition": partition, "offset": found.offset,
           "timestamp": record.timestamp.timestamp_millis(), "key": text(record.key.as_deref()),
           "value": text(record.value.as_deref()), "headers": headers})
}

/// Whom to trust, and a certificate of one's own, as the environment says it (clients.py); none for a listener without TLS.
fn tls() -> Option<Arc<ClientConfig>> {
    let mut roots = RootCertStore::empty();
    let authorities = CertificateDer::pem_file_iter(var("CLIENT_CA").ok()?).expect("the authority's file");
    roots.add_parsable_certificates(authorities.map(|one| one.expect("a certificate")));
    let builder = ClientConfig::builder().with_root_certificates(roots);
    let Ok(own) = var("CLIENT_CERTIFICATE") else { return Some(Arc::new(builder.with_no_client_auth())) };
    let chain = CertificateDer::pem_file_iter(&own).expect("the client's file").map(|one| one.expect("a certificate"));
    let key = PrivateKeyDer::from_pem_file(&own).expect("a key");
    Some(Arc::new(builder.with_client_auth_cert(chain.collect(), key).expect("a certificate and its key")))
}

impl Rskafka {
    async fn client(&self) -> Result<Client, Failure> {
        let mut builder = ClientBuilder::new(vec![self.bootstrap.clone()]);
        if let Some(tls) = tls() {
            builder = builder.tls_config(tls);
        }
        if let (Ok(user), Ok(password)) = (var("CLIENT_USER"), var("CLIENT_PASSWORD")) {
            builder = builder.sasl_config(SaslConfig::ScramSha512(Credentials::new(user, password)));
        }
        builder.build().await.map_err(failure)
    }
}

async fn partition_ids(client: &Client, topic: &str) -> Result<Vec<i32>, Failure> {
    let topics = client.list_topics().await.map_err(failure)?;
    Ok(topics.into_iter().find(|t| t.name == topic).map(|t| t.partitions.into_iter().collect()).unwrap_or_default())
}

async fn partition(client: &Client, topic: &str, id: i32) -> Result<Arc<PartitionClient>, Failure> {
    client.partition_client(topic, id, UnknownTopicHandling::Error).await.map(Arc::new).map_err(failure)
}

fn compression(request: &Request) -> Compression {
    match request.codec.as_deref() {
        Some("gzip") => Compression::Gzip,
        Some("snappy") => Compression::Snappy,
        Some("lz4") => Compression::Lz4,
        Some("zstd") => Compression::Zstd,
        _ => Compression::NoCompression,
    }
}

/// One request for each partition; what has none goes to the first.
async fn produce(client: &Client, request: Request) -> Reply {
    let mut acks = vec![Value::Null; request.records.len()];
    let mut batches: BTreeMap<i32, Vec<usize>> = BTreeMap::new();
    for (index, from) in request.records.iter().enumerate() {
        batches.entry(from.partition.unwrap_or(0)).or_default().push(index);
    }
    for (id, indices) in batches {
        let records = indices.iter().map(|index| record(request.records[*index].clone())).collect();
        let produced = match partition(client, &request.topic, id).await {
            Ok(partition) => partition.produce(records, compression(&request)).await.map_err(failure),
            Err(failure) => Err(failure),
        };
        for (position, index) in indices.into_iter().enumerate() {
            acks[index] = match &produced {
                Ok(offsets) => json!({"partition": id, "offset": offsets[position]}),
                Err(failure) => failure.reply(),
            };
        }
    }
    Ok(json!({"acks": acks}))
}

async fn read(client: &Client, request: Request) -> Reply {
    let mut streams = Vec::new();
    for id in partition_ids(client, &request.topic).await? {
        let partition = partition(client, &request.topic, id).await?;
        let stream = StreamConsumerBuilder::new(partition, StartOffset::Earliest).with_max_wait_ms(100).build();
        streams.push(stream.map(move |found| (id, found)));
    }
    let mut found = futures::stream::select_all(streams);
    let deadline = Instant::now() + Duration::from_millis(request.timeout_ms);
    let mut records = Vec::new();
    while records.len() < request.count {
        match tokio::time::timeout_at(deadline.into(), found.next()).await {
            Ok(Some((id, Ok((next, _))))) => records.push(describe(&request.topic, id, &next)),
            Ok(Some((_, Err(error)))) => return Err(failure(error)),
            Ok(None) | Err(_) => break,
        }
    }
    Ok(json!({"records": records}))
}

async fn offsets_for_time(client: &Client, request: Request) -> Reply {
    let mut offsets = json!({});
    for id in partition_ids(client, &request.topic).await? {
        let partition = partition(client, &request.topic, id).await?;
        let at = OffsetAt::Timestamp(moment(Some(request.timestamp)));
        offsets[id.to_string()] = json!(partition.get_offset(at).await.map_err(failure)?);
    }
    Ok(json!({"offsets": offsets}))
}

/// The library tells nothing of the low watermark, so the earliest offset is asked for afterwards.
async fn delete_records(client: &Client, request: Request) -> Reply {
    let partition = partition(client, &request.topic, request.partition).await?;
    partition.delete_records(request.offset, ADMIN_TIMEOUT_MS).await.map_err(failure)?;
    Ok(json!({"low_watermark": partition.get_offset(OffsetAt::Earliest).await.map_err(failure)?}))
}

/// A producer for each partition that was there when somebody last looked.
struct Spread {
    client: Client,
    topic: String,
    metadata_age: Duration,
    seen: Option<Instant>,
    producers: Vec<(i32, Arc<Producer>)>,
}

impl Spread {
    async fn choose(&mut self, key: &str) -> Result<(i32, Arc<Producer>), Failure> {
        if self.seen.is_none_or(|seen| seen.elapsed() > self.metadata_age) {
            for id in partition_ids(&self.client, &self.topic).await?.into_iter().skip(self.producers.len()) {
                let producer = BatchProducerBuilder::new(partition(&self.client, &self.topic, id).await?)
                    .with_linger(Duration::from_millis(5))
                    .build(RecordAggregator::new(MAXIMUM_BATCH_BYTES));
                self.producers.push((id, Arc::new(producer)));
            }
            self.seen = Some(Instant::now());
        }
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        Ok(self.producers[hasher.finish() as usize % self.producers.len()].clone())
    }
}

async fn stream(mut spread: Spread, request: Request, stop: Stop) -> Reply {
    let progress = Progress::new(&request.name);
    let mut sending = Sending::default();
    agent::pace(&request, stop, async |n, key| {
        let (id, producer) = match spread.choose(&key).await {
            Ok(chosen) => chosen,
            Err(failure) => return progress.add(n, Err(failure)),
        };
        let progress = progress.clone();
        let from = Record { key: Some(key), value: Some(n.to_string()), ..Record::default() };
        let sent = async move {
            let outcome = producer.produce(record(from)).await;
            progress.add(n, outcome.map(|offset| (id, offset)).map_err(|error| Failure::new(-1, &error)));
        };
        sending.begin(sent).await;
    })
    .await;
    sending.finish().await;
    Ok(progress.reply())
}

impl Library for Rskafka {
    async fn call(&self, request: Request) -> Reply {
        let client = self.client().await?;
        let controller = client.controller_client().map_err(failure)?;
        match request.op.as_str() {
            "version" => return Ok(crate_version("rskafka")),
            "create_topic" => controller
                .create_topic(request.topic, request.partitions, 1, ADMIN_TIMEOUT_MS)
                .await
                .map_err(failure)?,
            "delete_topic" => controller.delete_topic(request.topic, ADMIN_TIMEOUT_MS).await.map_err(failure)?,
            "partitions" => return Ok(json!({"partitions": partition_ids(&client, &request.topic).await?})),
            "produce" => return produce(&client, request).await,
            "read" => return read(&client, request).await,
            "offsets_for_time" => return offsets_for_time(&client, request).await,
            "delete_records" => return delete_records(&client, request).await,
            "list_topics" => {
                let topics = client.list_topics().await.map_err(failure)?;
                return Ok(json!({"topics": topics.into_iter().map(|topic| topic.name).collect::<Vec<_>>()}));
            }
            other => return Err(Failure::new(-1, &format!("the library has no {other}"))),
        }
        Ok(json!({}))
    }

    async fn start(&self, request: Request, stop: Stop) -> Result<JoinHandle<Reply>, Failure> {
        let mut spread = Spread {
            client: self.client().await?,
            topic: request.topic.clone(),
            metadata_age: Duration::from_millis(request.metadata_age_ms.unwrap_or(5000)),
            seen: None,
            producers: Vec::new(),
        };
        spread.choose("").await?;
        Ok(agent::run_apart(|| stream(spread, request, stop)))
    }
}

fn main() {
    agent::serve(Rskafka { bootstrap: std::env::args().nth(1).expect("the bootstrap address") });
}
