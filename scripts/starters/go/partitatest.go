// Package partitatest starts a Partita broker for a test.
//
//	broker := partitatest.Start(t, "num.partitions=3")
//	client, err := kgo.NewClient(kgo.SeedBrokers(broker.Addr))
//
// The program is PARTITA_BINARY, or partita in the path. Its data are in memory, its ports are free ones. It serves when Start returns and ends
// with the test. A test that fails logs what the broker wrote.
package partitatest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	ready      = "partita serves"
	startLimit = 30 * time.Second
	stopLimit  = 10 * time.Second
)

// Broker is a running broker.
type Broker struct {
	// Addr is where clients connect, as host:port.
	Addr    string
	command *exec.Cmd
	log     string
}

// Start starts a broker with settings, each as key=value. It fails the test at once when the broker does not start.
func Start(t testing.TB, settings ...string) *Broker {
	t.Helper()
	broker, err := start(t.TempDir(), settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of partita %s:\n%s", broker.Addr, broker.Log())
		}
		if err := broker.stop(); err != nil {
			t.Errorf("partita ended with %v:\n%s", err, broker.Log())
		}
	})
	return broker
}

// Log is what the broker wrote so far.
func (b *Broker) Log() string {
	text, err := os.ReadFile(b.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Pid is the process of the broker.
func (b *Broker) Pid() int { return b.command.Process.Pid }

func start(directory string, settings []string) (*Broker, error) {
	binary := os.Getenv("PARTITA_BINARY")
	if binary == "" {
		binary = "partita"
	}
	portFile := filepath.Join(directory, "port")
	arguments := []string{"serve", "--ephemeral", "--port", "0", "--http-port", "0", "--port-file", portFile,
		"--override", "partita.start.message=" + ready}
	for _, setting := range settings {
		arguments = append(arguments, "--override", setting)
	}
	broker := &Broker{command: exec.Command(binary, arguments...), log: filepath.Join(directory, "log")}
	log, err := os.Create(broker.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	broker.command.Dir = directory
	broker.command.Stderr = log
	output, err := broker.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := broker.command.Start(); err != nil {
		return nil, err
	}
	// Ends the wait for a line when none comes.
	alarm := time.AfterFunc(startLimit, func() { broker.command.Process.Kill() })
	line, _ := bufio.NewReader(output).ReadString('\n')
	alarm.Stop()
	if strings.TrimSpace(line) != ready {
		broker.command.Process.Kill()
		broker.command.Wait()
		return nil, fmt.Errorf("partita did not start:\n%s", broker.Log())
	}
	port, err := os.ReadFile(portFile)
	if err != nil {
		return nil, err
	}
	broker.Addr = "127.0.0.1:" + strings.TrimSpace(string(port))
	return broker, nil
}

func (b *Broker) stop() error {
	if err := b.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	alarm := time.AfterFunc(stopLimit, func() { b.command.Process.Kill() })
	defer alarm.Stop()
	return b.command.Wait()
}
