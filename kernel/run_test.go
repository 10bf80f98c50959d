//go:build !js

package kernel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"

	"github.com/quernlab/quern/kernel/transport"
	"github.com/quernlab/quern/kernel/wire"
)

// remote is a client over real sockets.
type remote struct {
	t              *testing.T
	file           string // connection file
	codec          *wire.Codec
	shell, control zmq4.Socket
	iopub          zmq4.Socket
}

// newRemote writes a connection file and returns a client for the kernel that will use
// it.
func newRemote(t *testing.T) *remote {
	t.Helper()
	ports := freePorts(t)
	text, err := json.Marshal(transport.Connection{
		Transport: "tcp", IP: "127.0.0.1", Key: string(key), Scheme: wire.Scheme,
		ShellPort: ports[0], ControlPort: ports[1], StdinPort: ports[2], IOPubPort: ports[3], HeartbeatPort: ports[4],
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &remote{t: t, file: filepath.Join(t.TempDir(), "kernel.json")}
	if err := os.WriteFile(r.file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if r.codec, err = wire.NewCodec(wire.Scheme, key); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	patient := zmq4.WithDialerMaxRetries(-1) // until ctx ends: a loaded machine starts a kernel slowly
	r.shell, r.control, r.iopub = zmq4.NewDealer(ctx, patient), zmq4.NewDealer(ctx, patient), zmq4.NewSub(ctx, patient)
	t.Cleanup(func() {
		cancel()
		for _, s := range []zmq4.Socket{r.shell, r.control, r.iopub} {
			s.Close()
		}
	})
	return r
}

// lastPort is the last port that freePorts has tried. Tests at the same time get different ones.
var lastPort atomic.Int64

func init() { lastPort.Store(rand.Int64N(15_000)) }

// freePorts returns ports that are free now, outside the range from which the system
// chooses ports.
func freePorts(t *testing.T) (ports [5]int) {
	t.Helper()
	for i := range ports {
		for {
			ports[i] = 15_000 + int(lastPort.Add(1)%15_000)
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", ports[i]))
			if err == nil {
				defer l.Close() // keep it until all are chosen, so that they differ
				break
			}
			if t.Context().Err() != nil {
				t.Fatal("no free port")
			}
		}
	}
	return ports
}

// connect waits for the kernel and connects to it.
func (r *remote) connect() {
	r.t.Helper()
	c, err := transport.ReadConnection(r.file)
	if err != nil {
		r.t.Fatal(err)
	}
	for socket, port := range map[zmq4.Socket]int{r.shell: c.ShellPort, r.control: c.ControlPort, r.iopub: c.IOPubPort} {
		if err := socket.Dial(fmt.Sprintf("tcp://127.0.0.1:%d", port)); err != nil {
			r.t.Fatal(err)
		}
	}
	if err := r.iopub.SetOption(zmq4.OptionSubscribe, ""); err != nil {
		r.t.Fatal(err)
	}
	for !strings.HasPrefix(r.receive(r.iopub).text, "iopub_welcome") {
	}
}

func (r *remote) send(socket zmq4.Socket, typ wire.Type, content string) {
	r.t.Helper()
	frames, err := r.codec.Encode(wire.Outgoing{Type: typ, Content: json.RawMessage(content)})
	if err == nil {
		err = socket.Send(zmq4.NewMsgFrom(frames...))
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *remote) receive(socket zmq4.Socket) received {
	r.t.Helper()
	frames, err := socket.Recv()
	if err != nil {
		r.t.Fatal(err)
	}
	m, err := r.codec.Decode(frames.Frames)
	if err != nil {
		r.t.Fatal(err)
	}
	return received{m, string(m.Header.Type) + " " + string(m.Body)}
}

// published returns the published messages up to the first one with the prefix until.
func (r *remote) published(until string) []string {
	r.t.Helper()
	var texts []string
	for {
		texts = append(texts, r.receive(r.iopub).text)
		if strings.HasPrefix(texts[len(texts)-1], until) {
			return texts
		}
	}
}

// workerPID returns the process id of the worker.
func (r *remote) workerPID() string {
	r.t.Helper()
	return r.value("pid")
}

// value runs a cell and returns its value.
func (r *remote) value(code string) string {
	r.t.Helper()
	r.send(r.shell, wire.ExecuteRequest, `{"code":"`+code+`"}`)
	var reply wire.ExecuteOK
	if m := r.receive(r.shell); m.Content(&reply) != nil || reply.Status != "ok" {
		r.t.Fatal(m.text)
	}
	for {
		m := r.receive(r.iopub)
		if m.Header.Type == wire.ExecuteResult {
			var result wire.Result
			if err := m.Content(&result); err != nil {
				r.t.Fatal(err)
			}
			r.published(idle)
			return fmt.Sprint(result.Data["text/plain"])
		}
	}
}

func TestRun(t *testing.T) {
	r := newRemote(t)
	ended := make(chan error, 1)
	go func() { ended <- Run(t.Context(), config(r.file)) }()
	r.connect()

	// The kernel process answers before the worker is up.
	r.send(r.control, wire.KernelInfoRequest, `{}`)
	if m := r.receive(r.control); !strings.HasPrefix(m.text, "kernel_info_reply") {
		t.Error(m.text)
	}
	r.published(idle)
	if pid := r.workerPID(); pid == fmt.Sprint(os.Getpid()) {
		t.Error("the cell ran in the kernel process")
	}

	r.send(r.shell, wire.ExecuteRequest, `{"code":"wait"}`)
	r.published("stream")
	r.send(r.control, wire.InterruptRequest, `{}`)
	if m := r.receive(r.shell); !strings.Contains(m.text, `"ename":"interrupted"`) {
		t.Error(m.text)
	}
	if m := r.receive(r.control); m.text != `interrupt_reply {"status":"ok"}` {
		t.Error(m.text)
	}

	r.send(r.control, wire.ShutdownRequest, `{"restart":false}`)
	if m := r.receive(r.control); m.text != `shutdown_reply {"status":"ok","restart":false}` {
		t.Error(m.text)
	}
	r.published("shutdown_reply")
	r.published(idle) // everything is published before the kernel ends
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// Messages that are published for a request before any subscription are received by the
// first subscriber.
func TestFirstRequestIsReceived(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	settings := config(r.file)
	settings.subscriberTime = timeout // on a busy machine it subscribes late
	go func() { ended <- Run(ctx, settings) }()
	c, err := transport.ReadConnection(r.file)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.shell.Dial(fmt.Sprintf("tcp://127.0.0.1:%d", c.ShellPort)); err != nil {
		t.Fatal(err)
	}
	r.send(r.shell, wire.KernelInfoRequest, `{}`)
	if m := r.receive(r.shell); !strings.HasPrefix(m.text, "kernel_info_reply") {
		t.Error(m.text)
	}
	if err := r.iopub.Dial(fmt.Sprintf("tcp://127.0.0.1:%d", c.IOPubPort)); err != nil {
		t.Fatal(err)
	}
	if err := r.iopub.SetOption(zmq4.OptionSubscribe, ""); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"iopub_welcome", `status {"execution_state":"starting"}`, busy, idle} {
		if m := r.receive(r.iopub); !strings.HasPrefix(m.text, want) {
			t.Errorf("%s, want %s", m.text, want)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A launcher chooses the ports, knows when they are bound, and passes on signals.
func TestRunForLauncher(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	c, err := transport.ReadConnection(r.file)
	if err != nil {
		t.Fatal(err)
	}
	settings := config("")
	settings.Connection, settings.Signals = c, make(chan os.Signal, 8)
	failure := errors.New("nobody answers")
	settings.Listening = func(context.Context) error { return failure }
	if err := Run(t.Context(), settings); !errors.Is(err, failure) {
		t.Errorf("got %v, want %v", err, failure)
	}

	settings.Listening = func(context.Context) error {
		bound, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", c.ShellPort))
		if err != nil {
			return err
		}
		return bound.Close()
	}
	ended := make(chan error, 1)
	go func() { ended <- Run(t.Context(), settings) }()
	r.connect()
	r.send(r.shell, wire.ExecuteRequest, `{"code":"wait"}`)
	r.published("stream")
	settings.Signals <- os.Interrupt
	if m := r.receive(r.shell); !strings.Contains(m.text, `"ename":"interrupted"`) {
		t.Error(m.text)
	}
	settings.Signals <- syscall.SIGTERM
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// While the launcher waits, the kernel can be terminated.
func TestTerminateWhileListening(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	settings := config(r.file)
	settings.Signals = make(chan os.Signal, 8)
	settings.Listening = func(ctx context.Context) error {
		settings.Signals <- syscall.SIGTERM
		<-ctx.Done()
		return ctx.Err()
	}
	if err := Run(t.Context(), settings); err != nil {
		t.Error(err)
	}
}

func TestRunWhileACellRuns(t *testing.T) {
	r := newRemote(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, config(r.file)) }()
	r.connect()
	r.send(r.shell, wire.ExecuteRequest, `{"code":"wait"}`)
	r.published("stream")
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	// The cell is still answered.
	if m := r.receive(r.shell); !strings.Contains(m.text, `"status":"error"`) {
		t.Error(m.text)
	}
	r.published(idle)
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	good := newRemote(t)
	text, err := os.ReadFile(good.file)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "kernel.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	c, err := transport.ReadConnection(good.file)
	if err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", c.StdinPort))
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	var connection *transport.ConnectionError
	var scheme *wire.SchemeError
	var bind *transport.BindError
	for _, row := range []struct {
		name, file string
		want       any
	}{
		{"missing", filepath.Join(t.TempDir(), "none.json"), &connection},
		{"no JSON", write("{"), &connection},
		{"no key", write(strings.Replace(string(text), `"key":"key"`, `"key":""`, 1)), &connection},
		{"another scheme", write(strings.Replace(string(text), "sha256", "md5", 1)), &scheme},
		{"a port taken", good.file, &bind},
	} {
		err := Run(t.Context(), config(row.file))
		if err == nil || !errors.As(err, row.want) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), string(key)+`"`) {
			t.Errorf("%s: got %v", row.name, err)
		}
	}
}

// kernelProcess runs the test binary as the kernel process of a remote client's file.
func kernelProcess(t *testing.T, r *remote, environment ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), kernelVariable+"="+r.file)
	cmd.Env = append(cmd.Env, environment...)
	cmd.Stderr = os.Stderr
	return cmd
}

// alive reports whether a process is running. A zombie is not.
func alive(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}

// gone waits until a process has ended; there is no event for that.
func gone(t *testing.T, pid string) {
	t.Helper()
	for deadline := time.Now().Add(timeout); alive(pid); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("process %s is still running", pid)
		}
	}
}

func TestSignals(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	r := newRemote(t)
	cmd := kernelProcess(t, r)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r.connect()
	worker := r.workerPID()

	r.send(r.shell, wire.ExecuteRequest, `{"code":"wait"}`)
	r.published("stream")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if m := r.receive(r.shell); !strings.Contains(m.text, `"ename":"interrupted"`) {
		t.Error(m.text)
	}
	if again := r.workerPID(); again != worker {
		t.Errorf("worker %s, was %s", again, worker)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the kernel process ended with %v", err)
	}
	gone(t, worker)
}

// Neither the worker nor the processes that it has started outlive the kernel process.
func TestFrontKilled(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	for _, code := range []string{"", "wait", "start"} {
		r := newRemote(t)
		cmd := kernelProcess(t, r)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		r.connect()
		pids := []string{r.workerPID()}
		switch code {
		case "wait":
			r.send(r.shell, wire.ExecuteRequest, `{"code":"wait"}`)
			r.published("stream")
		case "start":
			pids = append(pids, r.value("start"))
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		for _, pid := range pids {
			gone(t, pid)
		}
	}
}

// The kernel shuts down when the process whose id is JPY_PARENT_PID ends.
func TestParentDies(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs a shell, reads /proc")
	}
	r := newRemote(t)
	// The shell is the parent; it prints the id of the kernel process.
	parent := exec.Command("/bin/sh", "-c", `JPY_PARENT_PID=$$ "$0" & echo $!; wait`, os.Args[0])
	parent.Env = append(os.Environ(), kernelVariable+"="+r.file)
	stdout, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var pid string
	if _, err := fmt.Fscan(stdout, &pid); err != nil {
		t.Fatal(err)
	}
	r.connect()
	worker := r.workerPID()
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed
	gone(t, pid)
	gone(t, worker)
}
