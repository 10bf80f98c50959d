//go:build go1.27

// Package jsontext implements generic functions of the standard package encoding/json/jsontext for interpreted code.
package jsontext

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
)

// AppendFormat appends a JSON value, formatted by options, to dst. If src is not valid, it is appended as it is.
func AppendFormat[Bytes ~[]byte | ~string](dst []byte, src Bytes, opts ...jsontext.Options) ([]byte, error) {
	value := jsontext.Value(src).Clone()
	if err := value.Format(opts...); err != nil {
		return append(dst, src...), err
	}
	return append(dst, value...), nil
}

// AppendQuote appends src as a JSON string to dst. Invalid UTF-8 is replaced by U+FFFD and reported as an error.
func AppendQuote[Bytes ~[]byte | ~string](dst []byte, src Bytes) ([]byte, error) {
	token := jsontext.String(string(src))
	var text bytes.Buffer
	err := jsontext.NewEncoder(&text).WriteToken(token)
	if err != nil {
		var invalid *jsontext.SyntacticError
		if errors.As(err, &invalid) {
			err = &jsontext.SyntacticError{Err: invalid.Err} // without a position
		}
		text.Reset()
		if err := jsontext.NewEncoder(&text, jsontext.AllowInvalidUTF8(true)).WriteToken(token); err != nil {
			return dst, err
		}
	}
	return append(dst, bytes.TrimSuffix(text.Bytes(), []byte("\n"))...), err
}
