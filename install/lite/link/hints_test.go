package main

import (
	"bytes"
	"testing"
)

func TestHints(t *testing.T) {
	table := unsigned([]byte{opBrTable}, leastTable)
	table = append(table, make([]byte, leastTable+1)...)
	body := []byte{0} // no local variables
	body = append(body, opLocalGet, 0, opIf, noResult, opCall, 5, opEnd)
	body = append(body, opLocalGet, 0, opIf, noResult, opLocalGet, 0)
	body = append(append(body, table...), opEnd)
	body = append(body, opLocalGet, 0, opIf, noResult, opLocalGet, 0, opLocalSet, 0, opEnd) // nothing is known of this one
	body = append(body, opEnd)
	second := bytes.LastIndex(body[:len(body)-len(table)], []byte{opIf, noResult, opLocalGet})
	imports := []byte{1, 1, 'm', 1, 'f', kindFunction, 0}
	want := append(vector(nil, []byte(hintSection)), 1, 2, 2, 3, 1, 0, byte(second), 1, 1)
	if got := hints(imports, [][]byte{{0, opEnd}, body}); !bytes.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	small := []byte{0, opLocalGet, 0, opIf, noResult, opCall, 5, opEnd, opEnd}
	if got := hints(imports, [][]byte{small}); got != nil {
		t.Errorf("a function without a large table has hints: %v", got)
	}

	m := &module{sections: []section{{sectionImport, imports}, {sectionCode, nil}}, bodies: [][]byte{{0, opEnd}, body}}
	once := m.write()
	again, err := readModule(once)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.write(), once) {
		t.Error("hints are written twice")
	}
}
