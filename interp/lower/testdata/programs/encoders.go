package main

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http/httptest"
)

// An interface of a program that encoders and decoders of the standard library implement.
type encoder interface{ Encode(v any) error }
type decoder interface{ Decode(v any) error }

type order struct {
	Item  string `json:"item" xml:"item,attr"`
	Count int    `json:"count"`
}

type named []order

func (n named) Len() int { return len(n) }

func round(name string, e encoder, d decoder) {
	var got order
	fmt.Println(name, e.Encode(order{"pen", 3}), d.Decode(&got), got)
}

// slow is not run by the VM.
func slow(name string, e encoder, d decoder) {
	httptest.NewRecorder()
	got := &order{}
	fmt.Println(name, e.Encode(&order{"ink", 4}), d.Decode(got), *got)
}

func pair[E encoder, D decoder](e func(io.Writer) E, d func(io.Reader) D) (encoder, decoder) {
	var b bytes.Buffer
	return e(&b), d(&b)
}

func main() {
	for _, run := range []func(string, encoder, decoder){round, slow} {
		e, d := pair(json.NewEncoder, json.NewDecoder)
		run("json", e, d)
		e, d = pair(gob.NewEncoder, gob.NewDecoder)
		run("gob", e, d)
		e, d = pair(xml.NewEncoder, xml.NewDecoder)
		run("xml", e, d)
	}
	var b bytes.Buffer
	var e encoder = json.NewEncoder(&b)
	fmt.Println(e.Encode(map[string]any{"a": named{{"x", 1}}}), b.String())
	var list named
	var d decoder = json.NewDecoder(bytes.NewBufferString(`[{"item":"y","count":2}]`))
	fmt.Println(d.Decode(&list), list, list.Len())
}
