package rt

import (
	"bytes"
	"encoding/gob"
	"reflect"
	"strings"
	"testing"
)

func TestOverrides(t *testing.T) {
	r := New(Config{})
	overrides := r.Overrides()
	real := map[string]any{
		"strings/strings Repeat": strings.Repeat, "bytes/bytes Repeat": bytes.Repeat,
		"encoding/gob/gob Register": gob.Register, "encoding/gob/gob RegisterName": gob.RegisterName,
	}
	count := 0
	for pkg, table := range overrides {
		for name, f := range table {
			count++
			if want := reflect.TypeOf(real[pkg+" "+name]); f.Type() != want {
				t.Errorf("%s %s is a %v, want %v", pkg, name, f.Type(), want)
			}
		}
	}
	if count != len(real) {
		t.Errorf("%d overrides, want %d", count, len(real))
	}
}
