//! What the agents of Rust clients share: the requests and events of clients.py over the standard streams.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::io::{BufRead, Write};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use serde::Deserialize;
pub use serde_json::{json, Value};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

/// Bounds what a stream may hold; a test never comes near it.
const MAXIMUM_STREAM_RECORDS: usize = 1_000_000;

/// A record that a test wants to have produced.
#[derive(Clone, Default, Deserialize)]
pub struct Record {
    pub partition: Option<i32>,
    pub timestamp: Option<i64>,
    pub key: Option<String>,
    pub value: Option<String>,
    #[serde(default)]
    pub headers: Vec<(String, Option<String>)>,
}

/// The fields of all requests; absent ones are zero, empty or none.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub struct Request {
    pub id: u64,
    pub op: String,
    pub name: String,
    pub topic: String,
    pub group: String,
    pub partition: i32,
    pub partitions: i32,
    pub offset: i64,
    pub count: usize,
    pub config: String,
    pub value: String,
    pub configs: HashMap<String, Value>,
    pub records: Vec<Record>,
    pub codec: Option<String>,
    pub acks: Option<String>,
    pub idempotence: Option<bool>,
    pub timeout_ms: u64,
    pub timestamp: i64,
    pub metadata_age_ms: Option<u64>,
    pub unknown_topic_wait_ms: Option<u64>,
    pub session_timeout_ms: Option<u64>,
    pub instance_id: Option<String>,
    pub assignor: Option<String>,
    pub keys: Option<usize>,
    pub interval_us: Option<u64>,
}

/// An error of the library: Kafka's code, or a negative one of its own.
#[derive(Clone, Debug)]
pub struct Failure {
    pub code: i32,
    pub kind: String,
    pub message: String,
}

impl Failure {
    pub fn new(code: i32, error: &(impl std::fmt::Debug + std::fmt::Display)) -> Self {
        let debug = format!("{error:?}");
        let kind = debug.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        Failure { code, kind: kind.to_string(), message: error.to_string() }
    }

    /// As a failed reply or acknowledgement.
    pub fn reply(&self) -> Value {
        json!({"ok": false, "code": self.code, "type": self.kind, "message": self.message})
    }

    /// Tells of it as an event of a member, which concerns these partitions.
    pub fn tell(&self, member: &str, event: &str, partitions: Vec<i32>) {
        let mut line = self.reply();
        line["member"] = json!(member);
        line["event"] = json!(event);
        line["partitions"] = json!(partitions);
        emit(&line);
    }
}

/// A reply's fields, or why there are none.
pub type Reply = Result<Value, Failure>;

/// Says when a stream or a member is to end.
pub type Stop = watch::Receiver<bool>;

/// One client library.
pub trait Library {
    /// Serves every request but those that start and stop something.
    fn call(&self, request: Request) -> impl Future<Output = Reply>;

    /// Starts a stream or a member; the task ends soon after `stop` turns true, with the reply to the stop.
    fn start(&self, request: Request, stop: Stop) -> impl Future<Output = Result<JoinHandle<Reply>, Failure>>;
}

/// Writes one line.
pub fn emit(line: &Value) {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}").and_then(|()| output.flush()).expect("standard output is open");
}

/// Tells what a member owns now.
pub fn emit_owned(member: &str, change: &str, mut partitions: Vec<i32>) {
    partitions.sort();
    emit(&json!({"member": member, "event": "owned", "change": change, "partitions": partitions}));
}

/// Text of a test's record; null stays null.
pub fn text(raw: Option<&[u8]>) -> Value {
    raw.map_or(Value::Null, |bytes| json!(String::from_utf8_lossy(bytes)))
}

/// The version of a crate that this program was built with.
pub fn crate_version(name: &str) -> Value {
    let lock = include_str!("../../Cargo.lock");
    let entry = lock.split_once(&format!("name = \"{name}\"\nversion = \"")).expect("the crate is locked").1;
    json!({"version": entry.split('"').next()})
}

/// What a stream learned from its acknowledgements.
#[derive(Clone)]
pub struct Progress {
    name: String,
    state: Arc<Mutex<ProgressState>>,
}

#[derive(Default)]
struct ProgressState {
    acked: Vec<(usize, i32, i64)>,
    failed: Vec<(usize, String)>,
    seen: HashSet<i32>,
}

impl Progress {
    pub fn new(name: &str) -> Self {
        Progress { name: name.to_string(), state: Default::default() }
    }

    /// Notes what became of a value, and tells of the first of a partition and of every thousandth.
    pub fn add(&self, n: usize, outcome: Result<(i32, i64), Failure>) {
        let mut state = self.state.lock().unwrap();
        let (partition, offset) = match outcome {
            Ok(placed) => placed,
            Err(failure) => return state.failed.push((n, failure.message)),
        };
        state.acked.push((n, partition, offset));
        let first = state.seen.insert(partition);
        let acked = state.acked.len();
        if first || acked % 1000 == 0 {
            let event = if first { "partition" } else { "progress" };
            emit(&json!({"stream": self.name, "event": event, "partition": partition, "acked": acked}));
        }
    }

    /// The reply to stream_stop.
    pub fn reply(&self) -> Value {
        let state = self.state.lock().unwrap();
        json!({"acked": state.acked, "failed": state.failed})
    }
}

/// Records on their way.
#[derive(Default)]
pub struct Sending {
    tasks: JoinSet<()>,
}

impl Sending {
    /// Begins a send at once, so that records are queued in the order of these calls; its end is waited for elsewhere.
    pub async fn begin(&mut self, send: impl Future<Output = ()> + Send + 'static) {
        let mut send = Box::pin(send);
        let done = std::future::poll_fn(|context| Poll::Ready(send.as_mut().poll(context).is_ready())).await;
        if !done {
            self.tasks.spawn(send);
        }
    }

    /// Waits for all that began.
    pub async fn finish(self) {
        self.tasks.join_all().await;
    }
}

/// Runs what `make` makes on a thread of its own, for a future that borrows from itself cannot move between threads.
pub fn run_apart<F: Future<Output = Reply>>(make: impl FnOnce() -> F + Send + 'static) -> JoinHandle<Reply> {
    let runtime = tokio::runtime::Handle::current();
    tokio::task::spawn_blocking(move || runtime.block_on(make()))
}

/// Calls `send` with 0, 1, 2 ... and a key at the request's interval until the stop.
pub async fn pace(request: &Request, mut stop: Stop, mut send: impl AsyncFnMut(usize, String)) {
    let interval = Duration::from_micros(request.interval_us.unwrap_or(2000));
    let keys = request.keys.unwrap_or(97);
    for n in 0..MAXIMUM_STREAM_RECORDS {
        if tokio::time::timeout(interval, stop.wait_for(|stopped| *stopped)).await.is_ok() {
            return;
        }
        send(n, format!("k{}", n % keys)).await;
    }
}

/// Who the client is, as its environment says it (clients.py), for a library that is told by settings: (name, value) of
/// the lines in the file for clients on librdkafka.
pub fn settings() -> Vec<(String, String)> {
    let Ok(file) = std::env::var("CLIENT_LIBRDKAFKA") else { return Vec::new() };
    let text = std::fs::read_to_string(file).expect("the file that the environment names");
    text.lines().filter_map(|line| line.split_once('=')).map(|(name, value)| (name.into(), value.into())).collect()
}

/// Answers requests until standard input ends.
pub fn serve(library: impl Library) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let mut running = HashMap::new();
    for line in std::io::stdin().lock().lines() {
        let request: Request = serde_json::from_str(&line.expect("a line of text")).expect("a request");
        let id = request.id;
        let mut reply = match runtime.block_on(serve_one(&library, request, &mut running)) {
            Ok(mut reply) => {
                reply["ok"] = json!(true);
                reply
            }
            Err(failure) => failure.reply(),
        };
        reply["reply"] = json!(id);
        emit(&reply);
    }
    runtime.shutdown_background();
}

type Running = HashMap<String, (watch::Sender<bool>, JoinHandle<Reply>)>;

async fn serve_one(library: &impl Library, request: Request, running: &mut Running) -> Reply {
    match request.op.as_str() {
        "stream_start" | "member_start" => {
            let (stop, stopped) = watch::channel(false);
            let name = request.name.clone();
            running.insert(name, (stop, library.start(request, stopped).await?));
            Ok(json!({}))
        }
        "stream_stop" | "member_stop" => {
            let (stop, task) = running.remove(&request.name).expect("it was started");
            stop.send_replace(true);
            task.await.expect("it ended in order")
        }
        _ => library.call(request).await,
    }
}
