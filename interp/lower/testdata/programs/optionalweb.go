package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding"
	"errors"
	"fmt"
	"hash"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"math/big"
	mathrand "math/rand"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"reflect"
	"runtime"
	"sort"
	"strings"
	"syscall"
	"testing/fstest"
	"testing/quick"
	"time"
)

// Packages of networks, errors, contexts, cryptography and images look for optional methods.

type timeout struct{ is bool }

func (t timeout) Error() string   { return fmt.Sprint("timeout ", t.is) }
func (t timeout) Timeout() bool   { return t.is }
func (t timeout) Temporary() bool { return !t.is }

type matcher struct{ to error }

func (m matcher) Error() string        { return "matcher" }
func (m matcher) Is(target error) bool { return target == m.to }

type converter struct{ n int }

func (c converter) Error() string { return "converter" }
func (c converter) As(target any) bool {
	switch t := target.(type) {
	case *timeout:
		*t = timeout{true}
	case **fs.PathError:
		*t = &fs.PathError{Op: "as", Path: fmt.Sprint(c.n), Err: timeout{true}}
	case *interface{ Code() int }:
		*t = coded(c.n)
	default:
		return false
	}
	return true
}

type coded int

func (c coded) Code() int     { return int(c) }
func (c coded) Error() string { return fmt.Sprint("code ", int(c)) }

type tree []error

func (t tree) Error() string   { return fmt.Sprint(len(t), " errors") }
func (t tree) Unwrap() []error { return t }

type chain struct{ next error }

func (c *chain) Error() string { return "chain" }
func (c *chain) Unwrap() error { return c.next }

type runtimeError struct{}

func (runtimeError) Error() string { return "like the runtime" }
func (runtimeError) RuntimeError() {}

type parent struct {
	context.Context
	functions []func()
	err       error
	done      chan struct{}
}

func (p *parent) Done() <-chan struct{} { return p.done }
func (p *parent) Err() error            { return p.err }
func (p *parent) AfterFunc(f func()) func() bool {
	p.functions = append(p.functions, f)
	return func() bool { fmt.Println("stopped"); return true }
}
func (p *parent) Value(key any) any {
	if k, ok := key.(contextKey); ok {
		return "value " + string(k)
	}
	return p.Context.Value(key)
}
func (p *parent) String() string { return "parent" }

type contextKey string

// HTTP

type recorder struct {
	header http.Header
	body   strings.Builder
	log    []string
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }
func (r *recorder) WriteHeader(code int)        { r.log = append(r.log, fmt.Sprint("status ", code)) }

type full struct{ *recorder }

func (f full) Flush() { f.log = append(f.log, "flush") }
func (f full) FlushError() error {
	f.log = append(f.log, "flush error")
	return errors.New("not flushed")
}
func (f full) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	client, _ := net.Pipe()
	return client, bufio.NewReadWriter(bufio.NewReader(client), bufio.NewWriter(client)), errors.New("not hijacked")
}
func (f full) SetReadDeadline(t time.Time) error {
	f.log = append(f.log, fmt.Sprint("read ", t.Unix()))
	return nil
}
func (f full) SetWriteDeadline(t time.Time) error {
	f.log = append(f.log, fmt.Sprint("write ", t.Unix()))
	return nil
}
func (f full) EnableFullDuplex() error { f.log = append(f.log, "duplex"); return nil }
func (f full) Push(target string, o *http.PushOptions) error {
	f.log = append(f.log, "push "+target)
	return nil
}
func (f full) ReadFrom(r io.Reader) (int64, error) {
	f.log = append(f.log, "read from")
	return io.Copy(&f.body, r)
}
func (f full) WriteString(s string) (int, error) {
	f.log = append(f.log, "write string")
	return f.body.WriteString(s)
}

type middleware struct{ http.ResponseWriter }

func (m middleware) Unwrap() http.ResponseWriter { return m.ResponseWriter }

type transport struct {
	answer string
	closed int
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.answer == "" {
		return nil, &net.OpError{Op: "dial", Err: timeout{true}}
	}
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(t.answer + r.URL.Path)), Request: r}, nil
}
func (t *transport) CloseIdleConnections() { t.closed++ }

type wrappedTransport struct{ *transport }

type jar map[string][]*http.Cookie

func (j jar) SetCookies(u *url.URL, cookies []*http.Cookie) { j[u.Host] = cookies }
func (j jar) Cookies(u *url.URL) []*http.Cookie             { return j[u.Host] }

type body struct {
	*strings.Reader
	closed *bool
}

func (b body) Close() error { *b.closed = true; return nil }

// Cryptography

type counting struct {
	hash.Hash
	clones *int
}

func (c counting) Clone() (hash.Cloner, error) {
	*c.clones++
	inner, err := c.Hash.(hash.Cloner).Clone()
	return counting{inner, c.clones}, err
}

type signer struct {
	ed25519.PrivateKey
	signed int
}

func (s *signer) Public() crypto.PublicKey { return s.PrivateKey.Public() }
func (s *signer) Sign(r io.Reader, digest []byte, o crypto.SignerOpts) ([]byte, error) {
	s.signed++
	return s.PrivateKey.Sign(r, digest, o)
}

type messageSigner struct{ signer }

func (s *messageSigner) SignMessage(r io.Reader, message []byte, o crypto.SignerOpts) ([]byte, error) {
	return append([]byte("signed "), message...), nil
}

type block struct {
	cipher.Block
	used *[]string
}

func (b block) NewCTR(iv []byte) cipher.Stream {
	*b.used = append(*b.used, "CTR")
	return cipher.NewCTR(b.Block, iv)
}
func (b block) NewGCM(nonce, tag int) (cipher.AEAD, error) {
	*b.used = append(*b.used, fmt.Sprint("GCM ", nonce, tag))
	return cipher.NewGCM(b.Block)
}
func (b block) NewCBCEncrypter(iv []byte) cipher.BlockMode {
	*b.used = append(*b.used, "CBC")
	return cipher.NewCBCEncrypter(b.Block, iv)
}

type source struct{ n int64 }

func (s *source) Int63() int64    { s.n++; return s.n << 40 }
func (s *source) Seed(seed int64) { s.n = seed }

type source64 struct{ source }

func (s *source64) Uint64() uint64 { s.n += 2; return uint64(s.n) << 41 }

// Images

type canvas struct {
	*image.RGBA
	set, at *int
}

func (c canvas) Set(x, y int, v color.Color) { *c.set++; c.RGBA.Set(x, y, v) }
func (c canvas) At(x, y int) color.Color     { *c.at++; return c.RGBA.At(x, y) }

type wide struct {
	image.Image
	calls *int
}

func (w wide) RGBA64At(x, y int) color.RGBA64 {
	*w.calls++
	return color.RGBA64{uint16(x), 2, 3, 0xffff}
}

type opaque struct {
	image.Image
	is bool
}

func (o opaque) Opaque() bool { return o.is }

type paletted struct{ image.Image }

func (p paletted) ColorIndexAt(x, y int) uint8 { return uint8(x % 2) }
func (p paletted) ColorModel() color.Model     { return color.Palette{color.Black, color.White} }

type shade uint8

func (s shade) RGBA() (r, g, b, a uint32) { return uint32(s) * 257, 0, 0, 0xffff }

type model struct{}

func (model) Convert(c color.Color) color.Color { return shade(9) }

type subImage struct{ image.Image }

func (s subImage) SubImage(r image.Rectangle) image.Image { return s.Image }

type quantizer struct{ calls *int }

func (q quantizer) Quantize(p color.Palette, m image.Image) color.Palette {
	*q.calls++
	return append(p, color.Black, color.White)
}

type drawer struct{ calls *int }

func (d drawer) Draw(dst draw.Image, r image.Rectangle, src image.Image, sp image.Point) { *d.calls++ }

type byLength []string

func (b byLength) Len() int           { return len(b) }
func (b byLength) Less(i, j int) bool { return len(b[i]) < len(b[j]) }
func (b byLength) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }

type R struct{ text string }

func (r *R) Read(b []byte) (int, error) {
	n := copy(b, r.text)
	r.text = r.text[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
func reader() any { var r io.Reader = &R{"read by a function that returns any"}; return r }

type address struct{ network string }

func (a address) Network() string { return a.network }
func (a address) String() string  { return "address " + a.network }

type connection struct{ net.Conn }

func (connection) RemoteAddr() net.Addr { return address{"cell"} }
func (connection) CloseWrite() error    { return errors.New("closed for writing") }

type signal string

func (s signal) String() string { return string(s) }
func (s signal) Signal()        {}

func main() {
	fmt.Println(os.IsTimeout(timeout{true}), os.IsTimeout(timeout{}), os.IsTimeout(&fs.PathError{Err: timeout{true}}), os.IsTimeout(os.NewSyscallError("call", timeout{true})))
	fmt.Println((&net.OpError{Err: timeout{true}}).Timeout(), (&net.OpError{Err: timeout{}}).Temporary(), (&url.Error{Err: timeout{true}}).Timeout(), (&net.OpError{Op: "read", Source: address{"a"}, Err: timeout{}}).Error())
	var netError net.Error
	fmt.Println(errors.As(fmt.Errorf("w: %w", timeout{true}), &netError), netError.Timeout())
	var t timeout
	var path *fs.PathError
	var code interface{ Code() int }
	fmt.Println(errors.As(converter{3}, &t), t, errors.As(&chain{converter{4}}, &path), path, errors.As(tree{io.EOF, converter{5}}, &code), code.Code())
	found, ok := errors.AsType[coded](tree{&chain{coded(6)}})
	fmt.Println(found, ok, errors.Is(tree{&chain{matcher{io.EOF}}}, io.EOF), errors.Is(matcher{fs.ErrExist}, io.EOF), os.IsExist(matcher{fs.ErrExist}))
	fmt.Println(errors.Unwrap(&chain{io.EOF}), errors.Unwrap(tree{io.EOF}), errors.Is(errors.Join(tree{syscall.ENOENT}), fs.ErrNotExist))
	var r runtime.Error
	fmt.Println(errors.As(&chain{runtimeError{}}, &r), r)
	func() {
		defer func() { _, ok := recover().(runtime.Error); fmt.Println(ok) }()
		panic(runtimeError{})
	}()

	p := &parent{Context: context.Background(), done: make(chan struct{})}
	ctx, cancel := context.WithCancelCause(p)
	fmt.Println(len(p.functions), ctx, ctx.Value(contextKey("k")), ctx.Err())
	p.err = timeout{true}
	p.functions[0]()
	<-ctx.Done()
	fmt.Println(ctx.Err(), context.Cause(ctx))
	cancel(nil)
	ctx, cancel2 := context.WithTimeout(p, time.Hour)
	cancel2()
	fmt.Println(ctx.Err(), len(p.functions))
	called := make(chan string, 1)
	stop := context.AfterFunc(&parent{Context: context.Background(), done: make(chan struct{})}, func() { called <- "never" })
	fmt.Println(stop(), len(called))

	var w http.ResponseWriter = &recorder{header: http.Header{}}
	control := http.NewResponseController(w)
	fmt.Println(control.Flush(), control.SetReadDeadline(time.Unix(1, 0)), errors.Is(control.EnableFullDuplex(), http.ErrNotSupported))
	rec := &recorder{header: http.Header{}}
	control = http.NewResponseController(middleware{middleware{full{rec}}})
	_, _, err := control.Hijack()
	fmt.Println(control.Flush(), control.SetReadDeadline(time.Unix(1, 0)), control.SetWriteDeadline(time.Unix(2, 0)), control.EnableFullDuplex(), err, rec.log)
	rec.log = nil
	http.ServeContent(full{rec}, httptest.NewRequest("GET", "/", nil), "a.txt", time.Time{}, strings.NewReader("content"))
	http.Error(full{rec}, "an error", 404)
	io.WriteString(full{rec}, "text")
	_, isPusher := http.ResponseWriter(full{rec}).(http.Pusher)
	fmt.Println(rec.log, rec.body.String(), isPusher)
	rec = &recorder{header: http.Header{}}
	http.FileServerFS(fstest.MapFS{"index.html": {Data: []byte("index")}}).ServeHTTP(full{rec}, httptest.NewRequest("GET", "/", nil))
	fmt.Println(rec.log, rec.body.String(), rec.header.Get("Content-Type"))
	rec = &recorder{header: http.Header{}}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: "h"}) }, Transport: &transport{answer: "proxied "}}
	proxy.ServeHTTP(full{rec}, httptest.NewRequest("GET", "/p", nil))
	fmt.Println(rec.log, rec.body.String())

	inner := &transport{answer: "hello "}
	client := &http.Client{Transport: wrappedTransport{inner}, Jar: jar{"h": {{Name: "c", Value: "v"}}}}
	client.CloseIdleConnections()
	response, err := client.Get("http://h/path")
	text, _ := io.ReadAll(response.Body)
	fmt.Println(inner.closed, string(text), err, response.Request.Header)
	inner.answer = ""
	_, err = client.Get("http://h/path")
	fmt.Println(err, os.IsTimeout(err), errors.As(err, &t), t)
	closed := false
	request, _ := http.NewRequest("POST", "http://h", body{strings.NewReader("body"), &closed})
	fmt.Println(request.ContentLength, request.GetBody == nil)
	client.Do(request)
	fmt.Println(closed)

	clones := 0
	mac := hmac.New(func() hash.Hash { return counting{sha256.New(), &clones} }, []byte("key"))
	mac.Write([]byte("a"))
	copied, err := mac.(hash.Cloner).Clone()
	fmt.Printf("%d %v %x\n", clones, err, copied.(hash.Hash).Sum(nil)[:4])
	state, err := counting{sha256.New(), &clones}.Hash.(encoding.BinaryMarshaler).MarshalBinary()
	fmt.Println(len(state), err)
	private := ed25519.NewKeyFromSeed(make([]byte, 32))
	s := &signer{PrivateKey: private}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "cell"}, NotAfter: time.Unix(1e9, 0)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), s)
	parsed, err2 := x509.ParseCertificate(certificate)
	fmt.Println(s.signed, err, err2, parsed.Subject, parsed.CheckSignatureFrom(parsed) != nil)
	signature, err := crypto.SignMessage(&messageSigner{*s}, nil, []byte("message"), crypto.Hash(0))
	fmt.Printf("%s %v\n", signature, err)
	aesBlock, _ := aes.NewCipher(make([]byte, 16))
	var used []string
	b := block{aesBlock, &used}
	out := make([]byte, 16)
	cipher.NewCTR(b, make([]byte, 16)).XORKeyStream(out, out)
	cipher.NewCBCEncrypter(b, make([]byte, 16)).CryptBlocks(out, out)
	gcm, err := cipher.NewGCM(b)
	fmt.Printf("%v %x %v\n", used, out, err)
	fmt.Printf("%x\n", gcm.Seal(nil, make([]byte, 12), []byte("x"), nil))

	fmt.Println(mathrand.New(&source{}).Uint64(), mathrand.New(&source64{}).Uint64(), mathrand.New(&source64{}).Int63(), mathrand.New(&source64{}).Perm(4))

	set, at, calls := 0, 0, 0
	c := canvas{image.NewRGBA(image.Rect(0, 0, 4, 4)), &set, &at}
	draw.Draw(c, c.Bounds(), image.NewUniform(shade(200)), image.Point{}, draw.Src)
	fmt.Println(set, at, c.RGBA.At(1, 1))
	draw.Draw(c, c.Bounds(), wide{c.RGBA, &calls}, image.Point{}, draw.Over)
	fmt.Println(set, at, calls, c.RGBA.RGBA64At(3, 3))
	var pngs [4]bytes.Buffer
	for i, m := range []image.Image{opaque{c.RGBA, true}, opaque{c.RGBA, false}, paletted{c.RGBA}, wide{c.RGBA, &calls}} {
		err := png.Encode(&pngs[i], m)
		config, _ := png.DecodeConfig(&pngs[i])
		fmt.Printf("%v %T %v\n", err, config.ColorModel, config.Width)
	}
	var gifs bytes.Buffer
	quantized, drawn := 0, 0
	fmt.Println(gif.Encode(&gifs, subImage{c}, &gif.Options{NumColors: 2, Quantizer: quantizer{&quantized}, Drawer: drawer{&drawn}}), quantized, drawn, gifs.Len() > 0)
	fmt.Println(jpeg.Encode(io.Discard, opaque{c, true}, nil), model{}.Convert(color.White), color.Palette{color.White, shade(3)}.Convert(shade(4)))
	gray := color.GrayModel.Convert(shade(100))
	fmt.Println(gray)

	words := byLength{"ccc", "a", "bb"}
	sort.Sort(sort.Reverse(words))
	fmt.Println(words)
	sort.Stable(words)
	fmt.Println(words, sort.IsSorted(words))

	_, isReader := reader().(io.Reader)
	all, err := io.ReadAll(reader().(io.Reader))
	fmt.Println(isReader, string(all), err)
	any1 := []any{reader()}
	fmt.Fscan(any1[0].(io.Reader), new(string))
	fmt.Println(any1[0].(*R).text)

	x, y := net.Pipe()
	defer x.Close()
	defer y.Close()
	conn := net.Conn(connection{x})
	half, ok := conn.(interface{ CloseWrite() error })
	fmt.Println(conn.RemoteAddr(), ok, half.CloseWrite(), os.Signal(signal("own")))
	fmt.Println(quick.Check(func(n small) bool { return n == 7 }, &quick.Config{MaxCount: 5}))
}

type small int

func (small) Generate(r *mathrand.Rand, size int) reflect.Value { return reflect.ValueOf(small(7)) }
