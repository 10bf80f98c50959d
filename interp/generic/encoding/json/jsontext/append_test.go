//go:build go1.27

package jsontext_test

import (
	standard "encoding/json/jsontext"
	"fmt"
	"testing"

	"github.com/quernlab/quern/interp/generic/encoding/json/jsontext"
)

func TestAppend(t *testing.T) {
	for _, src := range []string{"", "a", `"`, "é\n\t\x00 <&>\u2028", "a\xffb\xc3", `{"b": [1, 2.50], "a": null}`, `{"a"`, ` 1 `, `"\u0041"`} {
		got, err := jsontext.AppendQuote([]byte("x"), src)
		want, wantErr := standard.AppendQuote([]byte("x"), src)
		if string(got) != string(want) || fmt.Sprintf("%T %[1]v", err) != fmt.Sprintf("%T %[1]v", wantErr) {
			t.Errorf("AppendQuote(%q) = %q, %v; want %q, %v", src, got, err, want, wantErr)
		}
		for _, opts := range [][]standard.Options{nil, {standard.Multiline(true)}, {standard.CanonicalizeRawInts(true), standard.SpaceAfterColon(true)}} {
			got, err := jsontext.AppendFormat([]byte("x"), []byte(src), opts...)
			want, wantErr := standard.AppendFormat([]byte("x"), []byte(src), opts...)
			if string(got) != string(want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Errorf("AppendFormat(%q) = %q, %v; want %q, %v", src, got, err, want, wantErr)
			}
		}
	}
}
