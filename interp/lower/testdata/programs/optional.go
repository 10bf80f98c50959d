package main

import (
	"bytes"
	"container/heap"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"sort"
	"strings"
	"testing/fstest"
	"text/template"
)

// Compiled packages look for methods beyond those of the interface that they ask for.

type stripes struct{ width int }

func (s stripes) ColorModel() color.Model { return color.RGBAModel }
func (s stripes) Bounds() image.Rectangle { return image.Rect(0, 0, s.width, 1) }
func (s stripes) At(x, y int) color.Color { return color.RGBA{uint8(x), 0, 0, 255} }
func (s stripes) Opaque() bool            { return true }

type late struct{}

func (late) Error() string   { return "late" }
func (late) Timeout() bool   { return true }
func (late) Is(e error) bool { return e == fs.ErrNotExist }

type parent struct {
	context.Context
	started int
}

func (p *parent) Done() <-chan struct{} { return make(chan struct{}) }
func (p *parent) AfterFunc(f func()) func() bool {
	p.started++
	return func() bool { return true }
}

type transport struct{ closed int }

func (t *transport) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("offline")
}
func (t *transport) CloseIdleConnections() { t.closed++ }

type direct string

func (d direct) Read([]byte) (int, error) { return 0, errors.New("Read was called") }
func (d direct) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, string(d))
	return int64(n), err
}
func (d direct) ReadFile(name string) ([]byte, error) { return []byte(string(d) + name), nil }
func (d direct) Open(string) (fs.File, error)         { return nil, fs.ErrInvalid }

type named struct{ *strings.Reader }

func (named) Close() error { return errors.New("closed") }

type queue []*job
type job struct {
	rank int
	name string
}

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].rank < q[j].rank }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(*job)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// Methods with types of the program in their signatures, and interfaces of the program in fields.

type degrees float64

func (d degrees) String() string               { return fmt.Sprintf("%.1f°", float64(d)) }
func (d degrees) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

type shape interface{ Area() degrees }
type square struct{ Side float64 }

func (s square) Area() degrees { return degrees(s.Side * s.Side) }

type node struct {
	Name string
	T    degrees
	S    shape
	kids []*node
}

func (n *node) Add(k *node) *node       { n.kids = append(n.kids, k); return n }
func (n node) Kids() []*node            { return n.kids }
func (n node) Above(limit degrees) bool { return n.T > limit }

type optional[T any] struct {
	value T
	known bool
}

func (o optional[T]) MarshalJSON() ([]byte, error) {
	if !o.known {
		return []byte("null"), nil
	}
	return json.Marshal(o.value)
}

type double struct{ square }

func main() {
	var text bytes.Buffer
	fmt.Println(png.Encode(&text, stripes{3}))
	decoded, err := png.Decode(&text)
	fmt.Printf("%T %v\n", decoded, err)
	fmt.Println(os.IsTimeout(late{}), errors.Is(fmt.Errorf("a: %w", late{}), fs.ErrNotExist))
	p := &parent{Context: context.Background()}
	_, cancel := context.WithCancel(p)
	cancel()
	fmt.Println(p.started)
	client := &http.Client{Transport: &transport{}}
	client.CloseIdleConnections()
	fmt.Println(client.Transport.(*transport).closed)
	n, err := io.Copy(&text, direct("copied"))
	fmt.Println(text.String(), n, err)
	data, err := fs.ReadFile(direct("file "), "x")
	fmt.Println(string(data), err)
	reader := func() any { var r io.ReadCloser = named{strings.NewReader("abc")}; return r }()
	_, seeks := reader.(io.Seeker)
	all, err := io.ReadAll(reader.(io.Reader))
	fmt.Println(seeks, string(all), err, reader.(io.Closer).Close())
	files, err := fs.Glob(fs.FS(fstest.MapFS{"a": {}, "b": {}}), "*")
	fmt.Println(files, err)

	q := &queue{}
	for i, name := range []string{"c", "a", "b"} {
		heap.Push(q, &job{i * 7 % 5, name})
	}
	for q.Len() > 0 {
		fmt.Print(heap.Pop(q).(*job).name, " ")
	}
	list := queue{{1, "x"}, {3, "y"}, {2, "z"}}
	sort.Sort(sort.Reverse(list))
	fmt.Println(list[0].name, sort.IsSorted(list))

	root := (&node{Name: "root", T: 30}).Add(&node{Name: "kid", T: 10, S: square{2}})
	t := template.Must(template.New("").Funcs(template.FuncMap{"warm": func(d degrees) string { return "warm " + d.String() }}).Parse(
		"{{.Name}} {{.T}} {{.Above 20.0}}{{range .Kids}} <{{.Name}} {{warm .T}} {{.S.Area}}>{{end}}\n"))
	text.Reset()
	fmt.Println(t.Execute(&text, root), text.String())
	fmt.Println(template.Must(template.New("").Parse("{{.Area}} {{.Side}}\n")).Execute(&text, struct{ double }{double{square{3}}}), text.String())

	encoded, err := json.Marshal([]any{
		optional[degrees]{5, true}, optional[string]{}, map[degrees]shape{1: square{1}}, struct {
			degrees `json:"own"`
			In      *double
		}{2, &double{square{4}}},
	})
	fmt.Println(string(encoded), err)
	var back node
	fmt.Println(json.Unmarshal([]byte(`{"Name":"n","S":{"Side":1}}`), &back))
	side := &square{}
	back.S = side
	fmt.Println(json.Unmarshal([]byte(`{"Name":"m","S":{"Side":9}}`), &back), back.Name, side.Side, back.S.Area())
	encoded, err = xml.Marshal(struct {
		XMLName xml.Name `xml:"all"`
		Any     any
		Shape   shape
	}{Any: degrees(1), Shape: square{2}})
	fmt.Println(string(encoded), err)
	recorder := httptest.NewRecorder()
	http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, degrees(7), r.URL.Path) }).ServeHTTP(recorder, httptest.NewRequest("GET", "/p", nil))
	fmt.Println(recorder.Body)
	keys := map[any]int{degrees(1): 1, 1.0: 2, square{1}: 3, [1]degrees{2}: 4, struct{ D degrees }{3}: 5}
	fmt.Println(keys[degrees(1)], keys[1.0], keys[square{1}], keys[[1]degrees{2}], keys[struct{ D degrees }{3}], len(keys))
}
