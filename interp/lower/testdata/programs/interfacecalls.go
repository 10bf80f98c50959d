package main

import (
	"bufio"
	"bytes"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"image"
	"image/color"
	"io"
	"io/fs"
	"net"
	"os"
	"sort"
	"strings"
	"testing/fstest"
	"time"
)

// Calls of methods of compiled interfaces, and conversions between interfaces.

type upper struct {
	r     io.Reader
	calls int
}

func (u *upper) Read(p []byte) (int, error) {
	u.calls++
	n, err := u.r.Read(p)
	copy(p, bytes.ToUpper(p[:n]))
	return n, err
}

type point struct{ x, y float64 }

func (p point) String() string  { return fmt.Sprintf("(%g, %g)", p.x, p.y) }
func (p point) Error() string   { return "point " + p.String() }
func (p point) Timeout() bool   { return p.x > 0 }
func (p point) Temporary() bool { return false }
func (p point) Format(s fmt.State, r rune) {
	w, ok := s.Width()
	fmt.Fprint(s, "<", w, ok, string(r), s.Flag('+'), ">")
}

type pair[A, B any] struct {
	a A
	b B
}

func (p pair[A, B]) String() string               { return fmt.Sprint(p.a, "/", p.b) }
func (p *pair[A, B]) Write(b []byte) (int, error) { return fmt.Printf("%v writes %s\n", p, b) }

type words []string

func (w words) Len() int           { return len(w) }
func (w words) Less(i, j int) bool { return w[i] < w[j] }
func (w words) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }
func (w *words) Push(x any)        { *w = append(*w, x.(string)) }
func (w *words) Pop() any {
	last := (*w)[len(*w)-1]
	*w = (*w)[:len(*w)-1]
	return last
}

type named struct{ fs.FileInfo }

func (n named) Name() string { return "<" + n.FileInfo.Name() + ">" }

type square struct{ image.Image }

func (s square) At(x, y int) color.Color { return color.Gray{uint8(16*x + y)} }

type quiet interface{ fmt.Stringer }

func try(name string, f func()) {
	defer func() {
		if r := recover(); r != nil {
			err, ok := r.(error)
			fmt.Println(name, "panics:", r, ok && !strings.Contains(err.Error(), "unsupported"))
		}
	}()
	f()
}

func sum(h hash.Hash, parts ...string) (s string) {
	w := io.Writer(h)
	for _, p := range parts {
		io.WriteString(w, p)
	}
	defer h.Reset()
	return fmt.Sprintf("%x %d", h.Sum(nil), h.Size())
}

func describe(x any) string {
	switch v := x.(type) {
	case nil:
		return "nil"
	case net.Error:
		return fmt.Sprint("net.Error ", v.Timeout(), v.Temporary())
	case io.ReadWriter:
		return fmt.Sprintf("io.ReadWriter %T", v)
	case io.Writer:
		return fmt.Sprintf("io.Writer %T", v)
	case fmt.Stringer:
		return "fmt.Stringer " + v.String()
	case error:
		return "error " + v.Error()
	}
	return fmt.Sprintf("%T", x)
}

func main() {
	var r io.Reader = &upper{r: strings.NewReader("a reader\nof two lines")}
	s := bufio.NewScanner(r)
	for s.Scan() {
		fmt.Println(s.Text())
	}
	fmt.Println(r.(*upper).calls > 0, sum(fnv.New32a(), "a", "b"), sum(fnv.New64(), "a"))

	// Type switches and assertions to compiled interfaces.
	p := point{1, 2}
	for _, x := range []any{nil, p, &p, r, new(bytes.Buffer), pair[int, string]{1, "b"}, &pair[string, bool]{"a", true}, io.EOF, 3, words{"b"}, os.ErrNotExist} {
		fmt.Println(describe(x))
	}
	if w, ok := any(&pair[int, int]{1, 2}).(io.Writer); ok {
		fmt.Fprintf(w, "%d", 3)
	}
	_, ok := any(pair[int, int]{}).(io.Writer)
	fmt.Println(ok)

	// Between interfaces, cells' and compiled ones.
	var q quiet = p
	var stringer fmt.Stringer = q
	var back quiet = stringer
	var e error = p
	fmt.Println(q == stringer, stringer == back, any(e) == any(stringer), e == any(p), back == quiet(pair[int, int]{}), stringer == nil)
	var none fmt.Stringer
	var empty quiet = none
	var anything any = none
	fmt.Println(empty == nil, anything == nil, none == empty)
	fmt.Printf("%+5d|%v\n", p, e.Error())

	// Method values and deferred calls.
	f, g, h := stringer.String, back.String, e.Error
	stringer, back, e = nil, nil, nil
	fmt.Println(f(), g(), h())
	func() {
		var w io.WriteCloser = nopCloser{printer{}}
		defer w.Close()
		defer w.Write([]byte("deferred\n"))
		defer fmt.Fprintln(w, "first")
	}()
	ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), p, "value"), time.Hour)
	defer cancel()
	_, has := ctx.Deadline()
	fmt.Println(ctx.Value(p), ctx.Value(1), ctx.Err(), has)
	cancel()
	<-ctx.Done()
	fmt.Println(ctx.Err(), errors.Is(ctx.Err(), context.Canceled))

	// Sorting and heaps.
	list := &words{"c", "a", "b"}
	sort.Sort(sort.Reverse(list))
	fmt.Println(*list)
	heap.Init(list)
	heap.Push(list, "0")
	for list.Len() > 0 {
		fmt.Print(heap.Pop(list), " ")
	}
	var data sort.Interface = sort.StringSlice{"y", "x"}
	data.Swap(0, 1)
	fmt.Println(data, data.Len(), data.Less(0, 1))

	// Embedded compiled interfaces.
	files := fstest.MapFS{"dir/a.txt": {Data: []byte("text")}, "dir/b.txt": {}}
	entries, err := fs.ReadDir(files, "dir")
	for _, entry := range entries {
		info, _ := entry.Info()
		n := named{info}
		fmt.Println(n.Name(), n.Size(), n.IsDir(), n.Mode(), entry.Name(), err)
	}
	open, err := fs.FS(files).Open("dir/a.txt")
	stat, _ := open.Stat()
	fmt.Println(stat.Name(), err)
	img := square{image.NewGray(image.Rect(0, 0, 2, 3))}
	var i image.Image = img
	fmt.Println(i.Bounds(), i.At(1, 1), img.Bounds().Dx(), i.ColorModel() == color.GrayModel)
	cr, cg, cb, ca := i.At(1, 0).RGBA()
	fmt.Println(cr, cg, cb, ca)
	var addr net.Addr = &net.TCPAddr{Port: 80}
	fmt.Println(addr, addr.Network())

	// Nil interfaces, and assertions that fail.
	var nothing io.Reader
	var noError error
	order := func(s string) []byte { fmt.Print(s, " "); return nil }
	try("call", func() { nothing.Read(nil) })
	try("error", func() { _ = noError.Error() })
	try("defer", func() { defer nothing.Read(order("argument")) })
	try("value", func() { f := nothing.Read; _ = f })
	try("cell", func() { var q quiet; f := q.String; _ = f })
	try("assertion", func() { _ = any(3).(fmt.Stringer) })
	try("assertion", func() { _ = nothing.(io.Writer) })
	try("assertion", func() { _ = fmt.Stringer(p).(io.Writer) })
	try("assertion", func() { _ = any(pair[int, string]{}).(io.Writer) })
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { fmt.Println("closed"); return nil }

type printer struct{}

func (printer) Write(p []byte) (int, error) { return fmt.Print(string(p)) }
