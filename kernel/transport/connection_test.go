package transport

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const goodFile = `{"transport":"tcp","ip":"127.0.0.1","shell_port":1,"control_port":2,"stdin_port":3,"iopub_port":4,"hb_port":5,
	"key":"k","signature_scheme":"hmac-sha256","kernel_name":"quern","later":{}}`

func writeFile(t *testing.T, text string, mode fs.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "connection.json")
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadConnection(t *testing.T) {
	t.Parallel()
	got, err := ReadConnection(writeFile(t, goodFile, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	want := Connection{
		Transport: "tcp", IP: "127.0.0.1", ShellPort: 1, ControlPort: 2, StdinPort: 3, IOPubPort: 4, HeartbeatPort: 5,
		Key: "k", Scheme: "hmac-sha256",
	}
	if *got != want {
		t.Errorf("got  %+v\nwant %+v", *got, want)
	}
}

func TestConnectionFileOthersCanRead(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("permissions of Unix")
	}
	for mode, want := range map[fs.FileMode]bool{0o600: false, 0o640: true, 0o604: true, 0o611: false} {
		path := writeFile(t, goodFile, 0o600)
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		c, err := ReadConnection(path)
		if err != nil {
			t.Fatal(err)
		}
		if c.Exposed != want {
			t.Errorf("%v: exposed %t, want %t", mode, c.Exposed, want)
		}
	}
}

func TestReadConnectionRefuses(t *testing.T) {
	t.Parallel()
	change := func(from, to string) string { return strings.Replace(goodFile, from, to, 1) }
	for _, row := range []struct{ name, text, want string }{
		{"empty", "", "not a connection file"},
		{"no JSON", "ports", "not a connection file"},
		{"a list", "[]", "not a connection file"},
		{"a port that is text", change(`"shell_port":1`, `"shell_port":"1"`), "not a connection file"},
		{"no port", change(`"hb_port":5`, `"other":5`), "heartbeat port is 0"},
		{"a port too high", change(`"iopub_port":4`, `"iopub_port":65536`), "iopub port is 65536"},
		{"a port below zero", change(`"stdin_port":3`, `"stdin_port":-1`), "stdin port is -1"},
		{"a port twice", change(`"control_port":2`, `"control_port":1`), "shell and control have the same port 1"},
		{"no ip", change(`"127.0.0.1"`, `""`), "ip is missing"},
		{"another transport", change(`"tcp"`, `"pgm"`), `transport "pgm"`},
		{"no key", change(`"key":"k"`, `"key":""`), "key is empty"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			path := writeFile(t, row.text, 0o600)
			_, err := ReadConnection(path)
			var connection *ConnectionError
			if !errors.As(err, &connection) || connection.Path != path {
				t.Fatalf("got %v, want a ConnectionError", err)
			}
			if text := err.Error(); !strings.Contains(text, row.want) || strings.Contains(text, "\n") {
				t.Errorf("got %q, want one line with %q", text, row.want)
			}
		})
	}
	_, err := ReadConnection(filepath.Join(t.TempDir(), "none.json"))
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("missing: got %v", err)
	}
}

func TestEmptyKeyOverIPC(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer(`"tcp"`, `"ipc"`, `"127.0.0.1"`, `"/run/k"`, `"key":"k"`, `"key":""`).Replace(goodFile)
	c, err := ReadConnection(writeFile(t, text, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if network, address := c.address(Control); network != "unix" || address != "/run/k-2" {
		t.Errorf("listens on %s %s", network, address)
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	for ip, want := range map[string]string{"127.0.0.1": "127.0.0.1:7", "::1": "[::1]:7", "*": ":7", "localhost": "localhost:7"} {
		c := Connection{Transport: "tcp", IP: ip, ShellPort: 7}
		if network, address := c.address(Shell); network != "tcp" || address != want {
			t.Errorf("%s: listens on %s %s, want %s", ip, network, address, want)
		}
	}
}
