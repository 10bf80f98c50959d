//go:build !js

package kernel

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"

	"github.com/quernlab/quern/kernel/transport"
	"github.com/quernlab/quern/kernel/wire"
)

// Recorded messages are rejected even by a kernel that was restarted with the same
// connection file, however the first one ended.
func TestReplayAfterARestart(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs signals")
	}
	for _, end := range []string{"killed", "shut down"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			r := newRemote(t)
			dir := t.TempDir()
			history := historyVariable + "=" + filepath.Join(dir, "history")
			cmd := kernelProcess(t, r, history)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			r.connect()
			frames, err := r.codec.Encode(wire.Outgoing{Type: wire.ExecuteRequest, Content: json.RawMessage(`{"code":"recorded"}`)})
			if err == nil {
				err = r.shell.Send(zmq4.NewMsgFrom(frames...))
			}
			if err != nil {
				t.Fatal(err)
			}
			if m := r.receive(r.shell); !strings.HasPrefix(m.text, "execute_reply") {
				t.Fatal(m.text)
			}
			written(t, filepath.Join(dir, "history.seen"))
			if end == "killed" {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			} else {
				r.send(r.control, wire.ShutdownRequest, `{"restart":true}`)
			}
			_ = cmd.Wait() // killed, as it should be

			again := newRemote(t)
			again.file = r.file
			again.codec = r.codec
			cmd = kernelProcess(t, again, history)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Process.Kill()
			again.connect()
			if err := again.shell.Send(zmq4.NewMsgFrom(frames...)); err != nil {
				t.Fatal(err)
			}
			again.send(again.shell, wire.HistoryRequest, `{"hist_access_type":"range","session":0,"start":0}`)
			if m := again.receive(again.shell); m.text != `history_reply {"status":"ok","history":[]}` {
				t.Errorf("after a replay: %s", m.text)
			}
		})
	}
}

// written waits until a signature is in a file in a directory; there is no event for
// that.
func written(t *testing.T, dir string) {
	t.Helper()
	for deadline := time.Now().Add(timeout); ; time.Sleep(time.Millisecond) {
		files, _ := filepath.Glob(filepath.Join(dir, "*"))
		for _, file := range files {
			if info, err := os.Stat(file); err == nil && info.Size() >= int64(len(wire.Signature{})) {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("no signature is written")
		}
	}
}

// records keeps the log records.
type records struct {
	mu   sync.Mutex
	text strings.Builder
}

func (r *records) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

// The kernel warns about connections that are not as secure as possible.
func TestWarnings(t *testing.T) {
	t.Parallel()
	const readable, plain = "other users of this machine can read the connection file", "nothing is encrypted"
	for _, row := range []struct {
		name, ip string
		mode     os.FileMode
		want     []string
	}{
		{"safe", "127.0.0.1", 0o600, nil},
		{"safe too", "::1", 0o600, nil},
		{"by name", "localhost", 0o600, nil},
		{"readable by all", "127.0.0.1", 0o604, []string{readable}},
		{"readable by the group", "127.0.0.2", 0o640, []string{readable}},
		{"all addresses", "0.0.0.0", 0o600, []string{plain}},
		{"all addresses, as ZeroMQ writes it", "*", 0o600, []string{plain}},
		{"both", "::", 0o644, []string{readable, plain}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" && row.mode != 0o600 {
				t.Skip("permissions are kept elsewhere")
			}
			path := filepath.Join(t.TempDir(), "kernel.json")
			text := fmt.Sprintf(`{"ip":%q,"key":"k","shell_port":1,"control_port":2,"stdin_port":3,"iopub_port":4,"hb_port":5}`, row.ip)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, row.mode); err != nil {
				t.Fatal(err)
			}
			c, err := transport.ReadConnection(path)
			if err != nil {
				t.Fatal(err)
			}
			var logged records
			warn(slog.New(slog.NewTextHandler(&logged, nil)), c, path)
			if got := logged.text.String(); strings.Count(got, "\n") != len(row.want) {
				t.Errorf("logged: %s", got)
			}
			for _, want := range row.want {
				if !strings.Contains(logged.text.String(), want) {
					t.Errorf("%q is not in %s", want, logged.text.String())
				}
			}
		})
	}
}
