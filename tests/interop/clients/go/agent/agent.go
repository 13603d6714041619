// Package agent is what the agents of Go clients share: the requests and events of clients.py over standard streams.
package agent

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sort"
	"strconv"
	"sync"
	"time"
)

// MaximumStreamRecords bounds what a stream may hold; a test never comes near it.
const MaximumStreamRecords = 1_000_000

// A Header is a key and a value; the value may be null.
type Header [2]*string

// A Record is one that a test wants to have produced.
type Record struct {
	Partition *int32   `json:"partition"`
	Timestamp *int64   `json:"timestamp"`
	Key       *string  `json:"key"`
	Value     *string  `json:"value"`
	Headers   []Header `json:"headers"`
}

// A Request holds the fields of all requests; absent ones are zero.
type Request struct {
	ID                 int               `json:"id"`
	Op                 string            `json:"op"`
	Name               string            `json:"name"`
	Topic              string            `json:"topic"`
	Group              string            `json:"group"`
	Partition          int32             `json:"partition"`
	Partitions         int32             `json:"partitions"`
	Offset             int64             `json:"offset"`
	Count              int               `json:"count"`
	Config             string            `json:"config"`
	Value              string            `json:"value"`
	Configs            map[string]string `json:"configs"`
	Records            []Record          `json:"records"`
	Codec              string            `json:"codec"`
	Acks               string            `json:"acks"`
	Idempotence        *bool             `json:"idempotence"`
	TimeoutMs          int64             `json:"timeout_ms"`
	Timestamp          int64             `json:"timestamp"`
	MetadataAgeMs      int64             `json:"metadata_age_ms"`
	UnknownTopicWaitMs int64             `json:"unknown_topic_wait_ms"`
	SessionTimeoutMs   int64             `json:"session_timeout_ms"`
	InstanceID         string            `json:"instance_id"`
	Assignor           string            `json:"assignor"`
	Reset              string            `json:"reset"`
	ClientID           string            `json:"client_id"`
	Keys               int               `json:"keys"`
	IntervalUs         *int64            `json:"interval_us"`
}

// An Object is a reply or an event.
type Object map[string]interface{}

// A Library serves the requests of clients.py by filling their replies. StartStream and StartMember leave a Stopper in
// theirs, as "started".
type Library interface {
	// Code finds Kafka's error code in an error, or says false.
	Code(err error) (int, bool)

	CreateTopic(r *Request, reply Object) error
	CreatePartitions(r *Request, reply Object) error
	DeleteTopic(r *Request, reply Object) error
	Partitions(r *Request, reply Object) error
	Produce(r *Request, reply Object) error
	Read(r *Request, reply Object) error
	OffsetsForTime(r *Request, reply Object) error
	Committed(r *Request, reply Object) error
	ListTopics(r *Request, reply Object) error
	TopicConfig(r *Request, reply Object) error
	SetTopicConfig(r *Request, reply Object) error
	ListGroups(r *Request, reply Object) error
	DescribeGroup(r *Request, reply Object) error
	DeleteGroup(r *Request, reply Object) error
	StartStream(r *Request, reply Object) error
	StartMember(r *Request, reply Object) error
}

// A RecordDeleter is a library that can delete records, which not every one can.
type RecordDeleter interface {
	DeleteRecords(r *Request, reply Object) error
}

// An operation serves one kind of request.
type operation func(r *Request, reply Object) error

func operations(library Library, module string) map[string]operation {
	all := map[string]operation{
		"create_topic": library.CreateTopic, "create_partitions": library.CreatePartitions,
		"delete_topic": library.DeleteTopic, "partitions": library.Partitions, "produce": library.Produce,
		"read": library.Read, "offsets_for_time": library.OffsetsForTime, "committed": library.Committed,
		"list_topics": library.ListTopics, "topic_config": library.TopicConfig,
		"set_topic_config": library.SetTopicConfig, "list_groups": library.ListGroups,
		"describe_group": library.DescribeGroup, "delete_group": library.DeleteGroup,
		"stream_start": library.StartStream, "member_start": library.StartMember,
		"version": func(_ *Request, reply Object) error {
			reply["version"] = ModuleVersion(module)
			return nil
		},
	}
	if deleter, ok := library.(RecordDeleter); ok {
		all["delete_records"] = deleter.DeleteRecords
	}
	return all
}

// A Stopper is a stream or a member at work.
type Stopper interface {
	Finish(reply Object) error
}

var outputLock sync.Mutex

// Emit writes one line.
func Emit(line Object) {
	encoded, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	outputLock.Lock()
	defer outputLock.Unlock()
	os.Stdout.Write(append(encoded, '\n'))
}

// Failure is an error as the fields of a failed reply; code finds Kafka's error code in it, or says false.
func Failure(err error, code func(error) (int, bool)) Object {
	found, ok := code(err)
	if !ok {
		found = -1
	}
	return Object{"ok": false, "code": found, "type": fmt.Sprintf("%T", errors.Unwrap(err)), "message": err.Error()}
}

// Text is a string or null.
func Text(raw []byte) *string {
	if raw == nil {
		return nil
	}
	s := string(raw)
	return &s
}

// Raw is the bytes of a string, nil if it is null.
func Raw(value *string) []byte {
	if value == nil {
		return nil
	}
	return []byte(*value)
}

// ModuleVersion is the version of a module that this program was built with.
func ModuleVersion(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == path {
				return module.Version
			}
		}
	}
	return "unknown"
}

// Progress is what a stream learned from its acknowledgements.
type Progress struct {
	Name   string
	lock   sync.Mutex
	acked  [][3]int64
	failed [][2]interface{}
	seen   map[int32]bool
}

// Add notes an acknowledged value and tells of the first of a partition and of every thousandth.
func (p *Progress) Add(n int, partition int32, offset int64) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.seen == nil {
		p.seen = map[int32]bool{}
	}
	p.acked = append(p.acked, [3]int64{int64(n), int64(partition), offset})
	event := "progress"
	if !p.seen[partition] {
		p.seen[partition] = true
		event = "partition"
	}
	if event == "partition" || len(p.acked)%1000 == 0 {
		Emit(Object{"stream": p.Name, "event": event, "partition": partition, "acked": len(p.acked)})
	}
}

// Fail notes a value that was refused.
func (p *Progress) Fail(n int, err error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.failed = append(p.failed, [2]interface{}{n, err.Error()})
}

// Report fills the reply to stream_stop.
func (p *Progress) Report(reply Object) {
	p.lock.Lock()
	defer p.lock.Unlock()
	reply["acked"], reply["failed"] = append([][3]int64{}, p.acked...), append([][2]interface{}{}, p.failed...)
}

// A Stream writes the numbers 0, 1, 2 ... as values until it is stopped, and remembers what was acknowledged.
type Stream struct {
	Progress
	stop, sent chan struct{}
}

// Start calls send with 0, 1, 2 ... and their keys at the request's interval, until Stop.
func (s *Stream) Start(r *Request, send func(n int, key string)) {
	s.Name, s.stop, s.sent = r.Name, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(s.sent)
		s.pace(r, send)
	}()
}

// Stop returns when nothing more is sent.
func (s *Stream) Stop() {
	close(s.stop)
	<-s.sent
}

func (s *Stream) pace(r *Request, send func(n int, key string)) {
	keys, interval := 97, 2000*time.Microsecond
	if r.Keys != 0 {
		keys = r.Keys
	}
	if r.IntervalUs != nil {
		interval = time.Duration(*r.IntervalUs) * time.Microsecond
	}
	for n := 0; n < MaximumStreamRecords; n++ {
		select {
		case <-s.stop:
			return
		case <-time.After(interval):
		}
		send(n, "k"+strconv.Itoa(n%keys))
	}
}

// EmitOwned tells what a member owns now.
func EmitOwned(member, change string, partitions []int32) {
	sorted := append([]int32{}, partitions...)
	sort.Slice(sorted, func(i, j int) bool { return sorted[i] < sorted[j] })
	Emit(Object{"member": member, "event": "owned", "change": change, "partitions": sorted})
}

// EmitRecord tells of a record that a member has, and when it came by the machine's clock.
func EmitRecord(member string, record Object) {
	record["member"], record["event"], record["at_ns"] = member, "record", time.Now().UnixNano()
	Emit(record)
}

// Serve answers requests until standard input ends; module is the library's, whose version is told.
func Serve(library Library, module string) {
	all := operations(library, module)
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 64<<20)
	running := map[string]Stopper{}
	for input.Scan() {
		r := &Request{}
		if err := json.Unmarshal(input.Bytes(), r); err != nil {
			panic(err)
		}
		reply := Object{"ok": true}
		if err := serveOne(r, reply, all, running); err != nil {
			reply = Failure(err, library.Code)
		}
		reply["reply"] = r.ID
		Emit(reply)
	}
}

func serveOne(r *Request, reply Object, all map[string]operation, running map[string]Stopper) error {
	switch r.Op {
	case "stream_stop", "member_stop":
		stopper := running[r.Name]
		delete(running, r.Name)
		return stopper.Finish(reply)
	}
	serve, ok := all[r.Op]
	if !ok {
		return fmt.Errorf("unknown op %q", r.Op)
	}
	if err := serve(r, reply); err != nil {
		return err
	}
	if started, ok := reply["started"].(Stopper); ok {
		running[r.Name] = started
		delete(reply, "started")
	}
	return nil
}
