package rt

import (
	"encoding"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image/color"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
)

// methodsOf returns a box of a new type with these methods, which a wrapper can call.
func methodsOf(t *testing.T, methods map[string]any) Box {
	t.Helper()
	w := newHarness(t)
	r := New(Config{Interpreted: w.config.Interpreted})
	d := r.Describe(redeclare(t, w, "Int"))
	for name, f := range methods {
		d.register(name, f)
	}
	return Box{d, 7}
}

func TestNativeWrappers(t *testing.T) {
	failed := errors.New("failed")
	var served, set, text string
	b := methodsOf(t, map[string]any{
		"ServeHTTP":     func(x any, w http.ResponseWriter, r *http.Request) { served = r.URL.Path; io.WriteString(w, "ok") },
		"RGBA":          func(x any) (r, g, b, a uint32) { return 1, 2, 3, 4 },
		"Set":           func(x any, s string) error { set = s; return failed },
		"String":        func(x any) string { return fmt.Sprint("value ", x) },
		"GoString":      func(x any) string { return "go" },
		"MarshalText":   func(x any) ([]byte, error) { return []byte("text"), failed },
		"UnmarshalText": func(x any, b []byte) error { text = string(b); return nil },
		"UnmarshalJSON": func(x any, b []byte) error { text = string(b); return failed },
	})
	wrap := func(t reflect.Type) any {
		f, ok := b.T.registry.wrappers.Load(t)
		if !ok {
			return nil
		}
		return f.(func(Box) any)(b)
	}
	recorder := httptest.NewRecorder()
	wrap(reflect.TypeFor[http.Handler]()).(http.Handler).ServeHTTP(recorder, httptest.NewRequest("GET", "/p", nil))
	if served != "/p" || recorder.Body.String() != "ok" {
		t.Errorf("served %q, %q", served, recorder.Body)
	}
	if r, g, bl, a := wrap(reflect.TypeFor[color.Color]()).(color.Color).RGBA(); [4]uint32{r, g, bl, a} != [4]uint32{1, 2, 3, 4} {
		t.Error("RGBA is wrong")
	}
	v := wrap(reflect.TypeFor[flag.Value]()).(flag.Value)
	flags := flag.NewFlagSet("f", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Var(v, "n", "usage")
	if err := flags.Parse([]string{"-n", "arg"}); set != "arg" || !strings.Contains(fmt.Sprint(err), "failed") || v.String() != "value 7" {
		t.Errorf("flag set to %q, %v, %s", set, err, v)
	}
	flags.PrintDefaults() // calls String of the zero value
	if s := wrap(reflect.TypeFor[fmt.GoStringer]()).(fmt.GoStringer).GoString(); s != "go" {
		t.Errorf("GoString gives %q", s)
	}
	if s, err := wrap(reflect.TypeFor[encoding.TextMarshaler]()).(encoding.TextMarshaler).MarshalText(); string(s) != "text" || err != failed {
		t.Errorf("MarshalText gives %q, %v", s, err)
	}
	if err := wrap(reflect.TypeFor[encoding.TextUnmarshaler]()).(encoding.TextUnmarshaler).UnmarshalText([]byte("in")); text != "in" || err != nil {
		t.Errorf("UnmarshalText gets %q, gives %v", text, err)
	}
	if err := wrap(reflect.TypeFor[json.Unmarshaler]()).(json.Unmarshaler).UnmarshalJSON([]byte("1")); text != "1" || err != failed {
		t.Errorf("UnmarshalJSON gets %q, gives %v", text, err)
	}
}

// TestStreamWrappers checks for each combination of io methods that the wrapper has exactly
// the methods that it must have.
func TestStreamWrappers(t *testing.T) {
	b := methodsOf(t, nil)
	interfaces := map[int]reflect.Type{
		hasRead: reflect.TypeFor[io.Reader](), hasWrite: reflect.TypeFor[io.Writer](), hasClose: reflect.TypeFor[io.Closer](), hasSeek: reflect.TypeFor[io.Seeker](),
		hasWriteTo: reflect.TypeFor[io.WriterTo](), hasReadFrom: reflect.TypeFor[io.ReaderFrom](), hasReadByte: reflect.TypeFor[io.ByteReader](),
		hasReadRune: reflect.TypeFor[io.RuneScanner](), hasWriteByte: reflect.TypeFor[io.ByteWriter](), hasWriteString: reflect.TypeFor[io.StringWriter](),
	}
	asked := map[int]int{
		hasRead:            hasRead | hasClose | hasSeek | hasWriteTo | hasReadByte | hasReadRune,
		hasWrite:           hasWrite | hasClose | hasReadFrom | hasWriteByte | hasWriteString,
		hasRead | hasWrite: hasRead | hasWrite | hasClose | hasSeek | hasWriteTo,
	}
	for has := range hasWriteString << 1 {
		w := stream(has, b)
		kind := has & (hasRead | hasWrite)
		if kind == 0 {
			if w != nil {
				t.Fatalf("%b is no stream and becomes a %T", has, w)
			}
			continue
		}
		for bit, i := range interfaces {
			if got, want := reflect.TypeOf(w).Implements(i), has&bit&asked[kind] != 0; got != want {
				t.Errorf("the wrapper %T of the methods %b implements %v: %v", w, has, i, got)
			}
		}
	}
}

func TestStreamCalls(t *testing.T) {
	var calls []string
	note := func(name string) { calls = append(calls, name) }
	b := methodsOf(t, map[string]any{
		"Read":        func(x any, p []byte) (int, error) { note("Read"); return 1, nil },
		"Write":       func(x any, p []byte) (int, error) { note("Write"); return 2, nil },
		"Close":       func(x any) error { note("Close"); return nil },
		"Seek":        func(x any, n int64, whence int) (int64, error) { note("Seek"); return n, nil },
		"WriteTo":     func(x any, w io.Writer) (int64, error) { note("WriteTo"); return 3, nil },
		"ReadFrom":    func(x any, r io.Reader) (int64, error) { note("ReadFrom"); return 4, nil },
		"ReadByte":    func(x any) (byte, error) { note("ReadByte"); return 5, nil },
		"ReadRune":    func(x any) (rune, int, error) { note("ReadRune"); return 'r', 1, nil },
		"UnreadRune":  func(x any) error { note("UnreadRune"); return nil },
		"WriteByte":   func(x any, c byte) error { note("WriteByte"); return nil },
		"WriteString": func(x any, s string) (int, error) { note("WriteString"); return 6, nil },
	})
	r := stream(hasRead|hasClose|hasSeek|hasWriteTo|hasReadByte|hasReadRune, b)
	w := stream(hasWrite|hasReadFrom|hasWriteByte|hasWriteString, b)
	r.(io.Reader).Read(nil)
	w.(io.Writer).Write(nil)
	r.(io.Closer).Close()
	n, _ := r.(io.Seeker).Seek(9, 0)
	r.(io.WriterTo).WriteTo(nil)
	w.(io.ReaderFrom).ReadFrom(nil)
	r.(io.ByteReader).ReadByte()
	c, _, _ := r.(io.RuneScanner).ReadRune()
	r.(io.RuneScanner).UnreadRune()
	w.(io.ByteWriter).WriteByte(0)
	w.(io.StringWriter).WriteString("")
	want := "Read Write Close Seek WriteTo ReadFrom ReadByte ReadRune UnreadRune WriteByte WriteString"
	if got := strings.Join(calls, " "); got != want || n != 9 || c != 'r' {
		t.Errorf("called %s, want %s; Seek %d, ReadRune %q", got, want, n, c)
	}
}
