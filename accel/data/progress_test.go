package data

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"github.com/quernlab/quern/display"
)

// bars records the displayed texts.
func bars(t *testing.T) <-chan string {
	t.Helper()
	shown := make(chan string, 100)
	previous := display.SetSink(display.SinkFunc(func(m display.Message) {
		text, _ := m.Data["text/plain"].(string)
		shown <- text
	}))
	t.Cleanup(func() { display.SetSink(previous) })
	return shown
}

// slow is a reader that returns its first bytes immediately and the rest after something was
// displayed.
type slow struct {
	io.Reader
	begin int
	shown <-chan string
	bar   *string // the displayed text
}

func (s *slow) Read(p []byte) (int, error) {
	if s.begin > 0 {
		n, err := s.Reader.Read(p[:min(len(p), s.begin)])
		s.begin -= n
		return n, err
	}
	if *s.bar == "" {
		*s.bar = <-s.shown
	}
	return s.Reader.Read(p)
}

// Reading for longer than a second displays a bar.
func TestLongReadsHaveABar(t *testing.T) {
	idx := append([]byte{0, 0, idxUint8, 1, 0, 0, 0, 200}, make([]byte, 200)...)
	header := "{'descr': '<f4', 'fortran_order': False, 'shape': (100,), }\n"
	npy := append([]byte(npyMagic+"\x01\x00"), binary.LittleEndian.AppendUint16(nil, uint16(len(header)))...)
	npy = append(append(npy, header...), make([]byte, 400)...)
	csv := "a,class\n" + strings.Repeat("1,x\n2,y\n", 100)
	for _, tt := range []struct {
		name  string
		input []byte
		begin int
		read  func(r io.Reader) error
		want  string // part of the bar's text
	}{
		{"IDX", idx, 100, func(r io.Reader) error { _, err := ReadIDX(r); return err }, "reading IDX data ["},
		{"NPY", npy, 200, func(r io.Reader) error { _, err := ReadNPY(r); return err }, "reading NPY data ["},
		{"CSV", []byte(csv), 100, func(r io.Reader) error { _, err := ReadCSV(r, "class"); return err }, "reading CSV data 0 "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			shown := bars(t)
			var bar string
			if err := tt.read(&slow{bytes.NewReader(tt.input), tt.begin, shown, &bar}); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(bar, tt.want) || !strings.Contains(bar, "MB") {
				t.Errorf("%q", bar)
			}
			if end := <-shown; strings.Contains(end, "left") {
				t.Errorf("the bar at the end: %q", end)
			}
		})
	}
}

// TestLongFoldersHaveABar displays a bar with the name of the folder.
func TestLongFoldersHaveABar(t *testing.T) {
	shown := bars(t)
	var bar string
	read := 0
	err := eachImage("below/pictures", 4, func(int) error {
		if read++; read == 2 {
			bar = <-shown
		}
		return nil
	})
	if err != nil || read != 4 || !strings.HasPrefix(bar, "reading pictures [#######.......................] 1/4  ") || !strings.Contains(bar, " left, images") {
		t.Errorf("%d images, %v: %q", read, err, bar)
	}
}
