package transport

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"runtime"
	"strconv"
)

// Connection is the content of a connection file: where a kernel listens, and the key
// that signs messages.
type Connection struct {
	Transport     string `json:"transport"` // tcp or ipc
	IP            string `json:"ip"`        // for ipc, the common prefix of the socket paths
	ShellPort     int    `json:"shell_port"`
	ControlPort   int    `json:"control_port"`
	StdinPort     int    `json:"stdin_port"`
	IOPubPort     int    `json:"iopub_port"`
	HeartbeatPort int    `json:"hb_port"`
	Key           string `json:"key"`
	Scheme        string `json:"signature_scheme"`
	// The CURVE keys in Z85; both are empty if nothing is encrypted.
	CurvePublicKey string `json:"curve_publickey,omitempty"`
	CurveSecretKey string `json:"curve_secretkey,omitempty"`
	// Exposed is set if other users may read the file, and with it the key.
	Exposed bool `json:"-"`

	curve *curveKeys // the keys, decoded
}

// ConnectionError reports a connection file that cannot be used.
type ConnectionError struct {
	Path string
	Err  error
}

func (e *ConnectionError) Error() string {
	if errors.Is(e.Err, fs.ErrNotExist) {
		return fmt.Sprintf("connection file %q does not exist; Jupyter creates it when it starts a kernel", e.Path)
	}
	return fmt.Sprintf("connection file %q: %v", e.Path, e.Err)
}

// Unwrap returns the underlying error.
func (e *ConnectionError) Unwrap() error { return e.Err }

// ReadConnection reads a connection file. The error is a *ConnectionError.
func ReadConnection(path string) (*Connection, error) {
	c, err := readConnection(path)
	if err != nil {
		return nil, &ConnectionError{path, err}
	}
	return c, nil
}

func readConnection(path string) (*Connection, error) {
	// Reading a pipe or a device may block forever or never end.
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("not a regular file (%s)", info.Mode().Type())
	case info.Size() > maxConnectionFile:
		return nil, fmt.Errorf("not a connection file: it has %d bytes", info.Size())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c := &Connection{Transport: "tcp", Scheme: "hmac-sha256"}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("not a connection file: %w", err)
	}
	// Windows has other permissions.
	c.Exposed = runtime.GOOS != "windows" && info.Mode().Perm()&0o044 != 0
	return c, c.Check()
}

// maxConnectionFile is far larger than any connection file, in bytes.
const maxConnectionFile = 1 << 20

// Check returns what makes c unusable, and decodes its keys. It must be called before a
// connection that was not read from a file is used.
func (c *Connection) Check() error {
	if c.Transport != "tcp" && c.Transport != "ipc" {
		return fmt.Errorf("transport %q, want tcp or ipc", c.Transport)
	}
	if c.IP == "" {
		return errors.New("ip is missing")
	}
	if c.Key == "" && c.Transport != "ipc" {
		return errors.New("key is empty, so any user of this machine could run code in the kernel; set a key or use the ipc transport")
	}
	var err error
	if c.curve, err = newCurveKeys(c.CurvePublicKey, c.CurveSecretKey); err != nil { // never continue without encryption
		return err
	}
	for channel := Shell; channel <= heartbeat; channel++ {
		if port := c.port(channel); port < 1 || port > 65535 {
			return fmt.Errorf("%s port is %d, want 1 to 65535", channel, port)
		}
		for other := Shell; other < channel; other++ {
			if c.port(other) == c.port(channel) {
				return fmt.Errorf("%s and %s have the same port %d", other, channel, c.port(channel))
			}
		}
	}
	return nil
}

func (c *Connection) port(channel Channel) int {
	return [...]int{c.ShellPort, c.ControlPort, c.StdinPort, c.IOPubPort, c.HeartbeatPort}[channel]
}

// Encrypted reports whether the sockets are encrypted by CURVE.
func (c *Connection) Encrypted() bool { return c.curve != nil }

// Loopback reports whether the sockets are reachable only from this machine. A host name
// other than localhost is not resolved and counts as reachable from elsewhere.
func (c *Connection) Loopback() bool {
	if c.Transport == "ipc" || c.IP == "localhost" {
		return true
	}
	ip := net.ParseIP(c.IP)
	return ip != nil && ip.IsLoopback()
}

// address returns the network, as package net names it, and the address where a
// channel listens.
func (c *Connection) address(channel Channel) (network, address string) {
	port := strconv.Itoa(c.port(channel))
	if c.Transport == "ipc" {
		return "unix", c.IP + "-" + port
	}
	ip := c.IP
	if ip == "*" {
		ip = ""
	}
	return "tcp", net.JoinHostPort(ip, port)
}
