package main

import (
	"bytes"
	"context"
	"encoding"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"expvar"
	"flag"
	"fmt"
	htmltemplate "html/template"
	"io"
	"log"
	"log/slog"
	"math/big"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
	"text/template"
	"time"
)

// Packages that format, encode and parse look for optional methods.

type celsius float64

func (c celsius) Format(s fmt.State, verb rune) {
	width, hasWidth := s.Width()
	precision, hasPrecision := s.Precision()
	fmt.Fprintf(s, "<%c %d %t %d %t %t%t>", verb, width, hasWidth, precision, hasPrecision, s.Flag('+'), s.Flag('#'))
	io.WriteString(s, fmt.FormatString(s, verb))
}

type quoted struct{ a, b int }

func (q quoted) GoString() string { return "quoted!" }

type pointerStringer struct{ n int }

func (p *pointerStringer) String() string { return fmt.Sprint("pointer ", p.n) }

type both struct{ msg string }

func (b both) Error() string  { return "error " + b.msg }
func (b both) String() string { return "string " + b.msg }

type scanned struct{ words []string }

func (s *scanned) Scan(state fmt.ScanState, verb rune) error {
	token, err := state.Token(true, nil)
	s.words = append(s.words, string(verb)+string(token))
	return err
}

type key struct{ a, b int }

func (k key) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%d-%d", k.a, k.b), nil }
func (k *key) UnmarshalText(text []byte) error {
	_, err := fmt.Sscanf(string(text), "%d-%d", &k.a, &k.b)
	return err
}

type wrapped struct{ V any }

func (w wrapped) MarshalJSON() ([]byte, error) {
	inner, err := json.Marshal(w.V)
	return append(append([]byte(`{"wrapped":`), inner...), '}'), err
}
func (w *wrapped) UnmarshalJSON(data []byte) error { w.V = string(data); return nil }

type jsonKey int

func (k jsonKey) MarshalJSON() ([]byte, error) { return nil, errors.New("is not called for keys") }
func (k jsonKey) String() string               { return "nor is this" }

type zero struct{ N int }

func (z zero) IsZero() bool { return z.N == 7 }

type pointerZero struct{ N int }

func (z *pointerZero) IsZero() bool { return z == nil || z.N == 8 }

type appender struct{ s string }

func (a appender) AppendText(b []byte) ([]byte, error)   { return append(b, "appended "+a.s...), nil }
func (a appender) AppendBinary(b []byte) ([]byte, error) { return append(b, 1, 2), nil }

type attribute string

func (a attribute) MarshalXMLAttr(name xml.Name) (xml.Attr, error) {
	return xml.Attr{Name: name, Value: "attr " + string(a)}, nil
}
func (a *attribute) UnmarshalXMLAttr(attr xml.Attr) error {
	*a = attribute("read " + attr.Value)
	return nil
}

type element struct{ n int }

func (e element) MarshalXML(enc *xml.Encoder, start xml.StartElement) error {
	start.Attr = append(start.Attr, xml.Attr{Name: xml.Name{Local: "own"}, Value: "yes"})
	return enc.EncodeElement(e.n*2, start)
}
func (e *element) UnmarshalXML(d *xml.Decoder, start xml.StartElement) error {
	err := d.DecodeElement(&e.n, &start)
	e.n *= 10
	return err
}

type document struct {
	XMLName xml.Name  `xml:"document"`
	A       attribute `xml:"a,attr"`
	K       key       `xml:"k,attr"`
	E       element   `xml:"e"`
	List    []element `xml:"list>e"`
	T       key       `xml:"text"`
	Err     any       `xml:"err,omitempty"`
}

type encoded struct{ n int }

func (e encoded) GobEncode() ([]byte, error)   { return []byte{byte(e.n + 1)}, nil }
func (e *encoded) GobDecode(data []byte) error { e.n = int(data[0]) * 100; return nil }

type binaryOnly struct{ n byte }

func (b binaryOnly) MarshalBinary() ([]byte, error)     { return []byte{b.n, b.n}, nil }
func (b *binaryOnly) UnmarshalBinary(data []byte) error { b.n = byte(len(data)); return nil }

type secret string

func (secret) LogValue() slog.Value { return slog.StringValue("hidden") }

type group struct{ id int }

func (g group) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("id", g.id), slog.Any("again", secret("x")))
}

type deep int

func (d deep) LogValue() slog.Value {
	if d == 0 {
		return slog.StringValue("bottom")
	}
	return slog.AnyValue(d - 1)
}

type level int

func (l level) Level() slog.Level { return slog.Level(l) }

type handler struct {
	slog.Handler
	records *[]string
}

func (h handler) Enabled(_ context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn
}

type toggle struct{ on bool }

func (t *toggle) String() string     { return fmt.Sprint(t != nil && t.on) }
func (t *toggle) Set(s string) error { t.on = s == "true"; return nil }
func (t *toggle) IsBoolFlag() bool   { return true }
func (t *toggle) Get() any           { return t.on }

type list []string

func (l *list) String() string     { return strings.Join(*l, "+") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

type variable struct{ n int }

func (v variable) String() string { return fmt.Sprintf("{\"n\": %d}", v.n) }

type page struct {
	Title string
	items []string
}

func (p page) Items() []string                    { return p.items }
func (p *page) Add(s string) (string, error)      { p.items = append(p.items, s); return "added " + s, nil }
func (p page) Fail() (string, error)              { return "", errors.New("method fails") }
func (p page) Join(sep string, n ...int) string   { return strings.Join(p.items, sep) + fmt.Sprint(n) }
func (p page) Each() func(func(int, string) bool) { return slices.All(p.items) }
func (p page) Nested() map[string]page            { return map[string]page{"x": {"nested", []string{"i"}}} }

type markup string

func (m markup) String() string { return "<b>" + string(m) + "</b>" }

type jsValue struct{ N int }

func (j jsValue) MarshalJSON() ([]byte, error) { return []byte(`{"js":true}`), nil }

func main() {
	fmt.Printf("%v|%+8.2f|%#x|%s\n", celsius(1), celsius(2), celsius(3), []celsius{4})
	fmt.Printf("%v %#v %#v %+v\n", quoted{1, 2}, quoted{1, 2}, []any{quoted{}}, &quoted{3, 4})
	p := &pointerStringer{4}
	fmt.Printf("%v %v %s %v\n", *p, p, p, []*pointerStringer{p}[0])
	fmt.Printf("%v %s %q %x %d\n", both{"m"}, both{"m"}, both{"m"}, both{"m"}, both{"m"})
	fmt.Println(fmt.Errorf("%w and %w", both{"1"}, both{"2"}), fmt.Sprint(both{"x"}, celsius(5)), fmt.Sprintln(error(both{"y"})))
	var s scanned
	n, err := fmt.Sscanf("one two", "%v %s", &s, &s)
	fmt.Println(n, err, s.words)
	n, err = fmt.Sscan("three", &s)
	fmt.Println(n, err, s.words)
	var w tabwriter.Writer
	w.Init(stdout{}, 4, 0, 1, '.', 0)
	fmt.Fprintf(&w, "%v\t%v\n", both{"tab"}, p)
	w.Flush()

	text, err := json.Marshal(map[key]any{{1, 2}: wrapped{celsius(1)}, {0, 3}: []any{&wrapped{}, key{5, 6}, both{"b"}}})
	fmt.Println(string(text), err)
	text, err = json.Marshal(map[jsonKey]string{3: "three"})
	fmt.Println(string(text), err)
	back := map[key]wrapped{}
	fmt.Println(json.Unmarshal([]byte(`{"4-5": {"a": [1]}, "6-7": null}`), &back), back)
	fmt.Println(json.Unmarshal([]byte(`{"x": 1}`), &back) != nil)
	text, err = json.Marshal(struct {
		A zero         `json:",omitzero"`
		B zero         `json:",omitzero"`
		C pointerZero  `json:",omitzero"`
		D *pointerZero `json:",omitzero"`
		E *zero        `json:",omitzero"`
		F key          `json:",omitempty"`
		G time.Time    `json:",omitzero"`
	}{A: zero{7}, B: zero{}, C: pointerZero{8}, D: &pointerZero{8}, E: &zero{7}})
	fmt.Println(string(text), err)
	var indirect struct {
		P *wrapped
		L []*key
		A [1]wrapped
		I any
	}
	indirect.I = &wrapped{}
	fmt.Println(json.Unmarshal([]byte(`{"P": 1, "L": ["1-1", null], "A": [2], "I": 3}`), &indirect), indirect.P.V, *indirect.L[0], indirect.L[1], indirect.A[0].V, indirect.I)
	_, err = json.Marshal(wrapped{make(chan int)})
	var unsupported *json.UnsupportedTypeError
	var marshaler *json.MarshalerError
	fmt.Println(errors.As(err, &unsupported), errors.As(err, &marshaler))

	var a encoding.TextAppender = appender{"a"}
	text, err = a.AppendText([]byte("> "))
	fmt.Println(string(text), err)
	var any1 any = appender{"b"}
	_, isText := any1.(encoding.TextMarshaler)
	_, isBinary := any1.(encoding.BinaryAppender)
	fmt.Println(isText, isBinary)

	text, err = xml.MarshalIndent(document{A: "x", K: key{1, 2}, E: element{3}, List: []element{{4}, {5}}, T: key{6, 7}, Err: key{8, 9}}, "", " ")
	fmt.Println(string(text), err)
	var d document
	err = xml.Unmarshal([]byte(`<document a="1" k="3-4"><e>5</e><list><e>6</e></list><text>7-8</text></document>`), &d)
	fmt.Println(d.A, d.K, d.E, d.List, d.T, err)

	var network bytes.Buffer
	type message struct {
		E encoded
		P *encoded
		B binaryOnly
	}
	fmt.Println(gob.NewEncoder(&network).Encode(message{encoded{1}, &encoded{2}, binaryOnly{9}}))
	var m message
	fmt.Println(gob.NewDecoder(&network).Decode(&m), m.E, *m.P, m.B)

	options := &slog.HandlerOptions{Level: level(-4), ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}
	for _, l := range []*slog.Logger{slog.New(slog.NewTextHandler(stdout{}, options)), slog.New(slog.NewJSONHandler(stdout{}, options))} {
		l.Debug("values", "secret", secret("s"), "group", group{5}, "deep", deep(3), "key", key{1, 2}, "err", both{"e"},
			"wrapped", wrapped{1}, "plain", quoted{1, 2}, "stringer", p, "url", &url.URL{Host: "h"})
		l.With("secret", secret("t")).WithGroup("g").Info("more", group{6}.LogValue().Group()[0], slog.Any("list", []any{secret("u"), key{1, 1}}))
	}
	h := slog.New(handler{slog.NewTextHandler(stdout{}, options), nil})
	h.Info("not enabled")
	h.Warn("enabled", "level", level(3))
	fmt.Println(slog.AnyValue(group{7}).Kind(), slog.AnyValue(deep(2)).Resolve(), slog.AnyValue(secret("x")))
	log.New(stdout{}, "log ", 0).Println(both{"logged"}, p)

	flags := flag.NewFlagSet("f", flag.ContinueOnError)
	flags.SetOutput(stdout{})
	var t toggle
	var l list
	var k key
	flags.Var(&t, "t", "a toggle")
	flags.Var(&l, "l", "a `list`")
	flags.TextVar(&k, "k", key{1, 1}, "a key")
	flags.Func("f", "a function", func(s string) error { return both{s} })
	fmt.Println(flags.Parse([]string{"-t", "-l", "a", "-l=b", "-k", "7-8", "rest"}), t, l, k, flags.Args(), flags.Lookup("t").Value.(flag.Getter).Get())
	fmt.Println(flags.Parse([]string{"-f", "x"}))
	fmt.Println(flags.Parse([]string{"-k", "bad"}))
	name, usage := flag.UnquoteUsage(flags.Lookup("l"))
	fmt.Println(name, usage, flags.Lookup("k").DefValue)

	published := new(expvar.Map).Init()
	published.Set("v", variable{3})
	fmt.Println(published, published.Get("v").(variable).n)

	doc := &page{"title", []string{"a", "b"}}
	parsed := template.Must(template.New("").Parse(`{{.Title}} {{range .Items}}<{{.}}>{{end}} {{.Add "c"}} {{len .Items}} {{.Join "," 1 2}} {{range $i, $x := .Each}}{{$i}}{{$x}} {{end}}{{with .Nested}}{{.x.Title}} {{(index . "x").Join "-"}}{{end}}
`))
	fmt.Println(parsed.Execute(stdout{}, doc))
	err = template.Must(template.New("t").Parse("{{.Fail}}")).Execute(io.Discard, doc)
	var exec template.ExecError
	fmt.Println(err, errors.As(err, &exec))
	err = template.Must(template.New("t").Parse("{{.Add 1}}")).Execute(io.Discard, page{})
	fmt.Println(err)
	err = template.Must(template.New("t").Parse("{{.}} {{printf \"%v %s\" . .}} {{eq . .}}\n")).Execute(stdout{}, both{"t"})
	fmt.Println(err)
	html := htmltemplate.Must(htmltemplate.New("h").Parse("<a title='{{.M}}'>{{.M}}</a><script>x = {{.J}}; y = {{.E}}</script>\n"))
	fmt.Println(html.Execute(stdout{}, struct {
		M markup
		J jsValue
		E both
	}{"m", jsValue{1}, both{"<e>"}}))
	x, ok := new(big.Int).SetString("123", 10)
	fmt.Printf("%v %t %v %d\n", x, ok, []any{x, big.NewRat(1, 2)}, big.NewInt(5))
	var number json.Number
	fmt.Println(json.Unmarshal([]byte("1.50"), &number), number)
}

type stdout struct{}

func (stdout) Write(b []byte) (int, error) { return fmt.Print(string(b)) }
