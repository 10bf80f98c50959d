//go:build unix

package early

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// ports returns ports that are free now.
func ports(t *testing.T) (free []int) {
	t.Helper()
	for range 5 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() // keep it until all are chosen, so that they differ
		free = append(free, l.Addr().(*net.TCPAddr).Port)
	}
	return free
}

// connectionFile writes a connection file with some changed fields.
func connectionFile(t *testing.T, free []int, change map[string]any) string {
	t.Helper()
	fields := map[string]any{
		"ip": "127.0.0.1", "transport": "tcp", "key": "k",
		"shell_port": free[0], "control_port": free[1], "stdin_port": free[2], "iopub_port": free[3], "hb_port": free[4],
	}
	for name, value := range change {
		fields[name] = value
	}
	text, err := json.Marshal(fields)
	path := filepath.Join(t.TempDir(), "kernel.json")
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Clients connect before the sockets are taken, and are served afterwards.
func TestListen(t *testing.T) {
	free := ports(t)
	bound = listen(connectionFile(t, free, nil))
	if len(bound) != 5 {
		t.Fatalf("%d sockets", len(bound))
	}
	for _, port := range free {
		address := fmt.Sprintf("127.0.0.1:%d", port)
		client, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		fd, ok := Take("127.0.0.1", port)
		if !ok {
			t.Fatalf("nothing listens on %s", address)
		}
		if _, again := Take("127.0.0.1", port); again {
			t.Error("taken twice")
		}
		f := os.NewFile(fd, "listener")
		l, err := net.FileListener(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := server.RemoteAddr().String(), client.LocalAddr().String(); got != want || l.Addr().String() != address {
			t.Errorf("%s accepted %s, want %s", l.Addr(), got, want)
		}
		server.Close()
		client.Close()
		l.Close()
	}
	if len(bound) > 0 {
		t.Errorf("%d sockets are left", len(bound))
	}
}

// If a file is not understood, or not all ports can be bound, none are.
func TestListenLeaves(t *testing.T) {
	free := ports(t)
	taken, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", free[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"missing": filepath.Join(dir, "none"), "directory": dir, "pipe": pipe, "device": "/dev/zero", "no JSON": text,
		"port taken":     connectionFile(t, free, nil), // that of shell, the last one
		"ipc":            connectionFile(t, free, map[string]any{"transport": "ipc"}),
		"all addresses":  connectionFile(t, free, map[string]any{"ip": "0.0.0.0"}),
		"star":           connectionFile(t, free, map[string]any{"ip": "*"}),
		"IPv6":           connectionFile(t, free, map[string]any{"ip": "::1"}),
		"name":           connectionFile(t, free, map[string]any{"ip": "localhost"}),
		"no port":        connectionFile(t, free, map[string]any{"hb_port": 0}),
		"too large port": connectionFile(t, free, map[string]any{"hb_port": 1 << 16}),
		"another's":      connectionFile(t, free, map[string]any{"ip": "192.0.2.1"}),
	} {
		if got := listen(path); got != nil {
			t.Errorf("%s: %d sockets", name, len(got))
			got.close()
		}
	}
	for _, port := range free[1:] { // all ports are free again
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Error(err)
			continue
		}
		l.Close()
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	if got := arguments(); !slices.Equal(got, os.Args) {
		t.Errorf("%q, want %q", got, os.Args)
	}
}

// fields returns the same as encoding/json, or fails.
func TestFields(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{}`, ` { } `, "{\n \"ip\" : \"127.0.0.1\" ,\t\"shell_port\":  41,\r\n\"key\":\"\"}", `{"a":1,"a":2}`, `{"a":1,"a":"x"}`, `{"a":true,"b":null,"c":false}`,
		`{"key":"a\"b\\","ip":"x"}`, `{"ip":"é"}`, `{"a":0}`,
		// Invalid JSON, or more than connection files contain.
		``, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{,}`, `{"a":01}`, `{"a":1.5}`, `{"a":1e3}`, `{"a":-1}`, `{"a":{}}`, `{"a":[1]}`, `{"a":tru}`, `{"a":"x}`, `{"a":"\`,
		`{"a" 1}`, `{a:1}`, `{"a":1}x`, `[]`, `{"a":99999999999999999999}`, "{\"a\":\"\n\"}", `{"a":1 "b":2}`, `{"\u0061":1}`,
	} {
		strings, numbers, ok := fields([]byte(text))
		var want map[string]any
		if json.Unmarshal([]byte(text), &want) != nil && ok {
			t.Errorf("%s: read, and is no JSON", text)
		}
		for name, value := range want {
			switch value := value.(type) {
			case string:
				if got, found := strings[name]; found && got != value || ok && !found && !bytes.Contains([]byte(text), []byte(`\`)) {
					t.Errorf("%s: %s is %q", text, name, got)
				}
			case float64:
				if got, found := numbers[name]; ok && (!found || float64(got) != value) {
					t.Errorf("%s: %s is %d", text, name, got)
				}
			}
		}
		if ok && len(strings)+len(numbers) > len(want) {
			t.Errorf("%s: %v, %v", text, strings, numbers)
		}
	}
	if _, numbers, ok := fields([]byte(`{"ip":"127.0.0.1","shell_port":5}`)); !ok || numbers["shell_port"] != 5 {
		t.Error("a connection file is not read")
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"127.0.0.1", "10.0.255.3", "1.2.3.4"} {
		if ip, ok := address(text); !ok || net.IP(ip[:]).String() != text {
			t.Errorf("%s: %v, %t", text, ip, ok)
		}
	}
	for _, text := range []string{"", "0.0.0.0", "1.2.3", "1.2.3.4.5", "1.2.3.", ".1.2.3", "1..2.3", "01.2.3.4", "256.1.1.1", "1.2.3.x", "::1", "1.2.3.4 ", "1.2.3.99999999999999999999"} {
		if ip, ok := address(text); ok {
			t.Errorf("%q: %v", text, ip)
		}
	}
}
