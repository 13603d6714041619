package partitatest

import (
	"encoding/binary"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Asks for the versions of the broker's APIs, which needs no library.
func ask(t *testing.T, address string) {
	t.Helper()
	connection, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	request := []byte{0, 0, 0, 12, 0, 18, 0, 0, 0, 0, 0, 7, 0, 2, 'm', 'e'}
	if _, err := connection.Write(request); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 10)
	connection.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := connection.Read(answer); err != nil {
		t.Fatal(err)
	}
	if id, code := binary.BigEndian.Uint32(answer[4:]), binary.BigEndian.Uint16(answer[8:]); id != 7 || code != 0 {
		t.Fatalf("answered %d with error %d", id, code)
	}
}

func TestTheBrokerServesWhenStartReturns(t *testing.T) {
	one, other := Start(t), Start(t, "num.partitions=3")
	ask(t, one.Addr)
	ask(t, other.Addr)
	if one.Addr == other.Addr {
		t.Fatal("two brokers at one address")
	}
}

func TestItEndsWithItsTest(t *testing.T) {
	var pid int
	t.Run("inner", func(t *testing.T) { pid = Start(t).Pid() })
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Fatalf("process %d: %v", pid, err)
	}
}

func TestAStartThatIsRefusedSaysWhy(t *testing.T) {
	_, err := start(t.TempDir(), []string{"num.partitions=none"})
	if err == nil || !strings.Contains(err.Error(), "num.partitions") {
		t.Fatal(err)
	}
}

func TestThatFails(t *testing.T) {
	if os.Getenv("PARTITA_STARTER_FAILS") == "" {
		t.Skip("fails on purpose")
	}
	ask(t, Start(t).Addr)
	t.Error("on purpose")
}
