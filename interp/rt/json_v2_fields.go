package rt

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Since Go 1.27 encoding/json calls encoding/json/v2, with options for the behavior of earlier releases. Some results
// differ nevertheless: tags, names of methods, keys of maps, and errors. The files json_v2*.go have what is different;
// jsonV2 reports whether this release needs them.

// jsonTag is what the tag of a struct field says to encoding/json/v2.
type jsonTag struct {
	name                                               string // "" without a name
	embed, omitEmpty, omitZero, quoted, strict, format bool
}

// parseJSONTag reads a tag as encoding/json/v2 does when it ignores mistakes in tags: a malformed name ends where its
// identifier ends, and a malformed option where the next one begins.
func parseJSONTag(text string) jsonTag {
	var t jsonTag
	if text != "" && text[0] != ',' {
		n := strings.IndexAny(text, ",\\'\"`")
		if n < 0 {
			n = len(text)
		}
		ok := true
		if n < len(text) && text[n] != ',' {
			n, ok = tagOption(text)
		}
		if ok {
			t.name = strings.ToValidUTF8(text[:n], string(utf8.RuneError))
		}
		text = text[n:]
	}
	for text != "" {
		text = strings.TrimPrefix(text, ",")
		n, _ := tagOption(text)
		option := text[:n]
		text = text[n:]
		switch option {
		case "embed":
			t.embed = true
		case "omitempty":
			t.omitEmpty = true
		case "omitzero":
			t.omitZero = true
		case "string":
			t.quoted = true
		case "case", "format":
			if value, ok := strings.CutPrefix(text, ":"); ok {
				text = value
				n, ok := tagOption(text)
				if option == "case" {
					t.strict = t.strict || ok && text[:n] == "strict"
				} else {
					t.format = n > 0
				}
				text = text[n:]
			}
		}
	}
	return t
}

// tagOption returns the length of the option at the beginning of text: an identifier, or else everything up to the
// next comma, which is not ok.
func tagOption(text string) (n int, ok bool) {
	if r, _ := utf8.DecodeRuneInString(text); r == '_' || unicode.IsLetter(r) {
		rest := strings.TrimLeftFunc(text, func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) })
		return len(text) - len(rest), true
	}
	if i := strings.IndexByte(text, ','); i >= 0 {
		return i, false
	}
	return len(text), false
}

// jsonFieldOf2 is jsonFieldOf by the rules of encoding/json/v2. It returns an error for a field with which its struct
// cannot be encoded.
func jsonFieldOf2(s embeddedStruct, i int) (f jsonField, embedded, ok bool, err error) {
	declared, typ := s.typ.field(i)
	text := declared.tag.Get("json")
	if text == "-" || !declared.exported && !declared.embedded {
		return f, false, false, nil
	}
	tag := parseJSONTag(text)
	base := typ
	if base.kind() == reflect.Pointer && !base.named() {
		base = base.elem()
	}
	f = jsonField{
		name: tag.name, tagged: tag.name != "", index: append(append([]int(nil), s.index...), i), typ: typ,
		omitEmpty: tag.omitEmpty, omitZero: tag.omitZero, quoted: tag.quoted && stringable(base.kind()), strict: tag.strict,
	}
	isStruct := base.kind() == reflect.Struct
	if !f.tagged && isStruct && (declared.embedded || tag.embed) {
		return jsonField{typ: base, index: f.index}, true, true, nil
	}
	if !declared.exported && (!isStruct || hasJSONMethod(base)) {
		return f, false, false, nil
	}
	switch {
	case tag.embed && !f.tagged && embedsMembers(base):
		err = fmt.Errorf("json: field %s of %v has the tag option embed, which cells support only for structs", declared.name, s.typ)
	case tag.format:
		err = unsupportedFormat(declared.name)
	}
	if !f.tagged {
		f.name = declared.name
	}
	return f, false, true, err
}

// unsupportedFormat is the name of a field with the tag option format.
type unsupportedFormat string

func (f unsupportedFormat) Error() string {
	return "Go struct field " + string(f) + " has unsupported `format` tag option"
}

// stringable reports whether the tag option string has an effect on values of a kind.
func stringable(k reflect.Kind) bool {
	return basicKind(k) && k != reflect.Complex64 && k != reflect.Complex128
}

// embedsMembers reports whether a field with the tag option embed stands for any number of members of an object.
func embedsMembers(w view) bool {
	return w.kind() == reflect.Map && w.key().kind() == reflect.String || w.d == nil && w.t.Name() == "Value" && w.t.PkgPath() == "encoding/json/jsontext"
}

// hasJSONMethod reports whether encoding/json/v2 encodes or decodes values of a type by one of their methods.
func hasJSONMethod(w view) bool {
	for _, m := range []wellKnown{marshalJSON, marshalText, appendText, marshalJSONTo, unmarshalJSON, unmarshalText, unmarshalJSONFrom} {
		if w.pointer().has(m) {
			return true
		}
	}
	return false
}

var errNilEmbedded = errors.New("cannot set embedded pointer to unexported struct type")
