package gateway

import (
	"context"
	"crypto/aes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/quernlab/quern/kernel/transport"
)

// privateKey is that of the fake gateway, as short as that of the real one.
var privateKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		panic(err)
	}
	return key
})

// fakeGateway receives reports as the response manager of Enterprise Gateway 3.3 does.
type fakeGateway struct {
	net.Listener
	t *testing.T
}

func newFakeGateway(t *testing.T) *fakeGateway {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return &fakeGateway{listener, t}
}

// launch returns what the gateway passes to a launcher.
func (g *fakeGateway) launch(change func(*Launch)) *Launch {
	g.t.Helper()
	der, err := x509.MarshalPKIXPublicKey(&privateKey().PublicKey)
	if err != nil {
		g.t.Fatal(err)
	}
	l := &Launch{
		KernelID: "4e1b", ResponseAddress: g.Addr().String(), PublicKey: base64.StdEncoding.EncodeToString(der),
		PortRange: "0..0", Timeout: 5 * time.Minute,
	}
	if change != nil {
		change(l)
	}
	return l
}

// report reads a report and returns the connection information.
func (g *fakeGateway) report() (map[string]any, error) {
	connection, err := g.Accept()
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	text, err := io.ReadAll(connection)
	if err != nil {
		return nil, err
	}
	return decrypt(text)
}

// decrypt reverses encrypt, independently of it.
func decrypt(text []byte) (map[string]any, error) {
	text, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		return nil, err
	}
	var payload map[string]any
	if err := json.Unmarshal(text, &payload); err != nil {
		return nil, err
	}
	if payload["version"] != 1.0 {
		return nil, fmt.Errorf("version %v", payload["version"])
	}
	var parts [2][]byte
	for i, name := range []string{"key", "conn_info"} {
		if parts[i], err = base64.StdEncoding.DecodeString(payload[name].(string)); err != nil {
			return nil, err
		}
	}
	key, err := rsa.DecryptPKCS1v15(nil, privateKey(), parts[0])
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	plain := parts[1]
	for i := 0; i < len(plain); i += 16 {
		block.Decrypt(plain[i:i+16], plain[i:i+16])
	}
	var info map[string]any
	err = json.Unmarshal(plain[:len(plain)-int(plain[len(plain)-1])], &info)
	return info, err
}

func TestReport(t *testing.T) {
	t.Parallel()
	g := newFakeGateway(t)
	l := g.launch(nil)
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	c := &transport.Connection{
		Transport: "tcp", IP: "0.0.0.0", Key: "secret", Scheme: "hmac-sha256",
		ShellPort: 1, ControlPort: 2, StdinPort: 3, IOPubPort: 4, HeartbeatPort: 5,
	}
	done := make(chan error, 1)
	go func() { done <- l.Report(t.Context(), c, 6) }()
	got, err := g.report()
	if err := errors.Join(err, <-done); err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(got)
	want := `{"comm_port":6,"control_port":2,"hb_port":5,"iopub_port":4,"ip":"0.0.0.0","kernel_id":"4e1b","key":"secret",` +
		fmt.Sprintf(`"pid":%d,"shell_port":1,"signature_scheme":"hmac-sha256","stdin_port":3,"transport":"tcp"}`, os.Getpid())
	if string(text) != want {
		t.Errorf("got %s\nwant %s", text, want)
	}
}

// Each length of the text needs another padding, and that of a whole block one of a block.
func TestPadding(t *testing.T) {
	t.Parallel()
	for n := range 33 {
		text := fmt.Sprintf(`{"x":%q}`, strings.Repeat("x", n))
		payload, err := encrypt([]byte(text), &privateKey().PublicKey)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decrypt(payload)
		if err != nil || got["x"] != strings.Repeat("x", n) {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	g := newFakeGateway(t)
	for _, c := range []struct {
		wrong  string // part of the error
		change func(*Launch)
	}{
		{"kernel id is missing", func(l *Launch) { l.KernelID = "" }},
		{"response address", func(l *Launch) { l.ResponseAddress = "" }},
		{"response address", func(l *Launch) { l.ResponseAddress = "10.0.0.1" }},
		{"response address", func(l *Launch) { l.ResponseAddress = "10.0.0.1:0" }},
		{"response address", func(l *Launch) { l.ResponseAddress = "10.0.0.1:65536" }},
		{"public key", func(l *Launch) { l.PublicKey = "{public_key}" }},
		{"public key", func(l *Launch) { l.PublicKey = l.PublicKey[:100] }},
		{"want an RSA key", func(l *Launch) { l.PublicKey = "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=" }},
		{"port range", func(l *Launch) { l.PortRange = "40000" }},
		{"port range", func(l *Launch) { l.PortRange = "40000..70000" }},
		{"port range", func(l *Launch) { l.PortRange = "0..50000" }},
		{"needs 6 ports", func(l *Launch) { l.PortRange = "40000..40004" }},
		{"needs 6 ports", func(l *Launch) { l.PortRange = "40000..30000" }},
	} {
		l := g.launch(c.change)
		if err := l.Check(); err == nil || !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%+v: got %v, want %q", l, err, c.wrong)
		}
	}
}

// Without an answer the launch fails, as it does when it is stopped while a gateway has accepted the report and does not read it.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	g := newFakeGateway(t)
	closed, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := g.launch(func(l *Launch) { l.ResponseAddress, l.Timeout = closed.Addr().String(), time.Millisecond })
	closed.Close()
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	c := &transport.Connection{}
	if err := l.Report(t.Context(), c, 6); err == nil || !strings.Contains(err.Error(), l.ResponseAddress) {
		t.Errorf("got %v, want an error with the address", err)
	}

	l = g.launch(nil)
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.Report(ctx, c, 6) }()
	connection, err := g.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	cancel()
	if err := <-done; err == nil {
		t.Error("Report succeeded, and nobody has read it")
	}
}

func TestPorts(t *testing.T) {
	t.Parallel()
	r := portRange{20_000, 20_000 + 2_000}
	for _, l := range []*Launch{{}, {ports: r}} {
		c, err := l.Connection()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Check(); err != nil { // all are different
			t.Error(err)
		}
		for _, port := range []int{c.ShellPort, c.ControlPort, c.StdinPort, c.IOPubPort, c.HeartbeatPort} {
			if l.ports != (portRange{}) && (port < r.low || port > r.high) {
				t.Errorf("port %d is not in %v", port, r)
			}
		}
	}
	// A port in use is left out, and without others there is an error.
	taken, err := (&Launch{}).Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	if _, err := (&Launch{ports: portRange{port, port}}).Connection(); err == nil || !strings.Contains(err.Error(), "widen its port range") {
		t.Errorf("got %v", err)
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	l, err := (&Launch{}).Listen()
	if err != nil {
		t.Fatal(err)
	}
	signals := make(chan os.Signal, 1)
	log := make(lines, 16)
	served := make(chan struct{})
	go func() {
		Serve(l, signals, slog.New(slog.NewTextHandler(log, nil)))
		close(served)
	}()
	address := fmt.Sprintf("127.0.0.1:%d", l.Addr().(*net.TCPAddr).Port)
	silent, err := net.Dial("tcp", address) // delays none of the others
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for _, c := range []struct {
		request string
		want    os.Signal
		log     string
	}{
		{`{"signum": 2}`, os.Interrupt, "signal=interrupt"},
		{`{"signum": 15}`, syscall.SIGTERM, "signal=terminated"},
		{`{"signum": 9}`, syscall.SIGTERM, "signal=terminated"},
		{`{"shutdown": 1}`, syscall.SIGTERM, "signal=terminated"},
		{`{"signum": 0}`, nil, ""},
		{``, nil, ""},
		{`{"signum": 19}`, nil, "signal 19 is none of SIGINT"},
		{`{"signum": "2"}`, nil, "ignored"},
		{`{}`, nil, "neither signum nor shutdown"},
		{`[]`, nil, "ignored"},
		{strings.Repeat(" ", maxRequest+1), nil, "more than 1024 bytes"},
	} {
		connection, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(connection, c.request); err != nil {
			t.Fatal(err)
		}
		if err := connection.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, connection) // until it has been read
		connection.Close()
		if c.want != nil {
			if got := <-signals; got != c.want {
				t.Errorf("%s: got %v, want %v", c.request, got, c.want)
			}
		}
		if c.log != "" {
			if got := <-log; !strings.Contains(got, c.log) {
				t.Errorf("%s: got log %q, want %q", c.request, got, c.log)
			}
		}
	}
	l.Close()
	<-served
	select {
	case s := <-signals:
		t.Errorf("signal %v, which nobody has sent", s)
	case text := <-log:
		t.Errorf("unexpected log %q", text)
	default:
	}
}

// lines receives what is logged.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}
